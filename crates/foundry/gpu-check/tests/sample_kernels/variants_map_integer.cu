//$ F = __popc(a) | __clz(a) | __ffs(a) | __brev(a) | __byte_perm(a, b, 0x3715) | __funnelshift_l(a, b, 7) | __funnelshift_r(a, b, b) | __mulhi(int(a), int(b)) | __umulhi(a * 7919, b * 104729) | __sad(int(a), int(b), 3) | __usad(a, b, 5) | a % (b + 1) | a / (b + 1) | int(a - 500) / int(b + 1) | int(a - 500) % int(b + 1) | __hadd(int(a), int(b)) | __rhadd(int(a), int(b)) | (a << (b & 31)) ^ (a >> (b & 31)) | __dp4a(int(a), int(b), 9) | __vadd4(a, b) | __vabsdiffu4(a, b) | __vmaxs2(a, b) | __mul24(int(a), int(b)) | min(max(a, 100), b) | abs(int(a) - int(b)) | a * b + (a ^ b) | unsigned(__float2int_rz(a * 0.37f)) | unsigned(__double2int_rn(a * 0.37)) | __float_as_uint(a * 0.5f) | unsigned((unsigned long long)a * b * 40503 >> 16) | unsigned((long long)(a + 1) * 977 / (b + 3)) | unsigned(short(a * 40)) | unsigned((signed char)a) | __clzll((unsigned long long)a << 21) | __popcll((unsigned long long)a * 0x10001)
//| x: unsigned[500] < 1000
//| z: unsigned[500] < 1000
//| y: unsigned[500] out
//| n = 500
// launch: <<<2, 96>>>
__device__ unsigned f(unsigned a, unsigned b) { return $F; }
__global__ void variants_map_integer(const unsigned* x, const unsigned* z, unsigned* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f(x[i], z[i]);
}
__global__ void plain(const unsigned* x, const unsigned* z, unsigned* y, int n) {
    for (int i = n - 1; i >= 0; i--) y[i] = f(x[i], z[i]);
}
