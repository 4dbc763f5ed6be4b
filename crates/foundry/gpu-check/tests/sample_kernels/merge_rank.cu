//| x: int[128] < 500
//| y: int[128] out
// launch: <<<1, 128>>>
// Merges two sorted halves by a search of each key in the other half.
template <bool strict> __device__ int rank(const int* half, int key) {
    int low = 0;
    for (int step = 64; step > 0; step >>= 1)
        if (low + step <= 64 && (strict ? half[low + step - 1] < key : half[low + step - 1] <= key)) low += step;
    return low;
}
__global__ void merge_rank(const int* x, int* y) {
    __shared__ int half[2][64];
    int t = threadIdx.x % 64, side = threadIdx.x / 64, own = x[threadIdx.x], before = 0;
    for (int i = 0; i < 64; i++) {
        int other = x[side * 64 + i];
        before += other < own || (other == own && i < t);
    }
    half[side][before] = own;
    __syncthreads();
    own = half[side][t];
    int to = side == 0 ? t + rank<true>(half[1], own) : t + rank<false>(half[0], own);
    y[to] = own;
}
__global__ void plain(const int* x, int* y) {
    for (int i = 0; i < 128; i++) {
        int at = 0;
        for (int j = 0; j < 128; j++) at += x[j] < x[i] || (x[j] == x[i] && j < i);
        y[at] = x[i];
    }
}
