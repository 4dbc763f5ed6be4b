//$ F = old + v | old > v ? old : v | old < v ? old : v | old * (1.0f + 0.01f * v) | fabsf(v) > old ? fabsf(v) : old
//$ WHERE = of | of + 1
//| x: float[300]
//| of: float[2] out
//| n = 300
// launch: <<<3, 100>>>
__device__ float f(float old, float v) { return $F; }
__global__ void variants_exchange(const float* x, float* of, int n) {
    unsigned* place = reinterpret_cast<unsigned*>($WHERE);
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = *place, expected;
    do {
        expected = seen;
        seen = atomicCAS(place, expected, __float_as_uint(f(__uint_as_float(expected), v)));
    } while (seen != expected);
}
__global__ void plain(const float* x, float* of, int n) {
    for (int i = 0; i < n; i++) *($WHERE) = f(*($WHERE), x[i]);
}
