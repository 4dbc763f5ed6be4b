//| A: double[64]
//| B: double[64]
//| C: double[64] out
//| k = 8
// launch: <<<1, 32>>>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm_wmma_double(const double* A, const double* B, double* C, int k) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;
    wmma::fill_fragment(c, 0.0);
    for (int k0 = 0; k0 < k; k0 += 4) {
        wmma::load_matrix_sync(a, A + k0, k);
        wmma::load_matrix_sync(b, B + k0 * 8, 8);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C, c, 8, wmma::mem_row_major);
}
__global__ void plain(const double* A, const double* B, double* C, int k) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            for (int l = 0; l < k; l++) C[i * 8 + j] += A[i * k + l] * B[l * 8 + j];
}
