"""Functions that make arrays: of zeros, of one value, like another array, or from NumPy's."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from gbxcule.warp import capture
from gbxcule.warp.array_memory import Shape, array
from gbxcule.warp.composite import composite
from gbxcule.warp.element import element_of
from gbxcule.warp.scalar import scalar_type


def empty(shape: Shape | None = None, dtype: Any = float, device: Any = None, requires_grad: bool = False,
          pinned: bool = False, retain_grad: bool = False, *, n: int | None = None, **options: Any) -> array:  # fmt: skip
    """Make an array, in this package of zeros. `n` is an older name of the shape, as in Warp.

    Further options are those of `array`, such as `ndim`.
    """
    extents: int | Sequence[int] = (n,) if n is not None else 0 if shape is None else shape
    return array(
        shape=extents, dtype=dtype, device=device, requires_grad=requires_grad, pinned=pinned,
        retain_grad=retain_grad, **options,
    )  # fmt: skip


def zeros(shape: Shape | None = None, dtype: Any = float, device: Any = None, requires_grad: bool = False,
          pinned: bool = False, retain_grad: bool = False, *, n: int | None = None) -> array:  # fmt: skip
    """Make an array of zeros; each launch of a capture sets the arrays that were made in it to 0 again."""
    return _zeroed(empty(shape, dtype, device, requires_grad, pinned, retain_grad, n=n))


def _zeroed(made: array) -> array:
    if capture.is_capturing():
        made.zero_()
        if made.grad is not None:
            made.grad.zero_()
    return made


def full(shape: Shape | None = None, value: Any = 0, dtype: Any = None, device: Any = None,
         requires_grad: bool = False, pinned: bool = False, retain_grad: bool = False, *,
         n: int | None = None) -> array:  # fmt: skip
    """Make an array with one value in all elements; a list of numbers is a vector, a list of lists a matrix."""
    element = element_of(value) if dtype is None else dtype
    return empty(shape, element, device, requires_grad, pinned, retain_grad, n=n).fill_(value)


def ones(shape: Shape | None = None, dtype: Any = float, device: Any = None, requires_grad: bool = False,
         pinned: bool = False, retain_grad: bool = False, *, n: int | None = None) -> array:  # fmt: skip
    """Make an array with 1 in all components."""
    return full(shape, 1, dtype, device, requires_grad, pinned, retain_grad, n=n)


def empty_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
               retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type, in this package of zeros."""
    wanted = src.requires_grad if requires_grad is None else requires_grad
    return empty(src.shape, src.dtype, device, wanted, bool(pinned), retain_grad)


def zeros_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
               retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of zeros of another's shape and type."""
    return _zeroed(empty_like(src, device, requires_grad, pinned, retain_grad))


def full_like(src: array, value: Any, device: Any = None, requires_grad: bool | None = None,
              pinned: bool | None = None, retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type with one value in all elements."""
    return empty_like(src, device, requires_grad, pinned, retain_grad).fill_(value)


def ones_like(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
              retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array of another's shape and type with 1 in all components."""
    return full_like(src, 1, device, requires_grad, pinned, retain_grad)


def from_numpy(arr: npt.NDArray[Any], dtype: Any = None, shape: Shape | None = None, device: Any = None,
               requires_grad: bool = False, retain_grad: bool = False) -> array:  # fmt: skip
    """Copy an array of NumPy; without a type, two dimensions become vectors and three become matrices."""
    if dtype is None:
        kind = {2: "vector", 3: "matrix"}.get(arr.ndim)
        dtype = composite(kind, arr.shape[1:], arr.dtype) if kind else scalar_type(arr.dtype)
    return array(
        arr, dtype=dtype, shape=shape, device=device, requires_grad=requires_grad, retain_grad=retain_grad
    )
