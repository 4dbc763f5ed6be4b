// gbxcule.h: what emitted kernels need beyond C++17, for host compilers and for CUDA (NVRTC, nvcc).
//
// Integers wrap, shifts and casts are defined everywhere, floats are rounded once for each
// operation: compile with -ffp-contract=off (host), --fmad=false (CUDA). GBX_UNCHECKED turns off
// checks of indices and divisors, gbx::trusted() as the last argument those of one call. A fault
// ends the launch: see gbx::Fault.
#ifndef GBXCULE_H
#define GBXCULE_H

#if defined(__CUDACC__) || defined(GBX_CUDA_ON_HOST)
#define GBX_CUDA 1
#define GBX_FN __device__ inline
#else
#define GBX_FN inline
#endif

#ifdef __CUDACC_RTC__ // NVRTC has no headers, but most of what they declare.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#endif

#ifdef __CUDACC__
#define GBX_INLINE __forceinline__
#define GBX_NOINLINE __noinline__
#elif defined(__GNUC__) || defined(__clang__)
#define GBX_INLINE inline __attribute__((always_inline))
#define GBX_NOINLINE __attribute__((noinline))
#else
#define GBX_INLINE inline
#define GBX_NOINLINE
#endif

#if defined(_WIN32) && !defined(__CUDACC__)
#define GBX_EXPORT extern "C" __declspec(dllexport)
#else
#define GBX_EXPORT extern "C"
#endif

// 16-bit floats: kept as bits, computed as float.
struct Half {
    uint16_t bits;
    GBX_FN explicit operator float() const;
};

struct Bfloat16 {
    uint16_t bits;
    GBX_FN explicit operator float() const;
};

namespace gbx {

// ---- faults ----

// Where a fault happened: a line of the emitted text.
struct Line {
    int number;
    GBX_FN explicit constexpr Line(int number) : number(number) {}
};
GBX_FN constexpr Line trusted() { return Line(0); }
GBX_FN constexpr bool is_checked(Line line) { return line.number != 0; }
#define GBX_HERE gbx::Line line = gbx::Line(__builtin_LINE())

enum FaultKind { TRAP = 1, ASSERTION, DIVISION, INDEX, ABSENT, VIEW };

// Cause of a launch's end; kind 0 if no check failed.
struct Fault {
    int32_t kind;
    int32_t line;
    int64_t index;  // INDEX, VIEW: what was asked for,
    int64_t extent; // and how much there is.
#ifdef GBX_CUDA
    int64_t thread; // Which of the device's threads, from 0.
#endif
};

} // namespace gbx

#ifdef GBX_CUDA
extern "C" {
__device__ gbx::Fault gbx_fault; // Read by the host after the launch.
}
#endif

namespace gbx {

// Ends this thread, and with it the launch.
[[noreturn]] GBX_NOINLINE GBX_FN void fault(int kind, Line line, int64_t index = 0, int64_t extent = 0)
{
#ifdef GBX_CUDA
    if (atomicCAS(&gbx_fault.kind, 0, kind) == 0) {
        gbx_fault.line = line.number;
        gbx_fault.index = index;
        gbx_fault.extent = extent;
        gbx_fault.thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    }
#ifdef GBX_CUDA_ON_HOST
    gbx_exit_thread();
#else
    asm volatile("exit;");
    __builtin_unreachable();
#endif
#else
    throw Fault{kind, line.number, index, extent};
#endif
}

[[noreturn]] GBX_FN void trap(const char*, GBX_HERE) { fault(TRAP, line); }

GBX_FN void require(bool condition, const char*, GBX_HERE)
{
    if (!condition)
        fault(ASSERTION, line);
}

// ---- facts about types ----

template <class T> struct SameType { typedef T type; };
template <class T> using Same = typename SameType<T>::type; // Takes part in no deduction.
template <class T, class U> struct Equal { static constexpr bool value = false; };
template <class T> struct Equal<T, T> { static constexpr bool value = true; };
template <class T, class U> constexpr bool is = Equal<T, U>::value;
template <bool B, class T> struct If {};
template <class T> struct If<true, T> { typedef T type; };

template <int BYTES> struct Word;
template <> struct Word<1> { typedef uint8_t type; };
template <> struct Word<2> { typedef uint16_t type; };
template <> struct Word<4> { typedef uint32_t type; };
template <> struct Word<8> { typedef uint64_t type; };
template <class T> using Unsigned = typename Word<sizeof(T)>::type;
template <class T> using Wide = typename Word<(sizeof(T) < 4 ? 4 : sizeof(T))>::type; // No promotion.

template <class T> constexpr bool is_small_float = is<T, Half> || is<T, Bfloat16>;
template <class T> constexpr bool is_float = is<T, float> || is<T, double> || is_small_float<T>;
template <class T> GBX_FN constexpr bool is_signed()
{
    if constexpr (is_float<T>)
        return true;
    else
        return T(-1) < T(0);
}
template <class T> constexpr int width = 8 * int(sizeof(T));

template <class To, class From> GBX_FN To bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the size");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}

template <class T> GBX_FN T infinity()
{
    if constexpr (is<T, float>)
        return bits<float>(uint32_t(0x7f800000u));
    else
        return bits<double>(uint64_t(0x7ff0000000000000u));
}

template <class T> GBX_FN T nan()
{
    if constexpr (is<T, float>)
        return bits<float>(uint32_t(0x7fc00000u));
    else
        return bits<double>(uint64_t(0x7ff8000000000000u));
}

// ---- 16-bit floats ----

// To nearest, ties to even, as all conversions.
GBX_FN Half to_half(float value)
{
#ifdef __CUDA_ARCH__
    Half half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
#else
    uint32_t word = bits<uint32_t>(value), sign = word >> 16 & 0x8000u, size = word & 0x7fffffffu, half;
    if (size > 0x7f800000u)
        half = 0x7e00u | (size >> 13 & 0x3ffu); // NaN
    else if (size >= 0x47800000u)
        half = 0x7c00u; // 65536 and beyond
    else if (size >= 0x38800000u)
        half = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    else // Adding 0.5 leaves a subnormal's value, in units of 2^-24, in the low bits.
        half = bits<uint32_t>(bits<float>(size) + 0.5f) & 0xffffu;
    return Half{uint16_t(sign | half)};
#endif
}

GBX_FN float from_half(Half value)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
#else
    uint32_t sign = uint32_t(value.bits >> 15) << 31, exponent = value.bits >> 10 & 31u, fraction = value.bits & 0x3ffu;
    uint32_t size = (exponent + 112u) << 23 | fraction << 13;
    if (exponent == 0)
        size = bits<uint32_t>(float(fraction) * 5.9604644775390625e-8f); // 2^-24
    else if (exponent == 31)
        size = 0x7f800000u | fraction << 13;
    return bits<float>(sign | size);
#endif
}

