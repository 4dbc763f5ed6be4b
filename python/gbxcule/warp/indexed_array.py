"""Indexed arrays: an array seen through lists of indices, for each dimension one list or none."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture, overwritten
from gbxcule.warp.array_memory import ArrayAnnotation, array
from gbxcule.warp.element_operator import ElementOperators


class IndexedArrayAnnotation(ArrayAnnotation):
    """Type of an indexed array, as `wp.indexedarray2d[wp.vec3]` writes it."""

    def __spelled__(self, name: Any) -> str | None:
        spelled = super().__spelled__(name)
        return spelled and spelled.replace("wp.array(", "wp.indexedarray(", 1)

    def __repr__(self) -> str:
        return f"wp.indexedarray{self.ndim}d[{self.dtype}]"


class indexedarray(ElementOperators):
    """An array seen through lists of indices, such as `a[i]` for an array `a` and a list `i`.

    Without data it is a type: `wp.indexedarray(dtype=float)` in a signature.
    """

    _ndim = 1

    def __class_getitem__(cls, dtype: Any) -> IndexedArrayAnnotation:
        element, ndim = dtype if isinstance(dtype, tuple) else (dtype, cls._ndim)
        return IndexedArrayAnnotation(element, ndim if isinstance(ndim, int) else ndim.__args__[0])

    def __init__(
        self, data: array | None = None, indices: Any = None, dtype: Any = None, ndim: int | None = None
    ) -> None:
        self.is_annotation = data is None
        self.ndim = data.ndim if data is not None else ndim or self._ndim
        self.dtype = data.dtype if data is not None else (Any if dtype is None else dtype)
        self.data: array = data if data is not None else array(dtype=self.dtype, ndim=self.ndim)
        self.indices: list[array | None] = _lists(indices, self.ndim)

    def __spelled__(self, name: Any) -> str | None:
        return IndexedArrayAnnotation(self.dtype, self.ndim).__spelled__(name) if self.is_annotation else None

    def __argument_type__(self, dims: int | None, name: Any) -> str:
        """Spell the type for a generic parameter."""
        return self.data.__argument_type__(dims, name).replace("wp.array(", "wp.indexedarray(", 1)

    def argument(self, part: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the kernel's argument: the array and its lists."""
        lists = {f"indices_{dim}": each and part(each) for dim, each in enumerate(self.indices)}
        return {"data": part(self.data), **lists}

    @property
    def shape(self) -> tuple[int, ...]:
        extents = zip(self.indices, self.data.shape, strict=True)
        return tuple(extent if each is None else each.size for each, extent in extents)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def device(self) -> Any:
        return self.data.device

    @property
    def is_contiguous(self) -> bool:
        return False

    @property
    def pinned(self) -> bool:
        return self.data.pinned

    @property
    def requires_grad(self) -> bool:
        return self.data.requires_grad

    def __len__(self) -> int:
        return self.shape[0]

    def __str__(self) -> str:
        return repr(self) if self.is_annotation else str(self.numpy())

    def __repr__(self) -> str:
        return f"indexedarray(shape={self.shape}, dtype={getattr(self.dtype, '__name__', self.dtype)})"

    def _places(self) -> tuple[npt.NDArray[Any], ...]:
        extents = zip(self.indices, self.data.shape, strict=True)
        return np.ix_(*[np.arange(extent) if each is None else each.numpy() for each, extent in extents])

    def numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the elements as NumPy's array."""
        elements: npt.NDArray[Any] = self.data.numpy()[self._places()]
        return elements

    def contiguous(self) -> array:
        """Return a copy of the elements as an array."""
        return array(self.numpy(), dtype=self.dtype)

    def list(self) -> Sequence[Any]:
        """Return a list of all elements."""
        return self.contiguous().list()

    def zero_(self) -> "indexedarray":
        """Set all elements to 0."""
        return self.fill_(0)

    def fill_(self, value: Any) -> "indexedarray":
        """Set all elements to a value."""
        return self.assign(array(shape=self.shape, dtype=self.dtype).fill_(value))

    def assign(self, source: Any) -> "indexedarray":
        """Copy from an array, or from data to make one from."""
        values = source if isinstance(source, (array, indexedarray)) else array(source, dtype=self.dtype)
        memory, places = self.data.numpy(), self._places()
        overwritten.before(memory)
        capture.run(lambda: memory.__setitem__(places, np.reshape(values.numpy(), memory[places].shape)))
        return self


class indexedarray1d(indexedarray):
    """An indexed array of one dimension."""


class indexedarray2d(indexedarray):
    """An indexed array of two dimensions."""

    _ndim = 2


class indexedarray3d(indexedarray):
    """An indexed array of three dimensions."""

    _ndim = 3


class indexedarray4d(indexedarray):
    """An indexed array of four dimensions."""

    _ndim = 4


def _lists(indices: Any, ndim: int) -> "list[array | None]":
    given = indices if isinstance(indices, (list, tuple)) else [indices]
    if given and all(isinstance(each, (int, np.integer)) for each in given):
        given = [given]
    lists = [each if each is None or isinstance(each, array) else array(each, dtype=int) for each in given]
    if len(lists) > ndim:
        raise ValueError(f"an array of {ndim} dimensions takes at most {ndim} lists of indices, found {len(lists)}")
    for each in lists:
        if each is not None and (each.ndim != 1 or each.numpy().dtype != np.int32):
            raise TypeError(f"a list of indices is an array of `int32` in one dimension, found {each!r}")
    return lists + [None] * (ndim - len(lists))
