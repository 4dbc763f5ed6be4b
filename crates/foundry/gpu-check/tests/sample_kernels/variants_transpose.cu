//$ T = float | double | int | unsigned short | unsigned char
//$ B = 8 | 16 | 32
//| x: $T[1855] < 200
//| y: $T[1855] out
//| rows = 35
//| cols = 53
// launch: <<<dim3((cols + $B - 1) / $B, (rows + $B - 1) / $B), dim3($B, 8)>>>
__global__ void variants_transpose(const $T* __restrict__ x, $T* __restrict__ y, int rows, int cols) {
    __shared__ $T tile[$B][$B + 1];
    int c = blockIdx.x * $B + threadIdx.x;
    for (int k = threadIdx.y; k < $B; k += 8) {
        int r = blockIdx.y * $B + k;
        if (r < rows && c < cols) tile[k][threadIdx.x] = x[r * cols + c];
    }
    __syncthreads();
    int r = blockIdx.y * $B + threadIdx.x;
    for (int k = threadIdx.y; k < $B; k += 8) {
        int to = blockIdx.x * $B + k;
        if (to < cols && r < rows) y[to * rows + r] = tile[threadIdx.x][k];
    }
}
__global__ void plain(const $T* x, $T* y, int rows, int cols) {
    for (int i = 0; i < rows * cols; i++) y[i % cols * rows + i / cols] = x[i];
}
