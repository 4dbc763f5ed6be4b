//| offsets: int[41] = 12
//| columns: int[480] < 60
//| values: float[480]
//| x: float[60]
//| y: float[40] out
//| rows = 40
// launch: <<<(rows * 32 + 127) / 128, 128>>>
// A warp a row of a matrix in CSR.
__global__ void spmv_warp(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0;
        for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32) sum += values[i] * x[columns[i]];
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) y[row] = sum;
    }
}
__global__ void plain(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
    for (int r = 0; r < rows; r++)
        for (int i = offsets[r]; i < offsets[r + 1]; i++) y[r] += values[i] * x[columns[i]];
}
