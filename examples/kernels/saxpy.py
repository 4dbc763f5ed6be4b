"""The kernel y = a x + y, on all elements and on a part of the elements."""

import warp as wp


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def saxpy_where(
    a: float,
    chosen: wp.array(dtype=wp.int32),
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
):
    i = wp.tid()
    if chosen[i] != 0:
        y[i] += a * x[i]
