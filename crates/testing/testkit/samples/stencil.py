# A gradient has one handle, and gradients of neighbours stand under one test.
import warp as wp


@wp.kernel
def step(u: wp.array2d(dtype=float), out: wp.array2d(dtype=float), c: float):
    i, j = wp.tid()
    n = u.shape[0]
    if i > 0 and j > 0 and i < n - 1 and j < u.shape[1] - 1:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
        out[i, j] = u[i, j] + c * around

#= reverse cuda
# // stencil.py: CUDA C++, by gbxcule. Compile with --fmad=false.
# #include "gbxcule.h"
#
# namespace program {
#
# static __device__ GBX_INLINE float chain(float adjoint, float factor)
# {
#     return (adjoint == 0.0f || factor == 0.0f) ? 0.0f : adjoint * factor;
# }
#
# // stencil.py:6
# extern "C" __global__ void adj_step(gbx::Grid grid, Array<float, 2> u, Array<float, 2> out, float c)
# {
#     for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
#         // 7: i, j = wp.tid()
#         const int i = thread.index(0);
#         const int j = thread.index(1);
#         // 8: n = u.shape[0]
#         const int n = u.shape[0];
#         // 9: if i > 0 and j > 0 and i < n - 1 and j < u.shape[1] - 1:
#         bool all = i > 0;
#         if (all) {
#             all = j > 0;
#         }
#         if (all) {
#             all = i < n - 1;
#         }
#         if (all) {
#             all = j < u.shape[1] - 1;
#         }
#         const Array<float, 2> adj_out = gbx::gradient(out);
#         const Array<float, 2> adj_u = gbx::gradient(u);
#         if (all) {
#             // 11: out[i, j] = u[i, j] + c * around
#             float adj_stored = 0.0f;
#             // 10: around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
#             const int v0 = i - 1;
#             const int v1 = i + 1;
#             const int v2 = j - 1;
#             const int v3 = j + 1;
#             // 11: out[i, j] = u[i, j] + c * around
#             if (adj_out.data != nullptr) {
#                 adj_stored = adj_out(i, j);
#                 adj_out(i, j) = 0.0f;
#             }
#             const float v4 = adj_stored;
#             const float adj_around = chain(v4, c);
#             const float v5 = -adj_around * 4.0f;
#             if (adj_u.data != nullptr) {
#                 gbx::atomic_add(adj_u(i, j), v4);
#                 // 10: around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
#                 gbx::atomic_add(adj_u(i, j), v5);
#                 gbx::atomic_add(adj_u(i, v3), adj_around);
#                 gbx::atomic_add(adj_u(i, v2), adj_around);
#                 gbx::atomic_add(adj_u(v1, j), adj_around);
#                 gbx::atomic_add(adj_u(v0, j), adj_around);
#             }
#         }
#     }
# }
#
# } // namespace program
