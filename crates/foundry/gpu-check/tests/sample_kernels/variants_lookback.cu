//$ B = 32 | 64
//| x: int[400] < 50
//| y: int[400] out
//| state: unsigned long long[16] out
//| ticket: int[1] out
//| n = 400
// launch: <<<(n + $B - 1) / $B, $B>>>
__global__ void variants_lookback(const int* x, int* y, unsigned long long* state, int* ticket, int n) {
    __shared__ int part, before, s[$B];
    if (threadIdx.x == 0) part = atomicAdd(ticket, 1);
    __syncthreads();
    int i = part * $B + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < $B; d *= 2) {
        int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned long long own = (unsigned)s[$B - 1];
        if (part) atomicExch(state + part, own << 2 | 1);
        int sum = 0;
        for (int at = part - 1; at >= 0; at--) {
            unsigned long long seen;
            while (((seen = atomicAdd(state + at, 0ull)) & 3) == 0) {}
            sum += (int)(seen >> 2);
            if (seen & 2) break;
        }
        atomicExch(state + part, (own + sum) << 2 | 2);
        before = sum;
    }
    __syncthreads();
    if (i < n) y[i] = before + s[threadIdx.x];
}
__global__ void plain(const int* x, int* y, unsigned long long* state, int* ticket, int n) {
    unsigned long long sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = sum += x[i];
        state[i / $B] = sum << 2 | 2;
    }
    *ticket = (n + $B - 1) / $B;
}
