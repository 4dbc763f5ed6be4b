//| A: half[1024]
//| B: half[1024]
//| C: float[1024] out
//| n = 32
// launch: <<<dim3(n / 16, n / 16), 32>>>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm_wmma(const half* A, const half* B, float* C, int n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(b, B + blockIdx.x * 16 * n + k, n);
        wmma::mma_sync(c, a, b, c);
    }
    for (int i = 0; i < c.num_elements; i++) c.x[i] *= 2.0f;
    wmma::store_matrix_sync(C + blockIdx.y * 16 * n + blockIdx.x * 16, c, n, wmma::mem_row_major);
}
__global__ void plain(const half* A, const half* B, float* C, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) C[i * n + j] += __half2float(A[i * n + k]) * __half2float(B[j * n + k]);
            C[i * n + j] *= 2.0f;
        }
}
