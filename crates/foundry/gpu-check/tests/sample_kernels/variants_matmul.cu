//$ T = float | double | int
//$ B = 4 | 8 | 16
//| a: $T[589] < 50
//| b: $T[703] < 50
//| c: $T[1147] out
//| m = 31
//| k = 19
//| n = 37
// launch: <<<dim3((n + $B - 1) / $B, (m + $B - 1) / $B), dim3($B, $B)>>>
__global__ void variants_matmul(const $T* a, const $T* b, $T* c, int m, int k, int n) {
    __shared__ $T left[$B][$B], right[$B][$B];
    int row = blockIdx.y * $B + threadIdx.y, col = blockIdx.x * $B + threadIdx.x;
    $T sum = 0;
    for (int at = 0; at < k; at += $B) {
        left[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : $T(0);
        right[threadIdx.y][threadIdx.x] = col < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + col] : $T(0);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < $B; j++) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
__global__ void plain(const $T* a, const $T* b, $T* c, int m, int k, int n) {
    for (int i = 0; i < m * n; i++)
        for (int j = 0; j < k; j++) c[i] += a[i / n * k + j] * b[j * n + i % n];
}
