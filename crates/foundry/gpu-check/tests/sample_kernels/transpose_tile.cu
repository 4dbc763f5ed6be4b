//| out: float[3500] out
//| in: float[3500]
//| width = 70
//| height = 50
// launch: <<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 8)>>>
#define TILE_DIM 32
#define BLOCK_ROWS 8
__global__ void transpose_tile(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void plain(float* out, const float* in, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[x * height + y] = in[y * width + x];
}
