//$ F = sqrt(fabs(a)) | exp(a) | log(a * a + 1.0) | sin(a) | cos(a) | tanh(a) | pow(fabs(a), b) | erf(a) | atan2(a, b) | cbrt(a) | rsqrt(a * a + 0.1) | fma(a, b, a) | floor(9.0 * a) | fmod(a, 0.3) | a / (b * b + 1.0)
//| x: double[500]
//| z: double[500]
//| y: double[500] out
//| n = 500
// launch: <<<2, 96>>>
__device__ double f(double a, double b) { return $F; }
__global__ void variants_map_double(const double* x, const double* z, double* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f(x[i], z[i]);
}
__global__ void plain(const double* x, const double* z, double* y, int n) {
    for (int i = n - 1; i >= 0; i--) y[i] = f(x[i], z[i]);
}
