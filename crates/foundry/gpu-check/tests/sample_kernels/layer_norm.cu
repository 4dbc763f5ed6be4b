//| x: float[1280]
//| gain: float[128]
//| bias: float[128]
//| y: float[1280] out
//| cols = 128
// launch: <<<10, 128>>>
struct Moments { float mean, m2; int count; };
__device__ Moments merged(Moments a, Moments b) {
    if (a.count + b.count == 0) return a;
    float delta = b.mean - a.mean;
    int count = a.count + b.count;
    return {a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count, count};
}
__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int cols) {
    __shared__ Moments warps[4];
    float value = x[blockIdx.x * cols + threadIdx.x];
    Moments own = {value, 0, 1};
    for (int d = 16; d > 0; d /= 2) {
        Moments other = {__shfl_down_sync(~0u, own.mean, d), __shfl_down_sync(~0u, own.m2, d), __shfl_down_sync(~0u, own.count, d)};
        own = merged(own, other);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    Moments all = warps[0];
    for (int w = 1; w < 4; w++) all = merged(all, warps[w]);
    float scale = rsqrtf(all.m2 / cols + 1e-5f);
    y[blockIdx.x * cols + threadIdx.x] = (value - all.mean) * scale * gain[threadIdx.x] + bias[threadIdx.x];
}
__global__ void plain(const float* x, const float* gain, const float* bias, float* y, int cols) {
    for (int r = 0; r < 10; r++) {
        double mean = 0, m2 = 0;
        for (int i = 0; i < cols; i++) mean += x[r * cols + i] / (double)cols;
        for (int i = 0; i < cols; i++) m2 += (x[r * cols + i] - mean) * (x[r * cols + i] - mean);
        for (int i = 0; i < cols; i++)
            y[r * cols + i] = (x[r * cols + i] - mean) / sqrt(m2 / cols + 1e-5) * gain[i] + bias[i];
    }
}
