//| A: __nv_bfloat16[256]
//| B: __nv_bfloat16[256]
//| C: float[256] out
// launch: <<<1, 32>>>
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, 16, wmma::mem_col_major);
}
__global__ void plain(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 1.0f;
            for (int k = 0; k < 16; k++) sum += __bfloat162float(A[k * 16 + i]) * __bfloat162float(B[k * 16 + j]);
            C[j * 16 + i] = sum;
        }
}