GBX_FN Bfloat16 to_bfloat16(float value)
{
    uint32_t word = bits<uint32_t>(value);
    if (value != value)
        return Bfloat16{uint16_t(word >> 16 | 0x40u)};
    return Bfloat16{uint16_t((word + 0x7fffu + (word >> 16 & 1u)) >> 16)};
}

// Converts to the type in which arithmetic is done: float for 16-bit floats.
template <class T> GBX_FN T real(T value) { return value; }
GBX_FN float real(Half value) { return from_half(value); }
GBX_FN float real(Bfloat16 value) { return bits<float>(uint32_t(value.bits) << 16); }

template <class To, class From> GBX_FN To saturate(From value) // Truncates; NaN gives 0.
{
    constexpr From high = From(Unsigned<To>(1) << (width<To> - 1)) * (is_signed<To>() ? From(1) : From(2));
    if (value >= high)
        return is_signed<To>() ? To(Unsigned<To>(-1) >> 1) : To(-1);
    if (value <= (is_signed<To>() ? -high : From(0)))
        return is_signed<To>() ? To(Unsigned<To>(1) << (width<To> - 1)) : To(0);
    return value != value ? To(0) : To(value);
}

// Any scalar to any other.
template <class To, class From> GBX_FN To convert_scalar(From value)
{
    if constexpr (is<To, From>)
        return value;
    else if constexpr (is<To, bool>)
        return real(value) != 0;
    else if constexpr (is<To, Half>)
        return to_half(float(real(value)));
    else if constexpr (is<To, Bfloat16>)
        return to_bfloat16(float(real(value)));
    else if constexpr (is_float<From> && !is_float<To>)
        return saturate<To>(real(value));
    else
        return To(real(value));
}

} // namespace gbx

GBX_FN Half::operator float() const { return gbx::from_half(*this); }
GBX_FN Bfloat16::operator float() const { return gbx::real(*this); }

// ---- composites: packed scalars ----
// (i) is checked and counts from the end if negative, [i] is not.

namespace gbx {

template <class I> GBX_FN int64_t inside(I index, int64_t extent, Line line)
{
    int64_t at = int64_t(index);
    if (is_signed<I>() && at < 0)
        at += extent;
#ifndef GBX_UNCHECKED
    if (is_checked(line) && uint64_t(at) >= uint64_t(extent))
        fault(INDEX, line, int64_t(index), extent);
#endif
    return at;
}

} // namespace gbx

#define GBX_ITEMS(TYPE, ITEMS, COUNT) \
    GBX_FN TYPE& operator[](int64_t i) { return ITEMS[i]; } \
    GBX_FN const TYPE& operator[](int64_t i) const { return ITEMS[i]; } \
    template <class I> GBX_FN TYPE& operator()(I i, GBX_HERE) { return ITEMS[gbx::inside(i, COUNT, line)]; } \
    template <class I> GBX_FN const TYPE& operator()(I i, GBX_HERE) const { return ITEMS[gbx::inside(i, COUNT, line)]; }

template <int N, class T> struct Vec {
    T c[N];
    GBX_ITEMS(T, c, N)
};

template <int R, int C, class T> struct Mat { // Row-major.
    Vec<C, T> r[R];
    typedef Vec<C, T> Row;
    GBX_ITEMS(Row, r, R)
};

template <class T> struct Quat { // x, y, z, w
    T c[4];
    GBX_ITEMS(T, c, 4)
};

