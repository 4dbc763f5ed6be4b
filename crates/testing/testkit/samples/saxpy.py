import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]

#= ir
# kernel saxpy(x: array<f32, 1>, y: array<f32, 1>, a: f32) {
#   i = launch 0
#   %0 = load a
#   %1 = load x[i]
#   %2 = mul %0, %1
#   %3 = load y[i]
#   %4 = add %2, %3
#   y[i] = %4
# }

#= cpp
# // saxpy.py: C++17 for the CPU, by gbxcule. Compile with -ffp-contract=off.
# #include "gbxcule.h"
#
# namespace program {
#
# // saxpy.py:5
# static void saxpy_range(const gbx::Grid& grid, Array<float, 1> x, Array<float, 1> y, float a)
# {
#     for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
#         // 6: i = wp.tid()
#         const int i = thread.index(0);
#         // 7: y[i] = a * x[i] + y[i]
#         y(i) = a * x(i) + y(i);
#     }
# }
#
# GBX_EXPORT int saxpy(const gbx::Grid* grid, void* const* args, gbx::Fault* fault)
# {
#     return gbx::run(saxpy_range, grid, args, fault);
# }
#
# } // namespace program

#= cuda
# // saxpy.py: CUDA C++, by gbxcule. Compile with --fmad=false.
# #include "gbxcule.h"
#
# namespace program {
#
# // saxpy.py:5
# extern "C" __global__ void saxpy(gbx::Grid grid, Array<float, 1> x, Array<float, 1> y, float a)
# {
#     for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
#         // 6: i = wp.tid()
#         const int i = thread.index(0);
#         // 7: y[i] = a * x[i] + y[i]
#         y(i) = a * x(i) + y(i);
#     }
# }
#
# } // namespace program

#= plain
# // launch: <<<(dim0 + 255) / 256, 256>>>
# extern "C" __global__ void saxpy(int dim0, const float* x, int x_dim0, float* y, int y_dim0, float a)
# {
#     const int i = blockIdx.x * blockDim.x + threadIdx.x;
#     if (i >= dim0)
#         return;
#     y[i] = a * x[i] + y[i];
# }

#= reverse plain
# static __device__ __forceinline__ float chain(float adjoint, float factor)
# {
#     return (adjoint == 0.0f || factor == 0.0f) ? 0.0f : adjoint * factor;
# }
#
# // launch: <<<(dim0 + 255) / 256, 256>>>
# extern "C" __global__ void adj_saxpy(
#     int dim0,
#     const float* x,
#     int x_dim0,
#     float* grad_x,
#     const float* y,
#     int y_dim0,
#     float* grad_y,
#     float a)
# {
#     const int i = blockIdx.x * blockDim.x + threadIdx.x;
#     if (i >= dim0)
#         return;
#     float adj_stored = 0.0f;
#     const bool v0 = grad_y != nullptr;
#     if (v0) {
#         adj_stored = grad_y[i];
#         grad_y[i] = 0.0f;
#     }
#     const float v1 = adj_stored;
#     if (v0) {
#         atomicAdd(&grad_y[i], v1);
#     }
#     const float v2 = chain(v1, a);
#     if (grad_x != nullptr) {
#         atomicAdd(&grad_x[i], v2);
#     }
# }
