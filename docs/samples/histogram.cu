// histogram: CUDA C++, by gbxcule. Compile with --fmad=false.
#include "gbxcule.h"

namespace program {

// histogram.py:5
extern "C" __global__ void histogram(
    gbx::Grid grid,
    Array<uint8_t, 1> values,
    Array<int, 1> counts,
    Array<int, 1> longest)
{
    for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
        // 6: row = wp.tid()
        const int row = thread.index(0);
        // 7: run = int(0)
        int run = 0;
        // 8: best = int(0)
        int best = 0;
        // 9: for column in range(64):
        for (int column = 0; column < 64; ++column) {
            // 10: value = values[row * 64 + column]
            const uint8_t value = values(gbx::add(gbx::mul(row, 64), column));
            // 11: wp.atomic_add(counts, int(value), 1)
            gbx::atomic_add(counts(int(value)), 1);
            // 12: if value == wp.uint8(0):
            if (value == 0) {
                // 13: run = 0
                run = 0;
            } else {
                // 15: run += 1
                run = gbx::add(run, 1);
                // 16: best = wp.max(best, run)
                best = gbx::max(best, run);
            }
        }
        // 17: wp.atomic_max(longest, 0, best)
        gbx::atomic_max(longest(0), best);
    }
}

} // namespace program
