//| A: unsigned short[64] < 60000
//| B: unsigned short[64] out
// launch: <<<1, 32>>>
// A matrix of 8 x 8 halves is transposed in the registers of a warp, two of a row in each lane.
__global__ void transpose_movmatrix(const unsigned short* A, unsigned short* B) {
    int lane = threadIdx.x;
    unsigned pair = A[lane * 2] | (unsigned)A[lane * 2 + 1] << 16, turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    B[lane * 2] = (unsigned short)turned;
    B[lane * 2 + 1] = (unsigned short)(turned >> 16);
}
__global__ void plain(const unsigned short* A, unsigned short* B) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) B[i * 8 + j] = A[j * 8 + i];
}
