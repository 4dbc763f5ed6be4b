//| dst: float[1536] out
//| src: float[1536]
//| w = 64
//| h = 24
// launch: <<<dim3(w / 32, h / 4), dim3(16, 4)>>>
#define KERNEL_RADIUS 4
#define X 16
#define Y 4
__constant__ float c_Kernel[2 * KERNEL_RADIUS + 1] = {0.1f, 0.2f, -0.3f, 0.4f, 1.0f, 0.5f, -0.6f, 0.7f, 0.8f};
__global__ void convolution_rows(float* d_Dst, const float* d_Src, int imageW, int imageH) {
    __shared__ float s_Data[Y][(2 + 2) * X];
    int baseX = (blockIdx.x * 2 - 1) * X + threadIdx.x, baseY = blockIdx.y * Y + threadIdx.y;
    d_Src += baseY * imageW + baseX;
    d_Dst += baseY * imageW + baseX;
    #pragma unroll
    for (int i = 1; i < 3; i++) s_Data[threadIdx.y][threadIdx.x + i * X] = d_Src[i * X];
    s_Data[threadIdx.y][threadIdx.x] = baseX >= 0 ? d_Src[0] : 0;
    s_Data[threadIdx.y][threadIdx.x + 3 * X] = imageW - baseX > 3 * X ? d_Src[3 * X] : 0;
    __syncthreads();
    #pragma unroll
    for (int i = 1; i < 3; i++) {
        float sum = 0;
        #pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * X + j];
        d_Dst[i * X] = sum;
    }
}
__global__ void plain(float* dst, const float* src, int w, int h) {
    for (int i = 0; i < w * h; i++)
        for (int j = -4; j <= 4; j++) {
            int x = i % w + j;
            if (x >= 0 && x < w) dst[i] += c_Kernel[4 - j] * src[i + j];
        }
}
