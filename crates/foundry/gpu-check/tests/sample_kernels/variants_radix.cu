//$ BITS = 1 | 2 | 4
//$ SHIFT = 0 | 3
//| x: unsigned[128] < 4096
//| y: unsigned[128] out
//| n = 128
// launch: <<<1, n>>>
__global__ void variants_radix(const unsigned* x, unsigned* y, int n) {
    __shared__ int digits[128], first[(1 << $BITS) + 1];
    int t = threadIdx.x, own = x[t] >> $SHIFT & ((1 << $BITS) - 1), rank = 0;
    if (t <= 1 << $BITS) first[t] = 0;
    digits[t] = own;
    __syncthreads();
    atomicAdd(&first[own + 1], 1);
    for (int i = 0; i < t; i++) rank += digits[i] == own;
    __syncthreads();
    if (t == 0) for (int d = 0; d < 1 << $BITS; d++) first[d + 1] += first[d];
    __syncthreads();
    y[first[own] + rank] = x[t];
}
__global__ void plain(const unsigned* x, unsigned* y, int n) {
    int at = 0;
    for (unsigned d = 0; d < 1 << $BITS; d++)
        for (int i = 0; i < n; i++) if ((x[i] >> $SHIFT & ((1 << $BITS) - 1)) == d) y[at++] = x[i];
}
