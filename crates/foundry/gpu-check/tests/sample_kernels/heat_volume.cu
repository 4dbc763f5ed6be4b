//| in: float[960]
//| out: float[960] out
//| nx = 12
//| ny = 10
//| nz = 8
// launch: <<<dim3((nx + 3) / 4, (ny + 3) / 4, (nz + 3) / 4), dim3(4, 4, 4)>>>
__global__ void heat_volume(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int at = (z * ny + y) * nx + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[at] = in[at];
    } else {
        out[at] = in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny] - 6.0f * in[at]);
    }
}
__global__ void plain(const float* in, float* out, int nx, int ny, int nz) {
    for (int at = 0; at < nx * ny * nz; at++) {
        int x = at % nx, y = at / nx % ny, z = at / nx / ny;
        bool edge = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
        out[at] = in[at] + (edge ? 0 : 0.1f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny] - 6.0f * in[at]));
    }
}
