//| dst: float[1024] out
//| src: float[1024]
//| stride = 32
// launch: <<<dim3(4, 4), dim3(8, 8)>>>
__constant__ float DCT[64] = {
    0.35355339f, 0.49039264f, 0.46193977f, 0.41573481f, 0.35355339f, 0.27778512f, 0.19134172f, 0.09754516f,
    0.35355339f, 0.41573481f, 0.19134172f, -0.09754516f, -0.35355339f, -0.49039264f, -0.46193977f, -0.27778512f,
    0.35355339f, 0.27778512f, -0.19134172f, -0.49039264f, -0.35355339f, 0.09754516f, 0.46193977f, 0.41573481f,
    0.35355339f, 0.09754516f, -0.46193977f, -0.27778512f, 0.35355339f, 0.41573481f, -0.19134172f, -0.49039264f,
    0.35355339f, -0.09754516f, -0.46193977f, 0.27778512f, 0.35355339f, -0.41573481f, -0.19134172f, 0.49039264f,
    0.35355339f, -0.27778512f, -0.19134172f, 0.49039264f, -0.35355339f, -0.09754516f, 0.46193977f, -0.41573481f,
    0.35355339f, -0.41573481f, 0.19134172f, 0.09754516f, -0.35355339f, 0.49039264f, -0.46193977f, 0.27778512f,
    0.35355339f, -0.49039264f, 0.46193977f, -0.41573481f, 0.35355339f, -0.27778512f, 0.19134172f, -0.09754516f};
__global__ void dct_8x8(float* Dst, const float* Src, int stride) {
    __shared__ float block[64], half[64];
    int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * 8 + ty) * stride + blockIdx.x * 8 + tx;
    block[ty * 8 + tx] = Src[at];
    __syncthreads();
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 8; i++) sum += DCT[i * 8 + ty] * block[i * 8 + tx];
    half[ty * 8 + tx] = sum;
    __syncthreads();
    sum = 0;
    #pragma unroll
    for (int i = 0; i < 8; i++) sum += half[ty * 8 + i] * DCT[i * 8 + tx];
    Dst[at] = sum;
}
__global__ void plain(float* dst, const float* src, int stride) {
    for (int at = 0; at < 1024; at++) {
        int x = at % 32, y = at / 32;
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                dst[at] += DCT[i * 8 + y % 8] * src[(y / 8 * 8 + i) * stride + x / 8 * 8 + j] * DCT[j * 8 + x % 8];
    }
}
