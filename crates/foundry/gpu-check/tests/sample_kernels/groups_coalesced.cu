//| x: int[1000] < 100
//| count: int[3] out
//| n = 1000
// launch: <<<4, 256>>>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int atomicAggInc(int* ptr) {
    cg::coalesced_group g = cg::coalesced_threads();
    int prev = 0;
    if (g.thread_rank() == 0) prev = atomicAdd(ptr, g.size());
    return g.thread_rank() + g.shfl(prev, 0);
}
__global__ void groups_coalesced(const int* x, int* count, int n) {
    auto grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) {
        if (x[i] % 3 == 0) atomicAggInc(&count[0]);
        auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        if (tile.any(x[i] > 90) && tile.thread_rank() == 0) atomicAdd(&count[1], 1);
        if (tile.all(x[i] > 20) && tile.thread_rank() == 0) atomicAdd(&count[2], 1);
    }
}
__global__ void plain(const int* x, int* count, int n) {
    for (int i = 0; i < n; i++) count[0] += x[i] % 3 == 0;
    for (int i = 0; i < n; i += 8) {
        bool any = false, all = true;
        for (int j = i; j < i + 8; j++) { any |= x[j] > 90; all &= x[j] > 20; }
        count[1] += any;
        count[2] += all;
    }
}
