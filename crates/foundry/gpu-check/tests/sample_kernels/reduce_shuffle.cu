//| x: float[5000]
//| sum: float[1] out
//| n = 5000
// launch: <<<4, 256>>>
// Shuffles within warps, one value a warp in shared memory, one atomic addition a block.
__inline__ __device__ float warp_sum(float value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}
__inline__ __device__ float block_sum(float value) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    value = warp_sum(value);
    if (lane == 0) shared[wid] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
    if (wid == 0) value = warp_sum(value);
    return value;
}
__global__ void reduce_shuffle(const float* x, float* sum, int n) {
    float value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) value += x[i];
    value = block_sum(value);
    if (threadIdx.x == 0) atomicAdd(sum, value);
}
__global__ void plain(const float* x, float* sum, int n) {
    for (int i = 0; i < n; i++) *sum += x[i];
}
