# An adjoint is named after its value, and stands below the line of that value.
import warp as wp


@wp.kernel
def spring(x: wp.array(dtype=wp.vec3), rest: wp.array(dtype=float), energy: wp.array(dtype=float)):
    i = wp.tid()
    stretch = wp.length(x[i + 1] - x[i]) - rest[i]
    pull = float(0.0)
    if stretch > 0.0:
        pull = stretch * stretch
    wp.atomic_add(energy, 0, pull)

#= reverse cuda
# // spring.py: CUDA C++, by gbxcule. Compile with --fmad=false.
# #include "gbxcule.h"
#
# namespace program {
#
# static __device__ float length(Vec<3, float> a)
# {
#     return gbx::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
# }
#
# static __device__ GBX_INLINE float chain(float adjoint, float factor)
# {
#     return (adjoint == 0.0f || factor == 0.0f) ? 0.0f : adjoint * factor;
# }
#
# static __device__ Vec<3, float> adj_length(Vec<3, float> a, float adj_result)
# {
#     Vec<3, float> adj_value = {};
#     const float v0 = chain(adj_result, 0.5f / gbx::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
#     const float v1 = chain(v0, a[2]);
#     const float v2 = chain(v0, a[1]);
#     const float v3 = chain(v0, a[0]);
#     adj_value[2] = v1 + v1;
#     adj_value[1] += v2 + v2;
#     adj_value[0] += v3 + v3;
#     return adj_value;
# }
#
# // spring.py:6
# // `x` and `energy` must share no memory.
# // `rest` and `energy` must share no memory.
# extern "C" __global__ void adj_spring(
#     gbx::Grid grid,
#     Array<Vec<3, float>, 1> x,
#     Array<float, 1> rest,
#     Array<float, 1> energy)
# {
#     for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
#         // 6: def spring(x: wp.array(dtype=wp.vec3), rest: wp.array(dtype=float), energy: wp.array(dtype=float)):
#         float adj_stretch = 0.0f;
#         // 7: i = wp.tid()
#         const int i = thread.index(0);
#         // 8: stretch = wp.length(x[i + 1] - x[i]) - rest[i]
#         const int v0 = i + 1;
#         const Vec<3, float> v1 = x(v0) - x(i);
#         const float stretch = length(v1) - rest(i);
#         // 12: wp.atomic_add(energy, 0, pull)
#         float adj_stored = 0.0f;
#         const Array<float, 1> adj_energy = gbx::gradient(energy);
#         const Array<float, 1> adj_rest = gbx::gradient(rest);
#         const Array<Vec<3, float>, 1> adj_x = gbx::gradient(x);
#         // 10: if stretch > 0.0:
#         const bool v2 = stretch > 0.0f;
#         // 12: wp.atomic_add(energy, 0, pull)
#         if (adj_energy.data != nullptr) {
#             adj_stored = adj_energy(0);
#         }
#         const float v3 = adj_stored;
#         // 10: if stretch > 0.0:
#         if (v2) {
#             // 11: pull = stretch * stretch
#             const float v4 = chain(v3, stretch);
#             adj_stretch = v4 + v4;
#         }
#         // 8: stretch = wp.length(x[i + 1] - x[i]) - rest[i]
#         const float adj_stretch_1 = adj_stretch;
#         const float v5 = -adj_stretch_1;
#         if (adj_rest.data != nullptr) {
#             gbx::atomic_add(adj_rest(i), v5);
#         }
#         const Vec<3, float> v6 = adj_length(v1, adj_stretch_1);
#         const Vec<3, float> v7 = -v6;
#         if (adj_x.data != nullptr) {
#             gbx::atomic_add(adj_x(i), v7);
#             gbx::atomic_add(adj_x(v0), v6);
#         }
#     }
# }
#
# } // namespace program
