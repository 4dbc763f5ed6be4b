//| x: int[1030] < 100
//| y: int[1024] out
// launch: <<<8, 128>>>
#define RADIUS 3
#define BLOCK_SIZE 128
__global__ void stencil_halo(const int* in, int* out) {
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, lindex = threadIdx.x + RADIUS;
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    out[gindex - RADIUS] = result;
}
__global__ void plain(const int* x, int* y) {
    for (int i = 0; i < 1024; i++)
        for (int j = 0; j < 7; j++) y[i] += x[i + j];
}
