"""Builtins of the dialect, called from Python.

A call compiles a kernel with this one call, once for the types of its arguments, and launches it. So a builtin gives
the same result in Python as in kernels.
"""

import functools
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule.warp.scalar import BY_NAME, Scalar, bool_, float32, int32

_Compiled = tuple[_native.CompiledKernel, list[tuple[str, list[int], str]]]
_compiled: dict[tuple[str, tuple[str, ...]], _Compiled] = {}


def call(name: str, *arguments: Any, **named: Any) -> Any:
    """Call the builtin of this name."""
    names = [f"x{at}" for at in range(len(arguments) + len(named))]
    given = [*names[: len(arguments)], *map("{}={}".format, named, names[len(arguments) :])]
    return _evaluate(f"wp.{name}({', '.join(given)})", name, (*arguments, *named.values()))


def operate(operator: str, left: Any, right: Any) -> Any:
    """Apply an operator to two values."""
    return _evaluate(f"x0 {operator} x1", operator, (left, right))


class Builtin:
    """A builtin. Kernels use it; Python can call it if it takes only values."""

    def __init__(self, name: str, in_kernels_only: bool = False) -> None:
        self.__name__ = self.__qualname__ = self.key = name
        self._in_kernels_only = in_kernels_only

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._in_kernels_only:
            raise TypeError(f"`wp.{self.__name__}` is for kernels; Python can't call it")
        return call(self.__name__, *arguments, **named)

    def __spelled__(self, _name: Any) -> str:
        return f"wp.{self.__name__}"

    def __repr__(self) -> str:
        return f"<builtin wp.{self.__name__}>"


class Setter(Builtin):
    """A builtin that sets a part of its first argument, which must be changed in Python."""

    def __init__(self, name: str, part: str) -> None:
        super().__init__(name)
        self._part = part

    def __call__(self, whole: Any, value: Any) -> None:
        setattr(whole, self._part, value)


_SETTERS = {"transform_set_translation": "p", "transform_set_rotation": "q"}


@functools.cache
def named(name: str, in_kernels_only: bool = False) -> Builtin:
    """Return the builtin of this name."""
    return Setter(name, _SETTERS[name]) if name in _SETTERS else Builtin(name, in_kernels_only)


def _evaluate(expression: str, name: str, arguments: tuple[Any, ...]) -> Any:
    types = tuple(type_of(each, name) for each in arguments)
    key = (expression, types)
    if key not in _compiled:
        _compiled[key] = _compile(expression, types)
    kernel, results = _compiled[key]
    outs = [np.zeros((1, *shape), BY_NAME[scalar].numpy) for _, shape, scalar in results]
    # The buffer of a vector of halves has bits, so its numbers are passed instead.
    values = [each.value if isinstance(each, Scalar) else getattr(each, "_numbers", each) for each in arguments]
    kernel.launch([1], (*values, *outs))
    made = [_value(kind, scalar, out[0]) for (kind, _, scalar), out in zip(results, outs, strict=True)]
    return tuple(made) if len(made) > 1 else made[0] if made else None


def _compile(expression: str, types: tuple[str, ...]) -> _Compiled:
    parameters = ", ".join(f"x{at}: {each}" for at, each in enumerate(types))
    names = ", ".join(f"x{at}" for at in range(len(types)))
    head = f"import warp as wp\n@wp.func\ndef value_of_call({parameters}):\n    return {expression}\n"
    results = _native.result_types(f"{head}@wp.kernel\ndef call({parameters}):\n    value_of_call({names})\n")
    spelled = [f"wp.array(dtype={spelled_result(*each)})" for each in results]
    outs = [f"out{at}" for at in range(len(results))]
    given = ", ".join([parameters, *(f"{out}: {each}" for out, each in zip(outs, spelled, strict=True))])
    values = ", ".join(f"value{at}" for at in range(len(outs)))
    body = f"{values} = value_of_call({names})" if outs else f"value_of_call({names})"
    body += "".join(f"\n    {out}[0] = value{at}" for at, out in enumerate(outs))
    text = f"{head}@wp.kernel\ndef call({given.removeprefix(', ')}):\n    {body}\n"
    return _native.compile_kernels(text, "<call>", ["call"])[0], results


def spelled_result(kind: str, shape: list[int], scalar: str) -> str:
    """Spell a type from its parts."""
    match kind:
        case "vector":
            return f"wp.types.vector(length={shape[0]}, dtype=wp.{scalar})"
        case "matrix":
            return f"wp.types.matrix(shape=({shape[0]}, {shape[1]}), dtype=wp.{scalar})"
        case "quaternion" | "transform":
            return f"wp.types.{kind.replace('transform', 'transformation')}(dtype=wp.{scalar})"
    return f"wp.{scalar}"


def type_of(value: Any, name: str) -> str:
    """Spell the type of an argument of the function `name`."""
    spelled = getattr(type(value), "__type_spelled__", None)
    if spelled is not None:
        return str(spelled())
    if isinstance(value, Scalar):
        return f"wp.{type(value).__name__}"
    if isinstance(value, np.generic) and value.dtype.name in BY_NAME:
        return f"wp.{value.dtype.name}"
    scalar = {bool: bool_, int: int32, float: float32}.get(type(value))
    if scalar is None:
        raise TypeError(f"`{name}` takes numbers, vectors and their like from Python, found `{type(value).__name__}`")
    return f"wp.{scalar.__name__}"


def _value(kind: str, scalar: str, numbers: Any) -> Any:
    from gbxcule.warp.composite import composite

    if scalar == "bfloat16":
        numbers = (np.asarray(numbers, np.uint32) << 16).view(np.float32)
    if kind != "scalar":
        return composite(kind, np.shape(numbers), BY_NAME[scalar])(*np.ravel(numbers).tolist())
    number = numbers.item()
    return number if scalar in ("bool", "int32", "float32") else BY_NAME[scalar](number)
