//| x: float[256]
//| y: float[256] out
//| n = 256
// launch: <<<1, n, 2 * n * 4>>>
__global__ void scan_hillis(const float* g_idata, float* g_odata, int n) {
    extern __shared__ float temp[];
    int thid = threadIdx.x, pout = 0, pin = 1;
    temp[pout * n + thid] = thid > 0 ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset) temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}
__global__ void plain(const float* x, float* y, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) { y[i] = sum; sum += x[i]; }
}
