//| q: float[256]
//| k: float[1024]
//| v: float[1024]
//| o: float[256] out
// launch: <<<8, 32>>>
// Flash attention of one query a block: 32 keys of 32 numbers, with sums that are scaled again.
__global__ void attention_row(const float* q, const float* k, const float* v, float* o) {
    __shared__ float scores[32];
    int lane = threadIdx.x;
    float most = -INFINITY, sum = 0, acc = 0, query = q[blockIdx.x * 32 + lane];
    for (int tile = 0; tile < 4; tile++) {
        for (int key = 0; key < 8; key++) {
            float dot = query * k[(tile * 8 + key) * 32 + lane];
            for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
            if (lane == 0) scores[key] = dot * rsqrtf(32.0f);
        }
        __syncwarp();
        float bigger = most;
        for (int key = 0; key < 8; key++) bigger = fmaxf(bigger, scores[key]);
        float scale = expf(most - bigger);
        sum *= scale; acc *= scale;
        for (int key = 0; key < 8; key++) {
            float p = expf(scores[key] - bigger);
            sum += p;
            acc += p * v[(tile * 8 + key) * 32 + lane];
        }
        most = bigger;
        __syncwarp();
    }
    o[blockIdx.x * 32 + lane] = acc / sum;
}
__global__ void plain(const float* q, const float* k, const float* v, float* o) {
    for (int i = 0; i < 8; i++) {
        float sum = 0;
        for (int j = 0; j < 32; j++) {
            float dot = 0;
            for (int d = 0; d < 32; d++) dot += q[i * 32 + d] * k[j * 32 + d];
            float p = expf(dot / sqrtf(32.0f));
            sum += p;
            for (int d = 0; d < 32; d++) o[i * 32 + d] += p * v[j * 32 + d];
        }
        for (int d = 0; d < 32; d++) o[i * 32 + d] /= sum;
    }
}
