//$ T = unsigned | int | unsigned long long
//$ F = atomicAdd(p, v) | atomicMax(p, v) | atomicMin(p, v) | atomicOr(p, v) | atomicXor(p, v) | atomicAnd(p, v)
//| x: $T[640] < 900
//| y: $T[7] = 1000
//| n = 640
// launch: <<<5, 128>>>
__global__ void variants_atomic(const $T* x, $T* y, int n) {
    __shared__ $T s[7];
    if (threadIdx.x < 7) s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * 128 + threadIdx.x;
    $T v = x[i], *p = i < 320 ? s + i % 7 : y + i % 7;
    if (i < 320) $F;
    __syncthreads();
    p = y + i % 7;
    $F;
}
__global__ void plain(const $T* x, $T* y, int n) {
    for (int i = 0; i < n; i++) { $T v = x[i], *p = y + i % 7; $F; }
}