template <class T> struct Transform { // Translation, then rotation.
    Vec<3, T> p;
    Quat<T> q;
    template <class I> GBX_FN T& operator()(I i, GBX_HERE)
    {
        int64_t at = gbx::inside(i, 7, line);
        return at < 3 ? p.c[at] : q.c[at - 3];
    }
    template <class I> GBX_FN const T& operator()(I i, GBX_HERE) const { return (*const_cast<Transform*>(this))(i, line); }
};

template <class T, int N> struct Fixed {
    T items[N];
    GBX_ITEMS(T, items, N)
};

namespace gbx {

// How many scalars a composite has, and which.
template <class V> struct Parts { static constexpr int count = 0; typedef V scalar; };
template <int N, class T> struct Parts<Vec<N, T>> { static constexpr int count = N; typedef T scalar; };
template <int R, int C, class T> struct Parts<Mat<R, C, T>> { static constexpr int count = R * C; typedef T scalar; };
template <class T> struct Parts<Quat<T>> { static constexpr int count = 4; typedef T scalar; };
template <class T> struct Parts<Transform<T>> { static constexpr int count = 7; typedef T scalar; };
template <class V> constexpr int parts = Parts<V>::count;
template <class V> using Scalar = typename Parts<V>::scalar;
template <class V> GBX_FN Scalar<V>& part(V& value, int index) { return ((Scalar<V>*)&value)[index]; }
template <class V> GBX_FN Scalar<V> part(const V& value, int index) { return ((const Scalar<V>*)&value)[index]; }

template <class V> GBX_FN V splat(Scalar<V> scalar)
{
    V result;
    for (int k = 0; k < parts<V>; ++k)
        part(result, k) = scalar;
    return result;
}

template <class F, class T> GBX_FN F repeat(T item)
{
    F result;
    for (T& place : result.items)
        place = item;
    return result;
}

template <class To, class From> GBX_FN To convert(From value)
{
    if constexpr (parts<To> == 0)
        return convert_scalar<To>(value);
    else {
        To result;
        for (int k = 0; k < parts<To>; ++k)
            part(result, k) = convert_scalar<Scalar<To>>(part(value, k));
        return result;
    }
}

// ---- arithmetic: by component on composites ----

template <class T, class F> GBX_FN T each(const T& a, const T& b, F f)
{
    T result;
    for (int k = 0; k < parts<T>; ++k)
        part(result, k) = f(part(a, k), part(b, k));
    return result;
}

#define GBX_BINARY(NAME, FLOATS, INTEGERS) \
    template <class T> GBX_FN T NAME(T a, Same<T> b, GBX_HERE) \
    { \
        if constexpr (parts<T> > 0) \
            return each(a, b, [=](Scalar<T> x, Scalar<T> y) { return NAME(x, y, line); }); \
        else if constexpr (is_float<T>) { \
            auto x = real(a), y = real(b); \
            return convert_scalar<T>(FLOATS); \
        } else { \
            INTEGERS; \
        } \
    }

GBX_FN float fmod(float x, float y) { return ::fmodf(x, y); }
GBX_FN double fmod(double x, double y) { return ::fmod(x, y); }
GBX_FN float floor(float x) { return ::floorf(x); }
GBX_FN double floor(double x) { return ::floor(x); }

template <class T> GBX_FN void nonzero(T divisor, Line line)
{
#ifndef GBX_UNCHECKED
    if (is_checked(line) && divisor == 0)
        fault(DIVISION, line);
#endif
}

GBX_BINARY(add, x + y, return T(Wide<T>(a) + Wide<T>(b)))
GBX_BINARY(sub, x - y, return T(Wide<T>(a) - Wide<T>(b)))
GBX_BINARY(mul, x * y, return T(Wide<T>(a) * Wide<T>(b)))
GBX_BINARY(div, x / y, nonzero(b, line); return is_signed<T>() && b == T(-1) ? T(0 - Wide<T>(a)) : T(a / b))
GBX_BINARY(rem, fmod(x, y), nonzero(b, line); return is_signed<T>() && b == T(-1) ? T(0) : T(a % b))
GBX_BINARY(bit_and, x, return T(a & b))
GBX_BINARY(bit_or, x, return T(a | b))
GBX_BINARY(bit_xor, x, return T(a ^ b))
GBX_BINARY(shl, x, return Unsigned<T>(b) >= Unsigned<T>(width<T>) ? T(0) : T(Wide<T>(a) << b))
GBX_BINARY(shr, x, return Unsigned<T>(b) >= Unsigned<T>(width<T>) ? T(a < 0 ? -1 : 0) : T(a >> b))

template <class T> GBX_FN T floordiv(T a, Same<T> b, GBX_HERE)
{
    if constexpr (parts<T> > 0)
        return each(a, b, [=](Scalar<T> x, Scalar<T> y) { return floordiv(x, y, line); });
    else if constexpr (is_float<T>)
        return convert_scalar<T>(floor(real(a) / real(b)));
    else {
        T quotient = div(a, b, line);
        return is_signed<T>() && (a < 0) != (b < 0) && mul(quotient, b) != a ? T(quotient - 1) : quotient;
    }
}

template <class T> GBX_FN T neg(T a)
{
    if constexpr (parts<T> > 0)
        return each(a, a, [](Scalar<T> x, Scalar<T>) { return neg(x); });
    else if constexpr (is_small_float<T>)
        return T{uint16_t(a.bits ^ 0x8000u)};
    else if constexpr (is_float<T>)
        return -a;
    else
        return T(0 - Wide<T>(a));
}

template <class T> GBX_FN T bit_not(T a)
{
    if constexpr (is<T, bool>)
        return !a;
    else if constexpr (parts<T> > 0)
        return each(a, a, [](Scalar<T> x, Scalar<T>) { return bit_not(x); });
    else
        return T(~a);
}

template <class V, class R = V> using Composite = typename If<(parts<V> > 0), R>::type;

// If one operand is NaN, the result is the other one; of two equal ones it is the first.
template <class T> GBX_FN T min(T a, Same<T> b) { return real(a) <= real(b) || real(b) != real(b) ? a : b; }
template <class T> GBX_FN T max(T a, Same<T> b) { return real(a) >= real(b) || real(b) != real(b) ? a : b; }

template <class T> GBX_FN T abs(T a)
{
    if constexpr (is_small_float<T>)
        return T{uint16_t(a.bits & 0x7fffu)};
    else if constexpr (is_float<T>)
        return convert_scalar<T>(::fabs(a));
    else
        return a < 0 ? neg(a) : a;
}

template <class T> GBX_FN bool isnan(T x) { return real(x) != real(x); }
template <class T> GBX_FN bool isfinite(T x) { return real(x) - real(x) == 0; }
template <class T> GBX_FN bool isinf(T x) { return !isnan(x) && !isfinite(x); }

#ifdef GBX_CUDA
template <class T> GBX_FN int bit_count(T x) { return __popcll(Unsigned<T>(x)); }
template <class T> GBX_FN int leading_zeros(T x) { return __clzll(Unsigned<T>(x)) - (64 - width<T>); }
template <class T> GBX_FN int trailing_zeros(T x) { return x == 0 ? width<T> : __ffsll((long long)(x)) - 1; }
#else
template <class T> GBX_FN int bit_count(T x) { return __builtin_popcountll(Unsigned<T>(x)); }
template <class T> GBX_FN int leading_zeros(T x) { return x == 0 ? width<T> : __builtin_clzll(Unsigned<T>(x)) - (64 - width<T>); }
template <class T> GBX_FN int trailing_zeros(T x) { return x == 0 ? width<T> : __builtin_ctzll((unsigned long long)(x)); }
#endif

// ---- functions of floats: 16-bit ones by way of float ----

#define GBX_FLOATS1(NAME, F, D) \
    GBX_FN float NAME(float x) { return F; } \
    GBX_FN double NAME(double x) { return D; } \
    GBX_FN Half NAME(Half x) { return to_half(NAME(float(x))); } \
    GBX_FN Bfloat16 NAME(Bfloat16 x) { return to_bfloat16(NAME(float(x))); }
#define GBX_FLOATS2(NAME, F, D) \
    GBX_FN float NAME(float x, float y) { return F; } \
    GBX_FN double NAME(double x, double y) { return D; } \
    GBX_FN Half NAME(Half x, Half y) { return to_half(NAME(float(x), float(y))); } \
    GBX_FN Bfloat16 NAME(Bfloat16 x, Bfloat16 y) { return to_bfloat16(NAME(float(x), float(y))); }

GBX_FN Half floor(Half x) { return to_half(floor(float(x))); }
GBX_FN Bfloat16 floor(Bfloat16 x) { return to_bfloat16(floor(float(x))); }
GBX_FLOATS2(copysign, ::copysignf(x, y), ::copysign(x, y))
GBX_FN float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
GBX_FN double fma(double x, double y, double z) { return ::fma(x, y, z); }
GBX_FN Half fma(Half x, Half y, Half z) { return to_half(::fmaf(float(x), float(y), float(z))); }
GBX_FN Bfloat16 fma(Bfloat16 x, Bfloat16 y, Bfloat16 z) { return to_bfloat16(::fmaf(float(x), float(y), float(z))); }
GBX_FLOATS1(ceil, ::ceilf(x), ::ceil(x))
GBX_FLOATS1(trunc, ::truncf(x), ::trunc(x))
GBX_FLOATS1(round, ::roundf(x), ::round(x))
GBX_FLOATS1(rint, ::rintf(x), ::rint(x))
GBX_FLOATS1(sqrt, ::sqrtf(x), ::sqrt(x))
GBX_FLOATS1(cbrt, ::cbrtf(x), ::cbrt(x))
GBX_FLOATS1(sin, ::sinf(x), ::sin(x))
GBX_FLOATS1(cos, ::cosf(x), ::cos(x))
GBX_FLOATS1(tan, ::tanf(x), ::tan(x))
GBX_FLOATS1(asin, ::asinf(!(x > -1) ? -1 : x > 1 ? 1 : x), ::asin(!(x > -1) ? -1 : x > 1 ? 1 : x))
GBX_FLOATS1(acos, ::acosf(!(x > -1) ? -1 : x > 1 ? 1 : x), ::acos(!(x > -1) ? -1 : x > 1 ? 1 : x))
GBX_FLOATS1(atan, ::atanf(x), ::atan(x))
GBX_FLOATS2(atan2, ::atan2f(x, y), ::atan2(x, y))
GBX_FLOATS1(sinh, ::sinhf(x), ::sinh(x))
GBX_FLOATS1(cosh, ::coshf(x), ::cosh(x))
GBX_FLOATS1(tanh, ::tanhf(x), ::tanh(x))
GBX_FLOATS1(exp, ::expf(x), ::exp(x))
GBX_FLOATS1(log, ::logf(x), ::log(x))
GBX_FLOATS1(log2, ::log2f(x), ::log2(x))
GBX_FLOATS1(log10, ::log10f(x), ::log10(x))
GBX_FLOATS2(pow, ::powf(x, y), ::pow(x, y))
GBX_FLOATS1(erf, ::erff(x), ::erf(x))
GBX_FLOATS1(erfc, ::erfcf(x), ::erfc(x))

#ifdef __CUDACC__
GBX_FLOATS1(erfinv, ::erfinvf(x), ::erfinv(x))
GBX_FLOATS1(erfcinv, ::erfcinvf(x), ::erfcinv(x))
#else // C lacks them: a guess and Halley's method.
inline double improve_erfinv(double z, double target, bool upper)
{
    for (int round = 0; round < 8; ++round) {
        double error = upper ? target - ::erfc(z) : ::erf(z) - target;
        double step = error / (1.1283791670955126 * ::exp(-z * z)); // By the slope 2 / sqrt(pi) e^(-z^2).
        double next = z - step / (1.0 + z * step);
        if (next == z || next - next != 0)
            break;
        z = next;
    }
    return z;
}
inline double upper_erfcinv(double y) // The positive root of erfc(z) = y, for y below one half.
{
    double log = -::log(y), guess = log - 0.5 * ::log(3.141592653589793 * log);
    return y == 0 ? infinity<double>() : improve_erfinv(::sqrt(guess > 0.1 ? guess : 0.1), y, true);
}
inline double solve_erfinv(double x)
{
    double size = ::fabs(x);
    if (!(size <= 1))
        return nan<double>();
    return ::copysign(size > 0.5 ? upper_erfcinv(1 - size) : improve_erfinv(size * 0.886, size, false), x);
}
inline double solve_erfcinv(double x)
{
    if (!(x >= 0 && x <= 2))
        return nan<double>();
    return x < 0.5 ? upper_erfcinv(x) : x <= 1.5 ? solve_erfinv(1 - x) : -upper_erfcinv(2 - x);
}
GBX_FLOATS1(erfinv, float(solve_erfinv(x)), solve_erfinv(x))
GBX_FLOATS1(erfcinv, float(solve_erfcinv(x)), solve_erfcinv(x))
#endif

} // namespace gbx

