//| A: float[512]
//| B: float[512]
//| C: float[256] out
//| k = 32
// launch: <<<1, 32>>>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm_wmma_tf32(const float* A, const float* B, float* C, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k0 = 0; k0 < k; k0 += 8) {
        wmma::load_matrix_sync(a, A + k0, k);
        wmma::load_matrix_sync(b, B + k0 * 16, 16);
        for (int i = 0; i < a.num_elements; i++) a.x[i] = wmma::__float_to_tf32(a.x[i]);
        for (int i = 0; i < b.num_elements; i++) b.x[i] = wmma::__float_to_tf32(b.x[i]);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C, c, 16, wmma::mem_row_major);
}
__device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
__global__ void plain(const float* A, const float* B, float* C, int k) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int l = 0; l < k; l++) C[i * 16 + j] += rounded(A[i * k + l]) * rounded(B[l * 16 + j]);
}
