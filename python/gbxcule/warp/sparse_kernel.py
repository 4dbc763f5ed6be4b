# mypy: disable-error-code="valid-type"
"""Kernels of the sparse matrices in `sparse.py`, with sums in Warp's order."""

from typing import Any

from gbxcule.kernel_text import wp
from gbxcule.warp.program import kernel


@kernel
def add_chosen(
    order: wp.array(dtype=int), begins: wp.array(dtype=int), values: wp.array(dtype=Any), sums: wp.array(dtype=Any)
) -> None:
    i = wp.tid()
    total = values[order[begins[i]]]
    for at in range(begins[i] + 1, begins[i + 1]):
        total += values[order[at]]
    sums[i] = total


@kernel
def place_chosen(
    order: wp.array(dtype=int), at: wp.array(dtype=int), values: wp.array(dtype=Any), result: wp.array(dtype=Any)
) -> None:
    i = wp.tid()
    result[at[i]] = values[order[i]]


@kernel
def transposed(order: wp.array(dtype=int), values: wp.array(dtype=Any), result: wp.array(dtype=Any)) -> None:
    i = wp.tid()
    result[i] = wp.transpose(values[order[i]])


@kernel
def scale(values: wp.array(dtype=Any), factor: Any) -> None:
    i = wp.tid()
    values[i] = factor * values[i]


@kernel
def add_scaled(at: wp.array(dtype=int), values: wp.array(dtype=Any), factor: Any, sums: wp.array(dtype=Any)) -> None:
    # No two threads add to the same element.
    i = wp.tid()
    wp.atomic_add(sums, at[i], factor * values[i])


@kernel
def add_products(
    begins: wp.array(dtype=int),
    left: wp.array(dtype=int),
    right: wp.array(dtype=int),
    x: wp.array(dtype=Any),
    y: wp.array(dtype=Any),
    factor: Any,
    at: wp.array(dtype=int),
    sums: wp.array(dtype=Any),
) -> None:
    i = wp.tid()
    first = begins[i]
    total = x[left[first]] * y[right[first]]
    for pair in range(first + 1, begins[i + 1]):
        total += x[left[pair]] * y[right[pair]]
    wp.atomic_add(sums, at[i], factor * total)


@kernel
def apply(
    offsets: wp.array(dtype=int),
    columns: wp.array(dtype=int),
    values: wp.array(dtype=Any),
    x: wp.array(dtype=Any),
    alpha: Any,
    beta: Any,
    y: wp.array(dtype=Any),
) -> None:
    row = wp.tid()
    total = y.dtype()
    for at in range(offsets[row], offsets[row + 1]):
        total += values[at] * x[columns[at]]
    if beta == type(beta)(0.0):
        y[row] = alpha * total
    else:
        y[row] = alpha * total + beta * y[row]