template <class V> GBX_FN gbx::Composite<V> operator+(const V& a, const V& b) { return gbx::add(a, b); }
template <class V> GBX_FN gbx::Composite<V> operator-(const V& a, const V& b) { return gbx::sub(a, b); }
template <class V> GBX_FN gbx::Composite<V> operator-(const V& a) { return gbx::neg(a); }
template <class V> GBX_FN gbx::Composite<V> operator*(const V& a, gbx::Scalar<V> b) { return gbx::mul(a, gbx::splat<V>(b)); }
template <class V> GBX_FN gbx::Composite<V> operator*(gbx::Scalar<V> a, const V& b) { return gbx::mul(gbx::splat<V>(a), b); }
template <class V> GBX_FN gbx::Composite<V> operator/(const V& a, gbx::Scalar<V> b) { return gbx::div(a, gbx::splat<V>(b)); }

// ---- arrays: handles to strided memory, laid out as NVIDIA Warp's ----

namespace gbx {
// The product in 64 bits.
GBX_FN uint64_t wide(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    // Compilers move the conversion of what doesn't change out of loops, and multiply 64 bits.
    uint64_t product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return uint64_t(a) * b;
#endif
}
} // namespace gbx

template <class T, int N> struct Array {
    T* data;
    T* grad;
    int32_t shape[4];
    int32_t strides[4]; // In bytes.
    uint16_t ndim;
    uint16_t flags;

    template <class I> GBX_FN int64_t step(int dim, I i, gbx::Line line) const
    {
        int64_t at = gbx::inside(i, shape[dim], line);
        // Trusted code has no negative strides.
        return gbx::is_checked(line) ? at * strides[dim] : int64_t(gbx::wide(uint32_t(at), uint32_t(strides[dim])));
    }
    GBX_FN T& place(int64_t bytes, gbx::Line line) const
    {
#ifndef GBX_UNCHECKED
        if (gbx::is_checked(line) && data == nullptr)
            gbx::fault(gbx::ABSENT, line);
#endif
        return *(T*)((char*)data + bytes);
    }
    template <class I> GBX_FN T& operator()(I i, GBX_HERE) const
    {
        static_assert(N == 1, "one index for each dimension");
        return place(step(0, i, line), line);
    }
    template <class I, class J> GBX_FN T& operator()(I i, J j, GBX_HERE) const
    {
        static_assert(N == 2, "one index for each dimension");
        return place(step(0, i, line) + step(1, j, line), line);
    }
    template <class I, class J, class K> GBX_FN T& operator()(I i, J j, K k, GBX_HERE) const
    {
        static_assert(N == 3, "one index for each dimension");
        return place(step(0, i, line) + step(1, j, line) + step(2, k, line), line);
    }
    template <class I, class J, class K, class L> GBX_FN T& operator()(I i, J j, K k, L l, GBX_HERE) const
    {
        static_assert(N == 4, "one index for each dimension");
        return place(step(0, i, line) + step(1, j, line) + step(2, k, line) + step(3, l, line), line);
    }
};
static_assert(sizeof(Array<float, 1>) == 56, "as NVIDIA Warp lays it out");

