//| acc: float[1024] out
//| pos: float[1024]
//| n = 256
// launch: <<<2, 128, 128 * 16>>>
__device__ float3 interaction(float3 ai, float4 bi, float4 bj) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
    float invDist = rsqrtf(distSqr), s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s; ai.y += r.y * s; ai.z += r.z * s;
    return ai;
}
__global__ void nbody_tile(float4* acc, const float4* pos, int n) {
    extern __shared__ float4 shPos[];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = pos[gtid];
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int i = 0, tile = 0; i < n; i += blockDim.x, tile++) {
        shPos[threadIdx.x] = pos[tile * blockDim.x + threadIdx.x];
        __syncthreads();
        #pragma unroll 8
        for (int j = 0; j < blockDim.x; j++) a = interaction(a, mine, shPos[j]);
        __syncthreads();
    }
    acc[gtid] = make_float4(a.x, a.y, a.z, 0.0f);
}
__global__ void plain(float4* acc, const float4* pos, int n) {
    for (int i = 0; i < n; i++) {
        float3 a = {0, 0, 0};
        for (int j = 0; j < n; j++) a = interaction(a, pos[i], pos[j]);
        acc[i] = make_float4(a.x, a.y, a.z, 0);
    }
}
