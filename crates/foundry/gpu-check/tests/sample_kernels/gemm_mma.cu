//| A: half[256]
//| B: half[128]
//| C: float[128] out
// launch: <<<1, 32>>>
// `mma.sync` and `ldmatrix` in assembly.
#include <cuda_fp16.h>
__global__ void gemm_mma(const half* A, const half* B, float* C) {
    __shared__ alignas(16) half As[16 * 16], Bs[16 * 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) As[i] = A[i];
    for (int i = lane; i < 128; i += 32) Bs[i] = B[i];
    __syncwarp();
    unsigned a[4], b[2];
    unsigned at = (unsigned)__cvta_generic_to_shared(&As[lane % 16 * 16 + lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
    unsigned bt = (unsigned)__cvta_generic_to_shared(&Bs[lane % 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(bt));
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    int row = lane / 4, col = lane % 4 * 2;
    C[row * 8 + col] = c[0];
    C[row * 8 + col + 1] = c[1];
    C[(row + 8) * 8 + col] = c[2];
    C[(row + 8) * 8 + col + 1] = c[3];
}
__global__ void plain(const half* A, const half* B, float* C) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 16; k++) C[i * 8 + j] += __half2float(A[i * 16 + k]) * __half2float(B[k * 8 + j]);
}
