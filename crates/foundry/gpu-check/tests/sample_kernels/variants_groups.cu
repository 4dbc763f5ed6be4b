//$ T = float | int
//$ W = 4 | 8 | 16 | 32
//| x: $T[320] < 100
//| r: $T[80] out
//| n = 320
// launch: <<<5, 64>>>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void variants_groups(const $T* x, $T* r, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<$W>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank();
    $T v = x[i];
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) r[i / $W] = v;
    block.sync();
}
__global__ void plain(const $T* x, $T* r, int n) {
    for (int i = 0; i < n; i++) r[i / $W] += x[i];
}
