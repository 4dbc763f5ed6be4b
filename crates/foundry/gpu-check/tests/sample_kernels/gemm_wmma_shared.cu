//| A: half[2048]
//| B: half[2048]
//| C: half[1024] out
//| n = 32
//| k = 64
// launch: <<<1, 128>>>
// Four warps, tiles in shared memory, sums in 16 bits.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void gemm_wmma_shared(const __half* A, const __half* B, __half* C, int n, int k) {
    __shared__ __half As[32][24], Bs[16][40];
    int warp = threadIdx.x / 32, wi = warp / 2, wj = warp % 2;
    fragment<accumulator, 16, 16, 16, __half> acc;
    fill_fragment(acc, __float2half(0.0f));
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = threadIdx.x; i < 32 * 16; i += blockDim.x) {
            As[i / 16][i % 16] = A[i / 16 * k + k0 + i % 16];
            Bs[i / 32][i % 32] = B[(k0 + i / 32) * n + i % 32];
        }
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> a;
        fragment<matrix_b, 16, 16, 16, __half, row_major> b;
        load_matrix_sync(a, &As[wi * 16][0], 24);
        load_matrix_sync(b, &Bs[0][wj * 16], 40);
        mma_sync(acc, a, b, acc);
        __syncthreads();
    }
    store_matrix_sync(C + wi * 16 * n + wj * 16, acc, n, mem_row_major);
}
__global__ void plain(const __half* A, const __half* B, __half* C, int n, int k) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++) sum += __half2float(A[i * k + l]) * __half2float(B[l * n + j]);
            C[i * n + j] = __float2half(sum);
        }
}
