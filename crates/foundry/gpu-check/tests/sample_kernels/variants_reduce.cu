//$ T = float | double | int
//$ B = 64 | 128 | 256
//$ OP = a + b | (a < b ? b : a)
//| x: $T[1000] < 100
//| r: $T[20] out
//| n = 1000
// launch: <<<(n + $B - 1) / $B, $B>>>
__device__ $T op($T a, $T b) { return $OP; }
__global__ void variants_reduce(const $T* x, $T* r, int n) {
    __shared__ $T s[$B];
    int i = blockIdx.x * $B + threadIdx.x;
    s[threadIdx.x] = x[i < n ? i : n - 1];
    if (i >= n) s[threadIdx.x] = x[blockIdx.x * $B];
    __syncthreads();
    for (int h = $B / 2; h; h >>= 1) {
        // What lies behind the end counts once alone.
        if (threadIdx.x < h && i + h < n) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + h]);
        __syncthreads();
    }
    if (threadIdx.x == 0) r[blockIdx.x] = s[0];
}
__global__ void plain(const $T* x, $T* r, int n) {
    for (int i = 0; i < n; i++) r[i / $B] = i % $B ? op(r[i / $B], x[i]) : x[i];
}
