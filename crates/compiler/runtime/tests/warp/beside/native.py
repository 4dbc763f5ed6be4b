"""Functions whose bodies are C++."""

import warp as wp


@wp.func_native("""
uint32_t i = reinterpret_cast<uint32_t&>(f);
uint32_t mask = (uint32_t)(-(int)(i >> 31)) | 0x80000000u;
return i ^ mask;
""")
def flipped(f: float) -> wp.uint32: ...


@wp.func_native("""
// The position of the lowest bit.
#if defined(__CUDA_ARCH__)
return ((int)__ffsll((long long)mask)) - 1;
#else
if (mask == 0) return -1;
int position = 0;
while ((mask & 1LL) == 0LL) { mask >>= 1; position++; }
return position;
#endif
""")
def lowest(mask: wp.int64) -> wp.int32: ...


POLYNOMIAL = """
    double sum = 0;
    for (int k = 3, sign = 1; k > 0; --k) {
        sum = sum * x + sign * k / 2 + 0.5f;
        sign = -sign;
        if (sum > 1e6 && k < 3 || !(x == x)) break;
    }
    return sum;
"""


@wp.func_native(POLYNOMIAL)
def polynomial(x: float) -> wp.float32: ...


@wp.func_native("""
unsigned char low = n;
short small = (short)n;
unsigned long long wide = static_cast<unsigned long long>(n) >> 60;
bool odd = n & 1;
auto mixed = odd ? small + 1u : low * 2u;
return wp::vec_t<3, wp::int32>(mixed, (int)wide - low, ~small);
""")
def pieces(n: int) -> wp.vec3i: ...


@wp.func_native("y[tid] = sqrtf(fabsf(x[tid])) + y.data[tid]; sum += 2;")
def rooted(x: wp.array(dtype=float), y: wp.array(dtype=float), sum: wp.ref[wp.int32], tid: int): ...


# Warp gives arguments by reference no gradients.
@wp.kernel(enable_backward=False)
def snippets(
    x: wp.array(dtype=float),
    n: wp.array(dtype=int),
    wide: wp.array(dtype=wp.int64),
    flips: wp.array(dtype=wp.uint32),
    y: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3i),
):
    i = wp.tid()
    flips[i] = flipped(x[i])
    out[i] = pieces(n[i])
    count = int(n[i])
    rooted(x, y, count, i)
    n[i] = lowest(wide[i]) + count
    x[i] = polynomial(x[i])
