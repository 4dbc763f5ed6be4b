//$ T = float | double | int | unsigned long long
//$ FROM = __shfl_xor_sync(~0u, v, d) | __shfl_down_sync(~0u, v, d) | __shfl_sync(~0u, v, (threadIdx.x + d) % 32)
//| x: $T[777] < 1000
//| r: $T[25] out
//| n = 777
// launch: <<<(n + 127) / 128, 128>>>
__global__ void variants_shuffle(const $T* x, $T* r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    $T v = i < n ? x[i] : ($T)0;
    for (int d = 16; d; d >>= 1) v += $FROM;
    if (threadIdx.x % 32 == 0 && i < n) r[i / 32] = v;
}
__global__ void plain(const $T* x, $T* r, int n) {
    for (int i = 0; i < n; i++) r[i / 32] += x[i];
}
