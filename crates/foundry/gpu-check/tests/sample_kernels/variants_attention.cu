//$ D = 8 | 16 | 32
//$ TILE = 8 | 16
//| q: float[1600]
//| k: float[1600]
//| v: float[1600]
//| o: float[1600] out
//| n = 50
// launch: <<<(n + 31) / 32, 32>>>
__global__ void variants_attention(const float* q, const float* k, const float* v, float* o, int n) {
    __shared__ float ks[$TILE][$D], vs[$TILE][$D];
    int row = blockIdx.x * 32 + threadIdx.x;
    float own[$D], sum[$D] = {}, most = -1e30f, total = 0.0f;
    for (int d = 0; d < $D; d++) own[d] = row < n ? q[row * $D + d] : 0.0f;
    for (int from = 0; from < n; from += $TILE) {
        for (int i = threadIdx.x; i < $TILE * $D; i += 32)
            if (from + i / $D < n) ks[i / $D][i % $D] = k[from * $D + i], vs[i / $D][i % $D] = v[from * $D + i];
        __syncthreads();
        for (int j = 0; j < min($TILE, n - from); j++) {
            float s = 0.0f;
            for (int d = 0; d < $D; d++) s = fmaf(own[d], ks[j][d], s);
            float next = fmaxf(most, s), old = expf(most - next), p = expf(s - next);
            for (int d = 0; d < $D; d++) sum[d] = sum[d] * old + p * vs[j][d];
            total = total * old + p;
            most = next;
        }
        __syncthreads();
    }
    if (row < n) for (int d = 0; d < $D; d++) o[row * $D + d] = sum[d] / total;
}
__global__ void plain(const float* q, const float* k, const float* v, float* o, int n) {
    for (int i = 0; i < n; i++) {
        float total = 0.0f;
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int d = 0; d < $D; d++) s += q[i * $D + d] * k[j * $D + d];
            total += expf(s);
            for (int d = 0; d < $D; d++) o[i * $D + d] += expf(s) * v[j * $D + d];
        }
        for (int d = 0; d < $D; d++) o[i * $D + d] /= total;
    }
}
