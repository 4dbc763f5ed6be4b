//$ V = float4 | int4 | double2 | float2 | uchar4 | short4 | uint2 | longlong2
//| x: unsigned char[4096] < 256
//| y: unsigned char[4096] out
//| n = 4096
// launch: <<<3, 64>>>
__global__ void variants_copy(const unsigned char* x, unsigned char* y, int n) {
    const $V* from = reinterpret_cast<const $V*>(x);
    $V* to = reinterpret_cast<$V*>(y);
#pragma unroll 4
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n / (int)sizeof($V); i += 192) to[i] = __ldg(from + i);
}
__global__ void plain(const unsigned char* x, unsigned char* y, int n) {
    for (int i = 0; i < n; i++) y[i] = x[i];
}
