//| x: float[512]
//| y: float[512] out
//| n = 510
// launch: <<<1, 128>>>
// `cp.async` of 16 bytes in assembly, with zeros behind the end.
__global__ void copy_async(const float* x, float* y, int n) {
    __shared__ alignas(16) float part[512];
    unsigned to = (unsigned)__cvta_generic_to_shared(&part[4 * threadIdx.x]);
    int left = max(0, min(16, (n - 4 * (int)threadIdx.x) * 4));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(x + 4 * threadIdx.x), "r"(left));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 128) y[i] = part[511 - i];
}
__global__ void plain(const float* x, float* y, int n) {
    for (int i = 0; i < 512; i++) y[511 - i] = i < n ? x[i] : 0.0f;
}
