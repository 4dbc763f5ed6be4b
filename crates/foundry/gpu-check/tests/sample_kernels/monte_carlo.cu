//| hits: unsigned long long[1] out
//| n = 640
// launch: <<<5, 128>>>
__device__ unsigned xorshift(unsigned& state) {
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    return state;
}
__device__ unsigned inside(unsigned seed) {
    unsigned state = seed * 747796405u + 2891336453u, count = 0;
    for (int i = 0; i < 20; i++) {
        float x = xorshift(state) * 2.3283064e-10f, y = xorshift(state) * 2.3283064e-10f;
        count += x * x + y * y <= 1.0f;
    }
    return count;
}
__global__ void monte_carlo(unsigned long long* hits, int n) {
    unsigned own = inside(blockIdx.x * blockDim.x + threadIdx.x + 1);
    unsigned sum = __reduce_add_sync(0xffffffff, own);
    if (threadIdx.x % warpSize == 0) atomicAdd(hits, (unsigned long long)sum);
}
__global__ void plain(unsigned long long* hits, int n) {
    for (int i = 0; i < n; i++) *hits += inside(i + 1);
}
