"""Kernels in NVIDIA Warp's Python dialect, on NumPy arrays and any arrays that support DLPack.

NVIDIA Warp is not needed:

    from gbxcule.kernel import kernel, wp

    @kernel
    def saxpy(a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
        i = wp.tid()
        y[i] = a * x[i] + y[i]

    saxpy.launch(len(x), 2.0, x, y)
    saxpy.backward(len(x), 2.0, x, y, grads={"x": x_grad, "y": y_grad})

The function's text is compiled; Python never runs it. With it are compiled the Python values that it uses: `@func`,
`@struct`, numbers, types, tuples, enumerations, attributes of modules and objects. Python evaluates the argument of
`wp.static(..)` when the function is declared. `from_text` and `from_file` compile whole texts. Arrays are used in
place. A launch runs on the device of its arrays. On the CPU it has ended when `launch` returns. On a CUDA device it
may still run then; its errors are raised by calls that wait, an array's `numpy()` and `synchronize`.
"""

import inspect
import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule._native import CompileError, DeviceArray, LaunchError
from gbxcule.argument_check import check_device, path_of, shown
from gbxcule.kernel_text import Piece, Program, wp

__all__ = [
    "CompileError",
    "DeviceArray",
    "Kernel",
    "LaunchError",
    "array",
    "from_file",
    "from_text",
    "func",
    "kernel",
    "struct",
    "synchronize",
    "wp",
    "zeros",
]

P = ParamSpec("P")
R = TypeVar("R")


class _Text:
    """Text with a kernel in it: a given text, or the text of a decorated kernel."""

    def __init__(self, text: str | Program, file: str, name: str, beside: bool) -> None:
        self.name = name
        self._text, self._file, self._beside = text, file, beside
        kernels = dict(_native.find_kernels(self._written(), file, beside))
        if name not in kernels:
            raise TypeError(f"the text has no kernel `{name}`")
        self.generic = kernels[name]

    def name_of(self, struct: Piece[..., Any]) -> str:
        """Return the name that a struct, given for a generic parameter, has in the text."""
        return self._text.piece(struct) if isinstance(self._text, Program) else struct.__name__

    def compile(self, types: str) -> _native.CompiledKernel:
        given = {self.name: types} if types else {}
        parts = self._text.parts() if isinstance(self._text, Program) else []
        written = self._written()
        return _native.compile_kernels(written, self._file, [self.name], self._beside, types=given, parts=parts)[0]

    def _written(self) -> str:
        return self._text.text() if isinstance(self._text, Program) else self._text


class Kernel:
    """A kernel: `launch` runs it, `backward` its reverse. It is compiled when it is first used.

    A generic kernel, one with `Any` in its signature, is compiled for each combination of types that
    it is launched with.
    """

    def __init__(self, source: Callable[[], _Text], made: _native.CompiledKernel | None = None) -> None:
        self._source = source
        self._text: _Text | None = None
        self._made = {} if made is None else {"": made}

    def compiled_for(
        self, arguments: Sequence[Any] | None = None, types: Callable[[Callable[[Any], str]], str] | None = None
    ) -> _native.CompiledKernel:
        """Compile for the types of these arguments, or for given types of the generic parameters.

        `types` spells given types, with the structs' names in the text.
        """
        if "" in self._made:
            return self._made[""]
        if self._text is None:
            self._text = self._source()
        text = self._text
        if text.generic and arguments is None:
            raise TypeError(f"`{text.name}` is generic: only a launch gives the types for which it is compiled")
        spelled = types(text.name_of) if types else _types(text, arguments or ())
        if spelled not in self._made:
            self._made[spelled] = text.compile(spelled)
        return self._made[spelled]

    @property
    def compiled(self) -> _native.CompiledKernel:
        return self.compiled_for()

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._text.name if self._text else self.compiled.name

    @property
    def parameters(self) -> list[tuple[str, str, bool]]:
        """Names and types of the parameters, each with True if a launch may write to it."""
        return self.compiled.parameters

    def launch(
        self, dim: int | Sequence[int], *arguments: Any, device: str | None = None, stream: Any = None
    ) -> None:
        """Run the kernel once for each point of `dim`, one number or up to four.

        The launch runs on `device` (`cpu`, `cuda` or `cuda:N`), by default that of its arrays; all arrays must lie
        there. On the CPU it has ended when this returns. On a CUDA device this returns at once: the launch happens
        after the earlier work on its arrays, and before later work in `stream`. `stream` is the stream in which the
        caller uses arrays of other libraries: a handle, PyTorch's or CuPy's object, or None for the default stream.
        """
        self.compiled_for(arguments).launch(_grid(dim), arguments, _device(device), _handle(stream))

    def __call__(self, *_arguments: Any) -> None:
        """Refuse a call: a kernel has no result, and a launch needs the number of threads."""
        raise TypeError(f"kernel `{self.name}` is launched, not called: {self.name}.launch(threads, arguments...)")

    def backward(
        self,
        dim: int | Sequence[int],
        *arguments: Any,
        grads: Mapping[str, Any],
        device: str | None = None,
        stream: Any = None,
    ) -> None:
        """Run the kernel backward: compute the gradients of its inputs from those of its outputs.

        `grads` has a gradient array for each parameter that takes part, with the shape and strides of its argument.
        The arguments must be as the launch left them; `device` and `stream` are as for `launch`.
        """
        if not isinstance(grads, Mapping):
            raise TypeError(f"`grads` takes a dictionary of parameters' names and arrays, found {grads!r}")
        self.compiled_for(arguments).backward(_grid(dim), arguments, dict(grads), _device(device), _handle(stream))


