"""Boxes, for the kernels beside this file."""

import warp as wp

SIDES = wp.constant(2.0)
_MARGIN = 0.25


@wp.struct
class Box:
    low: wp.vec3
    high: wp.vec3


class Limit:
    NEAR = 0.5
    COUNT = 3


@wp.func
def extent(box: Box):
    return box.high - box.low


@wp.func
def surface(box: Box):
    d = extent(box)
    return SIDES * (d[0] * d[1] + d[1] * d[2] + d[2] * d[0]) + _MARGIN


@wp.func
def surface(side: float):
    return 6.0 * side * side


@wp.func
def box(low: wp.vec3, high: wp.vec3) -> Box:
    made = Box()
    made.low = low
    made.high = high
    return made
