"""Kernels with functions, structs and constants of the files beside this one."""

from typing import Any

import fluid
import fluid.unit
import shape
import shape as alias
import warp as wp
from fluid.unit import mass as weigh
from shape import Limit, surface


@wp.func
def extent(x: float):
    return x + 10.0


@wp.kernel
def measure(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array2d(dtype=float)):
    i = wp.tid()
    box = shape.Box()
    box.low = a[i]
    box.high = b[i]
    for _ in range(Limit.COUNT):
        out[i, 0] = surface(box) + alias.surface(out[i, 1]) + extent(Limit.NEAR)
    out[i, 1] = weigh(box, fluid.DENSITY) - fluid.unit.scale(shape.SIDES)


@wp.func
def weighed(values: tuple[wp.vec3, float]):
    return wp.length(values[0]) * values[1]


@wp.func
def total(values: Any):
    sum = float(0.0)
    for k in range(len(values)):
        sum += values[k]
    return sum


@wp.kernel
def tuples(v: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    pair = (v[i], out[i])
    out[i] = weighed(pair) + weighed((v[i], 2.0)) + total((1.0, out[i], 3.0)) + total((out[i],))


@wp.func
def powers(x: float) -> wp.fixedarray(shape=3, dtype=float):
    p = wp.zeros(shape=3, dtype=float)
    p[0] = x
    for k in range(1, 3):
        p[k] = p[k - 1] * x
    return p


@wp.kernel
def cubes(x: wp.array(dtype=float)):
    i = wp.tid()
    p = powers(x[i])
    q = powers(2.0)
    p[2] += q[0]
    x[i] = p[2] - p[1] + q[2]


@wp.kernel
def strides(a: wp.array2d(dtype=int), out: wp.array2d(dtype=int)):
    i = wp.tid()
    step = (1 + i % 3) * (1 - 2 * (i % 2))
    whole = a[::step, 0]
    part = a[i:-1:step, 0]
    out[i, 0] = whole.shape[0] * 1000 + part.shape[0]
    if whole.shape[0] > 0:
        out[i, 0] += whole[-1]


@wp.kernel
def rows(m: wp.array(dtype=wp.mat22), out: wp.array(dtype=wp.mat22)):
    i = wp.tid()
    out[i] = wp.matrix_from_cols(*m[i]) + wp.matrix_from_rows(*m[i])
