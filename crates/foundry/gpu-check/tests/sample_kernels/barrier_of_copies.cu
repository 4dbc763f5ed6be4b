// Reverses each block's part: asynchronous copies arrive on a barrier in shared memory.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
//| n = 300
//| x: float[300]
//| y: float[300] out
// launch: <<<(n + 63) / 64, 64>>>
extern "C" __global__ void barrier_of_copies(int n, const float* x, float* y)
{
    __shared__ float tile[64];
    __shared__ __mbarrier_t full;
    if (threadIdx.x == 0) __mbarrier_init(&full, 64);
    __syncthreads();
    int first = 64 * blockIdx.x, here = min(64, n - first);
    if (threadIdx.x < here) __pipeline_memcpy_async(&tile[threadIdx.x], x + first + threadIdx.x, 4);
    __pipeline_arrive_on(&full);
    __mbarrier_token_t token = __mbarrier_arrive(&full);
    while (!__mbarrier_test_wait(&full, token)) {}
    if (threadIdx.x < here) y[first + threadIdx.x] = tile[here - 1 - threadIdx.x];
}

extern "C" __global__ void plain(int n, const float* x, float* y)
{
    for (int first = 0; first < n; first += 64) {
        int here = min(64, n - first);
        for (int i = 0; i < here; ++i) y[first + i] = x[first + here - 1 - i];
    }
}
