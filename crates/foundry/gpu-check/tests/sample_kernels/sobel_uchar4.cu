//| in: unsigned char[1024] < 256
//| out: unsigned char[1024] out
//| w = 32
//| h = 32
// launch: <<<(w * h / 4 + 63) / 64, 64>>>
__device__ unsigned char sobel(int a, int b, int c, int d, int f, int g, int h, int i) {
    int horizontal = c + 2 * f + i - a - 2 * d - g, vertical = a + 2 * b + c - g - 2 * h - i;
    return (unsigned char)min(abs(horizontal) + abs(vertical), 255);
}
__global__ void sobel_uchar4(const unsigned char* in, unsigned char* out, int w, int h) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= w * h) return;
    int y = i / w, x = i % w;
    uchar4 pixel = make_uchar4(0, 0, 0, 0);
    unsigned char* parts = &pixel.x;
    if (y > 0 && y < h - 1)
        for (int k = 0; k < 4; k++) {
            int c = x + k;
            const unsigned char* p = in + y * w + c;
            if (c > 0 && c < w - 1) parts[k] = sobel(p[-w - 1], p[-w], p[-w + 1], p[-1], p[1], p[w - 1], p[w], p[w + 1]);
        }
    *reinterpret_cast<uchar4*>(out + i) = pixel;
}
__global__ void plain(const unsigned char* in, unsigned char* out, int w, int h) {
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            const unsigned char* p = in + y * w + x;
            out[y * w + x] = sobel(p[-w - 1], p[-w], p[-w + 1], p[-1], p[1], p[w - 1], p[w], p[w + 1]);
        }
}
