//| x: int[512] < 100
//| y: int[16] out
// launch: <<<4, 128>>>
// Each half of a block has a barrier of its own.
__global__ void half_block_barriers(const int* x, int* y) {
    __shared__ int part[128];
    int half = threadIdx.x / 64, t = threadIdx.x % 64;
    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    for (int s = 32; s > 1; s >>= 1) {
        asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
        if (t < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    asm volatile("barrier.sync %0, 64;" ::"r"(half + 1) : "memory");
    if (t < 2) y[blockIdx.x * 4 + half * 2 + t] = part[threadIdx.x];
}
__global__ void plain(const int* x, int* y) {
    for (int i = 0; i < 512; i++) y[i / 128 * 4 + i / 64 % 2 * 2 + i % 2] += x[i];
}
