"""Types, and functions about types, which Warp has in `wp.types`."""

import math
from collections.abc import Callable
from typing import Any

from gbxcule.warp.array_memory import ArrayAnnotation
from gbxcule.warp.array_memory import array as array
from gbxcule.warp.composite import Composite
from gbxcule.warp.composite import matrix as matrix
from gbxcule.warp.composite import named_types as _named_types
from gbxcule.warp.composite import quaternion as quaternion
from gbxcule.warp.composite import transformation as transformation
from gbxcule.warp.composite import vector as vector
from gbxcule.warp.element import inside
from gbxcule.warp.element import is_composite as is_composite_type
from gbxcule.warp.scalar import BY_NAME as _SCALARS
from gbxcule.warp.scalar import float_base as float_base
from gbxcule.warp.scalar import int_base as int_base
from gbxcule.warp.scalar import scalar_type
from gbxcule.warp.structure import Struct, StructInstance

_named: dict[str, Any] = {**_SCALARS, **_named_types()}


def type_size_in_bytes(dtype: Any) -> int:
    """Count the bytes of a value."""
    shape, numpy = inside(dtype if isinstance(dtype, type) and issubclass(dtype, Composite) else scalar_type(dtype))
    return math.prod(shape) * numpy.itemsize


def type_size(dtype: Any) -> int:
    """Count the scalars of a value."""
    return math.prod(inside(dtype)[0])


def type_scalar_type(dtype: Any) -> Any:
    """Return the scalar type of a type."""
    return dtype._wp_scalar_type_ if issubclass(dtype, Composite) else scalar_type(dtype)


def type_is_vector(dtype: Any) -> bool:
    """Tell whether a type is one of vectors."""
    return getattr(dtype, "_kind_", None) == "vector"


def type_is_matrix(dtype: Any) -> bool:
    """Tell whether a type is one of matrices."""
    return getattr(dtype, "_kind_", None) == "matrix"


def type_is_quaternion(dtype: Any) -> bool:
    """Tell whether a type is one of quaternions."""
    return getattr(dtype, "_kind_", None) == "quaternion"


def type_is_transformation(dtype: Any) -> bool:
    """Tell whether a type is one of transforms."""
    return getattr(dtype, "_kind_", None) == "transform"


def type_is_int(dtype: Any) -> bool:
    """Tell whether a type is one of integers."""
    scalar = scalar_type(dtype)
    return scalar is not None and issubclass(scalar, int_base)


def type_is_float(dtype: Any) -> bool:
    """Tell whether a type is one of floats."""
    scalar = scalar_type(dtype)
    return scalar is not None and issubclass(scalar, float_base)


def types_equal(a: Any, b: Any) -> bool:
    """Tell whether two types are equal; `float` is `float32`, `int` is `int32`, tuples compare by element.
    """
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        is_both = isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))
        return is_both and len(a) == len(b) and all(map(types_equal, a, b))
    if isinstance(a, array) and isinstance(b, array):
        return types_equal(a.dtype, b.dtype)
    return (scalar_type(a) or a) is (scalar_type(b) or b)


def type_is_scalar(dtype: Any) -> bool:
    """Tell whether a type is one of numbers."""
    return scalar_type(dtype) is not None


def type_is_composite(dtype: Any) -> bool:
    """Tell whether a type is one of vectors, matrices and their like."""
    return is_composite_type(dtype)


def type_is_value(dtype: Any) -> bool:
    """Tell whether a type is one of numbers, or of vectors and their like."""
    return type_is_scalar(dtype) or type_is_composite(dtype)


def type_is_struct(dtype: Any) -> bool:
    """Tell whether a type is a struct."""
    return isinstance(dtype, Struct)


def type_is_array(dtype: Any) -> bool:
    """Tell whether a type is one of arrays."""
    return isinstance(dtype, (array, ArrayAnnotation))


def _of_value(is_of: Callable[[Any], bool], kind: str) -> Callable[[Any], bool]:
    def tells(value: Any) -> bool:
        return is_of(type(value))

    tells.__doc__ = f"Tell whether a value is {kind}."
    return tells


is_int = _of_value(type_is_int, "an integer")
is_float = _of_value(type_is_float, "a float")
is_scalar = _of_value(type_is_scalar, "a number")
is_vector = _of_value(type_is_vector, "a vector")
is_matrix = _of_value(type_is_matrix, "a matrix")
is_quaternion = _of_value(type_is_quaternion, "a quaternion")
is_transformation = _of_value(type_is_transformation, "a transform")
is_composite = _of_value(type_is_composite, "a vector, a matrix or one of their like")
is_value = _of_value(type_is_value, "a number, a vector or one of their like")


def is_struct(value: Any) -> bool:
    """Tell whether a value is an instance of a struct."""
    return isinstance(value, StructInstance)


def type_length(dtype: Any) -> int:
    """Count the scalars of a type, or the fields of a struct."""
    return len(dtype.vars) if isinstance(dtype, Struct) else type_size(dtype)


def is_array(value: Any) -> bool:
    """Tell whether a value is an array."""
    return isinstance(value, array)


def type_repr(dtype: Any) -> str:
    """Return a type's name."""
    return str(dtype.__name__)


def __getattr__(name: str) -> Any:
    if name in _named:
        return _named[name]
    raise AttributeError(f"gbxcule.warp.types has no `{name}`")
