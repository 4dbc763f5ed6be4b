"""Values that Python evaluates for kernels of `gbxcule.warp`: `wp.static(..)`, and defaults of parameters."""

import math
import types
from typing import Any

import numpy as np
import pytest

import gbxcule.warp as wp


def launched(kernel, *values):
    out = wp.zeros(4)
    wp.launch(kernel, 1, [out, *values])
    return out.numpy().tolist()


def test_static_values_are_those_of_the_declaration():
    config, weights, made = types.SimpleNamespace(), [0.0], []
    for number in (1.0, 2.0):
        config.gain, weights[0] = 10.0 * number, 100.0 * number

        @wp.func
        def scaled(x: float):
            return x * wp.static(number)  # noqa: B023

        @wp.kernel
        def use(out: wp.array[float]):
            out[0] = wp.static(number)  # noqa: B023
            out[1] = wp.static(config.gain)
            out[2] = wp.static(weights[0])
            out[3] = wp.static(scaled)(3.0)  # noqa: B023

        made.append(use)
    config.gain = weights[0] = 0.0
    assert [launched(each) for each in made] == [[1.0, 10.0, 100.0, 3.0], [2.0, 20.0, 200.0, 6.0]]


def test_names_of_a_static_expression_may_be_bound_later():
    @wp.kernel
    def use(out: wp.array[float]):
        out[0] = wp.static(later * 2.0)
        out[1] = wp.static(
            later  # several lines
            + 1.0
        )

    later = 4.0
    assert launched(use)[:2] == [8.0, 5.0]


def square(n):
    return float(n * n)


@wp.func
def doubled(x: float):
    return 2.0 * x


class Table:
    def __init__(self):
        self.rows = np.array([[1.0, 2.0], [3.0, 4.0]])
        self.named = {2: 0.5, 4: 0.25, 6: 0.125}

    def at(self, i, j):
        return float(self.rows[i, j])


TABLE = Table()
FUNCTIONS = [doubled, wp.sin]


@wp.kernel
def use_indices(out: wp.array[float], f: float):
    for i in range(wp.static(len(TABLE.rows))):
        for j in range(2):
            out[0] = out[0] * 10.0 + wp.static(TABLE.at(i, j))
    for i in range(2, 8, 2):
        out[1] += wp.static(TABLE.named[i])
    for i in reversed(range(3)):
        if wp.static(square(i) > 0.0):
            out[2] = out[2] * 10.0 + wp.static(math.cos(0.0) + i)
    for i in range(2):
        out[3] += wp.static(FUNCTIONS[i])(f)
    for i in range(8):
        if wp.static(i in TABLE.named):
            out[3] += wp.static(TABLE.named[i])


def test_static_values_are_known_for_each_number_of_a_loop():
    assert launched(use_indices, 0.0) == [1234.0, 0.875, 32.0, 0.875]


@wp.kernel
def miss(out: wp.array[float]):
    for i in range(3):
        out[i] = wp.static(TABLE.named[i])


def test_a_loop_that_reaches_a_number_without_a_value_is_refused():
    with pytest.raises(wp.CompileError, match="no_value_in_python"):
        launched(miss)


def scale_by(number):
    @wp.func
    def scaled(x: float, by: float = number, v: wp.vec2 = OFFSET):
        return x * by + v[1]

    return scaled


OFFSET = wp.vec2(0.0, 0.5)
GAIN = -1.0


@wp.func
def gained(
    x: float,
    by: float = (
        GAIN
        * 2.0
    ),
):  # fmt: skip
    return x * by


twice, thrice = scale_by(2.0), scale_by(3.0)
OFFSET, GAIN = wp.vec2(0.0, 9.0), 9.0


@wp.kernel
def use_defaults(out: wp.array[float]):
    out[0] = twice(1.0) + OFFSET[1]
    out[1] = thrice(1.0)
    out[2] = thrice(1.0, 5.0)
    out[3] = gained(1.0)


def test_defaults_are_those_of_the_declaration():
    assert launched(use_defaults) == [2.5 + 9.0, 3.5, 5.5, -2.0]


@wp.struct
class Ball:
    radius: float


@wp.struct
class Box:
    radius: float


@wp.kernel
def measure(out: wp.array[float], one: Any, many: wp.array(dtype=Any)):
    out[0] = one.radius + many[0].radius


def test_generic_kernels_take_structs():
    boxes = wp.array([Box(radius=2.0)], dtype=Box)
    assert launched(measure, Ball(radius=1.0), boxes)[0] == 3.0
    assert launched(measure, Box(radius=5.0), boxes)[0] == 7.0
    assert launched(wp.overload(measure, {"one": Ball, "many": wp.array(dtype=Box)}), Ball(radius=3.0), boxes)[0] == 5.0


def test_a_constant_of_the_kernel_is_known_to_python():
    def scaled_by(factor):
        @wp.func
        def scaled(x: float):
            return x * wp.static(float(factor))

        return scaled

    size = 5

    @wp.kernel
    def run(out: wp.array(dtype=float)):
        SIZE = wp.static(size)
        out[0] = wp.static(scaled_by(SIZE))(2.0)
        for i in range(3):
            out[1 + i] = wp.static(scaled_by(SIZE + i))(1.0)

    assert launched(run) == [10.0, 5.0, 6.0, 7.0]


def test_kernels_call_functions_that_make_types():
    from gbxcule.warp.types import matrix, vector

    @wp.kernel
    def use(out: wp.array[vector(3, float)]):
        v = vector(1.5, length=3)
        v[1] += matrix(2.0, shape=(2, 2))[0, 1]
        out[0] = v

    out = wp.zeros(1, dtype=wp.vec3)
    wp.launch(use, 1, [out])
    assert out.numpy().tolist() == [[1.5, 3.5, 1.5]]
