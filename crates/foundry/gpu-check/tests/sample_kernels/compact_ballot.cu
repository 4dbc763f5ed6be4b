//| x: int[1000] < 10
//| flags: int[1000] out
//| count: int[1] out
//| n = 1000
// launch: <<<(n + 127) / 128, 128>>>
// Lanes of a warp that keep a value take places by one atomic addition; the order of warps is free.
__global__ void compact_ballot(const int* x, int* flags, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && x[i] > 4;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int lane = threadIdx.x & 31, base = 0;
    if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) flags[base + __popc(mask & ((1u << lane) - 1))] = 1;
}
__global__ void plain(const int* x, int* flags, int* count, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] > 4) flags[(*count)++] = 1;
}
