//| keys: unsigned[1024] < 100000
//| values: unsigned[1024] < 1000
// launch: <<<2, 256>>>
// Two keys a thread in shared memory; each block sorts its 512.
__device__ inline void comparator(unsigned& keyA, unsigned& valA, unsigned& keyB, unsigned& valB, unsigned dir) {
    if ((keyA > keyB) == dir) {
        unsigned t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}
__global__ void sort_bitonic(unsigned* keys, unsigned* values) {
    __shared__ unsigned s_key[512], s_val[512];
    unsigned at = blockIdx.x * 512 + threadIdx.x;
    // Each pair of key and place is different.
    s_key[threadIdx.x] = keys[at] * 512 + threadIdx.x; s_val[threadIdx.x] = values[at];
    s_key[threadIdx.x + 256] = keys[at + 256] * 512 + threadIdx.x + 256; s_val[threadIdx.x + 256] = values[at + 256];
    for (unsigned size = 2; size < 512; size <<= 1) {
        unsigned ddd = (threadIdx.x & (size / 2)) == 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (unsigned stride = 256; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], 1);
    }
    __syncthreads();
    keys[at] = s_key[threadIdx.x]; values[at] = s_val[threadIdx.x];
    keys[at + 256] = s_key[threadIdx.x + 256]; values[at + 256] = s_val[threadIdx.x + 256];
}
__global__ void plain(unsigned* keys, unsigned* values) {
    for (int block = 0; block < 2; block++) {
        unsigned *k = keys + block * 512, *v = values + block * 512;
        for (int i = 0; i < 512; i++) k[i] = k[i] * 512 + i;
        for (int i = 1; i < 512; i++)
            for (int j = i; j > 0 && k[j] < k[j - 1]; j--) {
                unsigned t = k[j]; k[j] = k[j - 1]; k[j - 1] = t;
                t = v[j]; v[j] = v[j - 1]; v[j - 1] = t;
            }
    }
}
