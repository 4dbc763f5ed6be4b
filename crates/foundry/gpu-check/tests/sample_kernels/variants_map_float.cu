//$ F = sqrtf(fabsf(a)) | expf(a) | logf(a * a + 1.0f) | sinf(9.0f * a) | cosf(9.0f * a) | tanf(a) | tanhf(a) | erff(a) | erfcf(a) | rsqrtf(a * a + 0.1f) | atan2f(a, b) | powf(fabsf(a), b) | fmodf(5.0f * a, 0.7f) | cbrtf(a) | log1pf(a * a) | expm1f(a) | asinf(a) | acosf(a) | atanf(a) | sinhf(a) | coshf(a) | asinhf(a) | floorf(9.0f * a) | rintf(9.0f * a) | normcdff(a) | hypotf(a, b) | fmaf(a, b, a) | copysignf(a, b) | fdimf(a, b) | exp2f(a) | log2f(a * a + 0.5f) | lgammaf(a * a + 1.5f) | tgammaf(a * a + 1.0f) | j0f(a) | sinpif(a) | ldexpf(a, 3) | roundf(5.0f * a) | truncf(5.0f * a) | nextafterf(a, b) | remainderf(a, 0.3f) | __expf(a) | __logf(a * a + 1.0f) | __fdividef(a, b * b + 1.0f) | __saturatef(a) | __frcp_rn(a * a + 1.0f)
//| x: float[500]
//| z: float[500]
//| y: float[500] out
//| n = 500
// launch: <<<2, 96>>>
__device__ float f(float a, float b) { return $F; }
__global__ void variants_map_float(const float* x, const float* z, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f(x[i], z[i]);
}
__global__ void plain(const float* x, const float* z, float* y, int n) {
    for (int i = n - 1; i >= 0; i--) y[i] = f(x[i], z[i]);
}
