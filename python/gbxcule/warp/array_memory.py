"""Arrays: memory of NumPy with a type of elements, and a gradient beside it."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.kernel_text import Names
from gbxcule.warp import capture
from gbxcule.warp.composite import Composite, Family
from gbxcule.warp.device import Device, get_device
from gbxcule.warp.element_operator import ElementOperators
from gbxcule.warp.scalar import BY_NAME, Scalar, scalar_type
from gbxcule.warp.structure import Struct, StructInstance

Shape = int | Sequence[int]


def _element(dtype: Any) -> Any:
    """Find a type of elements: a scalar type, a composite, a struct, or what only annotations have."""
    is_known = isinstance(dtype, (Struct, Family, Names)) or dtype is Any
    if is_known or (isinstance(dtype, type) and issubclass(dtype, Composite)):
        return dtype
    found = scalar_type(dtype)
    if found is None:
        raise TypeError(f"elements of an array are numbers, vectors and their like, or structs, found `{dtype}`")
    return found


def inside(dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Give the dimensions within an element, and NumPy's type of what is there."""
    if isinstance(dtype, Struct):
        return (), dtype.numpy_dtype()
    if issubclass(dtype, Composite):
        return dtype._shape_, dtype._wp_scalar_type_.numpy
    return (), dtype.numpy


def _extents(shape: Shape) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(extent) for extent in shape)


def spelled_element(dtype: Any, name: Any) -> str | None:
    """Spell the type of an array's elements."""
    if isinstance(dtype, Struct):
        return str(name(dtype))
    if isinstance(dtype, Names):
        return repr(dtype)
    if isinstance(dtype, type) and issubclass(dtype, Composite):
        return dtype.__type_spelled__()
    return f"wp.{dtype.__name__}" if isinstance(dtype, type) and issubclass(dtype, Scalar) else None


