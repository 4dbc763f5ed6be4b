//$ T = float | double
//$ B = 8 | 16
//$ CORNER = 0 | 1
//| x: $T[1470]
//| y: $T[1470] out
//| h = 35
//| w = 42
// launch: <<<dim3((w + $B - 1) / $B, (h + $B - 1) / $B), dim3($B, $B)>>>
__device__ $T at(const $T* x, int r, int c, int h, int w) { return x[min(max(r, 0), h - 1) * w + min(max(c, 0), w - 1)]; }
__global__ void variants_stencil_plane(const $T* x, $T* y, int h, int w) {
    __shared__ $T s[$B + 2][$B + 2];
    int r0 = blockIdx.y * $B - 1, c0 = blockIdx.x * $B - 1, t = threadIdx.y * $B + threadIdx.x;
    for (int k = t; k < ($B + 2) * ($B + 2); k += $B * $B) s[k / ($B + 2)][k % ($B + 2)] = at(x, r0 + k / ($B + 2), c0 + k % ($B + 2), h, w);
    __syncthreads();
    int r = r0 + 1 + threadIdx.y, c = c0 + 1 + threadIdx.x, i = threadIdx.y + 1, j = threadIdx.x + 1;
    if (r >= h || c >= w) return;
    $T sum = s[i][j] * $T(-4) + s[i - 1][j] + s[i + 1][j] + s[i][j - 1] + s[i][j + 1];
    if ($CORNER) sum += $T(0.5) * (s[i - 1][j - 1] + s[i - 1][j + 1] + s[i + 1][j - 1] + s[i + 1][j + 1]);
    y[r * w + c] = sum;
}
__global__ void plain(const $T* x, $T* y, int h, int w) {
    for (int r = 0; r < h; r++)
        for (int c = 0; c < w; c++)
            for (int k = 0; k < 9; k++) {
                $T weight = k == 4 ? $T(-4) : k % 2 ? $T(1) : $CORNER ? $T(0.5) : $T(0);
                y[r * w + c] += weight * at(x, r + k / 3 - 1, c + k % 3 - 1, h, w);
            }
}
