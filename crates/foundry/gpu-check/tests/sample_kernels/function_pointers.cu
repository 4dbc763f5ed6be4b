//| x: float[300]
//| y: float[300] out
//| n = 300
// launch: <<<3, 100>>>
// Recursion, calls through a table, a switch.
typedef float (*Function)(float);
__device__ __noinline__ float twice(float x) { return 2.0f * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float cube(float x) { return x * square(x); }
__device__ Function table[3] = {twice, square, cube};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void function_pointers(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[i % 3](x[i]) + fibonacci(i % 7);
}
__global__ void plain(const float* x, float* y, int n) {
    for (int i = 0; i < n; i++) {
        int a = 0, b = 1;
        for (int k = 0; k < i % 7; k++) { int c = a + b; a = b; b = c; }
        y[i] = (i % 3 == 0 ? 2.0f * x[i] : i % 3 == 1 ? x[i] * x[i] : x[i] * x[i] * x[i]) + a;
    }
}
