//| x: float[1530]
//| y: float[1530] out
//| rows = 15
//| cols = 102
// launch: <<<(rows + 3) / 4, dim3(32, 4)>>>
// A warp a row: largest number and sum in one pass.
__global__ void softmax_online(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) {
        float v = x[row * cols + i], bigger = fmaxf(most, v);
        sum = sum * __expf(most - bigger) + __expf(v - bigger);
        most = bigger;
    }
    for (int offset = 16; offset; offset >>= 1) {
        float m = __shfl_xor_sync(0xffffffff, most, offset), s = __shfl_xor_sync(0xffffffff, sum, offset);
        float bigger = fmaxf(most, m);
        sum = sum * __expf(most - bigger) + s * __expf(m - bigger);
        most = bigger;
    }
    for (int i = threadIdx.x; i < cols; i += 32) y[row * cols + i] = __fdividef(__expf(x[row * cols + i] - most), sum);
}
__global__ void plain(const float* x, float* y, int rows, int cols) {
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        for (int i = 0; i < cols; i++) sum += expf(x[r * cols + i]);
        for (int i = 0; i < cols; i++) y[r * cols + i] = expf(x[r * cols + i]) / sum;
    }
}