class ArrayAnnotation:
    """Type of an array, as `wp.array2d[wp.vec3]` writes it."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = _element(dtype), ndim

    def __spelled__(self, name: Any) -> str | None:
        element = spelled_element(self.dtype, name)
        return element and f"wp.array(dtype={element}, ndim={self.ndim})"

    def __repr__(self) -> str:
        return f"wp.array{self.ndim}d[{self.dtype}]"


class array(ElementOperators):
    """An array of up to four dimensions in the memory of the CPU.

    Without data and memory it stands for a type: `wp.array(dtype=float)` in a signature.
    """

    _ndim = 1

    def __class_getitem__(cls, dtype: Any) -> ArrayAnnotation:
        element, ndim = dtype if isinstance(dtype, tuple) else (dtype, cls._ndim)
        return ArrayAnnotation(element, ndim)

    def __init__(
        self,
        data: Any = None,
        dtype: Any = Any,
        shape: Shape | None = None,
        strides: Sequence[int] | None = None,
        ptr: int | None = None,
        capacity: int | None = None,
        device: Any = None,
        pinned: bool = False,
        copy: bool = True,
        deleter: Any = None,
        ndim: int | None = None,
        grad: "array | None" = None,
        requires_grad: bool = False,
        retain_grad: bool = False,
    ) -> None:
        if ptr is not None or strides is not None or deleter is not None:
            raise NotImplementedError("gbxcule.warp has no arrays over pointers: make one of a NumPy array, `copy=False`")
        self.device: Device = get_device(device)
        wanted = Any if dtype is Any else _element(dtype)
        self.is_annotation = data is None and shape is None
        self._memory: npt.NDArray[Any]
        if data is None:
            self.dtype = wanted if self.is_annotation or wanted is not Any else BY_NAME["float32"]
            extents = (0,) * (ndim or self._ndim) if shape is None else _extents(shape)
            known = ((), np.dtype(np.float32)) if self.is_annotation and is_open(wanted) else inside(self.dtype)
            self._memory = np.zeros((*extents, *known[0]), known[1])
        else:
            self.dtype, self._memory = _taken(data, wanted, copy)
            if ndim is not None and self._memory.size == 0:
                self._memory = self._memory.reshape((0,) * ndim + self._inner())
            if shape is not None:
                self._memory = self._memory.reshape((*_extents(shape), *inside(self.dtype)[0]))
        self._ndim = self._memory.ndim - len(self._inner())
        if data is not None and ndim is not None and ndim != self.ndim:
            raise ValueError(f"{ndim} dimensions were asked for, and the data has {self.ndim}")
        self._grad: array | None = None
        if grad is not None:
            self.grad = grad
        self.requires_grad = requires_grad or grad is not None

    def _inner(self) -> tuple[int, ...]:
        return () if self.is_annotation and is_open(self.dtype) else inside(self.dtype)[0]

    def __spelled__(self, name: Any) -> str | None:
        if not self.is_annotation:
            return None
        element = spelled_element(self.dtype, name)
        return element and f"wp.array(dtype={element}, ndim={self.ndim})"

    def __argument_type__(self, dims: int | None, name: Any) -> str:
        """Spell the type for a generic parameter, an array of `dims` dimensions or anything."""
        if dims is not None and dims != self.ndim:
            raise TypeError(f"an array of {dims} dimensions is needed, found {self.ndim}")
        element = spelled_element(self.dtype, name)
        return f"wp.array(dtype={element}, ndim={self.ndim})"

    @property
    def ndim(self) -> int:
        return self._ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape[: self.ndim]

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next in each dimension."""
        return self._memory.strides[: self.ndim]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def has_memory(self) -> bool:
        """Tell whether there are elements here, or in the array that this one is a slice of."""
        of = self._memory.base
        return self.size > 0 or (isinstance(of, np.ndarray) and of.size > 0)

    @property
    def ptr(self) -> int:
        return self._memory.ctypes.data

    @property
    def capacity(self) -> int:
        return self._memory.nbytes

    @property
    def is_contiguous(self) -> bool:
        return self._memory.flags.c_contiguous

    @property
    def requires_grad(self) -> bool:
        return self._grad is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not wanted:
            self._grad = None
        elif self._grad is None:
            self._grad = self._beside(np.zeros_like(self._memory))

    @property
    def grad(self) -> "array | None":
        """The gradient: an array of this shape."""
        return self._grad

    @grad.setter
    def grad(self, grad: "array | None") -> None:
        if grad is not None and (grad.shape != self.shape or inside(grad.dtype) != inside(self.dtype)):
            raise ValueError(f"a gradient has the shape of its array, {self.shape}, found {grad.shape}")
        self._grad = grad

    def _beside(self, memory: npt.NDArray[Any], dtype: Any = None) -> "array":
        """Make an array of other memory."""
        return array(memory, dtype=dtype or self.dtype, copy=False)

    def _view(self, of: Any, dtype: Any = None) -> "array":
        """Make an array of a view of this memory, and of the gradient's."""
        made = self._beside(of(self._memory), dtype)
        if self._grad is not None:
            made._grad = self._grad._view(of, dtype)
        return made

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return self.size > 0

    def __iter__(self) -> Iterator["array"]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, (list, np.ndarray, array)) for part in parts):
            return self._listed(parts)
        kept = self.ndim - sum(not isinstance(part, slice) and part is not Ellipsis for part in parts)
        if kept <= 0:
            raise RuntimeError("a single element isn't read in Python: `numpy()` gives them all")
        return self._view(lambda memory: memory[key])

    def _listed(self, parts: tuple[Any, ...]) -> Any:
        """Give the array seen through lists of indices; `:` is a dimension without one."""
        from gbxcule.warp.indexed_array import indexedarray  # builds on this module

        return indexedarray(self, [None if part == slice(None) else part for part in map(_list_or_part, parts)])

    def __setitem__(self, key: Any, value: Any) -> None:
        memory = _values(value, self.dtype) if not isinstance(value, array) else value._memory
        capture.run(lambda: self._memory.__setitem__(key, memory))

    def __str__(self) -> str:
        if self.is_annotation:
            return f"array(dtype={getattr(self.dtype, '__name__', self.dtype)}, ndim={self.ndim})"
        return str(self._memory)

    def __repr__(self) -> str:
        return f"array(shape={self.shape}, dtype={getattr(self.dtype, '__name__', self.dtype)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._memory, dtype, copy=copy) if copy else np.asarray(self._memory, dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def numpy(self) -> npt.NDArray[Any]:
        """Give the memory itself, as NumPy sees it."""
        return self._memory

    def list(self) -> list[Any]:
        """Give all elements one after the other."""
        if isinstance(self.dtype, Struct):
            return [self.dtype.instance(each) for each in self._memory.ravel()]
        inner = self._inner()
        memory = self._memory
        if self.dtype is BY_NAME["bfloat16"]:
            return [self.dtype(each) for each in (memory.ravel().astype(np.uint32) << 16).view(np.float32).tolist()]
        flat = memory.reshape((-1, *inner))
        return [self.dtype(*each.ravel().tolist()) for each in flat] if inner else flat.tolist()

    def zero_(self) -> "array":
        """Set all elements to 0."""
        return self.fill_(0)

    def fill_(self, value: Any) -> "array":
        """Set all elements to a value."""
        found = value if isinstance(value, (int, float)) and not value else _values(value, self.dtype)
        if isinstance(self.dtype, Struct) and isinstance(found, (int, float)):
            found = np.zeros((), self._memory.dtype)
        capture.run(lambda: self._memory.__setitem__(..., found))
        return self

    def assign(self, source: Any) -> "array":
        """Copy from an array, or from what one can be made of."""
        values = source._memory if isinstance(source, array) else _values(source, self.dtype)
        capture.run(lambda: self._memory.__setitem__(..., np.reshape(values, self._memory.shape)))
        return self

    def reshape(self, shape: Shape) -> "array":
        """Give the same elements in another shape; -1 is what is left."""
        inner = self._inner()
        if not self.is_contiguous:
            raise RuntimeError("an array with gaps can't be reshaped: `contiguous()` copies it")
        return self._view(lambda memory: memory.reshape((*_extents(shape), *inner)))

    def flatten(self) -> "array":
        """Give the same elements in one dimension."""
        return self if self.ndim == 1 else self.reshape(-1)

    def transpose(self, axes: Sequence[int] | None = None) -> "array":
        """Give the dimensions in another order, without axes in the reverse."""
        order = list(axes or reversed(range(self.ndim)))
        order += range(self.ndim, self._memory.ndim)
        return self._view(lambda memory: memory.transpose(order))

    def view(self, dtype: Any) -> "array":
        """Give the same memory with elements of another type of the same size."""
        inner, numpy = inside(_element(dtype))
        if math.prod(inner) * numpy.itemsize * self.size != self._memory.nbytes:
            raise RuntimeError(f"elements of `{dtype}` have another size than those of {self!r}")
        if not self.is_contiguous:
            raise RuntimeError("an array with gaps has no view of another type: `contiguous()` copies it")
        return self._view(lambda memory: memory.view(numpy).reshape((*self.shape, *inner)), _element(dtype))

    def contiguous(self) -> "array":
        """Give an array without gaps: this one, or a copy."""
        return self if self.is_contiguous else self._view(np.ascontiguousarray)

    def to(self, device: Any, requires_grad: bool | None = None) -> "array":
        """Give the array on a device; there is one."""
        get_device(device)
        return self


