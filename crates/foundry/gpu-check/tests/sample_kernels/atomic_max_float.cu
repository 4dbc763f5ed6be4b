//| x: float[1000]
//| most: float[1] out
//| least: float[1] out
//| n = 1000
// launch: <<<4, 256>>>
__device__ float atomicMaxFloat(float* address, float value) {
    int* as_int = (int*)address;
    int old = *as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__device__ double minOfBlock(double value) {
    __shared__ unsigned long long least;
    if (threadIdx.x == 0) least = ~0ull;
    __syncthreads();
    atomicMin(&least, (unsigned long long)__double_as_longlong(value + 4.0));
    __syncthreads();
    return __longlong_as_double(least) - 4.0;
}
__global__ void atomic_max_float(const float* x, float* most, float* least, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    atomicMaxFloat(most, value);
    double block = minOfBlock(value);
    if (threadIdx.x == 0 && block < 0) atomicMin((int*)least, __float_as_int((float)block) ^ 0x7fffffff);
}
__global__ void plain(const float* x, float* most, float* least, int n) {
    float low = 0;
    for (int i = 0; i < n; i++) { *most = fmaxf(*most, x[i]); low = fminf(low, x[i]); }
    *(int*)least = __float_as_int(low) ^ 0x7fffffff;
}
