//$ T = float | double
//$ B = 32 | 128
//| x: $T[600]
//| f: $T[600] out
//| n = 200
// launch: <<<(n + $B - 1) / $B, $B>>>
__device__ void pull($T* sum, const $T* a, const $T* b) {
    $T d[3], r = $T(0.01);
    for (int k = 0; k < 3; k++) d[k] = b[k] - a[k], r += d[k] * d[k];
    $T inverse = rsqrt(r);
    for (int k = 0; k < 3; k++) sum[k] += d[k] * inverse * inverse * inverse;
}
__global__ void variants_nbody(const $T* x, $T* f, int n) {
    __shared__ $T tile[$B][3];
    int i = blockIdx.x * $B + threadIdx.x;
    $T own[3] = {}, sum[3] = {};
    if (i < n) for (int k = 0; k < 3; k++) own[k] = x[3 * i + k];
    for (int from = 0; from < n; from += $B) {
        if (from + threadIdx.x < n) for (int k = 0; k < 3; k++) tile[threadIdx.x][k] = x[3 * (from + threadIdx.x) + k];
        __syncthreads();
        for (int j = 0; j < min($B, n - from); j++) pull(sum, own, tile[j]);
        __syncthreads();
    }
    if (i < n) for (int k = 0; k < 3; k++) f[3 * i + k] = sum[k];
}
__global__ void plain(const $T* x, $T* f, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) pull(f + 3 * i, x + 3 * i, x + 3 * j);
}
