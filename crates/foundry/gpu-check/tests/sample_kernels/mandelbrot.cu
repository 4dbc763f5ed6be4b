//| out: unsigned[384] out
//| w = 24
//| h = 16
// launch: <<<dim3(3, 2), dim3(8, 8)>>>
__device__ inline int iterations(float cx, float cy) {
    float x = 0, y = 0;
    int i = 0;
    while (x * x + y * y < 4.0f && i < 50) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; i++; }
    return i;
}
__global__ void mandelbrot(unsigned* out, int w, int h) {
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix < w && iy < h) out[iy * w + ix] = iterations(-2.0f + 3.0f * ix / w, -1.0f + 2.0f * iy / h);
}
__global__ void plain(unsigned* out, int w, int h) {
    for (int i = 0; i < w * h; i++) out[i] = iterations(-2.0f + 3.0f * (i % w) / w, -1.0f + 2.0f * (i / w) / h);
}
