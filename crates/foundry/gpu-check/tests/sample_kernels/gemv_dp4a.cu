//| A: signed char[2048] < 100
//| x: signed char[64] < 100
//| y: int[32] out
//| cols = 64
// launch: <<<4, dim3(16, 8)>>>
__global__ void gemv_dp4a(const int* A, const int* x, int* y, int cols) {
    int row = blockIdx.x * 8 + threadIdx.y, sum = 0;
    for (int i = threadIdx.x; i < cols / 4; i += 16) sum = __dp4a(A[row * cols / 4 + i], x[i], sum);
    for (int d = 8; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d, 16);
    if (threadIdx.x == 0) y[row] = sum;
}
__global__ void plain(const signed char* A, const signed char* x, int* y, int cols) {
    for (int r = 0; r < 32; r++)
        for (int i = 0; i < cols; i++) y[r] += A[r * cols + i] * x[i];
}
