"""The choice among functions of the same name when Python calls one: by the arguments' types."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from gbxcule.kernel_text import Piece
from gbxcule.warp.array_memory import ArrayAnnotation, array
from gbxcule.warp.composite import Composite
from gbxcule.warp.element import is_open
from gbxcule.warp.scalar import scalar_type
from gbxcule.warp.structure import Struct, StructInstance

_EXACT, _OPEN, _OTHER, _NONE = range(4)


def chosen(
    functions: Sequence[Piece[..., Any]], arguments: Sequence[Any], options: Mapping[str, Any]
) -> Piece[..., Any]:
    """Choose the function for these arguments: first by exact types, then by generic ones, then by their count.

    If no function takes the arguments, the last one is chosen, and its call raises the error.
    """
    *_, last = functions
    distance, found = min(((_distance(each, arguments, options), each) for each in functions), key=lambda pair: pair[0])
    return last if distance == _NONE else found


def _distance(function: Piece[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> int:
    """Return how far the arguments' types are from a function's annotations."""
    try:
        bound = inspect.signature(function.python).bind(*arguments, **options)
    except TypeError:
        return _NONE
    types = _annotations(function.python)
    return max((_distance_of(value, types.get(name, Any)) for name, value in bound.arguments.items()), default=_EXACT)


def _annotations(python: Any) -> dict[str, Any]:
    try:
        return inspect.get_annotations(python, eval_str=True)
    except Exception:
        # An annotation in a string names something that isn't defined here.
        return inspect.get_annotations(python)


def _distance_of(value: Any, of: Any) -> int:
    if isinstance(of, (array, ArrayAnnotation)):
        is_array = isinstance(value, array) and value.ndim == of.ndim
        if is_array and of.dtype is not value.dtype:
            return _OPEN if is_open(of.dtype) else _OTHER
        return _EXACT if is_array else _OTHER
    if isinstance(of, Struct):
        return _EXACT if isinstance(value, StructInstance) and value._struct is of else _OTHER
    if isinstance(of, type) and issubclass(of, Composite):
        return _EXACT if isinstance(value, of) else _OTHER
    scalar = scalar_type(of)
    if scalar is not None:
        return _EXACT if scalar_type(type(value)) is scalar else _OTHER
    return _OPEN
