"""Scalar types of the dialect as Python classes: `wp.float32`, `wp.uint64` and their like."""

from typing import Any

import numpy as np

BY_NAME: dict[str, type["Scalar"]] = {}
"""All scalar types by name."""


class Scalar:
    """A number of a type that Python lacks."""

    numpy: np.dtype[Any]
    """The type of NumPy that has this layout."""
    # `np.dtype` takes the class by these attributes; NumPy before 2.4 needs the second one.
    __numpy_dtype__: np.dtype[Any]
    dtype: np.dtype[Any]

    def __init_subclass__(cls) -> None:
        if cls.__module__ == __name__ and not cls.__name__.endswith("_base"):
            BY_NAME[cls.__name__] = cls
            # NumPy has no bfloat16, so its bits are in 16-bit integers.
            cls.numpy = np.dtype(np.uint16 if cls.__name__ == "bfloat16" else cls.__name__)
            if cls.__name__ != "bfloat16":
                cls.__numpy_dtype__ = cls.dtype = cls.numpy

    def __init__(self, value: Any = 0) -> None:
        number = getattr(value, "value", value)
        self.value = number if isinstance(number, (bool, int, float)) else number.item()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value})"

    def __str__(self) -> str:
        return str(self.value)

    def __eq__(self, other: object) -> Any:
        return self.value == getattr(other, "value", other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < getattr(other, "value", other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= getattr(other, "value", other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > getattr(other, "value", other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= getattr(other, "value", other))

    def __neg__(self) -> Any:
        negative = type(self)(-self.value)
        # For these types, builtins and operators return Python's own numbers.
        return negative.value if type(self).__name__ in ("bool", "int32", "float32") else negative

    def __pos__(self) -> Any:
        same = type(self)(self.value)
        return same.value if type(self).__name__ in ("bool", "int32", "float32") else same

    def __abs__(self) -> Any:
        return _builtin().call("abs", self)

    def __argument_type__(self, _dims: int | None, _name: Any) -> str:
        return f"wp.{type(self).__name__}"

    def __spelled__(self, _name: Any) -> str:
        return f"wp.{type(self).__name__}({self.value!r})"


def _builtin() -> Any:
    from gbxcule.warp import builtin  # builds on this module

    return builtin


def _operation(operator: str, is_reflected: bool) -> Any:
    def operation(self: Scalar, other: Any) -> Any:
        # Vectors and the like have their own operators.
        if not isinstance(other, (Scalar, bool, int, float, np.generic)):
            return NotImplemented
        return _builtin().operate(operator, *((other, self) if is_reflected else (self, other)))

    return operation


for _name, _operator in (
    ("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%"), ("pow", "**"),
):  # fmt: skip
    setattr(Scalar, f"__{_name}__", _operation(_operator, False))
    setattr(Scalar, f"__r{_name}__", _operation(_operator, True))


class int_base(Scalar):
    """Base of the integer types."""

    def __init__(self, value: Any = 0) -> None:
        # Conversion as in C drops bits beyond the width.
        bits = 8 * self.numpy.itemsize
        number = int(value) & ((1 << bits) - 1)
        is_negative = self.numpy.kind == "i" and number >> (bits - 1)
        self.value = number - (1 << bits) if is_negative else number

    def __index__(self) -> int:
        return int(self.value)


class float_base(Scalar):
    """Base of the float types."""


class int8(int_base): ...


class int16(int_base): ...


class int32(int_base): ...


class int64(int_base): ...


class uint8(int_base): ...


class uint16(int_base): ...


class uint32(int_base): ...


class uint64(int_base): ...


class float16(float_base): ...


class bfloat16(float_base): ...


class float32(float_base): ...


class float64(float_base): ...


class bool_(Scalar):
    """Truth values; Python's `bool` means this type."""


BY_NAME["bool"] = BY_NAME.pop("bool_")
bool_.__name__ = "bool"


def scalar_type(dtype: Any) -> type[Scalar] | None:
    """Return the scalar type of a type of Python, NumPy or this module, or None if it has none."""
    if isinstance(dtype, type) and issubclass(dtype, Scalar):
        return dtype
    python = {float: float32, int: int32, bool: bool_}.get(dtype) if isinstance(dtype, type) else None
    if python is not None:
        return python
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        return BY_NAME.get(np.dtype(dtype).name)
    return None
