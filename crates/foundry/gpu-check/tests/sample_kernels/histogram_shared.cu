//| data: unsigned char[4000] < 256
//| bins: unsigned[256] out
//| n = 4000
// launch: <<<6, 192>>>
__global__ void histogram_shared(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(bins + i, local[i]);
}
__global__ void plain(const unsigned char* data, unsigned* bins, int n) {
    for (int i = 0; i < n; i++) bins[data[i]]++;
}
