//| x: int[512] < 100
//| y: int[512] out
//| n = 512
// launch: <<<1, n / 2>>>
#define LOG_BANKS 5
#define SHIFTED(i) ((i) + ((i) >> LOG_BANKS))
__global__ void scan_blelloch(const int* x, int* y, int n) {
    __shared__ int temp[512 + 16];
    int thid = threadIdx.x, offset = 1;
    int ai = thid, bi = thid + n / 2;
    temp[SHIFTED(ai)] = x[ai];
    temp[SHIFTED(bi)] = x[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int i = SHIFTED(offset * (2 * thid + 1) - 1), j = SHIFTED(offset * (2 * thid + 2) - 1);
            temp[j] += temp[i];
        }
        offset *= 2;
    }
    if (thid == 0) temp[SHIFTED(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int i = SHIFTED(offset * (2 * thid + 1) - 1), j = SHIFTED(offset * (2 * thid + 2) - 1);
            int t = temp[i];
            temp[i] = temp[j];
            temp[j] += t;
        }
    }
    __syncthreads();
    y[ai] = temp[SHIFTED(ai)];
    y[bi] = temp[SHIFTED(bi)];
}
__global__ void plain(const int* x, int* y, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) { y[i] = sum; sum += x[i]; }
}
