//| x: float[4000]
//| sums: float[5] out
//| n = 4000
// launch: <<<5, 256, 256 * 4>>>
// A template over the size of a block, unrolled, in dynamic shared memory.
template <unsigned int blockSize>
__global__ void reduce_unrolled(const float* g_idata, float* g_odata, unsigned int n) {
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid, gridSize = blockSize * 2 * gridDim.x;
    float sum = 0;
    while (i < n) {
        sum += g_idata[i];
        if (i + blockSize < n) sum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) sdata[tid] = sum = sum + sdata[tid + 256]; __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) sdata[tid] = sum = sum + sdata[tid + 128]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) sdata[tid] = sum = sum + sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) {
        sum += sdata[tid + 32];
        #pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = sum;
}
template __global__ void reduce_unrolled<256>(const float*, float*, unsigned int);
__global__ void plain(const float* x, float* sums, unsigned int n) {
    for (unsigned i = 0; i < n; i++) sums[i % 2560 / 512] += x[i];
}
