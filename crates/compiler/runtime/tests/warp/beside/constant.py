"""Kernels with what Python works out around them, and with constants that change in loops."""

import shape
import warp as wp

LARGE = 1.0e30
SIDE_NAMES = {"x": 0, "y": 1, "z": 2}
DIRECTIONS = {
    "axes": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "plane": ((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 1.0, 0.0)),
}
AXES = wp.types.matrix(shape=(3, 3), dtype=float)(*DIRECTIONS["plane"])
WEIGHTS = [0.5, 0.5, 6.0]
NUMBERED = {"z": 0, "x": 2}


def make_power(exponent: int):
    @wp.func
    def square(x: float):
        return x * x

    @wp.func
    def power(x: float):
        result = float(1.0)
        for _ in range(wp.static(exponent)):
            result = result * x
        return result

    power.root = square
    return power


power = make_power(3)


@wp.kernel
def least(x: wp.array(dtype=float), n: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    smallest = LARGE
    count = shape.Limit.COUNT * 2
    for k in range(n[i] % 5):
        smallest = wp.min(smallest, x[(i + k) % x.shape[0]])
        count += 1
    scale = -LARGE
    scale += LARGE
    j = 0 + 1
    while j < 4:
        scale = scale + wp.static(WEIGHTS[1]) * float(j)
        j += 1
    out[i] = smallest + float(count) + scale


@wp.kernel
def turned(v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    moved = AXES * v[i]
    moved[wp.static(SIDE_NAMES["y"])] += wp.static(WEIGHTS[2])
    moved[wp.static(NUMBERED["x"])] *= 2.0
    out[i] = moved


@wp.kernel
def powers(x: wp.array(dtype=float), n: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for k in range(12):
        if k > n[i] % 7:
            break
        total += power(x[i]) * wp.static(WEIGHTS[0])
    for k in range(3):
        total += wp.static(WEIGHTS[k])
    out[i] = total + wp.static(power.root)(x[i])
