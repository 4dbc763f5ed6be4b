//$ T = float | double
//$ B = 32 | 128
//$ MEAN = 0 | 1
//| x: $T[645]
//| y: $T[645] out
//| rows = 5
//| n = 129
// launch: <<<rows, $B>>>
template <int N> __device__ $T total($T v) {
    __shared__ $T s[N];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int h = N / 2; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    $T all = s[0];
    __syncthreads();
    return all;
}
__global__ void variants_norm(const $T* x, $T* y, int rows, int n) {
    x += blockIdx.x * n, y += blockIdx.x * n;
    $T sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += $B) sum += x[i];
    $T mean = $MEAN ? total<$B>(sum) / n : $T(0);
    for (int i = threadIdx.x; i < n; i += $B) squares += (x[i] - mean) * (x[i] - mean);
    $T scale = rsqrt(total<$B>(squares) / n + $T(1e-5));
    for (int i = threadIdx.x; i < n; i += $B) y[i] = (x[i] - mean) * scale;
}
__global__ void plain(const $T* x, $T* y, int rows, int n) {
    for (int r = 0; r < rows; r++, x += n, y += n) {
        $T mean = 0, squares = 0;
        for (int i = 0; $MEAN && i < n; i++) mean += x[i] / n;
        for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
        for (int i = 0; i < n; i++) y[i] = (x[i] - mean) / sqrt(squares / n + $T(1e-5));
    }
}
