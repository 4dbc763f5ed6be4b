// Sum of each part of 64 numbers: half of the threads arrive on a barrier in shared memory and go
// on, the others wait there, in several phases.
//| n = 10
//| x: float[640]
//| total: float[10] out
//$ WAIT = token | parity
extern "C" __global__ void barrier_in_memory(int n, const float* x, float* total)
{
    __shared__ float part[64];
    __shared__ alignas(8) unsigned long long full, empty;
    auto at = [](const void* p) { return (unsigned)__cvta_generic_to_shared(p); };
    auto arrive = [at](unsigned long long* bar) {
        unsigned long long state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(bar)) : "memory");
        return state;
    };
    auto token = [at](unsigned long long* bar, unsigned long long state, int) {
        int done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(bar)), "l"(state) : "memory");
    };
    auto parity = [at](unsigned long long* bar, unsigned long long, int phase) {
        int done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(bar)), "r"(phase & 1) : "memory");
    };
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&full)), "r"(64));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&empty)), "r"(64));
    }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        part[threadIdx.x] = x[64 * k + threadIdx.x];
        unsigned long long state = arrive(&full);
        $WAIT(&full, state, k);
        if (threadIdx.x == k) {
            float sum = 0.0f;
            for (int i = 0; i < 64; ++i) sum += part[i];
            total[k] = sum;
        }
        state = arrive(&empty);
        $WAIT(&empty, state, k);
    }
}

extern "C" __global__ void plain(int n, const float* x, float* total)
{
    for (int k = 0; k < n; ++k) {
        float sum = 0.0f;
        for (int i = 0; i < 64; ++i) sum += x[64 * k + i];
        total[k] = sum;
    }
}
// launch: <<<1, 64>>>
