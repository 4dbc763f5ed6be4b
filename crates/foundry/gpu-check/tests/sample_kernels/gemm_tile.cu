//| C: float[2100] out
//| A: float[1550]
//| B: float[1302]
//| m = 50
//| n = 42
//| k = 31
// launch: <<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>
#define TILE 16
__global__ void gemm_tile(float* C, const float* A, const float* B, int m, int n, int k) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < m && a < k ? A[row * k + a] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = b < k && col < n ? B[b * n + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < TILE; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}
__global__ void plain(float* C, const float* A, const float* B, int m, int n, int k) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++) C[i * n + j] += A[i * k + l] * B[l * n + j];
}
