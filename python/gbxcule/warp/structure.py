"""Structs: classes whose annotations are fields, and their instances."""

import copy
import inspect
from typing import Any

import numpy as np

from gbxcule.kernel_text import Piece
from gbxcule.warp.composite import Composite
from gbxcule.warp.device import get_device
from gbxcule.warp.scalar import Scalar, scalar_type


class Struct(Piece[..., Any]):
    """A type that `@wp.struct` makes from a class; a call makes an instance."""

    def __init__(self, python: type) -> None:
        super().__init__(python, "struct")
        self.key = python.__name__
        self.cls = python
        self._fields: dict[str, Any] | None = None

    @property
    def vars(self) -> dict[str, Any]:
        """Types of the fields by name."""
        if self._fields is None:
            self._fields = inspect.get_annotations(self.cls, eval_str=True)
        return self._fields

    def __call__(self, *arguments: Any, **values: Any) -> "StructInstance":
        """Make an instance from fields in order or by name, as calls in kernels do."""
        if len(arguments) > len(self.vars):
            raise TypeError(f"a `{self.key}` has {len(self.vars)} fields, found {len(arguments)} values")
        made = StructInstance(self)
        for name, value in [*zip(self.vars, arguments, strict=False), *values.items()]:
            setattr(made, name, value)
        return made

    def instance(self, record: Any) -> "StructInstance":
        """Make an instance from a record of NumPy."""
        return self(**{name: record[name] for name in self.vars})

    def numpy_dtype(self) -> np.dtype[Any]:
        """Return NumPy's type of records that are laid out like the struct."""
        fields: list[tuple[Any, ...]] = []
        for name, of in self.vars.items():
            if isinstance(of, Struct):
                fields.append((name, of.numpy_dtype()))
            elif isinstance(of, type) and issubclass(of, Composite):
                fields.append((name, of._wp_scalar_type_.numpy, of._shape_))
            elif (scalar := scalar_type(of)) is not None:
                fields.append((name, scalar.numpy))
            else:
                # Room for an array's pointer, which no kernel reads in a record.
                fields.append((name, "V8"))
        return np.dtype(fields, align=True)


class StructInstance:
    """A value of a struct."""

    def __init__(self, struct: Struct) -> None:
        object.__setattr__(self, "_struct", struct)
        for name, of in struct.vars.items():
            object.__setattr__(self, name, _zero(of))

    _struct: Struct

    def __getattr__(self, name: str) -> Any:
        if "_struct" not in self.__dict__:
            # `copy` looks for methods on an instance that isn't initialized yet.
            raise AttributeError(name)
        raise AttributeError(f"a `{self._struct.key}` has no field `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field. Vectors, their like and structs are copied into the field's own object."""
        if name not in self._struct.vars:
            raise AttributeError(f"a `{self._struct.key}` has no field `{name}`")
        of = self._struct.vars[name]
        if isinstance(of, Struct):
            getattr(self, name).assign(of.instance(value) if isinstance(value, np.void) else value)
        elif isinstance(of, type) and issubclass(of, Composite):
            getattr(self, name)._numbers[...] = of(0 if value is None else value)._numbers
        elif (scalar := scalar_type(of)) is not None:
            number = scalar(0).value if value is None else value
            object.__setattr__(self, name, number.item() if isinstance(number, np.generic) else number)
        else:
            self._check_array(name, of, value)
            # A record has only room for an array, but no array.
            object.__setattr__(self, name, None if isinstance(value, np.void) else value)

    def _check_array(self, name: str, of: Any, value: Any) -> None:
        dtype, wanted = getattr(value, "dtype", None), getattr(of, "dtype", None)
        if dtype is None or isinstance(dtype, np.dtype) or wanted is None:
            return
        is_known = isinstance(wanted, Struct) or (isinstance(wanted, type) and issubclass(wanted, (Scalar, Composite)))
        if is_known and getattr(dtype, "key", dtype) != getattr(wanted, "key", wanted):
            raise TypeError(f"the elements of `{self._struct.key}.{name}` are `{_named(wanted)}`, found `{_named(dtype)}`")
        if isinstance(of.ndim, int) and value.ndim != of.ndim:
            raise TypeError(f"`{self._struct.key}.{name}` has {of.ndim} dimensions, found {value.ndim}")

    def __copy__(self) -> "StructInstance":
        made = self._struct()
        made.assign(self)
        return made

    def __deepcopy__(self, memo: Any) -> "StructInstance":
        made = self._struct()
        for name in self._struct.vars:
            setattr(made, name, copy.deepcopy(getattr(self, name), memo))
        return made

    def __repr__(self) -> str:
        fields = "".join(f"\n\t{name}={getattr(self, name)!s}," for name in self._struct.vars)
        return f"{self._struct.key}({fields}\n)"

    def assign(self, value: "StructInstance") -> None:
        """Copy all fields from another instance."""
        if not isinstance(value, StructInstance) or value._struct.key != self._struct.key:
            raise RuntimeError(f"a `{self._struct.key}` takes the fields of another such struct, found `{value!r}`")
        for name in self._struct.vars:
            setattr(self, name, getattr(value, name))

    def to(self, device: Any) -> "StructInstance":
        """Return a copy; its arrays stay, because there is only one device."""
        get_device(device)
        return self.__copy__()

    def numpy_dtype(self) -> np.dtype[Any]:
        """Return NumPy's type of records that are laid out like the struct."""
        return self._struct.numpy_dtype()

    def numpy_value(self) -> tuple[Any, ...]:
        """Return the fields as a tuple of Python's numbers, lists and tuples."""
        return tuple(_listed(getattr(self, name)) for name in self._struct.vars)

    def record(self) -> tuple[Any, ...]:
        """Return the fields as a tuple that NumPy can store as a record."""
        fields = []
        for name, of in self._struct.vars.items():
            value = getattr(self, name)
            if value is None:
                value = b""
            elif not isinstance(of, Struct) and not isinstance(value, Composite) and scalar_type(of) is None:
                raise NotImplementedError(
                    f"gbxcule.warp has no arrays of structs that hold arrays: `{self._struct.key}.{name}`"
                )
            fields.append(_recorded(value))
        return tuple(fields)

    def __argument_type__(self, dims: int | None, name: Any) -> str:
        """Spell the type for a generic parameter; `name` returns the struct's name in the kernel's text."""
        if dims is not None:
            raise TypeError(f"an array of {dims} dimensions is needed, found a `{self._struct.key}`")
        return str(name(self._struct))

    def argument(self, part: Any) -> dict[str, Any]:
        """Return the fields by name, each converted by `part`."""
        return {name: part(getattr(self, name)) for name in self._struct.vars}


def _zero(of: Any) -> Any:
    if isinstance(of, Struct):
        return of()
    if isinstance(of, type) and issubclass(of, Composite):
        # A transform in a struct begins with all zeros, as in Warp, so even its quaternion is zero.
        return of(0)
    scalar = scalar_type(of)
    return None if scalar is None else scalar(0).value


def _named(dtype: Any) -> str:
    return str(getattr(dtype, "key", None) or dtype.__name__)


def _listed(value: Any) -> Any:
    if isinstance(value, StructInstance):
        return value.numpy_value()
    if isinstance(value, Composite):
        return value._numbers.tolist()
    return value.value if isinstance(value, Scalar) else value


def _recorded(value: Any) -> Any:
    if isinstance(value, StructInstance):
        return value.record()
    if isinstance(value, Composite):
        return value._numbers
    return value.value if isinstance(value, Scalar) else value