def zeros(
    shape: int | Sequence[int], dtype: npt.DTypeLike = np.float32, device: str = "cpu"
) -> npt.NDArray[Any] | DeviceArray:
    """Make an array of zeros on a device; on the CPU, a NumPy array."""
    if device == "cpu":
        return np.zeros(shape, dtype)
    return _native.device_zeros(_grid(shape), np.dtype(dtype).name, check_device(device))


def array(
    values: Any, dtype: npt.DTypeLike | None = None, device: str = "cpu"
) -> npt.NDArray[Any] | DeviceArray:
    """Copy anything that NumPy takes to a device; on the CPU, to a NumPy array."""
    if device == "cpu":
        return np.array(values, dtype)
    host = np.asarray(values, dtype)
    made = _native.device_zeros(list(host.shape), host.dtype.name, check_device(device))
    made.assign(host)
    return made


def synchronize(device: str = "cuda") -> None:
    """Wait for all launches on a device. Raises `LaunchError` if one of them stopped."""
    _native.synchronize(check_device(device))


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel from a Python function's text."""
    piece: Piece[..., Any] = Piece(function, "kernel")

    def source() -> _Text:
        program = Program(piece)
        return _Text(program, program.file, piece.__name__, beside=True)

    return Kernel(source)


def func(function: Callable[P, R]) -> Piece[P, R]:
    """Make a function that kernels can call.

    Functions with the same name and different parameters are overloads.
    """
    piece: Piece[P, R] = Piece(function, "func")
    piece.overloads = overloads_of(function, sys._getframe(1).f_locals.get(function.__name__))
    return piece


def overloads_of(function: Callable[..., Any], before: Any) -> list[Piece[..., Any]]:
    """List the earlier overloads with other parameters; `before` is the earlier value of the function's name.
    """
    if not isinstance(before, Piece) or before.decorator != "func":
        return []
    taken = inspect.signature(function).parameters
    return [each for each in [*before.overloads, before] if inspect.signature(each.python).parameters != taken]


class StructValue:
    """A value of a struct, whose fields are its attributes."""

    def __init__(self, struct: Piece[..., Any], fields: Mapping[str, Any]) -> None:
        self._struct = struct
        vars(self).update(fields)

    def __argument_type__(self, dims: int | None, name_of: Callable[[Any], str]) -> str:
        """Spell the type for a generic parameter."""
        if dims is not None:
            raise TypeError(f"an array of {dims} dimensions is needed, found a `{self._struct.__name__}`")
        return name_of(self._struct)


class _Struct(Piece[..., Any]):
    def __call__(self, **fields: Any) -> StructValue:
        names = inspect.get_annotations(self.python)
        if fields.keys() != names.keys():
            raise TypeError(f"a `{self.__name__}` is made of {', '.join(names)}, found {', '.join(fields) or 'nothing'}")
        return StructValue(self, fields)


def struct(cls: type[Any]) -> Piece[..., Any]:
    """Make a struct that kernels can use.

    A launch takes a struct as a dictionary, or as an object with the fields as attributes. Calling the struct with
    all fields by name makes such an object, which generic kernels also take.
    """
    return _Struct(cls, "struct")


def from_text(text: str, file: str = "<text>") -> dict[str, Kernel]:
    """Compile all kernels of a text; return them by name. Messages call the text `file`."""
    for name, given in (("a text of kernels", text), ("the name of its file", file)):
        if not isinstance(given, str):
            raise TypeError(f"{name} is a string, found {shown(given)}; to compile a file call from_file")
    return _kernels(text, file, beside=False)


