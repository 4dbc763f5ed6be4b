//| keys: unsigned[128] < 65536
//| sorted: unsigned[128] out
// launch: <<<1, 128>>>
// A bit at a time, by ballots.
__global__ void sort_radix(const unsigned* keys, unsigned* sorted) {
    __shared__ unsigned data[128], ones[4];
    unsigned tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    unsigned key = keys[tid];
    for (int bit = 0; bit < 16; bit++) {
        unsigned votes = __ballot_sync(~0u, key >> bit & 1);
        if (lane == 0) ones[warp] = __popc(votes);
        __syncthreads();
        unsigned before = __popc(votes & below), all = 0;
        for (int w = 0; w < 4; w++) { if (w < warp) before += ones[w]; all += ones[w]; }
        unsigned to = key >> bit & 1 ? 128 - all + before : tid - before;
        data[to] = key;
        __syncthreads();
        key = data[tid];
    }
    sorted[tid] = key;
}
__global__ void plain(const unsigned* keys, unsigned* sorted) {
    for (int i = 0; i < 128; i++) sorted[i] = keys[i];
    for (int i = 1; i < 128; i++)
        for (int j = i; j > 0 && sorted[j] < sorted[j - 1]; j--) {
            unsigned t = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = t;
        }
}
