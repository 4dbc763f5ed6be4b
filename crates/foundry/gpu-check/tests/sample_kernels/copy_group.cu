//| x: float[640]
//| y: float[640] out
//| n = 640
// launch: <<<5, 128>>>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void copy_group(const float* x, float* y, int n) {
    __shared__ float part[128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, part, x + blockIdx.x * 128, sizeof(float) * 128);
    cg::wait(block);
    y[blockIdx.x * 128 + threadIdx.x] = 2.0f * part[127 - threadIdx.x];
}
__global__ void plain(const float* x, float* y, int n) {
    for (int i = 0; i < n; i++) y[i] = 2.0f * x[i / 128 * 128 + 127 - i % 128];
}
