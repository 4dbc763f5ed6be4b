// walk: CUDA C++, by gbxcule. Compile with --fmad=false.
#include "gbxcule.h"

namespace program {

static __device__ uint32_t rand_init(int seed, int offset)
{
    const uint32_t v0 = uint32_t(offset) * 747796405u + 2891336453u;
    const uint32_t v1 = ((v0 >> ((v0 >> 28u) + 4u)) ^ v0) * 277803737u;
    const uint32_t v2 = (uint32_t(seed) + ((v1 >> 22u) ^ v1)) * 747796405u + 2891336453u;
    const uint32_t v3 = ((v2 >> ((v2 >> 28u) + 4u)) ^ v2) * 277803737u;
    return (v3 >> 22u) ^ v3;
}

static __device__ float randf(uint32_t& state)
{
    const uint32_t v0 = state * 747796405u + 2891336453u;
    const uint32_t v1 = ((v0 >> ((v0 >> 28u) + 4u)) ^ v0) * 277803737u;
    const uint32_t v2 = (v1 >> 22u) ^ v1;
    state = v2;
    return float(v2 >> 8u) * 5.9604645e-8f;
}

static __device__ float length(Vec<2, float> a)
{
    return gbx::sqrt(a[0] * a[0] + a[1] * a[1]);
}

// walk.py:5
extern "C" __global__ void walk(gbx::Grid grid, int seed, int steps, Array<Vec<2, float>, 1> ends)
{
    for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
        // 6: i = wp.tid()
        const int i = thread.index(0);
        // 7: state = wp.rand_init(seed, i)
        uint32_t state = rand_init(seed, i);
        // 8: at = wp.vec2(0.0, 0.0)
        Vec<2, float> at = Vec<2, float>{0.0f, 0.0f};
        // 9: done = int(0)
        int done = 0;
        // 10: while done < steps:
        while (done < steps) {
            // 11: angle = wp.randf(state) * 6.2831853
            const float v0 = randf(state);
            const float angle = v0 * 6.2831855f;
            // 12: at += wp.vec2(wp.cos(angle), wp.sin(angle))
            at = at + Vec<2, float>{gbx::cos(angle), gbx::sin(angle)};
            // 13: if wp.length(at) > 100.0:
            if (length(at) > 100.0f) {
                // 14: break
                break;
            }
            // 15: done += 1
            done = gbx::add(done, 1);
        }
        // 16: ends[i] = at
        ends(i) = at;
    }
}

} // namespace program
