// host_cuda.h: CUDA's words for a host compiler, so that emitted CUDA text runs without a GPU.
//
// Included before the text. Threads run one after the other; there are no warps and no shared
// memory.
#pragma once

#define GBX_CUDA_ON_HOST 1
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(count)

struct gbx_dim3 {
    unsigned int x, y, z;
};
static thread_local gbx_dim3 threadIdx, blockIdx, blockDim, gridDim;

struct gbx_thread_exit {};
[[noreturn]] inline void gbx_exit_thread() { throw gbx_thread_exit(); }

inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

template <class T> T atomicCAS(T* place, T expected, T wanted)
{
    __atomic_compare_exchange_n(place, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <class T, class F> T gbx_atomic(T* place, F next)
{
    T old, wanted;
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do
        wanted = next(old);
    while (!__atomic_compare_exchange(place, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
template <class T> T atomicAdd(T* p, T v) { return gbx_atomic(p, [=](T old) { return old + v; }); }
inline int atomicAdd(int* p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
template <class T> T atomicMin(T* p, T v) { return gbx_atomic(p, [=](T old) { return old < v ? old : v; }); }
template <class T> T atomicMax(T* p, T v) { return gbx_atomic(p, [=](T old) { return old > v ? old : v; }); }
template <class T> T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
template <class T> T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }

#include "gbxcule.h"

template <int... I> struct gbx_positions {};
template <int N, int... I> struct gbx_count : gbx_count<N - 1, N - 1, I...> {};
template <int... I> struct gbx_count<0, I...> { typedef gbx_positions<I...> type; };

template <class... P, int... I>
void gbx_call(void (*kernel)(gbx::Grid, P...), const gbx::Grid& grid, void* const* args, gbx_positions<I...>)
{
    kernel(grid, *(const P*)args[I]...);
}

// Blocks of threads, one after the other.
template <class... P>
void gbx_run(void (*kernel)(gbx::Grid, P...), unsigned int blocks, unsigned int threads, const gbx::Grid* grid,
             void* const* args)
{
    gridDim = {blocks, 1, 1}, blockDim = {threads, 1, 1};
    for (blockIdx = {0, 0, 0}; blockIdx.x < blocks; ++blockIdx.x) {
        for (threadIdx = {0, 0, 0}; threadIdx.x < threads; ++threadIdx.x) {
            try {
                gbx_call(kernel, *grid, args, typename gbx_count<sizeof...(P)>::type());
            } catch (const gbx_thread_exit&) {
            }
        }
    }
}

// As gbx::run on the host.
template <class... P>
int gbx_launch(void (*kernel)(gbx::Grid, P...), unsigned int blocks, unsigned int threads,
               const gbx::Grid* grid, void* const* args, gbx::Fault* fault)
{
    gbx_fault = {};
    gbx_run(kernel, blocks, threads, grid, args);
    *fault = gbx_fault;
    return gbx_fault.kind;
}
