//| data: float[512]
// launch: <<<2, 64, 256 * 4>>>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void walsh_shared(float* data) {
    cg::thread_block cta = cg::this_thread_block();
    extern __shared__ float s_data[];
    float* own = data + blockIdx.x * 256;
    for (int pos = threadIdx.x; pos < 256; pos += blockDim.x) s_data[pos] = own[pos];
    const int pos = threadIdx.x;
    for (int stride = 64; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1);
        int i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        cg::sync(cta);
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0; D0 = D0 + D2; D2 = T - D2;
        T = D1; D1 = D1 + D3; D3 = T - D3;
        T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
        T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
    }
    cg::sync(cta);
    for (int pos = threadIdx.x; pos < 256; pos += blockDim.x) own[pos] = s_data[pos];
}
__global__ void plain(float* data) {
    for (int block = 0; block < 2; block++)
        for (int h = 1; h < 256; h *= 2)
            for (int i = 0; i < 256; i++)
                if (!(i & h)) {
                    float a = data[block * 256 + i], b = data[block * 256 + i + h];
                    data[block * 256 + i] = a + b;
                    data[block * 256 + i + h] = a - b;
                }
}
