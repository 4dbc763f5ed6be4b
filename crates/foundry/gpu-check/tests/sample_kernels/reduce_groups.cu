//| x: int[3000] < 1000
//| sum: int[1] out
//| n = 3000
// launch: <<<4, 256>>>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void reduce_groups(const int* x, int* sum, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    __shared__ int parts[8];
    int value = 0;
    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) value += x[i];
    value = cg::reduce(tile, value, cg::plus<int>());
    if (tile.thread_rank() == 0) parts[tile.meta_group_rank()] = value;
    cg::sync(block);
    if (block.thread_rank() == 0) {
        int all = 0;
        for (int i = 0; i < tile.meta_group_size(); i++) all += parts[i];
        atomicAdd(sum, all);
    }
}
__global__ void plain(const int* x, int* sum, int n) {
    for (int i = 0; i < n; i++) *sum += x[i];
}