def from_file(path: str | os.PathLike[str]) -> dict[str, Kernel]:
    """Compile all kernels of a file, with the files beside it that it imports; return them by name."""
    file = path_of("a file of kernels", path)
    if not os.path.exists(file):
        raise FileNotFoundError(f"no file `{file}`; to compile a text call from_text")
    return _kernels(_native.read_program(file), file, beside=True)


def _kernels(text: str, file: str, beside: bool) -> dict[str, Kernel]:
    def kernel(name: str, made: _native.CompiledKernel | None = None) -> Kernel:
        return Kernel(lambda: _Text(text, file, name, beside), made)

    kernels = _native.find_kernels(text, file, beside)
    typed = [name for name, generic in kernels if not generic]
    compiled = _native.compile_kernels(text, file, typed, beside) if typed else []
    made = {each.name: kernel(each.name, each) for each in compiled}
    return {name: made.get(name) or kernel(name) for name, _ in kernels}


SCALARS = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""Names of the scalar types, which the dialect, NumPy and PyTorch share."""


def _types(text: _Text, arguments: Sequence[Any]) -> str:
    """Spell the types that a launch's arguments give to generic parameters."""
    types = []
    for position, name, dims in text.generic:
        if position >= len(arguments):
            raise TypeError(f"kernel `{text.name}` has no argument for `{name}`")
        types.append(f"{name!r}: {_type_of(arguments[position], dims, name, text.name_of)}")
    return f"{{{', '.join(types)}}}" if types else ""


def _type_of(value: Any, dims: int | None, name: str, name_of: Callable[[Any], str]) -> str:
    """Spell the type of an argument; `dims` is the number of dimensions if the parameter is an array."""
    if hasattr(type(value), "__argument_type__"):
        return str(value.__argument_type__(dims, name_of))
    if isinstance(value, (tuple, list)) and dims is None:
        values = np.asarray(value)
        return _element(values.shape, "int32" if values.dtype.kind == "i" else "float32", name)
    shape = getattr(value, "shape", ())
    python = {bool: "bool", int: "int32", float: "float32"}.get(type(value), type(value).__name__)
    scalar = str(getattr(value, "dtype", python)).removeprefix("torch.")
    if scalar not in SCALARS:
        raise TypeError(f"argument `{name}` of a generic kernel is a number or an array of numbers, found `{scalar}`")
    if dims is None and not shape:
        return f"wp.{scalar}"
    dims = len(shape) if dims is None else dims
    if not 1 <= dims <= len(shape):
        raise TypeError(f"argument `{name}` is an array with {dims} dimensions or more, found {len(shape)}")
    return f"wp.array(dtype={_element(shape[dims:], scalar, name)}, ndim={dims})"


def _element(shape: Sequence[int], scalar: str, name: str) -> str:
    """Spell the type of an array's elements: vectors and matrices are an array's last dimensions."""
    match [int(extent) for extent in shape]:
        case []:
            return f"wp.{scalar}"
        case [length]:
            return f"wp.types.vector(length={length}, dtype=wp.{scalar})"
        case [rows, columns]:
            return f"wp.types.matrix(shape=({rows}, {columns}), dtype=wp.{scalar})"
    raise TypeError(f"elements of argument `{name}` are numbers, vectors or matrices, found {tuple(shape)}")


def _device(device: Any) -> str | None:
    return None if device is None else check_device(device)


def _grid(dim: int | Sequence[int]) -> list[int]:
    try:
        if isinstance(dim, (bool, str)):
            raise TypeError
        extents = [operator.index(each) for each in (dim if isinstance(dim, (Sequence, np.ndarray)) else [dim])]
    except TypeError:
        raise TypeError(f"extents are one to four whole numbers, found {dim!r}") from None
    if any(extent < 0 for extent in extents):
        raise ValueError(f"extents are not negative, found {dim!r}")
    return extents


def _handle(stream: Any) -> int | None:
    for name in ("cuda_stream", "ptr"):  # PyTorch's, CuPy's
        stream = getattr(stream, name, stream)
    if stream is None:
        return None
    try:
        handle = -1 if isinstance(stream, bool) else operator.index(stream)
        if not 0 <= handle < 2**64:
            raise TypeError
        return handle
    except TypeError:
        raise TypeError(f"a stream is a handle, or PyTorch's or CuPy's object, found {stream!r}") from None
