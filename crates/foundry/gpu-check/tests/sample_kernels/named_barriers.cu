//| x: float[1024]
//| y: float[1024] out
//| n = 1024
// launch: <<<1, 128>>>
// Two warps fill a buffer, two others empty it; barriers 1 and 2 pass it to and fro.
__global__ void named_barriers(const float* x, float* y, int n) {
    __shared__ float buffer[64];
    int warp = threadIdx.x / 32, t = threadIdx.x % 64;
    for (int i = 0; i < n / 64; i++) {
        if (warp < 2) {
            if (i > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
            buffer[t] = x[i * 64 + t];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            y[i * 64 + t] = buffer[63 - t] * 2.0f;
            if (i + 1 < n / 64) asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}
__global__ void plain(const float* x, float* y, int n) {
    for (int i = 0; i < n; i++) y[i] = 2.0f * x[i / 64 * 64 + 63 - i % 64];
}
