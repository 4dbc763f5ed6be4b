//$ BINS = 16 | 64 | 256
//$ B = 64 | 256
//| x: unsigned char[3000] < 256
//| bins: unsigned[256] out
//| n = 3000
// launch: <<<5, $B>>>
__global__ void variants_histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned own[$BINS];
    for (int i = threadIdx.x; i < $BINS; i += $B) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * $B + threadIdx.x; i < n; i += gridDim.x * $B) atomicAdd(&own[x[i] % $BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < $BINS; i += $B)
        if (own[i]) atomicAdd(bins + i, own[i]);
}
__global__ void plain(const unsigned char* x, unsigned* bins, int n) {
    for (int i = 0; i < n; i++) bins[x[i] % $BINS]++;
}