namespace gbx {

// The array of gradients; it has none itself.
template <class T, int N> GBX_FN Array<T, N> gradient(Array<T, N> array)
{
    array.data = array.grad;
    array.grad = nullptr;
    return array;
}

// `len` indices from `start` on, `step` apart.
struct Span {
    int32_t start, len, step;
};

// Part of an array: an index drops a dimension, a Span keeps it, those not named are kept whole.
template <class T, int N, int M> struct Viewer {
    const Array<T, N>& from;
    Array<T, M> to;
    int64_t bytes;
    int at, made;

    template <class I> GBX_FN void take(I index, Line line) { bytes += from.step(at, index, line), ++at; }
    GBX_FN void take(Span span, Line line)
    {
        int64_t len = span.len > 0 ? span.len : 0;
#ifndef GBX_UNCHECKED
        int64_t extent = from.shape[at], last = span.start + (len - 1) * span.step;
        if (is_checked(line) && len > 0 && uint64_t(span.start) >= uint64_t(extent))
            fault(VIEW, line, span.start, extent);
        if (is_checked(line) && len > 0 && uint64_t(last) >= uint64_t(extent))
            fault(VIEW, line, last, extent);
#endif
        bytes += int64_t(span.start) * from.strides[at];
        to.shape[made] = int32_t(len);
        to.strides[made++] = mul(from.strides[at++], span.step);
    }
    GBX_FN Array<T, M> end()
    {
        for (; made < M; ++made, ++at) {
            to.shape[made] = from.shape[at];
            to.strides[made] = from.strides[at];
        }
        to.data = from.data ? (T*)((char*)from.data + bytes) : nullptr;
        to.grad = from.grad ? (T*)((char*)from.grad + bytes) : nullptr;
        to.ndim = M;
        return to;
    }
};

template <int M, class T, int N> GBX_FN Array<T, M> view(const Array<T, N>& array)
{
    return Viewer<T, N, M>{array, {}, 0, 0, 0}.end();
}
template <int M, class T, int N, class A> GBX_FN Array<T, M> view(const Array<T, N>& array, A a, GBX_HERE)
{
    Viewer<T, N, M> viewer{array, {}, 0, 0, 0};
    viewer.take(a, line);
    return viewer.end();
}
template <int M, class T, int N, class A, class B>
GBX_FN Array<T, M> view(const Array<T, N>& array, A a, B b, GBX_HERE)
{
    Viewer<T, N, M> viewer{array, {}, 0, 0, 0};
    viewer.take(a, line), viewer.take(b, line);
    return viewer.end();
}
template <int M, class T, int N, class A, class B, class C>
GBX_FN Array<T, M> view(const Array<T, N>& array, A a, B b, C c, GBX_HERE)
{
    Viewer<T, N, M> viewer{array, {}, 0, 0, 0};
    viewer.take(a, line), viewer.take(b, line), viewer.take(c, line);
    return viewer.end();
}
template <int M, class T, int N, class A, class B, class C, class D>
GBX_FN Array<T, M> view(const Array<T, N>& array, A a, B b, C c, D d, GBX_HERE)
{
    Viewer<T, N, M> viewer{array, {}, 0, 0, 0};
    viewer.take(a, line), viewer.take(b, line), viewer.take(c, line), viewer.take(d, line);
    return viewer.end();
}

template <int DIM, class T, int M, class U, int N> GBX_FN void nest(Array<T, M>& array, Fixed<U, N>& place)
{
    array.shape[DIM] = N;
    array.strides[DIM] = int32_t(sizeof(U));
    if constexpr (DIM + 1 < M)
        nest<DIM + 1>(array, place.items[0]);
    else
        array.data = place.items;
}

// A handle to a variable, valid as long as the variable is.
template <class T, int M, class F> GBX_FN Array<T, M> as_array(F& place)
{
    Array<T, M> array = {};
    array.ndim = M;
    nest<0>(array, place);
    return array;
}

// ---- loops: `for (const int i : gbx::range<int>(start, end, step))` never overflows ----

template <class T> struct Range {
    T at, step;
    uint64_t left;
    GBX_FN Range begin() const { return *this; }
    GBX_FN int end() const { return 0; }
    GBX_FN bool operator!=(int) const { return left != 0; }
    GBX_FN T operator*() const { return at; }
    GBX_FN void operator++() { at = add(at, step), --left; }
};

template <class T> GBX_FN Range<T> range(T start, T end, T step)
{
    uint64_t count = 0;
    if (step > 0 && start < end)
        count = (uint64_t(end) - uint64_t(start) - 1) / uint64_t(step) + 1;
    if (step < 0 && start > end)
        count = (uint64_t(start) - uint64_t(end) - 1) / (0 - uint64_t(step)) + 1;
    return Range<T>{start, step, count};
}

// ---- launches ----

// The part begin..end of a launch over a grid, row-major; unused extents are 1.
struct Grid {
    int64_t begin, end;
    int32_t extents[4];
    int32_t dims;
    int32_t lanes; // Of gbx::Spread: how many of the 32 threads of a warp have work; 0 is all.
};

// The threads of a grid that one thread runs, one after the other: all on the host, every n-th of
// n on CUDA.
struct Thread {
    const Grid& grid;
    int64_t at;

#ifdef GBX_CUDA
    GBX_FN explicit Thread(const Grid& grid) : grid(grid), at(grid.begin + int64_t(blockIdx.x) * blockDim.x + threadIdx.x) {}
    GBX_FN void next() { at += int64_t(gridDim.x) * blockDim.x; }
#else
    explicit Thread(const Grid& grid) : grid(grid), at(grid.begin) {}
    void next() { ++at; }
#endif
    GBX_FN bool runs() const { return at < grid.end; }

