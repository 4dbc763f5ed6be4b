// saxpy: CUDA C++, by gbxcule. Compile with --fmad=false.
#include "gbxcule.h"

namespace program {

// saxpy.py:5
extern "C" __global__ void saxpy(gbx::Grid grid, Array<float, 1> x, Array<float, 1> y, float a)
{
    for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
        // 6: i = wp.tid()
        const int i = thread.index(0);
        // 7: y[i] = a * x[i] + y[i]
        y(i) = a * x(i) + y(i);
    }
}

} // namespace program
