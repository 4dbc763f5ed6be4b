"""Sums, scans, sorts and casts of whole arrays, which Warp has in `wp.utils`.

Numbers are added one after the other, as on Warp's CPU, so that results are equal to the bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture, overwritten, tape
from gbxcule.warp.array_copy import copy
from gbxcule.warp.array_memory import array
from gbxcule.warp.coloring import GraphColoringAlgorithm as GraphColoringAlgorithm
from gbxcule.warp.coloring import graph_coloring_assign as graph_coloring_assign
from gbxcule.warp.coloring import graph_coloring_balance as graph_coloring_balance
from gbxcule.warp.coloring import graph_coloring_get_groups as graph_coloring_get_groups
from gbxcule.warp.element import inside
from gbxcule.warp.mapping import operate
from gbxcule.warp.missing import Missing
from gbxcule.warp.scalar import float32, float64, int32
from gbxcule.warp.timer import ScopedTimer as ScopedTimer


def array_scan(in_array: array, out_array: array, inclusive: bool = True) -> None:
    """Write for each element the sum of all elements up to it, inclusive or exclusive."""
    if in_array.size != out_array.size or in_array.dtype is not out_array.dtype:
        raise RuntimeError(f"a scan is between arrays of one size and type, found {in_array!r} and {out_array!r}")
    inner = inside(in_array.dtype)[0]
    tape.refuse("array_scan", in_array)
    overwritten.before(out_array.numpy())

    def scan() -> None:
        elements = in_array.numpy().reshape((-1, *inner))
        sums = np.cumsum(elements, axis=0, dtype=elements.dtype)
        if not inclusive:
            sums = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
        out_array.numpy()[...] = sums.reshape(out_array.numpy().shape)

    capture.run(scan)


def array_sum(values: array, out: array | None = None, value_count: int | None = None, axis: int | None = None) -> Any:
    """Add all elements, the first ones, or those along an axis, whose extent becomes 1."""
    result = _reduced(values, lambda: values.numpy(), values.dtype, out, value_count, axis)
    if out is not None and values.grad is not None and out.grad is not None:
        tape.record(lambda: capture.run(lambda: _reverse_sum(values.grad, out.grad, value_count, axis)), [values, out])
    return result


def _reverse_sum(taken: Any, given: Any, count: int | None, axis: int | None) -> None:
    """Add the gradient of a sum to that of each element."""
    elements, sums = taken.numpy(), given.numpy()
    if axis is None:
        elements.reshape((-1, *inside(taken.dtype)[0]))[:count] += sums[0]
    else:
        np.moveaxis(elements, axis % taken.ndim, 0)[:count] += np.moveaxis(sums, axis % taken.ndim, 0)
    sums[...] = 0


def array_inner(
    a: array, b: array, out: array | None = None, count: int | None = None, axis: int | None = None
) -> Any:
    """Add products of numbers, or dot products of vectors, with the options of `array_sum`."""
    if a.shape != b.shape or a.dtype is not b.dtype:
        raise RuntimeError(f"an inner product is of arrays of one shape and type, found {a!r} and {b!r}")

    if out is not None:
        tape.refuse("array_inner", a, b)

    def products() -> npt.NDArray[Any]:
        made: npt.NDArray[Any] = a.numpy() * b.numpy()
        return made

    return _reduced(a, products, getattr(a.dtype, "_wp_scalar_type_", a.dtype), out, count, axis)


def _reduced(
    of: array, parts: Callable[[], npt.NDArray[Any]], dtype: Any, out: array | None, count: int | None, axis: int | None
) -> Any:
    """Add elements in order; write the sum to an array, or return it as a number."""
    if getattr(of.dtype, "_wp_scalar_type_", of.dtype) not in (float32, float64):
        raise RuntimeError(f"sums are of `float32` and `float64`, found {of!r}")
    if axis is not None and not -of.ndim <= axis < of.ndim:
        raise IndexError(f"axis {axis} is beyond the {of.ndim} dimensions of {of!r}")
    shape = (1,) if axis is None else tuple(1 if at == axis % of.ndim else it for at, it in enumerate(of.shape))
    target = array(shape=shape, dtype=dtype) if out is None else out
    if target.dtype is not dtype or target.shape != shape:
        raise RuntimeError(f"a sum needs an array of {shape} and `{dtype.__name__}`, found {target!r}")
    inner, sum_inner = inside(of.dtype)[0], inside(dtype)[0]

    def reduce() -> None:
        rows = parts().reshape((-1, *inner)) if axis is None else np.moveaxis(parts(), axis % of.ndim, 0)
        rows = rows[:count]
        if inner != sum_inner:
            # A row has all components of an element, in the order of elements.
            rows = np.moveaxis(rows, -1, 1).reshape((-1, *rows.shape[1:-1]))
        sums = np.cumsum(rows, axis=0, dtype=rows.dtype)[-1:] if len(rows) else np.zeros_like(target.numpy())
        target.numpy()[...] = sums.reshape(target.numpy().shape)

    if out is not None:
        overwritten.before(out.numpy())
        capture.run(reduce)
        return out
    if capture.is_capturing():
        raise NotImplementedError("a sum in a capture needs an array for its result: `out`")
    reduce()
    return target.numpy()[0] if axis is None else target


def array_cast(in_array: array, out_array: array, count: int | None = None) -> None:
    """Convert elements to another type, as kernels convert."""
    if in_array.dtype is out_array.dtype:
        copy(out_array, in_array, count=in_array.size if count is None else count)
        return
    inner, other = inside(in_array.dtype)[0], inside(out_array.dtype)[0]
    source, target = _numbers(in_array), _numbers(out_array)
    amount = source.size if count is None else count * int(np.prod(inner, dtype=int))
    if amount > min(source.size, target.size):
        raise RuntimeError(f"{in_array!r} or {out_array!r} has fewer than {amount} numbers")
    if in_array.ndim > 1 and inner == other and in_array.shape != out_array.shape:
        raise RuntimeError(f"a cast is between arrays of one shape, found {in_array!r} and {out_array!r}")
    operate(f"wp.{target.dtype.__name__}(x0)", source[:amount], out=target[:amount])


def _numbers(of: array) -> array:
    """Return an array of the numbers in an array's elements."""
    scalar = getattr(of.dtype, "_wp_scalar_type_", of.dtype)
    if not of.is_contiguous:
        raise RuntimeError("an array with gaps can't be cast: `contiguous()` makes a copy without gaps")
    return array(of.numpy().reshape(-1), dtype=scalar, copy=False)


