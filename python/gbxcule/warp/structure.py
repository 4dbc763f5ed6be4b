"""Structs: classes whose annotations are fields, and their instances."""

import copy
import inspect
from typing import Any

import numpy as np

from gbxcule.kernel_text import Piece
from gbxcule.warp.composite import Composite
from gbxcule.warp.scalar import Scalar, scalar_type


class Struct(Piece[..., Any]):
    """A type that `@wp.struct` makes of a class; a call makes an instance."""

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

    def __call__(self, *_arguments: Any, **values: Any) -> "StructInstance":
        made = StructInstance(self)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def instance(self, record: Any) -> "StructInstance":
        """Make an instance of a record of NumPy."""
        return self(**{name: record[name] for name in self.vars})

    def numpy_dtype(self) -> np.dtype[Any]:
        """Give NumPy's type of records that are laid out as the struct."""
        fields: list[tuple[Any, ...]] = []
        for name, of in self.vars.items():
            if isinstance(of, Struct):
                fields.append((name, of.numpy_dtype()))
            elif isinstance(of, type) and issubclass(of, Composite):
                fields.append((name, of._wp_scalar_type_.numpy, of._shape_))
            elif (scalar := scalar_type(of)) is not None:
                fields.append((name, scalar.numpy))
            else:
                # No kernel takes such arrays: what is there stays as it is, empty.
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
        raise AttributeError(f"a `{self._struct.key}` has no field `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._struct.vars:
            raise AttributeError(f"a `{self._struct.key}` has no field `{name}`")
        of = self._struct.vars[name]
        is_composite = isinstance(of, type) and issubclass(of, Composite)
        if is_composite and not isinstance(value, Composite):
            value = of(*np.ravel(np.asarray(value)).tolist())
        elif isinstance(of, Struct) and isinstance(value, np.void):
            value = of.instance(value)
        elif isinstance(value, np.generic):
            value = value.item()
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        fields = "".join(f"\n\t{name}={getattr(self, name)!s}," for name in self._struct.vars)
        return f"{self._struct.key}({fields}\n)"

    def assign(self, value: "StructInstance") -> None:
        """Take all fields from another instance."""
        for name in self._struct.vars:
            of = getattr(value, name)
            setattr(self, name, copy.copy(of) if isinstance(of, (Composite, StructInstance)) else of)

    def record(self) -> tuple[Any, ...]:
        """Give the fields as NumPy's records take them."""
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
        """Spell the type for a generic parameter; `name` gives the struct's name in the kernel's text."""
        if dims is not None:
            raise TypeError(f"an array of {dims} dimensions is needed, found a `{self._struct.key}`")
        return str(name(self._struct))

    def argument(self, part: Any) -> dict[str, Any]:
        """Give the fields by name, each as `part` makes an argument of it."""
        return {name: part(getattr(self, name)) for name in self._struct.vars}


def _zero(of: Any) -> Any:
    if isinstance(of, Struct):
        return of()
    if isinstance(of, type) and issubclass(of, Composite):
        return of()
    scalar = scalar_type(of)
    return None if scalar is None else scalar(0).value


def _recorded(value: Any) -> Any:
    if isinstance(value, StructInstance):
        return value.record()
    if isinstance(value, Composite):
        return value._numbers
    return value.value if isinstance(value, Scalar) else value
