"""Kernels over what Python functions and classes work out: enumerations, objects, branches, decorators."""

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import warp as wp
import warp.sparse as sparse


class Joint(enum.IntEnum):
    FIXED = 0
    HINGE = 1
    BALL = 2

    @property
    def axes(self):
        match self:
            case Joint.FIXED:
                return ()
            case Joint.HINGE:
                return [2]
            case _:
                return [0] * 1 + [1, 2]

    def bound(self, scale):
        if self is Joint.BALL:
            return 0.5 * scale
        return None


class Block:
    def __init__(self, dtype, shape=None):
        if shape is None:
            shape = ()
        elif isinstance(shape, int):
            shape = (shape,)
        self._dtype = dtype
        self._shape = shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def warp_type(self):
        if len(self._shape) == 1:

            class vector(wp.types.vector(length=self._shape[0], dtype=self._dtype)):
                pass

            return vector
        return self._dtype

    @classmethod
    def single(cls):
        return cls(wp.float64)


class Range(NamedTuple):
    low: float
    high: float = 4.0


@dataclass(frozen=True)
class Tools:
    scale: int
    clip: Any
    wrap: Any
    limits: Range = Range(-2.0)
    depth: int = field(default=3)


def named(name):
    def rename(func):
        func.__name__ = name
        return func

    def decorate(func):
        return wp.func(rename(func))

    return decorate


def make_clip(limits):
    low, high = limits.low, limits.high

    @named("clip_between")
    def clip(x: float):
        return wp.clamp(x, low, high)

    return {"clip": clip}


def make_wrap(size: int):
    if size <= 0:
        raise ValueError("a size is above 0")
    if size & (size - 1) == 0:

        @wp.func
        def wrap(i: int):
            return i & (size - 1)

        return wrap

    @wp.func
    def wrap(i: int):
        return ((i % size) + size) % size

    return wrap


def make_tools(scale, *, limits=None, size: int = 8) -> Tools:
    chosen = Range(-1.0) if limits is None else limits
    exports = make_clip(chosen)
    return Tools(scale=scale, wrap=make_wrap(getattr(limits, "size", size)), limits=chosen, **exports)


near = make_tools(2)
far = make_tools(5, limits=Range(-8.0, 8.0), size=5)
vec7 = Block(wp.float32, 7).warp_type
real = Block.single().dtype
clip_near = near.clip
wrap_far = far.wrap


@wp.kernel
def tools(x: wp.array(dtype=float), n: wp.array(dtype=int)):
    i = wp.tid()
    n[i] = wrap_far(n[i]) + wp.static(near.wrap)(n[i]) * 10 + wp.static(far.depth)
    x[i] = clip_near(x[i]) + wp.static(far.clip)(x[i]) * wp.static(far.limits.high + near.limits.low)


@wp.kernel
def blocks(rows: wp.array(dtype=vec7), y: wp.array(dtype=real)):
    i = wp.tid()
    rows[i][6] = rows[i][0] + rows[i][5]
    y[i] = real(rows[i][6]) * real(wp.static(len(vec7(1.0))))


def make_sum(joint: Joint):
    axes = joint.axes
    scale = joint.bound(3.0)

    @wp.func
    def sum_of_axes(m: wp.mat33):
        total = float(0.0)
        if wp.static(0 in axes):
            total += wp.length(m[:, 0])
        for k in range(wp.static(len(axes))):
            total += m[k, 1] * wp.static(float(sum(axes)))
        if wp.static(scale is not None):
            total *= wp.static(scale if scale is not None else 1.0)
        return total

    return sum_of_axes


@wp.kernel
def joints(kind: wp.array(dtype=int), m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)):
    i = wp.tid()
    if kind[i] == Joint.HINGE:
        out[i] = wp.static(make_sum(Joint.HINGE))(m[i])
    elif kind[i] == int(Joint.BALL):
        out[i] = wp.static(make_sum(Joint.BALL))(m[i])
    else:
        out[i] = wp.static(make_sum(Joint.FIXED))(m[i])


@wp.kernel
def rows_of_blocks(offsets: wp.array(dtype=int), columns: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    # Offsets and columns that ascend, whatever the input is.
    n = out.shape[0]
    if i == 0:
        for k in range(n):
            offsets[k] = (k * n) // wp.max(n - 1, 1)
            columns[k] = k * 2
        for k in range(n):
            row = sparse.bsr_row_index(offsets, n - 1, k)
            out[k] = row * 1000 + sparse.bsr_block_index(wp.max(row, 0), k, offsets, columns)
