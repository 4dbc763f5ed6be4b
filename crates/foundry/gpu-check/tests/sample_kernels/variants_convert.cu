//$ A = float | double | int | unsigned char
//$ C = float | double | int | unsigned short | unsigned long long
//| x: $A[300] < 250
//| y: $C[300] out
//| n = 300
// launch: <<<3, 128>>>
template <class To, class From> struct Convert {
    __device__ To operator()(From v) const { return static_cast<To>(v * From(3) + From(4)); }
};
template <class F> __device__ void each(int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
__global__ void variants_convert(const $A* x, $C* y, int n) {
    each(n, [=](int i) { y[i] = Convert<$C, $A>()(x[i]); });
}
__global__ void plain(const $A* x, $C* y, int n) {
    for (int i = 0; i < n; i++) y[i] = ($C)(x[i] * ($A)3 + ($A)4);
}
