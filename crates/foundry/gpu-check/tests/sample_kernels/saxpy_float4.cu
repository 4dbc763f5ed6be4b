//| x: float[1000]
//| y: float[1000]
//| a = 3
//| n = 1000
// launch: <<<(n / 4 + 127) / 128, 128>>>
__global__ void saxpy_float4(const float4* __restrict__ x, float4* __restrict__ y, int a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 u = __ldg(&x[i]), v = y[i];
        v.x = fmaf(a, u.x, v.x); v.y = fmaf(a, u.y, v.y); v.z = fmaf(a, u.z, v.z); v.w = fmaf(a, u.w, v.w);
        y[i] = v;
    }
}
__global__ void plain(const float* x, float* y, int a, int n) {
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
