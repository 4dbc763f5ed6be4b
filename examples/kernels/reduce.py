"""Sums, largest numbers and counts that many threads compute in one element."""

from typing import Any

import warp as wp


@wp.kernel
def total(x: wp.array(dtype=float), sum: wp.array(dtype=float)):
    wp.atomic_add(sum, 0, x[wp.tid()])


@wp.kernel
def histogram(values: wp.array(dtype=float), least: float, width: float, counts: wp.array(dtype=int)):
    bin = int((values[wp.tid()] - least) / width)
    if bin >= 0 and bin < counts.shape[0]:
        wp.atomic_add(counts, bin, 1)


@wp.kernel
def row_norms(matrix: wp.array2d(dtype=Any), norms: wp.array(dtype=Any)):
    i = wp.tid()
    squares = norms.dtype(0.0)
    for j in range(matrix.shape[1]):
        squares += matrix[i, j] * matrix[i, j]
    norms[i] = wp.sqrt(squares)


wp.overload(row_norms, [wp.array2d(dtype=wp.float64), wp.array(dtype=wp.float64)])
