//| A: double[640]
//| x: double[32]
//| y: double[20] out
//| rows = 20
// launch: <<<rows, 32>>>
template <typename T, int COLS> struct Row {
    const T* data;
    __device__ T dot(const T* x) const {
        T sum = 0;
        for (int i = threadIdx.x; i < COLS; i += 32) sum += data[i] * x[i];
        for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
        return sum;
    }
};
template <typename T, int COLS> __global__ void matvec_template(const T* A, const T* x, T* y, int rows) {
    Row<T, COLS> row{A + blockIdx.x * COLS};
    T sum = row.dot(x);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
template __global__ void matvec_template<double, 32>(const double*, const double*, double*, int);
__global__ void plain(const double* A, const double* x, double* y, int rows) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < 32; i++) y[r] += A[r * 32 + i] * x[i];
}
