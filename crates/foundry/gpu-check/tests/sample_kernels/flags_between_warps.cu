//| x: int[32] < 100
//| y: int[32] out
// launch: <<<1, 64>>>
// One warp waits for another by a volatile flag.
__global__ void flags_between_warps(const int* x, int* y) {
    __shared__ int data[32];
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = 3 * x[threadIdx.x];
        __syncwarp();
        if (threadIdx.x == 0) {
            __threadfence_block();
            atomicExch((int*)&flag, 1);
        }
    } else {
        if (threadIdx.x == 32) {
            while (atomicAdd((int*)&flag, 0) == 0) __nanosleep(20);
            __threadfence_block();
        }
        __syncwarp();
        y[threadIdx.x - 32] = data[threadIdx.x - 32] + 1;
    }
}
__global__ void plain(const int* x, int* y) {
    for (int i = 0; i < 32; i++) y[i] = 3 * x[i] + 1;
}
