//| x: unsigned[300] < 1000000000
//| z: unsigned[300] < 1000000000
//| y: unsigned[300] out
//| n = 300
// launch: <<<3, 128>>>
__global__ void byte_distances(const unsigned* x, const unsigned* z, unsigned* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 8 < n) asm volatile("prefetch.global.L1 [%0];" :: "l"(x + i + 8));
    if (i < n) y[i] = __vsadu4(x[i], z[i]);
}
__global__ void plain(const unsigned* x, const unsigned* z, unsigned* y, int n) {
    for (int i = 0; i < n; i++) {
        unsigned sum = 0;
        for (int b = 0; b < 32; b += 8) {
            int one = x[i] >> b & 255, other = z[i] >> b & 255;
            sum += one > other ? one - other : other - one;
        }
        y[i] = sum;
    }
}
