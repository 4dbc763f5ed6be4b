//$ T = float | double | int
//$ R = 1 | 2 | 3 | 7
//| x: $T[515] < 100
//| y: $T[515] out
//| n = 515
// launch: <<<(n + 63) / 64, 64>>>
__global__ void variants_stencil(const $T* x, $T* y, int n) {
    __shared__ $T s[64 + 2 * $R];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + $R;
    s[t] = i < n ? x[i] : $T(0);
    if (threadIdx.x < $R) {
        s[t - $R] = i >= $R ? x[i - $R] : $T(0);
        s[t + 64] = i + 64 < n ? x[i + 64] : $T(0);
    }
    __syncthreads();
    $T sum = 0;
    for (int k = -$R; k <= $R; k++) sum += s[t + k];
    if (i < n) y[i] = sum;
}
__global__ void plain(const $T* x, $T* y, int n) {
    for (int i = 0; i < n; i++)
        for (int k = max(0, i - $R); k <= min(n - 1, i + $R); k++) y[i] += x[k];
}
