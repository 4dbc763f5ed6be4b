//| in: float[2560]
//| out: float[2560] out
//| dimx = 16
//| dimy = 10
//| dimz = 16
// launch: <<<dim3((dimx + 7) / 8, (dimy + 3) / 4), dim3(8, 4)>>>
// Marches along z with the planes before and behind in registers.
__global__ void stencil_volume(const float* __restrict__ in, float* out, int dimx, int dimy, int dimz) {
    __shared__ float tile[6][10];
    int gx = blockIdx.x * blockDim.x + threadIdx.x, gy = blockIdx.y * blockDim.y + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, plane = dimx * dimy, at = gy * dimx + gx;
    bool valid = gx < dimx && gy < dimy;
    float behind = 0, current = valid ? in[at] : 0, ahead = 0;
    for (int z = 0; z < dimz; z++, at += plane) {
        ahead = valid && z + 1 < dimz ? in[at + plane] : 0;
        __syncthreads();
        tile[ty][tx] = current;
        if (threadIdx.x == 0) tile[ty][0] = valid && gx > 0 ? in[at - 1] : 0;
        if (threadIdx.x == blockDim.x - 1) tile[ty][tx + 1] = valid && gx + 1 < dimx ? in[at + 1] : 0;
        if (threadIdx.y == 0) tile[0][tx] = valid && gy > 0 ? in[at - dimx] : 0;
        if (threadIdx.y == blockDim.y - 1) tile[ty + 1][tx] = valid && gy + 1 < dimy ? in[at + dimx] : 0;
        __syncthreads();
        float value = 0.5f * current + 0.1f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
        if (valid) out[at] = value + 0.05f * (behind + ahead);
        behind = current;
        current = ahead;
    }
}
__device__ float get(const float* in, int x, int y, int z, int dimx, int dimy, int dimz) {
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < dimx && y < dimy && z < dimz;
    return inside ? in[(z * dimy + y) * dimx + x] : 0;
}
__global__ void plain(const float* in, float* out, int X, int Y, int Z) {
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++) {
                float near = get(in, x - 1, y, z, X, Y, Z) + get(in, x + 1, y, z, X, Y, Z)
                    + get(in, x, y - 1, z, X, Y, Z) + get(in, x, y + 1, z, X, Y, Z);
                float far = get(in, x, y, z - 1, X, Y, Z) + get(in, x, y, z + 1, X, Y, Z);
                out[(z * Y + y) * X + x] = 0.5f * get(in, x, y, z, X, Y, Z) + 0.1f * near + 0.05f * far;
            }
}
