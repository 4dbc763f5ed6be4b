//$ T = float | double | int
//$ B = 32 | 128 | 512
//| x: $T[1100] < 100
//| y: $T[1100] out
//| n = 1100
// launch: <<<(n + $B - 1) / $B, $B, 8 * $B>>>
__global__ void variants_scan(const $T* x, $T* y, int n) {
    extern __shared__ char raw[];
    $T* s = reinterpret_cast<$T*>(raw);
    int t = threadIdx.x, i = blockIdx.x * $B + t;
    s[t] = i < n ? x[i] : $T(0);
    __syncthreads();
#pragma unroll
    for (int d = 1; d < $B; d *= 2) {
        $T v = t >= d ? s[t - d] : $T(0);
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n) y[i] = s[t];
}
__global__ void plain(const $T* x, $T* y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i] + (i % $B ? y[i - 1] : $T(0));
}
