//| x: int[1000] < 100
//| sums: int[8] out
//| n = 1000
// launch: <<<(n + 127) / 128, 128>>>
// Sequential addressing in shared memory.
__global__ void reduce_tree(const int* x, int* sums, int n) {
    __shared__ int part[128];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    part[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0) sums[blockIdx.x] = part[0];
}
__global__ void plain(const int* x, int* sums, int n) {
    for (int i = 0; i < n; i++) sums[i / 128] += x[i];
}
