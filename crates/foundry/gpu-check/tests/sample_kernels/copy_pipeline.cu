//| x: float[1024]
//| y: float[1024] out
//| n = 1024
// launch: <<<1, 128>>>
// Two stages, filled ahead by asynchronous copies.
#include <cuda_pipeline.h>
__global__ void copy_pipeline(const float* x, float* y, int n) {
    __shared__ float stage[2][128];
    int steps = n / 128, t = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][t], &x[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < steps; i++) {
        if (i + 1 < steps) __pipeline_memcpy_async(&stage[(i + 1) % 2][t], &x[(i + 1) * 128 + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        y[i * 128 + t] = stage[i % 2][t] + stage[i % 2][127 - t];
        __syncthreads();
    }
}
__global__ void plain(const float* x, float* y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i] + x[i / 128 * 128 + 127 - i % 128];
}
