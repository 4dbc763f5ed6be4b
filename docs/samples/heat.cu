// heat: CUDA C++, by gbxcule. Compile with --fmad=false.
#include "gbxcule.h"

namespace program {

// heat.py:5
extern "C" __global__ void heat(gbx::Grid grid, Array<float, 2> now, Array<float, 2> after, float rate)
{
    for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
        // 6: i, j = wp.tid()
        const int i = thread.index(0);
        const int j = thread.index(1);
        // 7: rows = now.shape[0]
        const int rows = now.shape[0];
        // 8: columns = now.shape[1]
        const int columns = now.shape[1];
        // 9: if i == 0 or j == 0 or i == rows - 1 or j == columns - 1:
        if (i == 0 || j == 0 || i == rows - 1 || j == columns - 1) {
            // 10: after[i, j] = now[i, j]
            after(i, j) = now(i, j);
            // 11: return
            continue;
        }
        // 12: around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
        const float around = now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1);
        // 13: after[i, j] = now[i, j] + rate * (around - 4.0 * now[i, j])
        after(i, j) = now(i, j) + rate * (around - 4.0f * now(i, j));
    }
}

} // namespace program
