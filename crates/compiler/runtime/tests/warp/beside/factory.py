"""Kernels in Python functions, with functions and structs that such functions return."""

import warp as wp


def make_ramp(kind, slope, dtype=float):
    if kind == "linear":

        @wp.func
        def ramp(x: dtype):
            return x * dtype(slope)

    elif kind == "square":

        @wp.func
        def ramp(x: dtype):
            return x * x * dtype(slope)

    else:

        @wp.func
        def ramp(x: dtype):
            return dtype(slope)

    @wp.struct
    class Span:
        low: dtype
        high: dtype

    @wp.func
    def over(span: Span):
        return ramp(span.high) - ramp(span.low)

    return ramp, Span, over


linear, Near, near = make_ramp("linear", 3.0)
square, Far, far = make_ramp("square", slope=2, dtype=int)
flat, _, _ = make_ramp("flat", 0.5)
TABLE = {"linear": linear, "flat": flat}
COUNTS = [1, 2, 3]


@wp.kernel
def spans(x: wp.array(dtype=float), n: wp.array(dtype=int)):
    i = wp.tid()
    a = Near()
    a.low = flat(x[i])
    a.high = x[i]
    b = Far()
    b.low = n[i] % 100
    b.high = wp.static(COUNTS[2]) * wp.static(len(COUNTS))
    x[i] = near(a) + wp.static(TABLE["linear"])(x[i])
    n[i] = far(b)


def make_scale(count, ramp):
    @wp.kernel
    def scale(x: wp.array(dtype=float)):
        i = wp.tid()
        for k in range(count):
            x[i] = ramp(x[i]) + float(k)

    return scale


scales = [make_scale(3, linear) for _ in range(2)]
