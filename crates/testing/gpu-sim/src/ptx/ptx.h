// ptx.h: what the instructions of PTX compute, for text that gpu-sim translates to C++.
//
// A register is an unsigned integer of its width, or a bool; as<T> reads it as a float, raw makes
// bits of one. Threads run one after the other. Where the PTX ISA document leaves a result open, a
// comment says so. Compile with -ffp-contract=off and without any option for fast mathematics.
#pragma once

#include <cfenv>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#define EXPORT extern "C" __attribute__((visibility("default")))
#define FORM static inline __attribute__((always_inline))

namespace ptx {

typedef uint8_t u8, b8;
typedef uint16_t u16, b16;
typedef uint32_t u32, b32;
typedef uint64_t u64, b64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef _Float16 f16;

[[noreturn]] __attribute__((noinline)) inline void end(const char* why)
{
    fprintf(stderr, "gpu-sim: %s\n", why);
    abort();
}

// ---- threads ----

struct Position {
    u32 x, y, z;
};

struct Thread {
    Position tid, ntid, ctaid, nctaid;
    u32 laneid;
    jmp_buf start;

    [[noreturn]] void exit() { longjmp(start, 1); }
    u32 own_lane() const { return 1u << laneid; }
    // A value taken together over the lanes of a mask, of which there is only this one.
    u32 alone(u32 value, u32 mask) const
    {
        if (mask != own_lane())
            end("lanes of a mask run one after the other here");
        return value;
    }
};

// Runs all threads of a grid.
template <class F> void launch(u32 blocks, u32 threads, F kernel)
{
    for (u32 block = 0; block < blocks; ++block) {
        for (u32 number = 0; number < threads; ++number) {
            Thread thread = {{number, 0, 0}, {threads, 1, 1}, {block, 0, 0}, {blocks, 1, 1}, number % 32, {}};
            if (setjmp(thread.start) == 0)
                kernel(thread);
        }
    }
}

// ---- registers and memory ----

template <int BYTES> struct Word;
template <> struct Word<1> { typedef u8 type; };
template <> struct Word<2> { typedef u16 type; };
template <> struct Word<4> { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };
template <class T> using Bits = typename Word<sizeof(T)>::type;
template <class T> constexpr int width = 8 * int(sizeof(T));

template <class To, class From> FORM To as(From value)
{
    static_assert(sizeof(To) == sizeof(From), "bits are neither added nor lost");
    To same;
    memcpy(&same, &value, sizeof same);
    return same;
}

template <class T> FORM Bits<T> raw(T value) { return as<Bits<T>>(value); }

// A place of `count` values. On a GPU, too, an access that is not aligned to its size ends the
// launch.
template <class T, int count = 1> FORM T* place(u64 address)
{
    if (address % (count * sizeof(T)))
        end("a misaligned access to memory");
    return (T*)address;
}

template <class T> FORM T load(const T* place)
{
    T value;
    memcpy(&value, place, sizeof value);
    return value;
}

template <class T> FORM void store(T* place, T value) { memcpy(place, &value, sizeof value); }

constexpr bool is_there(const char* modifier) { return *modifier != 0; }

// ---- integers ----

template <class T> constexpr bool is_integer = std::is_integral<T>::value;
template <class T> using Wide = typename std::conditional<
    std::is_signed<T>::value, typename std::conditional<sizeof(T) == 2, s32, typename std::conditional<sizeof(T) == 4, s64, __int128>::type>::type,
    typename std::conditional<sizeof(T) == 2, u32, typename std::conditional<sizeof(T) == 4, u64, unsigned __int128>::type>::type>::type;
template <class T> using Only = typename std::enable_if<is_integer<T>, T>::type;

template <class T> FORM Only<T> add(T a, T b) { return T(u64(a) + u64(b)); }
template <class T> FORM Only<T> sub(T a, T b) { return T(u64(a) - u64(b)); }
template <class T> FORM Only<T> neg(T a) { return T(0 - u64(a)); }
template <class T> FORM Only<T> abs(T a) { return a < 0 ? neg(a) : a; }
template <class T> FORM T mul_lo(T a, T b) { return T(u64(a) * u64(b)); }
template <class T> FORM T mul_hi(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> width<T>); }
template <class T> FORM Wide<T> mul_wide(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
template <class T> FORM T mad_lo(T a, T b, T c) { return add(mul_lo(a, b), c); }
template <class T> FORM Wide<T> mad_wide(T a, T b, Wide<T> c) { return add(mul_wide(a, b), c); }

// Division by zero is unspecified in PTX, and -2^n / -1, too.
template <class T> FORM Only<T> div(T a, T b)
{
    if (b == 0)
        return T(-1);
    return std::is_signed<T>::value && b == T(-1) ? neg(a) : T(a / b);
}
template <class T> FORM T rem(T a, T b)
{
    if (b == 0)
        return a;
    return std::is_signed<T>::value && b == T(-1) ? T(0) : T(a % b);
}

template <class T> FORM Only<T> min(T a, T b) { return a < b ? a : b; }
template <class T> FORM Only<T> max(T a, T b) { return a > b ? a : b; }

// With a carry, of 32 bits.
FORM u32 with_carry(u64 sum, bool kept, u32& carry)
{
    if (kept)
        carry = u32(sum >> 32) & 1;
    return u32(sum);
}
FORM u32 add_cc(u32 a, u32 b, u32& carry) { return with_carry(u64(a) + b, true, carry); }
FORM u32 sub_cc(u32 a, u32 b, u32& carry) { return with_carry(u64(a) - b, true, carry); }
template <bool kept> FORM u32 addc(u32 a, u32 b, u32& carry) { return with_carry(u64(a) + b + carry, kept, carry); }
template <bool kept> FORM u32 subc(u32 a, u32 b, u32& carry) { return with_carry(u64(a) - b - carry, kept, carry); }
FORM u32 mad_lo_cc(u32 a, u32 b, u32 c, u32& carry) { return add_cc(mul_lo(a, b), c, carry); }
FORM u32 mad_hi_cc(u32 a, u32 b, u32 c, u32& carry) { return add_cc(mul_hi(a, b), c, carry); }
template <bool kept> FORM u32 madc_lo(u32 a, u32 b, u32 c, u32& carry) { return addc<kept>(mul_lo(a, b), c, carry); }
template <bool kept> FORM u32 madc_hi(u32 a, u32 b, u32 c, u32& carry) { return addc<kept>(mul_hi(a, b), c, carry); }

// ---- bits ----

template <class T> FORM T bitwise_and(T a, T b) { return T(a & b); }
template <class T> FORM T bitwise_or(T a, T b) { return T(a | b); }
template <class T> FORM T bitwise_xor(T a, T b) { return T(a ^ b); }
template <class T> FORM T bitwise_not(T a) { return T(~a); }
FORM bool bitwise_not(bool a) { return !a; }

// Shifts beyond the width shift everything out.
template <class T> FORM T shl(T a, u32 by) { return by < width<T> ? T(a << by) : T(0); }
template <class T> FORM T shr(T a, u32 by)
{
    constexpr u32 all = width<T> - 1;
    return by <= all ? T(a >> by) : std::is_signed<T>::value ? T(a >> all) : T(0);
}

FORM u32 funnel(u64 both, u32 by) { return by < 64 ? u32(both >> by) : 0; }
FORM u32 shf_l_wrap(u32 low, u32 high, u32 by) { return funnel(u64(high) << 32 | low, 32 - by % 32); }
FORM u32 shf_r_wrap(u32 low, u32 high, u32 by) { return funnel(u64(high) << 32 | low, by % 32); }
FORM u32 shf_l_clamp(u32 low, u32 high, u32 by) { return funnel(u64(high) << 32 | low, 32 - (by < 32 ? by : 32)); }
FORM u32 shf_r_clamp(u32 low, u32 high, u32 by) { return funnel(u64(high) << 32 | low, by < 32 ? by : 32); }

// `from` and `length` are bytes.
template <class T> FORM T bfe(T a, u32 from, u32 length)
{
    from &= 255, length &= 255;
    constexpr u32 top = width<T> - 1;
    u32 last = from + length - 1 < top ? from + length - 1 : top;
    if (length == 0)
        return 0;
    bool sign = std::is_signed<T>::value && (Bits<T>(a) >> last & 1);
    Bits<T> mask = length > top ? Bits<T>(-1) : Bits<T>((Bits<T>(1) << length) - 1);
    Bits<T> taken = from > top ? Bits<T>(0) : Bits<T>(Bits<T>(a) >> from);
    u32 present = from > top ? 0 : top - from + 1; // Bits of `a` from there on.
    Bits<T> inside = present > top ? Bits<T>(-1) : Bits<T>((Bits<T>(1) << present) - 1);
    taken &= mask & inside;
    return T(sign ? taken | Bits<T>(~(mask & inside)) : taken);
}
template <class T> FORM T bfi(T a, T b, u32 from, u32 length)
{
    from &= 255, length &= 255;
    constexpr u32 top = width<T> - 1;
    if (from > top)
        return b;
    T mask = T((length > top ? T(-1) : T((T(1) << length) - 1)) << from);
    return T((b & ~mask) | (T(a << from) & mask));
}

FORM u32 prmt(u32 a, u32 b, u32 selector)
{
    u64 both = u64(b) << 32 | a;
    u32 result = 0;
    for (int at = 0; at < 4; ++at) {
        u32 chosen = selector >> (4 * at), byte = u32(both >> (8 * (chosen & 7))) & 255;
        result |= (chosen & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * at);
    }
    return result;
}

FORM u32 popc(u32 a) { return u32(__builtin_popcount(a)); }
FORM u32 popc(u64 a) { return u32(__builtin_popcountll(a)); }
FORM u32 clz(u32 a) { return a ? u32(__builtin_clz(a)) : 32; }
FORM u32 clz(u64 a) { return a ? u32(__builtin_clzll(a)) : 64; }
template <class T> FORM T brev(T a)
{
    T result = 0;
    for (int at = 0; at < width<T>; ++at)
        result = T(result << 1 | (a >> at & 1));
    return result;
}

// ---- choices ----

template <class T> FORM T selp(T a, T b, bool first) { return first ? a : b; }

template <class T> FORM bool is_nan(T a) { return a != a; }
template <class T> FORM bool compare_eq(T a, T b) { return a == b; }
template <class T> FORM bool compare_ne(T a, T b) { return a != b; }
template <class T> FORM bool compare_lt(T a, T b) { return a < b; }
template <class T> FORM bool compare_le(T a, T b) { return a <= b; }
template <class T> FORM bool compare_gt(T a, T b) { return a > b; }
template <class T> FORM bool compare_ge(T a, T b) { return a >= b; }
template <class T> FORM bool compare_num(T a, T b) { return !is_nan(a) && !is_nan(b); }
template <class T> FORM bool compare_nan(T a, T b) { return !compare_num(a, b); }
template <class T> FORM bool compare_ordered_ne(T a, T b) { return compare_num(a, b) && a != b; }
template <class T> FORM bool compare_equ(T a, T b) { return compare_nan(a, b) || a == b; }
template <class T> FORM bool compare_neu(T a, T b) { return compare_nan(a, b) || a != b; }
template <class T> FORM bool compare_ltu(T a, T b) { return compare_nan(a, b) || a < b; }
template <class T> FORM bool compare_leu(T a, T b) { return compare_nan(a, b) || a <= b; }
template <class T> FORM bool compare_gtu(T a, T b) { return compare_nan(a, b) || a > b; }
template <class T> FORM bool compare_geu(T a, T b) { return compare_nan(a, b) || a >= b; }

// ---- floats ----

// NaN of f32 arithmetic: PTX leaves its bits open, GPUs give these. Payloads of f64 are kept.
FORM f32 result(f32 value) { return is_nan(value) ? as<f32>(u32(0x7fffffff)) : value; }
FORM f64 result(f64 value) { return value; }

template <class T> FORM T flushed(T a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(T(0), a) : a; }

enum Rounding { rn = FE_TONEAREST, rz = FE_TOWARDZERO, rm = FE_DOWNWARD, rp = FE_UPWARD };
enum IntegerRounding { rni, rzi, rmi, rpi };

// Rounded in another direction: volatile variables keep the operation between both changes.
template <class T, class F> __attribute__((noinline)) T directed(Rounding rounding, T a, T b, T c, F operation)
{
    volatile T x = a, y = b, z = c, value;
    fesetround(rounding);
    value = operation(x, y, z);
    fesetround(FE_TONEAREST);
    return value;
}

#define FLOAT_OPERATION(NAME, EXPRESSION)                                                                   \
    template <Rounding rounding, class T> FORM T NAME(T a, T b)                                             \
    {                                                                                                       \
        auto operation = [](T x, T y, T) { return EXPRESSION; };                                            \
        return result(rounding == rn ? operation(a, b, T(0)) : directed(rounding, a, b, T(0), operation));  \
    }
FLOAT_OPERATION(add, x + y)
FLOAT_OPERATION(sub, x - y)
FLOAT_OPERATION(mul, x * y)

template <Rounding rounding, class T> FORM T fma(T a, T b, T c)
{
    auto operation = [](T x, T y, T z) { return std::fma(x, y, z); };
    return result(rounding == rn ? operation(a, b, c) : directed(rounding, a, b, c, operation));
}

FORM f32 div(f32 a, f32 b) { return result(a / b); }
FORM f64 div(f64 a, f64 b) { return a / b; }
template <class T> FORM T reciprocal(T a) { return result(T(1) / a); }
template <class T> FORM T square_root(T a) { return result(std::sqrt(a)); }
FORM f32 neg(f32 a) { return as<f32>(raw(a) ^ 0x80000000u); }
FORM f64 neg(f64 a) { return as<f64>(raw(a) ^ 0x8000000000000000u); }
FORM f32 abs(f32 a) { return as<f32>(raw(a) & 0x7fffffffu); }
FORM f64 abs(f64 a) { return as<f64>(raw(a) & 0x7fffffffffffffffu); }
// The sign of `a`, the value of `b`.
template <class T> FORM T copysign(T a, T b) { return std::copysign(b, a); }

// Of a number and a NaN, the number; -0 is less than +0.
template <class T> FORM T lesser(T a, T b)
{
    if (is_nan(a) || is_nan(b))
        return result(is_nan(a) ? b : a);
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
FORM f32 min(f32 a, f32 b) { return lesser(a, b); }
FORM f64 min(f64 a, f64 b) { return lesser(a, b); }
FORM f32 max(f32 a, f32 b) { return result(neg(lesser(neg(a), neg(b)))); }
FORM f64 max(f64 a, f64 b) { return neg(lesser(neg(a), neg(b))); }

// ---- conversions ----

template <class To, class From> FORM To convert(From value) { return To(value); }
template <class To, class From> FORM To from_integer(From value) { return To(value); }
FORM f32 narrow(f64 value) { return result(f32(value)); }
FORM f64 widen(f32 value) { return f64(value); }
FORM f16 to_half(f32 value) { return is_nan(value) ? as<f16>(u16(0x7fff)) : f16(value); }
FORM f32 from_half(f16 value) { return result(f32(value)); }

template <IntegerRounding rounding, class T> FORM T to_integral(T value)
{
    switch (rounding) {
    case rni: return result(std::nearbyint(value));
    case rzi: return result(std::trunc(value));
    case rmi: return result(std::floor(value));
    default: return result(std::ceil(value));
    }
}

// Values that are too large or too small become the greatest or least.
template <class To, IntegerRounding rounding, class From> FORM To to_integer(From value)
{
    if (is_nan(value))
        return sizeof(From) == 4 && sizeof(To) == 4 ? To(0) : To(Bits<To>(1) << (width<To> - 1));
    From whole = to_integral<rounding>(value);
    constexpr To least = std::numeric_limits<To>::min(), greatest = std::numeric_limits<To>::max();
    if (whole >= -2 * From(std::numeric_limits<typename std::make_signed<To>::type>::min()) / (std::is_signed<To>::value ? 2 : 1))
        return greatest;
    return whole <= From(least) ? least : To(whole);
}

FORM f32 saturate(f32 value) { return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f; }

// ---- approximate functions ----
// Nearest values where the document states an error, so within it; a GPU's last bits differ.

template <bool ftz> FORM f32 flushed_if(f32 a) { return ftz ? flushed(a) : a; }

template <bool ftz> FORM f32 div_approx(f32 a, f32 b)
{
    a = flushed_if<ftz>(a), b = flushed_if<ftz>(b);
    // Of such a divisor the reciprocal is taken for 0.
    if (std::fabs(b) > 0x1p126f && !std::isinf(b))
        b = std::copysign(std::numeric_limits<f32>::infinity(), b);
    return result(flushed_if<ftz>(a / b));
}

// The upper half of an f64 is all that counts.
FORM f64 upper(f64 a) { return as<f64>(raw(a) & 0xffffffff00000000u); }

FORM f32 rcp_approx(f32 a) { return result(flushed(1 / flushed(a))); }
FORM f64 rcp_approx(f64 a) { return flushed(upper(1 / flushed(upper(a)))); }
FORM f32 rsqrt_approx(f32 a) { return result(f32(1 / std::sqrt(f64(a)))); }
FORM f64 rsqrt_approx(f64 a) { return f64(1 / std::sqrt((long double)a)); }
FORM f32 rsqrt_approx_ftz(f32 a) { return rsqrt_approx(flushed(a)); }
FORM f64 rsqrt_approx_ftz(f64 a) { return upper(rsqrt_approx(flushed(upper(a)))); }

#define APPROXIMATE(NAME, FUNCTION)                                                  \
    template <bool ftz> FORM f32 NAME(f32 a)                                         \
    {                                                                                \
        return result(flushed_if<ftz>(f32(FUNCTION(f64(flushed_if<ftz>(a))))));      \
    }
APPROXIMATE(ex2_approx, std::exp2)
APPROXIMATE(lg2_approx, std::log2)
APPROXIMATE(sin_approx, std::sin)
APPROXIMATE(cos_approx, std::cos)

// ---- atomics: threads run one after the other ----

template <class T, class F> FORM T exchange(T* place, F next)
{
    T old = load(place);
    store(place, T(next(old)));
    return old;
}
template <class T> FORM Only<T> atom_add(T* place, T by) { return exchange(place, [=](T old) { return add(old, by); }); }
// In global memory, sums of f32 that are subnormal become 0, and what is added is taken for 0, too.
FORM f32 atom_add(f32* place, f32 by)
{
    return exchange(place, [=](f32 old) { return result(flushed(flushed(old) + flushed(by))); });
}
FORM f64 atom_add(f64* place, f64 by) { return exchange(place, [=](f64 old) { return old + by; }); }
template <class T> FORM T atom_min(T* place, T by) { return exchange(place, [=](T old) { return min(old, by); }); }
template <class T> FORM T atom_max(T* place, T by) { return exchange(place, [=](T old) { return max(old, by); }); }
template <class T> FORM T atom_and(T* place, T by) { return exchange(place, [=](T old) { return old & by; }); }
template <class T> FORM T atom_or(T* place, T by) { return exchange(place, [=](T old) { return old | by; }); }
template <class T> FORM T atom_xor(T* place, T by) { return exchange(place, [=](T old) { return old ^ by; }); }
template <class T> FORM T atom_exch(T* place, T by) { return exchange(place, [=](T) { return by; }); }
template <class T> FORM T atom_cas(T* place, T expected, T wanted)
{
    return exchange(place, [=](T old) { return old == expected ? wanted : old; });
}

// ---- printf ----

// Arguments lie one after the other, each aligned to its size, as C passes them on.
inline void F_vprintf(Thread&, u8* printed, u8* format_place, u8* arguments_place)
{
    const char* format = (const char*)load((u64*)format_place);
    const u8* arguments = (const u8*)load((u64*)arguments_place);
    auto take = [&](auto value) {
        arguments = (const u8*)((u64(arguments) + sizeof value - 1) / sizeof value * sizeof value);
        memcpy(&value, arguments, sizeof value);
        arguments += sizeof value;
        return value;
    };
    while (*format) {
        size_t length = strcspn(format, "%");
        fwrite(format, 1, length, stdout);
        format += length;
        if (!*format)
            break;
        length = strspn(format + 1, "-+ #0123456789.lhjzt") + 2;
        std::string one(format, length);
        format += length;
        bool is_long = one.find_first_of("ljzt") != std::string::npos;
        switch (one.back()) {
        case '%': fputc('%', stdout); break;
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': printf(one.c_str(), take(f64())); break;
        case 's': printf(one.c_str(), take((const char*)nullptr)); break;
        case 'p': printf(one.c_str(), take((const void*)nullptr)); break;
        case 'c': case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
            is_long ? printf(one.c_str(), take(u64())) : printf(one.c_str(), take(u32()));
            break;
        default: end("a conversion of printf that is not known here");
        }
    }
    store((s32*)printed, s32(0));
}

} // namespace ptx
