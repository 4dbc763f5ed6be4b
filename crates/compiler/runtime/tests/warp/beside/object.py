"""Kernels over what Python functions work out: enumerations, branches, factories."""

import enum

import warp as wp
import warp.sparse as sparse


class Joint(enum.IntEnum):
    FIXED = 0
    HINGE = 1
    BALL = 2


def make_clip(low, high=4.0):
    @wp.func
    def clip(x: float):
        return wp.clamp(x, low, high)

    return clip


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


clip_near = make_clip(-2.0)
clip_far = make_clip(-8.0, high=8.0)
wrap_near = make_wrap(8)
wrap_far = make_wrap(size=5)
vec7 = wp.types.vector(length=7, dtype=wp.float32)


@wp.kernel
def tools(x: wp.array(dtype=float), n: wp.array(dtype=int)):
    i = wp.tid()
    n[i] = wrap_far(n[i]) + wp.static(wrap_near)(n[i]) * 10 + 3
    x[i] = clip_near(x[i]) + wp.static(clip_far)(x[i]) * 6.0


@wp.kernel
def blocks(rows: wp.array(dtype=vec7), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    rows[i][6] = rows[i][0] + rows[i][5]
    y[i] = wp.float64(rows[i][6]) * wp.float64(wp.static(len(vec7(1.0))))


def make_sum(axes, scale=None):
    @wp.func
    def sum_of_axes(m: wp.mat33):
        total = float(0.0)
        if wp.static(len(axes) > 1):
            total += wp.length(m[:, 0])
        for k in range(wp.static(len(axes))):
            total += m[k, 1] * wp.static(float(axes[0]))
        if wp.static(scale is not None):
            total *= wp.static(scale if scale is not None else 1.0)
        return total

    return sum_of_axes


@wp.kernel
def joints(kind: wp.array(dtype=int), m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)):
    i = wp.tid()
    if kind[i] == Joint.HINGE:
        out[i] = wp.static(make_sum([2]))(m[i])
    elif kind[i] == int(Joint.BALL):
        out[i] = wp.static(make_sum([1, 2, 0], scale=0.5 * 3.0))(m[i])
    else:
        out[i] = wp.static(make_sum((3,)))(m[i])


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
