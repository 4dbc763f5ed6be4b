//$ T = int | float | double | unsigned
//$ N = 64 | 256 | 1024
//| x: $T[1024] < 5000
//| n = 1024
// launch: <<<n / $N, $N / 2>>>
__global__ void variants_sort($T* x, int n) {
    __shared__ $T s[$N];
    x += blockIdx.x * $N;
    for (int i = threadIdx.x; i < $N; i += $N / 2) s[i] = x[i];
    for (int size = 2; size <= $N; size <<= 1)
        for (int step = size / 2; step; step >>= 1) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            bool up = (i & size) == 0;
            $T a = s[i], b = s[i + step];
            if ((a > b) == up) s[i] = b, s[i + step] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < $N; i += $N / 2) x[i] = s[i];
}
__global__ void plain($T* x, int n) {
    for (int from = 0; from < n; from += $N)
        for (int i = from + 1; i < from + $N; i++) {
            $T v = x[i];
            int j = i;
            for (; j > from && x[j - 1] > v; j--) x[j] = x[j - 1];
            x[j] = v;
        }
}