class array1d(array):
    """An array of one dimension."""

    _ndim = 1


class array2d(array):
    """An array of two dimensions."""

    _ndim = 2


class array3d(array):
    """An array of three dimensions."""

    _ndim = 3


class array4d(array):
    """An array of four dimensions."""

    _ndim = 4


def _list_or_part(part: Any) -> Any:
    if isinstance(part, slice) and part != slice(None):
        raise NotImplementedError("slices beside lists of indices aren't supported")
    return array(part, dtype=int) if isinstance(part, (list, np.ndarray)) else part


def is_open(dtype: Any) -> bool:
    """Return true for elements of any type, or of any in a family."""
    return dtype is Any or isinstance(dtype, (Family, Names))


def _taken(data: Any, wanted: Any, copy: bool) -> tuple[Any, npt.NDArray[Any]]:
    """Give elements' type and memory of what an array is made of."""
    if isinstance(data, array):
        dtype = data.dtype if wanted is Any else wanted
        memory = data._memory
    else:
        dtype = _inferred(data) if wanted is Any else wanted
        memory = _values(data, dtype)
    inner, numpy = inside(dtype)
    if memory.size == 0 and memory.ndim <= len(inner):
        memory = memory.reshape((0, *inner))
    elif memory.shape == inner:
        memory = memory.reshape((1, *inner))
    if memory.shape[memory.ndim - len(inner) :] != inner:
        # Rows of numbers that make whole elements, and those of a flat list.
        memory = memory.reshape((-1, *inner)) if memory.ndim == 1 else memory.reshape((*memory.shape[:-1], *inner))
    is_own = memory.dtype == numpy and memory.flags.writeable
    return dtype, memory.astype(numpy, copy=True) if copy or not is_own else memory


