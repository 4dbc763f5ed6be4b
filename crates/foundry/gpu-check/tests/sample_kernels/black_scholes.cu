//| call: float[500] out
//| put: float[500] out
//| spot: float[500]
//| strike: float[500]
//| n = 500
// launch: <<<4, 128>>>
__device__ inline float cndGPU(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    float K = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float cnd = 0.39894228040143267793994605993438f * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    return d > 0 ? 1.0f - cnd : cnd;
}
__global__ void black_scholes(float* call, float* put, const float* spot, const float* strike, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float S = 2.0f + spot[i], X = 2.0f + strike[i], T = 1.5f, R = 0.02f, V = 0.3f;
    float sqrtT = __fdividef(1.0f, rsqrtf(T));
    float d1 = __fdividef(__logf(S / X) + (R + 0.5f * V * V) * T, V * sqrtT), d2 = d1 - V * sqrtT;
    float expRT = __expf(-R * T), CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2);
    call[i] = S * CNDD1 - X * expRT * CNDD2;
    put[i] = X * expRT * (1.0f - CNDD2) - S * (1.0f - CNDD1);
}
__global__ void plain(float* call, float* put, const float* spot, const float* strike, int n) {
    for (int i = 0; i < n; i++) {
        double S = 2 + spot[i], X = 2 + strike[i], T = 1.5, R = 0.02, V = 0.3;
        double d1 = (log(S / X) + (R + V * V / 2) * T) / (V * sqrt(T)), d2 = d1 - V * sqrt(T);
        call[i] = S * normcdf(d1) - X * exp(-R * T) * normcdf(d2);
        put[i] = X * exp(-R * T) * normcdf(-d2) - S * normcdf(-d1);
    }
}
