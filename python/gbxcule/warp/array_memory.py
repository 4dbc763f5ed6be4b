"""Arrays: NumPy's memory with a type of elements, and a gradient of the same shape."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule._native import LentArray
from gbxcule.warp import capture, overwritten
from gbxcule.warp.device import Device, get_device
from gbxcule.warp.element import (
    element,
    filling,
    found_elements,
    in_elements,
    inside,
    is_open,
    memory_at,
    owned,
    spelled_element,
    values,
    zeros_laid_out_as,
)
from gbxcule.warp.element_operator import ElementOperators
from gbxcule.warp.scalar import BY_NAME
from gbxcule.warp.structure import Struct

Shape = int | Sequence[int]


def _extents(shape: Shape) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(extent) for extent in shape)


class ArrayAnnotation:
    """Type of an array, as `wp.array2d[wp.vec3]` writes it."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = element(dtype), ndim

    def __spelled__(self, name: Any) -> str | None:
        spelled = spelled_element(self.dtype, name)
        return spelled and f"wp.array(dtype={spelled}, ndim={self.ndim})"

    def __repr__(self) -> str:
        return f"wp.array{self.ndim}d[{self.dtype}]"


class array(ElementOperators):
    """An array of up to four dimensions in the memory of the CPU.

    Without data and memory it is a type: `wp.array(dtype=float)` in a signature.
    """

    _ndim = 1

    def __class_getitem__(cls, dtype: Any) -> ArrayAnnotation:
        of, ndim = dtype if isinstance(dtype, tuple) else (dtype, cls._ndim)
        return ArrayAnnotation(of, ndim)

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
        self.device: Device = get_device(device)
        wanted = Any if dtype is Any else element(dtype)
        self.is_annotation = data is None and shape is None and ptr is None
        self._noted_shape: tuple[Any, ...] | None = None
        self._memory: npt.NDArray[Any]
        self.deleter = deleter
        if ptr is not None:
            self.dtype = BY_NAME["float32"] if wanted is Any else wanted
            self._memory = memory_at(ptr, inside(self.dtype), _extents(shape or 0), strides, deleter)
        elif strides is not None or deleter is not None:
            raise ValueError("`strides` and `deleter` are for memory that is given by its address: `ptr`")
        elif data is None:
            self.dtype = wanted if self.is_annotation or wanted is not Any else BY_NAME["float32"]
            extents = (0,) * (ndim or self._ndim) if shape is None else _extents(shape)
            inner, number = ((), np.dtype(np.float32)) if self.is_annotation and is_open(wanted) else inside(self.dtype)
            self._memory = np.zeros((*extents, *inner), number)
        else:
            self.dtype, self._memory = _taken(data, wanted, shape, copy)
            if ndim is not None and self._memory.size == 0:
                self._memory = self._memory.reshape((0,) * ndim + self._inner())
        self._ndim = self._memory.ndim - len(self._inner())
        if data is not None and ndim is not None and ndim != self.ndim:
            raise ValueError(f"{ndim} dimensions were asked for, and the data has {self.ndim}")
        self._lent: Any = None
        self._grad: array | None = None
        self._retain_grad = False
        self._kept: npt.NDArray[Any] | None = None
        self.is_transposed = False
        if grad is not None:
            self.grad = grad
        self.requires_grad = requires_grad or grad is not None
        self.retain_grad = retain_grad

    def _inner(self) -> tuple[int, ...]:
        return () if self.is_annotation and is_open(self.dtype) else inside(self.dtype)[0]

    def __spelled__(self, name: Any) -> str | None:
        if not self.is_annotation:
            return None
        spelled = spelled_element(self.dtype, name)
        return spelled and f"wp.array(dtype={spelled}, ndim={self.ndim})"

    def __argument_type__(self, dims: int | None, name: Any) -> str:
        """Spell the type for a generic parameter, which is an array of `dims` dimensions, or with None anything."""
        if dims is not None and dims != self.ndim:
            raise TypeError(f"an array of {dims} dimensions is needed, found {self.ndim}")
        spelled = spelled_element(self.dtype, name)
        return f"wp.array(dtype={spelled}, ndim={self.ndim})"

    @property
    def ndim(self) -> int:
        return self._ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape[: self.ndim] if self._noted_shape is None else self._noted_shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        """Note a shape in an annotation, for programs that read it there."""
        if not self.is_annotation:
            raise AttributeError("the shape of an array can't be set: `reshape` gives an array with another shape")
        self._noted_shape = tuple(shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next in each dimension."""
        return self._memory.strides[: self.ndim]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def has_memory(self) -> bool:
        """Tell whether this array, or the one that it is a slice of, has elements."""
        of = self._memory
        return of.size > 0 or (isinstance(of.base, np.ndarray) and of.base.size > 0)

    def lent(self) -> Any:
        """Return the memory for a launch, or None if there is none: then `if a:` is false, as in Warp."""
        if self._lent is None and self.has_memory:
            try:
                self._lent = LentArray(self._memory)
            except (BufferError, TypeError, ValueError):
                # NumPy lends no records; of other memory the launch says what is wrong.
                self._lent = self._memory
        return self._lent

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
    def pinned(self) -> bool:
        """False: no device reads the memory itself."""
        return False

    @property
    def requires_grad(self) -> bool:
        return self._grad is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not wanted:
            self._grad = None
            self._retain_grad = False
        elif self._grad is None:
            self._grad = self._beside(zeros_laid_out_as(self._memory))

    @property
    def grad(self) -> "array | None":
        """The gradient: an array of this shape."""
        return self._grad

    @grad.setter
    def grad(self, grad: "array | None") -> None:
        if grad is not None and (grad.shape != self.shape or inside(grad.dtype) != inside(self.dtype)):
            def shown(one: array) -> str:
                return f"{one.shape} of {getattr(one.dtype, '__name__', one.dtype)}"

            raise ValueError(f"a gradient has its array's shape and type, {shown(self)}, found {shown(grad)}")
        self._grad = grad

    @property
    def retain_grad(self) -> bool:
        """Tell whether the gradient is kept when the launch that wrote the array has been reversed."""
        return self._retain_grad

    @retain_grad.setter
    def retain_grad(self, wanted: bool) -> None:
        if wanted and self._grad is None:
            raise ValueError("`retain_grad` needs `requires_grad`")
        if wanted and isinstance(self.dtype, Struct):
            raise NotImplementedError("gbxcule.warp has no `retain_grad` of arrays of structs")
        self._retain_grad = wanted

    def keep_gradient(self, before: npt.NDArray[Any]) -> None:
        """Keep the gradient that a reverse has set to 0, for `release_gradient`.

        The gradient itself stays at 0 until all reverses have run, so that other reverses aren't changed by it.
        """
        assert self._grad is not None
        taken = np.where(self._grad._memory == before, np.zeros_like(before), before)
        self._kept = taken if self._kept is None else self._kept + taken

    def release_gradient(self) -> None:
        """Add the kept gradient again."""
        if self._kept is not None and self._grad is not None:
            self._grad._memory += self._kept
        self._kept = None

    def _beside(self, memory: npt.NDArray[Any], dtype: Any = None) -> "array":
        """Make an array from other memory."""
        return array(memory, dtype=dtype or self.dtype, copy=False)

    def _view(self, of: Any, dtype: Any = None) -> "array":
        """Make an array from a view of this memory, with the same view of the gradient."""
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
        ndim = self.ndim - sum(not isinstance(part, slice) and part is not Ellipsis for part in parts)
        if ndim <= 0:
            raise RuntimeError("Python can't read a single element: `numpy()` gives all elements")
        return self._view(lambda memory: memory[key])

    def _listed(self, parts: tuple[Any, ...]) -> Any:
        """Return the array seen through lists of indices; `:` stands for a dimension without a list."""
        from gbxcule.warp.indexed_array import indexedarray  # builds on this module

        return indexedarray(self, [None if part == slice(None) else part for part in map(_list_or_part, parts)])

    def __setitem__(self, key: Any, value: Any) -> None:
        memory = values(value, self.dtype) if not isinstance(value, array) else value._memory
        self._overwrite(key, memory)

    def __str__(self) -> str:
        if self.is_annotation:
            return f"array(dtype={getattr(self.dtype, '__name__', self.dtype)}, ndim={self.ndim})"
        return str(self._memory)

    def __repr__(self) -> str:
        return f"array(shape={self.shape}, dtype={getattr(self.dtype, '__name__', self.dtype)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._memory, dtype, copy=copy) if copy else np.asarray(self._memory, dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**self._memory.__array_interface__, "strides": self._memory.strides}

    def __dlpack__(self, **options: Any) -> Any:
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def numpy(self) -> npt.NDArray[Any]:
        """Return the memory itself, as NumPy's array."""
        return self._memory

    def list(self) -> list[Any]:
        """Return a list of all elements."""
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
        """Set all elements to a value, which is converted to the type of elements."""
        self._overwrite(..., filling(value, self.dtype))
        return self

    def _overwrite(self, key: Any, numbers: Any) -> None:
        """Store numbers, or let a capture record that; a tape then treats the elements as constants."""
        overwritten.before(self._memory)
        capture.run(lambda: self._memory.__setitem__(key, numbers))
        if self._grad is not None:
            from gbxcule.warp.tape import forget  # builds on this module

            forget(self, key)

    def assign(self, source: Any) -> "array":
        """Copy from an array, or from data to make one from."""
        from gbxcule.warp.array_copy import assign  # builds on this module

        assign(self, source)
        return self

    def reshape(self, shape: Shape) -> "array":
        """Return the same elements in another shape, in which -1 stands for the extent that fits."""
        inner = self._inner()
        if not self.is_contiguous:
            raise RuntimeError("an array with gaps can't be reshaped: `contiguous()` copies it")
        return self._view(lambda memory: memory.reshape((*_extents(shape), *inner)))

    def flatten(self) -> "array":
        """Return the same elements in one dimension."""
        return self if self.ndim == 1 else self.reshape(-1)

    def transpose(self, axes: Sequence[int] | None = None) -> "array":
        """Return the array with its dimensions in another order, by default reversed."""
        order = list(axes or reversed(range(self.ndim)))
        order += range(self.ndim, self._memory.ndim)
        made = self._view(lambda memory: memory.transpose(order))
        made.is_transposed = not self.is_transposed
        return made

    def view(self, dtype: Any) -> "array":
        """Return the same memory with elements of another type.

        The other type has the same size, or one of the two is the scalar type of the other.
        """
        wanted = element(dtype)
        (inner, numpy), (own, scalar) = inside(wanted), inside(self.dtype)
        if math.prod(inner) * numpy.itemsize == math.prod(own) * scalar.itemsize:
            outer = self.shape
        elif numpy.itemsize == scalar.itemsize and not inner:
            outer = self._memory.shape
        elif numpy.itemsize == scalar.itemsize and not own and self.shape[-len(inner) :] == inner:
            outer = self.shape[: -len(inner)] or (1,)
        else:
            refused = TypeError if numpy.itemsize != scalar.itemsize else RuntimeError
            raise refused(f"elements of `{dtype}` have another size than those of {self!r}")
        return self._view(lambda memory: _seen_as(memory, numpy, (*outer, *inner)), wanted)

    def contiguous(self) -> "array":
        """Return an array without gaps: this one, or a copy."""
        from gbxcule.warp.array_copy import clone  # builds on this module

        return self if self.is_contiguous else clone(self)

    def to(self, device: Any, requires_grad: bool | None = None) -> "array":
        """Return the array itself, because there is only one device."""
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
        raise NotImplementedError("an index may have slices or lists of indices, not both")
    return array(part, dtype=int) if isinstance(part, (list, np.ndarray)) else part


def _taken(data: Any, wanted: Any, shape: Shape | None, copy: bool) -> tuple[Any, npt.NDArray[Any]]:
    """Return the type of elements and the memory for an array that is made from `data`."""
    if isinstance(data, array):
        dtype, memory = data.dtype if wanted is Any else wanted, data._memory
    elif wanted is Any:
        dtype, memory = found_elements(data)
    else:
        dtype, memory = wanted, values(data, wanted)
    inner, _ = inside(dtype)
    memory = in_elements(memory, inner) if shape is None else memory.reshape((*_extents(shape), *inner))
    return dtype, owned(memory, dtype, copy)


def _seen_as(memory: npt.NDArray[Any], numpy: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if memory.itemsize != numpy.itemsize and not memory.flags.c_contiguous:
        raise RuntimeError("an array with gaps has no view of numbers of another size: `contiguous()` copies it")
    made = memory.view(numpy).reshape(shape)
    if made.size and not np.may_share_memory(made, memory):
        raise RuntimeError("an array with gaps has no view of such elements: `contiguous()` copies it")
    return made