def _inferred(data: Any) -> Any:
    first = data
    while isinstance(first, (list, tuple)) and len(first):
        first = first[0]
    if isinstance(first, (Composite, Scalar)):
        return type(first)
    if isinstance(first, StructInstance):
        return first._struct
    found = scalar_type(np.asarray(data).dtype)
    if found is None:
        raise TypeError(f"elements of an array are numbers, vectors and their like, or structs, found `{first!r}`")
    return found


def _values(data: Any, dtype: Any) -> npt.NDArray[Any]:
    """Give NumPy's array of values for elements of a type."""
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


def _is_bfloat16(dtype: Any) -> bool:
    return getattr(dtype, "_wp_scalar_type_", dtype) is BY_NAME["bfloat16"]


def _bits(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give the bits of the nearest `bfloat16`s, ties to even; integers of 16 bits are bits already."""
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


def empty(shape: Shape | None = None, dtype: Any = float, device: Any = None, requires_grad: bool = False,
          pinned: bool = False, retain_grad: bool = False, **_options: Any) -> array:  # fmt: skip
    """Make an array; here it has zeros in it."""
    return array(shape=0 if shape is None else shape, dtype=dtype, device=device, requires_grad=requires_grad)


def zeros(shape: Shape | None = None, dtype: Any = float, device: Any = None, requires_grad: bool = False,
          pinned: bool = False, retain_grad: bool = False, **_options: Any) -> array:  # fmt: skip
    """Make an array of zeros; one that is made in a capture is set to 0 at each launch of it."""
    return _zeroed(empty(shape, dtype, device, requires_grad))


def _zeroed(made: array) -> array:
    if capture.is_capturing():
        made.zero_()
        if made.grad is not None:
            made.grad.zero_()
    return made


def full(shape: Shape, value: Any = 0, dtype: Any = None, device: Any = None, requires_grad: bool = False,
         pinned: bool = False, retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array with one value in all elements."""
    if dtype is None:
        dtype = value._struct if isinstance(value, StructInstance) else type(value)
    return empty(shape, dtype, device, requires_grad).fill_(value)


def ones(shape: Shape, dtype: Any = float, device: Any = None, requires_grad: bool = False, pinned: bool = False,
         retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array with 1 in all components."""
    return full(shape, 1, dtype, device, requires_grad)


def empty_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
               retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type; here it has zeros in it."""
    wanted = src.requires_grad if requires_grad is None else requires_grad
    return empty(src.shape, src.dtype, device, wanted)


def zeros_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
               retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of zeros of another's shape and type."""
    return _zeroed(empty_like(src, device, requires_grad))


def full_like(src: array, value: Any, device: Any = None, requires_grad: bool | None = None,
              pinned: bool | None = None, retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type with one value in all elements."""
    return empty_like(src, device, requires_grad).fill_(value)


def ones_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
              retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type with 1 in all components."""
    return full_like(src, 1, device, requires_grad)


def from_numpy(arr: npt.NDArray[Any], dtype: Any = None, shape: Shape | None = None, device: Any = None,
               requires_grad: bool = False, retain_grad: bool = False) -> array:  # fmt: skip
    """Copy an array of NumPy; one of two or three dimensions may have vectors or matrices in the last ones."""
    if dtype is None:
        dtype = scalar_type(arr.dtype)
    return array(arr, dtype=dtype, shape=shape, device=device, requires_grad=requires_grad)
