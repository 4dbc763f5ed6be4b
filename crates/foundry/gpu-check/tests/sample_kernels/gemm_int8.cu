//| A: signed char[256] < 100
//| B: signed char[256] < 100
//| C: int[256] out
// launch: <<<1, 32>>>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm_int8(const signed char* A, const signed char* B, int* C) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(c, 0);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
__global__ void plain(const signed char* A, const signed char* B, int* C) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++) C[i * 16 + j] += A[i * 16 + k] * B[j * 16 + k];
}
