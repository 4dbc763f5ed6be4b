//| re: float[256]
//| im: float[256]
//| outre: float[256] out
//| outim: float[256] out
// launch: <<<1, 128>>>
__global__ void fft_shared(const float* re, const float* im, float* outre, float* outim) {
    __shared__ float2 data[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) data[__brev(i) >> 24] = make_float2(re[i], im[i]);
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int j = t % half, i = t / half * 2 * half + j;
        float s, c;
        sincospif(-(float)j / half, &s, &c);
        float2 a = data[i], b = data[i + half];
        float2 v = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        data[i] = make_float2(a.x + v.x, a.y + v.y);
        data[i + half] = make_float2(a.x - v.x, a.y - v.y);
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) { outre[i] = data[i].x; outim[i] = data[i].y; }
}
__global__ void plain(const float* re, const float* im, float* outre, float* outim) {
    for (int k = 0; k < 256; k++) {
        double sr = 0, si = 0;
        for (int i = 0; i < 256; i++) {
            float angle = -2.0f * (i * k % 256) / 256.0f;
            double c = cospif(angle), s = sinpif(angle);
            sr += re[i] * c - im[i] * s;
            si += re[i] * s + im[i] * c;
        }
        outre[k] = sr;
        outim[k] = si;
    }
}
