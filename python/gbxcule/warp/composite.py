"""Vectors, matrices, quaternions and transforms, with their arithmetic in Python.

A value is an array of ctypes, as in Warp, so it is a buffer and can be passed by reference. Sums, and products with a
number, are NumPy's in the same type, which rounds as kernels do. All other operations call the dialect's builtins.
"""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gbxcule.warp import builtin
from gbxcule.warp.scalar import BY_NAME, Scalar, scalar_type

_LETTERS = {
    "float16": "h", "float32": "f", "float64": "d", "int8": "b", "uint8": "ub", "int16": "s", "uint16": "us",
    "int32": "i", "uint32": "ui", "int64": "l", "uint64": "ul",
}  # fmt: skip
_made: dict[tuple[str, tuple[int, ...], str], type["Composite"]] = {}


class Composite:
    """A value of several scalars. `vector`, `matrix` and the like make its subclasses, also `ctypes.Array`s."""

    _kind_: ClassVar[str] = ""
    _shape_: ClassVar[tuple[int, ...]] = ()
    _wp_scalar_type_: ClassVar[type[Scalar]]
    _names_: ClassVar[str] = ""
    _length_: ClassVar[int] = 0

    def __init__(self, *values: Any) -> None:
        scalar = self._wp_scalar_type_
        if scalar is BY_NAME["bfloat16"]:
            raise TypeError("NumPy has no `bfloat16`: vectors of it exist in kernels only")
        if values:
            self._numbers[...] = self._filled([_numbers(each) for each in values])

    @property
    def _numbers(self) -> npt.NDArray[Any]:
        """The components, in the memory of the value itself."""
        memory: Any = self
        return np.ndarray(self._shape_, self._wp_scalar_type_.numpy, memory)

    def _filled(self, values: list[Any]) -> npt.NDArray[Any]:
        if len(values) == 1 and values[0].ndim == 0:
            numbers: npt.NDArray[Any] = values[0]
            return numbers.astype(self._wp_scalar_type_.numpy)
        try:
            # Converted one by one: NumPy would join signed and unsigned 64-bit integers as floats.
            given = np.concatenate([each.reshape(-1).astype(self._wp_scalar_type_.numpy) for each in values])
            return given.reshape(self._shape_)
        except ValueError:
            found_values = [each.tolist() for each in values]
            raise ValueError(f"`{type(self).__name__}` has {self._length_} components, found {found_values}") from None

    @classmethod
    def __type_spelled__(cls) -> str:
        scalar = f"wp.{cls._wp_scalar_type_.__name__}"
        if cls._kind_ == "vector":
            return f"wp.types.vector(length={cls._shape_[0]}, dtype={scalar})"
        if cls._kind_ == "matrix":
            return f"wp.types.matrix(shape={cls._shape_}, dtype={scalar})"
        return f"wp.types.{'quaternion' if cls._kind_ == 'quaternion' else 'transformation'}(dtype={scalar})"

    def __spelled__(self, _name: Any) -> str:
        scalar = type(self)._wp_scalar_type_.__name__
        numbers = ", ".join(f"wp.{scalar}({_literal(each)})" for each in self._numbers.ravel().tolist())
        return f"{type(self).__type_spelled__()}({numbers})"

    def __argument_type__(self, _dims: int | None, _name: Any) -> str:
        return self.__type_spelled__()

    def __len__(self) -> int:
        return self._shape_[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        part = self._numbers[index]
        if not np.shape(part):
            return part.item()
        kind = ("vector", "matrix")[np.ndim(part) - 1]
        return composite(kind, np.shape(part), self._wp_scalar_type_)(*np.ravel(part).tolist())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._numbers[index] = _numbers(value)

    def __getattr__(self, name: str) -> Any:
        if len(name) == 1 and name in self._names_:
            return self[self._names_.index(name)]
        raise AttributeError(f"a `{type(self).__name__}` has no `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        if len(name) == 1 and name in self._names_:
            self[self._names_.index(name)] = value
        else:
            raise AttributeError(f"a `{type(self).__name__}` has no `{name}`")

    def get_row(self, index: int) -> Any:
        """Return a row of a matrix."""
        return self[index]

    def get_col(self, index: int) -> Any:
        """Return a column of a matrix."""
        return self[:, index]

    def set_row(self, index: int, value: Any) -> None:
        """Set a row of a matrix."""
        self[index] = value

    def set_col(self, index: int, value: Any) -> None:
        """Set a column of a matrix."""
        self[:, index] = value

    def __copy__(self) -> "Composite":
        return type(self)(*self._numbers.ravel())

    def __deepcopy__(self, _memo: Any) -> "Composite":
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Composite, tuple, list)):
            numbers = _numbers(other)
            return numbers.shape == self._shape_ and bool(np.array_equal(self._numbers, numbers))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        if self._kind_ == "matrix":
            return "[" + ",\n ".join(str(row) for row in self._numbers.tolist()) + "]"
        return str(self._numbers.tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._numbers.tolist()})"

    def _of(self, numbers: npt.NDArray[Any]) -> "Composite":
        made = type(self).__new__(type(self))
        made._numbers[...] = numbers
        return made

    def _number(self, other: Any) -> Any:
        """Read a number as this type's scalar; `None` if it is something else."""
        if isinstance(other, Scalar):
            other = other.value if isinstance(other, self._wp_scalar_type_) else None
        elif isinstance(other, np.generic):
            other = other.item()
        is_number = isinstance(other, (int, float)) and not isinstance(other, bool)
        return self._wp_scalar_type_.numpy.type(other) if is_number else None

    def _same(self, other: Any) -> bool:
        return isinstance(other, Composite) and self._made_as() == other._made_as()

    @classmethod
    def _made_as(cls) -> tuple[str, tuple[int, ...], str]:
        return cls._kind_, cls._shape_, cls._wp_scalar_type_.__name__

    def _each(self, operator: str, other: Any, is_reflected: bool = False) -> Any:
        """Apply an operator between each component and a number, as Warp does in Python."""
        numbers = [self._wp_scalar_type_(each) for each in self._numbers.ravel().tolist()]
        pairs = [(other, each) if is_reflected else (each, other) for each in numbers]
        return type(self)(*[builtin.operate(operator, *pair) for pair in pairs])

    def _operate(self, operator: str, other: Any) -> Any:
        if not isinstance(other, Composite) and self._number(other) is not None:
            return self._each(operator, other)
        return builtin.operate(operator, self, other)

    def __add__(self, other: Any) -> Any:
        if self._same(other):
            return self._of(self._numbers + other._numbers)
        return self._operate("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._each("+", other, True)

    def __sub__(self, other: Any) -> Any:
        if self._same(other):
            return self._of(self._numbers - other._numbers)
        return self._operate("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._each("-", other, True)

    def __neg__(self) -> Any:
        return self._of(-self._numbers)

    def __pos__(self) -> Any:
        return self.__copy__()

    def __mul__(self, other: Any) -> Any:
        number = self._number(other)
        if number is not None:
            with np.errstate(all="ignore"):
                return self._of(self._numbers * number)
        return builtin.operate("*", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        number = self._number(other)
        if number is not None and np.issubdtype(self._numbers.dtype, np.floating):
            with np.errstate(all="ignore"):
                return self._of(self._numbers / number)
        return builtin.operate("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return builtin.operate("/", self._wp_scalar_type_(other), self)

    def __matmul__(self, other: Any) -> Any:
        if "matrix" not in (self._kind_, getattr(other, "_kind_", "")):
            return NotImplemented
        return builtin.operate("*", self, other)

    def __mod__(self, other: Any) -> Any:
        return self._operate("%", other)


class _Transform(Composite):
    """A translation and a rotation: `p` alone has no rotation, `q` alone no translation."""

    def __init__(self, *values: Any, **parts: Any) -> None:
        is_translation = len(values) == 1 and np.size(_numbers(values[0])) == 3
        if values and not parts and not is_translation:
            super().__init__(*values)
            return
        if parts.keys() - {"p", "q"} or len(values) > 1 or (values and "p" in parts):
            raise TypeError(f"a transform is made of one `p` and one `q`, found {[*values, *parts]}")
        super().__init__(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        for name, value in [("p", each) for each in values] + [*parts.items()]:
            setattr(self, name, value)

    @property
    def p(self) -> Composite:
        """The translation."""
        return composite("vector", (3,), self._wp_scalar_type_)(*self._numbers[:3].tolist())

    @p.setter
    def p(self, value: Any) -> None:
        self._numbers[:3] = _components(value, 3)

    @property
    def q(self) -> Composite:
        """The rotation."""
        return composite("quaternion", (4,), self._wp_scalar_type_)(*self._numbers[3:].tolist())

    @q.setter
    def q(self, value: Any) -> None:
        self._numbers[3:] = _components(value, 4)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("p", "q"):
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)


def _numbers(value: Any) -> Any:
    """Return a value's numbers in its own shape."""
    if isinstance(value, (tuple, list)):
        value = [_numbers(each) for each in value]
    return np.asarray(value._numbers if isinstance(value, Composite) else getattr(value, "value", value))


def _components(value: Any, count: int) -> npt.NDArray[Any]:
    """Return the numbers of a part of a transform."""
    numbers: npt.NDArray[Any] = _numbers(value)
    if numbers.shape != (count,):
        raise ValueError(f"this part of a transform has {count} components, found {value!r}")
    return numbers


def _literal(number: Any) -> str:
    if isinstance(number, float) and not np.isfinite(number):
        return "wp.nan" if number != number else "wp.inf" if number > 0.0 else "-wp.inf"
    return repr(number)


def composite(kind: str, shape: Sequence[int], scalar: Any) -> type[Composite]:
    """Return the type of a kind, a shape and a scalar; it is made at the first call."""
    scalar_class = scalar_type(scalar)
    if scalar_class is None:
        raise TypeError(f"components are numbers, found `{scalar}`")
    key = (kind, tuple(int(extent) for extent in shape), scalar_class.__name__)
    if key not in _made:
        of = {
            "_kind_": kind,
            "_shape_": key[1],
            "_length_": int(np.prod(key[1])),
            "_type_": _as_ctypes(scalar_class),
            "_wp_scalar_type_": scalar_class,
            "_names_": "xyzw"[: key[1][0]] if kind in ("vector", "quaternion") else "",
            "__module__": "gbxcule.warp",
            "__annotations__": {},
        }
        base = _Transform if kind == "transform" else Composite
        kind_of_arrays: Any = type(ctypes.Array)
        _made[key] = kind_of_arrays(_name(*key), (base, ctypes.Array), of)
    return _made[key]


def _as_ctypes(scalar: type[Scalar]) -> Any:
    # ctypes has no 16-bit floats, so buffers have their bits, as in Warp.
    return np.ctypeslib.as_ctypes_type(np.uint16 if scalar.numpy == np.float16 else scalar.numpy)


def _name(kind: str, shape: tuple[int, ...], scalar: str) -> str:
    letters = _LETTERS.get(scalar, scalar)
    if kind == "quaternion":
        return f"quat{letters}"
    if kind == "transform":
        return f"transform{letters}"
    return f"{kind[:3]}{''.join(map(str, shape))}{letters}"


def vector(length: Any, dtype: Any) -> Any:
    """Make a type of vectors."""
    return _any("vector", (length,), dtype) or composite("vector", (length,), dtype)


def matrix(shape: Any, dtype: Any) -> Any:
    """Make a type of matrices."""
    return _any("matrix", tuple(shape), dtype) or composite("matrix", shape, dtype)


def quaternion(dtype: Any) -> Any:
    """Make a type of quaternions: x, y, z, w."""
    return _any("quaternion", (), dtype) or composite("quaternion", (4,), dtype)


def transformation(dtype: Any) -> Any:
    """Make a type of transforms: a translation and a rotation."""
    return _any("transformation", (), dtype) or composite("transform", (7,), dtype)


class Family:
    """A type with `Any` in it, which only annotations use; the compiler reads their text."""

    def __init__(self, kind: str, of: tuple[Any, ...]) -> None:
        self.kind, self.of = kind, of

    def __repr__(self) -> str:
        return f"wp.types.{self.kind}(..)"


def _any(kind: str, shape: tuple[Any, ...], dtype: Any) -> Family | None:
    is_known = all(isinstance(extent, (int, np.integer)) for extent in shape) and scalar_type(dtype) is not None
    return None if is_known else Family(kind, (*shape, dtype))


def named_types() -> dict[str, type[Composite]]:
    """Return all types that have a name in `wp`: `vec3`, `mat22d`, `spatial_vector` and so on."""
    named: dict[str, type[Composite]] = {}
    for scalar, letters in [*_LETTERS.items(), ("float32", "")]:
        for count in (2, 3, 4):
            named[f"vec{count}{letters}"] = composite("vector", (count,), BY_NAME[scalar])
            if scalar.startswith("float"):
                named[f"mat{count}{count}{letters}"] = composite("matrix", (count, count), BY_NAME[scalar])
        if scalar.startswith("float"):
            named[f"spatial_vector{letters}"] = composite("vector", (6,), BY_NAME[scalar])
            named[f"spatial_matrix{letters}"] = composite("matrix", (6, 6), BY_NAME[scalar])
            named[f"quat{letters}"] = composite("quaternion", (4,), BY_NAME[scalar])
            named[f"transform{letters}"] = composite("transform", (7,), BY_NAME[scalar])
    return named
