"""Elements of arrays: their types, and the conversion of values to NumPy's arrays."""

import ctypes
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.kernel_text import Names
from gbxcule.warp.composite import Composite, Family, composite
from gbxcule.warp.missing import Missing
from gbxcule.warp.scalar import BY_NAME, Scalar, scalar_type
from gbxcule.warp.structure import Struct, StructInstance


def element(dtype: Any) -> Any:
    """Return a type of elements: a scalar type, a composite, a struct, or a type that only annotations use."""
    is_known = isinstance(dtype, (Struct, Family, Names, Missing)) or dtype is Any
    if is_known or is_composite(dtype):
        return dtype
    scalar = scalar_type(dtype)
    if scalar is None:
        raise TypeError(f"elements of an array are numbers, vectors and their like, or structs, found `{dtype}`")
    return scalar


def is_composite(dtype: Any) -> bool:
    """Tell whether a type is one of vectors, matrices and their like."""
    return isinstance(dtype, type) and issubclass(dtype, Composite)


def is_open(dtype: Any) -> bool:
    """Tell whether a type of elements is one of those that only annotations use."""
    return dtype is Any or isinstance(dtype, (Family, Names, Missing))


def inside(dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the dimensions within an element, and NumPy's type of its numbers."""
    if isinstance(dtype, Struct):
        return (), dtype.numpy_dtype()
    if issubclass(dtype, Composite):
        return dtype._shape_, dtype._wp_scalar_type_.numpy
    return (), dtype.numpy


def spelled_element(dtype: Any, name: Any) -> str | None:
    """Spell the type of an array's elements."""
    if isinstance(dtype, Struct):
        return str(name(dtype))
    if isinstance(dtype, Names):
        return repr(dtype)
    if is_composite(dtype):
        return str(dtype.__type_spelled__())
    return f"wp.{dtype.__name__}" if isinstance(dtype, type) and issubclass(dtype, Scalar) else None


def found_elements(data: Any) -> tuple[Any, npt.NDArray[Any]]:
    """Return the type of elements that data without a type implies, and the data's values."""
    first = data
    while isinstance(first, (list, tuple)) and len(first):
        first = first[0]
    if isinstance(first, Composite):
        # As in Warp the result has rows of numbers; all of a matrix's numbers are in one row.
        return first._wp_scalar_type_, np.asarray(data)
    if isinstance(first, (Scalar, StructInstance)):
        dtype = type(first) if isinstance(first, Scalar) else first._struct
        return dtype, values(data, dtype)
    memory = np.asarray(data)
    scalar = scalar_type(memory.dtype)
    if scalar is None:
        raise TypeError(f"elements of an array are numbers, vectors and their like, or structs, found `{first!r}`")
    return scalar, memory


def in_elements(memory: npt.NDArray[Any], inner: tuple[int, ...]) -> npt.NDArray[Any]:
    """Reshape rows of numbers to elements with inner dimensions; a row may hold several elements."""
    if memory.size == 0 and memory.ndim <= len(inner):
        return memory.reshape((0, *inner))
    if memory.shape == inner:
        return memory.reshape((1, *inner))
    if memory.shape[max(memory.ndim - len(inner), 0) :] == inner:
        return memory
    while memory.ndim > 1 and memory.shape[-1] == 1:
        memory = memory[..., 0]
    count, length = math.prod(inner), memory.shape[-1] if memory.ndim else 1
    if length % count:
        raise ValueError(f"elements of the shape {inner} have {count} numbers, found rows of {length}")
    of_row = length // count
    outer = memory.shape[:-1] if of_row == 1 and memory.ndim > 1 else (*memory.shape[:-1], of_row)
    return memory.reshape((*outer, *inner))


def owned(memory: npt.NDArray[Any], dtype: Any, copy: bool) -> npt.NDArray[Any]:
    """Return memory for an array: this memory, or a copy without gaps."""
    inner, numpy = inside(dtype)
    first = (0,) * (memory.ndim - len(inner))
    # Kernels need the numbers of an element one after the other.
    is_packed = not inner or memory.size == 0 or memory[first].flags.c_contiguous
    if copy or memory.dtype != numpy or not memory.flags.writeable or not is_packed:
        return memory.astype(numpy, order="C")
    return memory


def values(data: Any, dtype: Any) -> npt.NDArray[Any]:
    """Return NumPy's array of values for elements of a type."""
    if isinstance(dtype, Struct):
        if isinstance(data, np.ndarray):
            return data
        numpy = dtype.numpy_dtype()
        records = [data] if isinstance(data, StructInstance) else data
        return np.array([each.record() for each in records], numpy)
    plain = _plain(data)
    if _is_bfloat16(dtype):
        return _bits(np.asarray(plain))
    return np.asarray(plain, inside(dtype)[1])


def filling(value: Any, dtype: Any) -> Any:
    """Return the numbers of one element; a struct becomes a record, and 0 means all zeros."""
    is_zero = isinstance(value, (int, float)) and not value
    if is_zero:
        return np.zeros((), dtype.numpy_dtype()) if isinstance(dtype, Struct) else value
    if is_composite(dtype) and not _is_bfloat16(dtype):
        return dtype(value)._numbers
    numbers = values(value, dtype)
    if isinstance(dtype, type) and issubclass(dtype, Scalar) and numbers.size != 1:
        raise ValueError(f"one `{dtype.__name__}` fills an array, found {numbers.size} numbers")
    return numbers


def element_of(value: Any) -> Any:
    """Return the type of elements for which a value is one element."""
    if isinstance(value, StructInstance):
        return value._struct
    if not isinstance(value, (list, tuple, np.ndarray)):
        return type(value)
    numbers = np.asarray(value)
    kind = {1: "vector", 2: "matrix"}.get(numbers.ndim)
    if kind is None:
        raise ValueError(f"an element has one or two dimensions, found {numbers.ndim}")
    return composite(kind, numbers.shape, numbers.dtype)


def _is_bfloat16(dtype: Any) -> bool:
    return getattr(dtype, "_wp_scalar_type_", dtype) is BY_NAME["bfloat16"]


def _bits(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bits of the nearest `bfloat16`s, ties to even; 16-bit integers are bits already."""
    if numbers.dtype == np.uint16:
        return numbers
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    wide = single.view(np.uint32)
    bits = ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), np.uint16(0x7FC0), bits)


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(each) for each in data]
    if isinstance(data, Composite):
        return data._numbers
    return data.value if isinstance(data, Scalar) else data


def memory_at(
    address: int,
    of: tuple[tuple[int, ...], np.dtype[Any]],
    shape: tuple[int, ...],
    strides: Sequence[int] | None,
    deleter: Callable[[int, int], Any] | None,
) -> npt.NDArray[Any]:
    """Return memory by its address; `deleter` is called with the address and the bytes when no array needs it."""
    inner, numpy = of
    extents = (*shape, *inner)
    packed = tuple(math.prod(extents[at + 1 :]) * numpy.itemsize for at in range(len(extents)))
    outer = packed[: len(shape)] if strides is None else tuple(map(int, strides))
    if len(outer) != len(shape) or any(stride < 0 for stride in outer):
        raise ValueError(f"an array of {len(shape)} dimensions has as many strides, none below 0, found {strides}")
    last = sum((extent - 1) * stride for extent, stride in zip(shape, outer, strict=True))
    count = last + math.prod(inner) * numpy.itemsize if math.prod(shape) else 0
    if count and not address:
        raise ValueError(f"the memory of {shape} elements is at no address")
    memory: Any = (ctypes.c_byte * count).from_address(address) if count else (ctypes.c_byte * 0)()
    if deleter is not None:
        weakref.finalize(memory, deleter, address, count)
    return np.ndarray(extents, numpy, memory, 0, (*outer, *packed[len(shape) :]))


def zeros_laid_out_as(memory: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return zeros with the same strides as this memory, because a kernel finds both by one index."""
    if memory.flags.c_contiguous or not memory.size:
        return np.zeros_like(memory)
    ends = [(extent - 1) * stride for extent, stride in zip(memory.shape, memory.strides, strict=True)]
    low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    around = np.zeros(high - low + memory.itemsize, np.uint8)
    return np.ndarray(memory.shape, memory.dtype, around, -low, memory.strides)
