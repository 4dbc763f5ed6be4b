//| a: half[1024]
//| b: half[1024]
//| sum: float[1] out
//| n = 512
// launch: <<<2, 128>>>
#include <cuda_fp16.h>
__global__ void dot_half2(const half2* a, const half2* b, float* sum, int n) {
    __shared__ float part[128];
    half2 value = __float2half2_rn(0.0f);
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) value = __hfma2(a[i], b[i], value);
    part[threadIdx.x] = __low2float(value) + __high2float(value);
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void plain(const half2* a, const half2* b, float* sum, int n) {
    for (int i = 0; i < n / 2; i++) {
        half2 value = __hfma2(a[i + n / 2], b[i + n / 2], __hmul2(a[i], b[i]));
        *sum += __low2float(value) + __high2float(value);
    }
}
