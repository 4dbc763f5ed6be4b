//| A: float[2048]
//| B: float[2048]
//| C: float[4096] out
//| M = 64
//| N = 64
//| K = 32
// launch: <<<dim3(N / 64, M / 64), 256>>>
// Tiles of 4 by 4 in registers, float4 loads, two buffers in shared memory.
__global__ void __launch_bounds__(256) gemm_registers(const float* __restrict__ A, const float* __restrict__ B,
                                                       float* __restrict__ C, int M, int N, int K) {
    __shared__ float As[2][8][64], Bs[2][8][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};
    auto load = [&](int buffer, int k0) {
        if (threadIdx.x < 128) {
            int row = threadIdx.x / 2, col = threadIdx.x % 2 * 4;
            float4 a = *reinterpret_cast<const float4*>(&A[(blockIdx.y * 64 + row) * K + k0 + col]);
            As[buffer][col][row] = a.x; As[buffer][col + 1][row] = a.y;
            As[buffer][col + 2][row] = a.z; As[buffer][col + 3][row] = a.w;
        } else {
            int id = threadIdx.x - 128, row = id / 16, col = id % 16 * 4;
            *reinterpret_cast<float4*>(&Bs[buffer][row][col]) =
                *reinterpret_cast<const float4*>(&B[(k0 + row) * N + blockIdx.x * 64 + col]);
        }
    };
    load(0, 0);
    __syncthreads();
    for (int k0 = 0, buffer = 0; k0 < K; k0 += 8, buffer ^= 1) {
        if (k0 + 8 < K) load(buffer ^ 1, k0 + 8);
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 a = *reinterpret_cast<float4*>(&As[buffer][k][ty * 4]);
            float4 b = *reinterpret_cast<float4*>(&Bs[buffer][k][tx * 4]);
            float ra[4] = {a.x, a.y, a.z, a.w}, rb[4] = {b.x, b.y, b.z, b.w};
            #pragma unroll
            for (int i = 0; i < 4; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *reinterpret_cast<float4*>(&C[(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 4]) =
            make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
__global__ void plain(const float* A, const float* B, float* C, int m, int n, int k) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++) C[i * n + j] += A[i * k + l] * B[l * n + j];
}
