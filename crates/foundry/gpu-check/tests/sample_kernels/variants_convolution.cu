//$ T = float | double
//$ R = 1 | 2 | 4 | 8
//| x: $T[700]
//| y: $T[700] out
//| n = 700
// launch: <<<(n + 127) / 128, 128>>>
__constant__ float weight[17] = {.1f, .2f, -.3f, .4f, .5f, -.1f, .7f, .2f, .9f, .3f, .1f, -.2f, .3f, .6f, .5f, .4f, .3f};
__global__ void variants_convolution(const $T* x, $T* y, int n) {
    __shared__ $T s[128 + 2 * $R];
    int first = blockIdx.x * 128 - $R;
    for (int k = threadIdx.x; k < 128 + 2 * $R; k += 128)
        s[k] = first + k >= 0 && first + k < n ? x[first + k] : $T(0);
    __syncthreads();
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    $T sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * $R; k++) sum += $T(weight[k]) * s[threadIdx.x + k];
    y[i] = sum;
}
__global__ void plain(const $T* x, $T* y, int n) {
    for (int i = 0; i < n; i++)
        for (int k = -$R; k <= $R; k++)
            if (i + k >= 0 && i + k < n) y[i] += $T(weight[k + $R]) * x[i + k];
}
