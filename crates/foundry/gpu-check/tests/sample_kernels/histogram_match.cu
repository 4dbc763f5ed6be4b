//| data: int[3000] < 16
//| bins: int[16] out
//| n = 3000
// launch: <<<(n + 255) / 256, 256>>>
// Lanes with one value add once.
__global__ void histogram_match(const int* data, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        unsigned peers = __match_any_sync(active, data[i]);
        int leader = __ffs(peers) - 1;
        if ((threadIdx.x & 31) == leader) atomicAdd(&bins[data[i]], __popc(peers));
    }
}
__global__ void plain(const int* data, int* bins, int n) {
    for (int i = 0; i < n; i++) bins[data[i]]++;
}