    // The coordinate in a dimension.
    GBX_FN int index(int dim) const
    {
        uint64_t rest = uint64_t(at);
        for (int d = 3; d > dim; --d) {
            if (d < grid.dims)
                rest = rest >> 32 ? rest / uint32_t(grid.extents[d]) : uint32_t(rest) / uint32_t(grid.extents[d]);
        }
        if (dim > 0)
            rest = rest >> 32 ? rest % uint32_t(grid.extents[dim]) : uint32_t(rest) % uint32_t(grid.extents[dim]);
        return int(rest);
    }
};

#ifdef GBX_CUDA
// Threads that soon take different branches: a warp runs one branch after the other, so a warp with
// fewer of them is done sooner.
struct Spread : Thread {
    GBX_FN explicit Spread(const Grid& grid) : Thread(grid)
    {
        if (grid.lanes > 0) {
            int64_t slot = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
            at = slot % 32 < grid.lanes ? grid.begin + slot / 32 * grid.lanes + slot % 32 : grid.end;
        }
    }
    GBX_FN void next()
    {
        int64_t slots = int64_t(gridDim.x) * blockDim.x;
        at += grid.lanes > 0 ? slots / 32 * grid.lanes : slots;
    }
};
#endif

#if !defined(GBX_CUDA)
template <int... I> struct Positions {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> { typedef Positions<I...> type; };

template <class... P, int... I>
void call(void (*range)(const Grid&, P...), const Grid& grid, void* const* args, Positions<I...>)
{
    range(grid, *(const P*)args[I]...);
}

// Runs part of a launch; `args` points at the arguments. Gives the kind of the fault, 0 if all went
// well.
template <class... P> int run(void (*range)(const Grid&, P...), const Grid* grid, void* const* args, Fault* fault)
{
    try {
        call(range, *grid, args, typename Count<sizeof...(P)>::type());
        return 0;
    } catch (const Fault& found) {
        *fault = found;
        return found.kind;
    }
}
#endif

// ---- threads that run together ----

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// The least key of the lanes of this warp that run together.
GBX_FN uint32_t lowest(uint32_t key) { return __reduce_min_sync(__activemask(), key); }
#else
// This thread runs alone.
GBX_FN uint32_t lowest(uint32_t key) { return key; }
#endif

// Returns the number, of which NVIDIA's compilers then assume nothing.
GBX_FN uint32_t opaque(uint32_t value)
{
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(value));
#endif
    return value;
}

// ---- atomics: each gives the old value; by component on composites ----

#ifdef GBX_CUDA
template <class T> GBX_FN T exchange_if(T* place, T expected, T wanted)
{
    if constexpr (sizeof(T) == 8)
        return bits<T>(atomicCAS((unsigned long long*)place, bits<unsigned long long>(expected), bits<unsigned long long>(wanted)));
    else if constexpr (sizeof(T) == 4)
        return bits<T>(atomicCAS((unsigned int*)place, bits<unsigned int>(expected), bits<unsigned int>(wanted)));
    else { // In the aligned word around it.
        constexpr uint32_t mask = sizeof(T) == 1 ? 0xffu : 0xffffu;
        uint64_t address = (uint64_t)place;
        unsigned int* word = (unsigned int*)(address & ~uint64_t(3));
        int shift = int(address & 3) * 8;
        unsigned int old = *(volatile unsigned int*)word;
        while ((old >> shift & mask) == bits<Unsigned<T>>(expected)) {
            unsigned int next = (old & ~(mask << shift)) | (uint32_t(bits<Unsigned<T>>(wanted)) << shift), seen = atomicCAS(word, old, next);
            if (seen == old)
                return expected;
            old = seen;
        }
        return bits<T>(Unsigned<T>(old >> shift & mask));
    }
}
template <class T> GBX_FN T peek(T* place) { return bits<T>(*(volatile Unsigned<T>*)place); }
#else
template <class T> GBX_FN T exchange_if(T* place, T expected, T wanted)
{
    Unsigned<T> old = bits<Unsigned<T>>(expected);
    __atomic_compare_exchange_n((Unsigned<T>*)place, &old, bits<Unsigned<T>>(wanted), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return bits<T>(old);
}
template <class T> GBX_FN T peek(T* place) { return bits<T>(__atomic_load_n((Unsigned<T>*)place, __ATOMIC_RELAXED)); }
#endif

template <class T, class F> GBX_FN T update(T* place, F f)
{
    for (T old = peek(place);;) {
        T seen = exchange_if(place, old, f(old));
        if (bits<Unsigned<T>>(seen) == bits<Unsigned<T>>(old))
            return old;
        old = seen;
    }
}

#define GBX_ATOMIC(NAME, DIRECT, NEXT) \
    template <class T> GBX_FN T NAME(T& place, Same<T> value) \
    { \
        if constexpr (parts<T> > 0) { \
            T old; \
            for (int k = 0; k < parts<T>; ++k) \
                part(old, k) = NAME(part(place, k), part(value, k)); \
            return old; \
        } else { \
            DIRECT \
            return update(&place, [=](T old) { return NEXT; }); \
        } \
    }

#ifdef GBX_CUDA // Where the hardware does it in one instruction.
template <class T> constexpr bool is_word = !is_float<T> && (sizeof(T) == 4 || sizeof(T) == 8);
template <class T, bool S = (sizeof(T) == 4)> struct Native { typedef unsigned int type; };
template <class T> struct Native<T, false> { typedef unsigned long long type; };
template <> struct Native<float, true> { typedef float type; };
template <> struct Native<double, false> { typedef double type; };
template <class T> using AsWord = typename Native<T>::type;
#define GBX_WORDS(CALL) if constexpr (is_word<T>) { typedef AsWord<T> W; return T(CALL((W*)&place, W(value))); }
#define GBX_ORDERED(CALL) \
    if constexpr (is_word<T> && is_signed<T>()) { \
        if constexpr (sizeof(T) == 4) return T(CALL((int*)&place, int(value))); \
        else return T(CALL((long long*)&place, (long long)value)); \
    } else GBX_WORDS(CALL)
#define GBX_SUMS if constexpr (is_word<T> || is<T, float> || is<T, double>) { typedef AsWord<T> W; return T(atomicAdd((W*)&place, W(value))); }
#else
#define GBX_WORDS(CALL)
#define GBX_ORDERED(CALL)
#define GBX_SUMS
#endif

GBX_ATOMIC(atomic_add, GBX_SUMS, add(old, value))
GBX_ATOMIC(atomic_min, GBX_ORDERED(atomicMin), min(old, value))
GBX_ATOMIC(atomic_max, GBX_ORDERED(atomicMax), max(old, value))
GBX_ATOMIC(atomic_and, GBX_WORDS(atomicAnd), T(old & value))
GBX_ATOMIC(atomic_or, GBX_WORDS(atomicOr), T(old | value))
GBX_ATOMIC(atomic_xor, GBX_WORDS(atomicXor), T(old ^ value))
GBX_ATOMIC(atomic_exchange, , (void(old), T(value)))
template <class T> GBX_FN T atomic_sub(T& place, Same<T> value) { return atomic_add(place, neg(value)); }
template <class T> GBX_FN T atomic_compare_exchange(T& place, Same<T> expected, Same<T> value)
{
    return exchange_if(&place, expected, value);
}

// ---- printing, as NVIDIA Warp prints ----

template <class T> GBX_FN double printed(T value) { return double(float(real(value))); }

template <class T> GBX_FN void print(const T& value)
{
    if constexpr (is<T, bool>)
        printf(value ? "True\n" : "False\n");
    else if constexpr (is_float<T>)
        printf("%g\n", double(real(value)));
    else if constexpr (is_signed<T>())
        printf("%lld\n", (long long)value);
    else
        printf("%llu\n", (unsigned long long)value);
}
template <int N, class T> GBX_FN void print(const Vec<N, T>& value)
{
    for (T part : value.c)
        printf("%g ", printed(part));
    printf("\n");
}
template <int R, int C, class T> GBX_FN void print(const Mat<R, C, T>& value)
{
    for (const Vec<C, T>& row : value.r)
        print(row);
}
template <class T> GBX_FN void print(const Quat<T>& q)
{
    printf("%g %g %g %g\n", printed(q[0]), printed(q[1]), printed(q[2]), printed(q[3]));
}
template <class T> GBX_FN void print(const Transform<T>& t)
{
    printf("(%g %g %g) (%g %g %g %g)\n", printed(t.p[0]), printed(t.p[1]), printed(t.p[2]),
           printed(t.q[0]), printed(t.q[1]), printed(t.q[2]), printed(t.q[3]));
}
GBX_FN void print_unknown() { printf("<type without print implementation>\n"); }

} // namespace gbx

#endif // GBXCULE_H
