//$ T = float | double
//$ B = 32 | 64 | 256
//| x: $T[700]
//| y: $T[700] out
//| rows = 7
//| n = 100
// launch: <<<rows, $B>>>
__global__ void variants_softmax(const $T* x, $T* y, int rows, int n) {
    __shared__ $T s[$B / 32];
    x += blockIdx.x * n, y += blockIdx.x * n;
    $T most = x[0], sum = 0;
    for (int i = threadIdx.x; i < n; i += $B) most = max(most, x[i]);
    for (int d = 16; d; d >>= 1) most = max(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
    __syncthreads();
    for (int i = 0; i < $B / 32; i++) most = max(most, s[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += $B) sum += y[i] = exp(x[i] - most);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < $B / 32; i++) sum += s[i];
    for (int i = threadIdx.x; i < n; i += $B) y[i] /= sum;
}
__global__ void plain(const $T* x, $T* y, int rows, int n) {
    for (int r = 0; r < rows; r++) {
        $T sum = 0;
        for (int i = 0; i < n; i++) sum += exp(x[r * n + i]);
        for (int i = 0; i < n; i++) y[r * n + i] = exp(x[r * n + i]) / sum;
    }
}
