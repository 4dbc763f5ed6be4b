//| x: unsigned[1024] < 1000
//| y: unsigned[1024] out
//| n = 1024
// launch: <<<1, 1024>>>
__global__ void scan_warp(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned sums[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned value = threadIdx.x < n ? x[threadIdx.x] : 0;
    #pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, value, i, 32);
        if (lane >= i) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        unsigned sum = sums[lane];
        for (int i = 1; i < 32; i *= 2) {
            unsigned other = __shfl_up_sync(0xffffffffu, sum, i);
            if (lane >= i) sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    if (threadIdx.x < n) y[threadIdx.x] = value;
}
__global__ void plain(const unsigned* x, unsigned* y, int n) {
    unsigned sum = 0;
    for (int i = 0; i < n; i++) y[i] = sum += x[i];
}
