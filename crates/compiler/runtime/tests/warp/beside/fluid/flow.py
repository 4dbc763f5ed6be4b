"""Kernels in a package."""

import warp as wp
from shape import box

from . import unit
from .unit import *  # noqa: F403


@wp.func
def scale(x: float):
    return x - 1.0


@wp.kernel
def flow(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    one = box(a[i], b[i])
    out[i] = mass(one, DENSITY) + scale(unit.scale(out[i])) + unit.mass(one, unit.HIDDEN)  # noqa: F405
