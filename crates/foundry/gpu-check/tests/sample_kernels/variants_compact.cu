//$ T = int | float | double
//$ B = 32 | 96
//| x: $T[500] < 100
//| y: $T[500] out
//| counts: int[500] out
//| n = 500
// launch: <<<1, $B>>>
__global__ void variants_compact(const $T* x, $T* y, int* counts, int n) {
    __shared__ int base[$B / 32 + 1];
    __shared__ int begin;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) begin = 0;
    for (int from = 0; from < n; from += $B) {
        int i = from + threadIdx.x;
        bool keep = i < n && x[i] > $T(0.3);
        unsigned votes = __ballot_sync(~0u, keep);
        if (lane == 0) base[warp] = __popc(votes);
        __syncthreads();
        int at = begin + __popc(votes & ((1u << lane) - 1));
        for (int w = 0; w < warp; w++) at += base[w];
        if (keep) y[at] = x[i];
        __syncthreads();
        if (threadIdx.x == 0) for (int w = 0; w < $B / 32; w++) begin += base[w];
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[0] = begin;
}
__global__ void plain(const $T* x, $T* y, int* counts, int n) {
    for (int i = 0; i < n; i++) if (x[i] > $T(0.3)) y[counts[0]++] = x[i];
}