def _order(keys: npt.NDArray[Any], begin_bit: int, end_bit: int) -> npt.NDArray[Any]:
    """Return the order of keys by some of their bits; the sort is stable."""
    bits = 8 * keys.itemsize
    words = keys.view(f"u{keys.itemsize}")
    sign = words >> (bits - 1)
    if keys.dtype.kind == "f":
        # The bits of floats sort like integers if all bits of negative ones are flipped.
        words = np.where(sign, ~words, words | words.dtype.type(1 << (bits - 1)))
    elif keys.dtype.kind == "i":
        words = words ^ words.dtype.type(1 << (bits - 1))
    mask = ((1 << end_bit) - 1) ^ ((1 << begin_bit) - 1)
    return np.argsort(words & words.dtype.type(mask), kind="stable")


def radix_sort_pairs(keys: array, values: array, count: int, begin_bit: int = 0, end_bit: int | None = None) -> None:
    """Sort the first `count` keys, and values with them; both arrays are twice as long, as Warp needs them."""
    if keys.size < 2 * count or values.size < 2 * count:
        raise RuntimeError(f"sorting {count} pairs takes arrays of {2 * count}, found {keys.size} and {values.size}")
    bits = 8 * keys.numpy().itemsize
    last = bits if end_bit is None else end_bit
    if inside(keys.dtype)[0] or bits not in (32, 64) or not 0 <= begin_bit <= last <= bits:
        raise RuntimeError(f"keys have 32 or 64 bits, `begin_bit` and `end_bit` lie among them, found {keys!r}")

    def sort() -> None:
        order = _order(keys.numpy()[:count], begin_bit, last)
        for each in (keys.numpy(), values.numpy()):
            each[:count] = each[:count][order]

    capture.run(sort)


def segmented_sort_pairs(
    keys: array, values: array, count: int, segment_start_indices: array, segment_end_indices: array | None = None
) -> None:
    """Sort keys, and values with them, within each segment."""
    if keys.size < 2 * count or values.size < 2 * count:
        raise RuntimeError(f"sorting {count} pairs takes arrays of {2 * count}, found {keys.size} and {values.size}")
    if keys.dtype not in (int32, float32) or values.dtype is not int32:
        raise RuntimeError(f"keys are `int32` or `float32`, values `int32`, found {keys!r} and {values!r}")

    def sort() -> None:
        begins = segment_start_indices.numpy()
        ends = begins[1:] if segment_end_indices is None else segment_end_indices.numpy()
        for begin, end in zip(begins, ends, strict=False):
            order = _order(keys.numpy()[begin:end], 0, 32)
            for each in (keys.numpy(), values.numpy()):
                each[begin:end] = each[begin:end][order]

    capture.run(sort)


def runlength_encode(
    values: array, run_values: array, run_lengths: array, run_count: array | None = None, value_count: int | None = None
) -> Any:
    """Write each run of equal values once, with its length; return the count of runs, or write it to an array."""
    count = values.size if value_count is None else value_count
    if min(run_values.size, run_lengths.size) < count or run_values.dtype is not values.dtype:
        raise RuntimeError(f"runs of {values!r} need arrays of {count} elements, found {run_values!r}, {run_lengths!r}")
    if run_lengths.dtype is not int32 or (run_count is not None and run_count.dtype is not int32):
        raise RuntimeError("lengths and counts of runs are `int32`")
    if run_count is None and capture.is_capturing():
        raise NotImplementedError("runs in a capture need an array for their count: `run_count`")
    counted = array(shape=1, dtype=int32) if run_count is None else run_count

    def encode() -> None:
        given = values.numpy()[:count]
        begins = np.flatnonzero(np.concatenate([np.ones(min(count, 1), bool), given[1:] != given[:-1]]))
        run_values.numpy()[: len(begins)] = given[begins]
        run_lengths.numpy()[: len(begins)] = np.diff(np.append(begins, count))
        counted.numpy()[0] = len(begins)

    if run_count is not None:
        capture.run(encode)
        return run_count
    encode()
    return int(counted.numpy()[0])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"warp.utils.{name}")
