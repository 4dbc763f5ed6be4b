"""Kernels and functions of the dialect, and launches of them."""

import inspect
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import kernel as direct
from gbxcule._native import CompiledKernel
from gbxcule.kernel_text import Piece, surroundings
from gbxcule.warp import array_access, capture, config, in_place, overwritten, recording, tape
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import Composite
from gbxcule.warp.device import get_device
from gbxcule.warp.geometry import table
from gbxcule.warp.indexed_array import indexedarray
from gbxcule.warp.overload import chosen
from gbxcule.warp.overwritten import Reader
from gbxcule.warp.retained_gradient import arrays_in, retained_by
from gbxcule.warp.scalar import Scalar, scalar_type
from gbxcule.warp.structure import Struct, StructInstance


class Function(Piece[..., Any]):
    """A function that kernels can call; Python can call it as a Python function."""

    def __init__(self, python: Callable[..., Any]) -> None:
        super().__init__(python, "func")
        self.func = python
        self.key = python.__name__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        one = chosen([*self.overloads, self], arguments, options) if self.overloads else self
        return one.python(*arguments, **options)


class Module:
    """The module around kernels, which programs name in options; kernels are compiled one by one."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def options(self) -> dict[str, Any]:
        """The options that were set for this module."""
        return _module_options.setdefault(self.name, dict(_OPTIONS))

    def load(self, *_arguments: Any, **_options: Any) -> bool:
        """Do nothing: a kernel is compiled when it is first launched."""
        return True


class Kernel:
    """A kernel, for `wp.launch`."""

    def __init__(
        self,
        func: Callable[..., Any],
        key: str | None = None,
        module: Any = None,
        options: Mapping[str, Any] | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> None:
        self.func = func
        self.key = self.__name__ = key or func.__name__
        self.module = module or Module(func.__module__)
        self.options = dict(options or {})
        self.parameters = list(inspect.signature(func).parameters)
        self._types = types
        self._direct = direct.kernel(func)

    def __call__(self, *_arguments: Any) -> Any:
        raise TypeError(f"`{self.key}` is a kernel: `wp.launch` runs it")

    def compiled_for(self, values: Sequence[Any]) -> CompiledKernel:
        """Compile for the types of these arguments, unless that was done before."""
        return self._direct.compiled_for(values, self._spelled_types if self._types is not None else None)

    def loaded_and_stored(self) -> tuple[set[str], set[str]]:
        """Return the names of arrays that the kernel reads, and of those that it only writes."""
        return array_access.loaded_and_stored(self.func)

    def overload(self, types: Any) -> "Kernel":
        """Return the kernel for these types, given by name or in order."""
        named = types if isinstance(types, Mapping) else dict(zip(self.parameters, types, strict=True))
        return Kernel(self.func, self.key, self.module, self.options, named)

    def _spelled_types(self, name_of: Callable[[Any], str]) -> str:
        spelled = {name: _spelled_type(of, name_of) for name, of in (self._types or {}).items()}
        return f"{{{''.join(f'{name!r}: {of}, ' for name, of in spelled.items() if of is not None)}}}"


def _spelled_type(of: Any, name_of: Callable[[Any], str]) -> str | None:
    if isinstance(of, Struct):
        return name_of(of)
    if isinstance(of, array):
        return of.__spelled__(name_of)
    spell = getattr(of, "__type_spelled__", None) or getattr(of, "__spelled__", None)
    if spell is not None and not inspect.isfunction(spell):
        return str(spell() if isinstance(of, type) else spell(name_of))
    scalar = scalar_type(of)
    return None if scalar is None else f"wp.{scalar.__name__}"


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a kernel from a Python function's text."""

    def made(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, options=options)

    return made if function is None else made(function)


def func(function: Callable[..., Any] | None = None, **_options: Any) -> Any:
    """Make a function that kernels can call. Functions with the same name and different parameters are overloads."""
    before = sys._getframe(1).f_locals

    def made(function: Callable[..., Any]) -> Function:
        piece = Function(function)
        piece.overloads = direct.overloads_of(function, before.get(function.__name__))
        return piece

    return made if function is None else made(function)


def func_native(
    snippet: str, adj_snippet: str | None = None, replay_snippet: str | None = None
) -> Callable[[Any], Piece[..., Any]]:
    """Make a function whose body is C++ text, of which the dialect reads a part."""
    more = {"adj_snippet": adj_snippet, "replay_snippet": replay_snippet}
    given = "".join(f", {name}={text!r}" for name, text in more.items() if text is not None)
    return lambda function: Piece(function, f"func_native({snippet!r}{given})")


def get_module(name: str) -> Module:
    """Return the module of this name."""
    return Module(name)


def load_module(*_arguments: Any, **_options: Any) -> None:
    """Do nothing: a kernel is compiled when it is first launched."""


def force_load(*_arguments: Any, **_options: Any) -> None:
    """Do nothing: a kernel is compiled when it is first launched."""


def clear_kernel_cache() -> None:
    """Do nothing: code on disk is found by the kernel's text, so it can't be out of date."""


def get_suggested_block_size(kernel: Kernel, device: Any = None) -> tuple[int, int]:
    """Return the threads of a block and the blocks that keep a device busy: on the CPU one and one."""
    get_device(device)
    return 1, 1


_module_options: dict[str, dict[str, Any]] = {}
# Warp's defaults.
_OPTIONS: dict[str, Any] = {
    "max_unroll": config.max_unroll, "enable_backward": config.enable_backward, "fast_math": False, "fuse_fp": True,
    "lineinfo": config.lineinfo, "mode": None, "optimization_level": None, "block_dim": 256,
    "deterministic": config.deterministic, "deterministic_max_records": config.deterministic_max_records,
}  # fmt: skip


def set_module_options(options: dict[str, Any], module: Any = None) -> None:
    """Store options of a module. No option changes a result."""
    get_module_options(module or inspect.getmodule(sys._getframe(1))).update(options)


def get_module_options(module: Any = None) -> dict[str, Any]:
    """Return the options of a module, given by its name or itself."""
    module = module or inspect.getmodule(sys._getframe(1))
    name = module if isinstance(module, str) else getattr(module, "name", None) or module.__name__
    return Module(name).options


def _gradient_function(decorator: str) -> Callable[[Function], Callable[[Any], Any]]:
    def of(forward_fn: Function) -> Callable[[Any], Any]:
        def made(function: Any) -> Any:
            forward_fn.gradient_functions.append(Piece(function, decorator))
            return function

        return made

    return of


func_grad = _gradient_function("func_grad")
"""The decorated function is the reverse of `forward_fn`, in place of the derived one."""
func_replay = _gradient_function("func_replay")
"""The decorated function replaces `forward_fn` when the reverse computes it again."""


def struct(cls: type | None = None, **_options: Any) -> Any:
    """Make a struct that kernels can use; a call makes an instance."""
    return Struct if cls is None else Struct(cls)


def overload(kernel: Any, arg_types: Any = None) -> Kernel:
    """Return a generic kernel for some types, given by name or in order.

    As a decorator it returns the generic kernel itself, because launches find the types from their arguments.
    """
    if isinstance(kernel, Kernel):
        return kernel.overload(arg_types) if arg_types else kernel
    generic = {**surroundings(kernel), **sys._getframe(1).f_locals}.get(kernel.__name__)
    if not isinstance(generic, Kernel):
        raise TypeError(f"`{kernel.__name__}` overloads a kernel of that name, which doesn't exist")
    return generic


def static(value: Any) -> Any:
    """Return the value; in a kernel, Python computes the argument when the kernel is compiled."""
    return value


def constant(x: Any) -> Any:
    """Return the value, which kernels use as a constant."""
    return x


def _tables(compiled: CompiledKernel, count: int) -> tuple[Any, ...]:
    """Return the tables of geometry that a kernel takes after its own arguments."""
    names = _table_names(compiled, count)
    return tuple([_mapped(row, _argument) for row in table(name)] for name in names) if names else ()


@lru_cache(maxsize=1024)
def _table_names(compiled: CompiledKernel, count: int) -> tuple[str, ...]:
    return tuple(name for name, _, _ in compiled.parameters[count:])


def _mapped(row: Any, part: Callable[[Any], Any]) -> Any:
    return row and {name: part(value) for name, value in row.items()}


_PYTHON_NUMBERS = frozenset({int, float, bool})


def _argument(value: Any) -> Any:
    """Convert an argument to a value that the extension takes."""
    if isinstance(value, array):
        return value.lent()
    if value.__class__ in _PYTHON_NUMBERS:
        return value
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Composite):
        # The buffer of halves has bits, so pass the numbers.
        return value._numbers.copy() if capture.is_capturing() else value._numbers
    if isinstance(value, (StructInstance, indexedarray)):
        return value.argument(_argument)
    # Enumerations of extension modules are no `int`s, but have an integer value.
    is_number = hasattr(type(value), "__index__") and hasattr(type(value), "__members__")
    return operator.index(value) if is_number else value


@lru_cache(maxsize=1024)
def _is_read_by_reverse(compiled: CompiledKernel, name: str) -> bool:
    try:
        return name in compiled.read_by_reverse
    except direct.CompileError:
        # The kernel has no reverse, which then reads nothing; `backward` will raise this error.
        return False


def _gradient(value: Any) -> Any:
    """Return the gradients of an argument, if it has any."""
    if isinstance(value, array):
        return value.grad.numpy() if value.grad is not None and value.has_memory else None
    return value.argument(_gradient) if isinstance(value, (StructInstance, indexedarray)) else None


def _lent_gradient(value: Any) -> Any:
    """Return the gradients of an argument in the form that the extension takes."""
    if isinstance(value, array):
        return value.grad.lent() if value.grad is not None and value.has_memory else None
    return value.argument(_lent_gradient) if isinstance(value, (StructInstance, indexedarray)) else None


def _grid(kernel: "Kernel", dim: int | Sequence[int]) -> list[int]:
    if isinstance(dim, int) and dim >= 0:
        return [int(dim)]
    try:
        extents = [operator.index(extent) for extent in (dim if isinstance(dim, (Sequence, np.ndarray)) else [dim])]
    except TypeError:
        raise TypeError(f"`dim` of kernel `{kernel.key}` is one whole number or up to four, found {dim!r}") from None
    if any(extent < 0 for extent in extents):
        raise ValueError(f"`dim` of kernel `{kernel.key}` is not negative, found {dim!r}")
    return extents


class Launch:
    """A recorded launch, which can be run again with other arguments.

    With gradients it launches the reverse. Gradients of the first `input_count` arguments come from `adj_inputs`, the
    others from `adj_outputs`.
    """

    def __init__(
        self,
        kernel: Kernel,
        dim: int | Sequence[int],
        values: Sequence[Any],
        gradients: Sequence[Any] | None = None,
        input_count: int = 0,
    ) -> None:
        self.kernel, self.dim, self.values = kernel, dim, list(values)
        self.gradients = None if gradients is None else list(gradients)
        self.input_count = input_count
        self._copies: in_place.Copies | None = None

    @property
    def adjoint(self) -> bool:
        """Tell whether this is a launch of the reverse."""
        return self.gradients is not None

    def set_dim(self, dim: int | Sequence[int]) -> None:
        """Set the extents."""
        self.dim = dim

    def set_param_at_index(self, index: int, value: Any, adjoint: bool = False) -> None:
        """Set an argument by its position, or with `adjoint` its gradient."""
        if adjoint and self.gradients is None:
            raise ValueError("this launch has no gradients: record one with `adjoint=True`")
        (self.values if self.gradients is None or not adjoint else self.gradients)[index] = value

    def set_param_by_name(self, name: str, value: Any, adjoint: bool = False) -> None:
        """Set an argument by its name, or with `adjoint` its gradient."""
        self.set_param_at_index(self.kernel.parameters.index(name), value, adjoint)

    def set_params(self, values: Sequence[Any]) -> None:
        """Set all arguments."""
        self.values = list(values)

    def launch(self, stream: Any = None) -> None:
        """Run the kernel or its reverse, or let a capture record it with these arguments."""
        if self.gradients is not None:
            values = _beside_gradients(self.kernel, self.values, self.gradients, self.input_count)
            Launch(self.kernel, self.dim, values).reverse()
            return
        self._run(self.bound(), self._memories() if overwritten.is_watched() else ())

    def _run(
        self, bound: tuple[CompiledKernel, tuple[Any, ...]], memories: Sequence[tuple[str, npt.NDArray[Any]]]
    ) -> None:
        """Run the kernel, or let a capture record it. `memories` lists its arrays, if a tape waits for `backward`."""
        compiled, arguments = bound
        grid = _grid(self.kernel, self.dim)
        if memories:
            written = in_place.written(compiled)
            overwritten.before(*[memory for name, memory in memories if name in written])
        named = dict(zip(self.kernel.parameters, self.values, strict=True)) if recording.is_on() else None

        def run() -> None:
            if named is not None:
                recording.of_launch(self.kernel.func, grid, named, list(_table_names(compiled, len(arguments))))
            # The tables are read when the kernel runs, not when it is recorded.
            compiled.launch(grid, arguments + _tables(compiled, len(arguments)), "cpu")

        capture.run(run)

    def record(self) -> None:
        """Run the kernel, and let the open tape reverse it."""
        bound, memories = self.bound(), self._memories()
        has_gradients = any([each.grad is not None for value in self.values for each in arrays_in(value)])
        if has_gradients:
            # The launch overwrites numbers that its reverse may need.
            self._copies = in_place.copies_for(bound[0], _grid(self.kernel, self.dim), memories)
        self._run(bound, memories)
        compiled = self._copies.compiled if self._copies else bound[0]
        readers = [
            Reader(memory, partial(_is_read_by_reverse, compiled, name), (id(compiled), name))
            for name, memory in (memories if has_gradients else ())
        ]
        tape.record(self.reverse, self.values, readers)

    def _memories(self) -> list[tuple[str, npt.NDArray[Any]]]:
        named = zip(self.kernel.parameters, self.values, strict=True)
        return [(name, each.numpy()) for name, value in named for each in arrays_in(value) if each.has_memory]

    def bound(self) -> tuple[CompiledKernel, tuple[Any, ...]]:
        """Return the compiled kernel, and the arguments in the form that it takes."""
        return self.kernel.compiled_for(self.values), tuple([_argument(each) for each in self.values])

    def reverse(self) -> None:
        """Run the kernel's reverse on the arguments' gradients, or let a capture record it."""
        compiled, arguments = self.bound()
        grid = _grid(self.kernel, self.dim)
        named = dict(zip(self.kernel.parameters, self.values, strict=True))
        gradient = _gradient if self._copies else _lent_gradient
        gradients = {name: found for name, value in named.items() if (found := gradient(value)) is not None}
        tables = _table_names(compiled, len(arguments))
        retained = retained_by(self.kernel, compiled, named)

        def run() -> None:
            before = [each.copy() for each in retained]
            of_tables = {name: [_mapped(row, _gradient) for row in table(name)] for name in tables}
            given, beside = arguments + _tables(compiled, len(arguments)), {**gradients, **of_tables}
            if self._copies is None:
                compiled.backward(grid, given, beside, "cpu")
            else:
                self._copies.reverse(grid, dict(zip([*named, *tables], given, strict=True)), beside)
            for each, kept in zip(retained, before, strict=True):
                each.keep(kept)

        capture.run(run)


def launch(
    kernel: Kernel,
    dim: int | Sequence[int],
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    adj_inputs: Sequence[Any] = (),
    adj_outputs: Sequence[Any] = (),
    device: Any = None,
    stream: Any = None,
    adjoint: bool = False,
    record_tape: bool = True,
    record_cmd: bool = False,
    max_blocks: int = 0,
    block_dim: int | None = None,
) -> Launch | None:
    """Run a kernel once for each point of `dim`, or with `adjoint` its reverse, on the given gradients."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"`wp.launch` takes a function decorated with `@wp.kernel`, found {kernel!r}")
    get_device(device)
    values = [*inputs, *outputs]
    if len(values) != len(kernel.parameters):
        names = ", ".join(kernel.parameters)
        raise TypeError(
            f"kernel `{kernel.key}` takes {len(kernel.parameters)} arguments ({names}), found {len(values)}"
        )
    gradients = _given_gradients(kernel, values, [*adj_inputs, *adj_outputs]) if adjoint else None
    one = Launch(kernel, dim, values, gradients, len(adj_inputs))
    if record_cmd:
        return one
    if record_tape and not adjoint and tape.is_recording():
        one.record()
    else:
        one.launch()
    return None


def _given_gradients(kernel: Kernel, values: Sequence[Any], gradients: list[Any]) -> list[Any]:
    """Check gradients that a launch of a reverse gets, one for each argument."""
    help = "give one for each argument in `adj_inputs` and `adj_outputs`: an array such as `x.grad`, or `None`"
    if len(gradients) != len(values):
        names = ", ".join(kernel.parameters)
        raise ValueError(
            f"`adjoint=True` needs {len(values)} gradients for kernel `{kernel.key}` ({names}), "
            f"found {len(gradients)}; {help}"
        )
    for name, value, gradient in zip(kernel.parameters, values, gradients, strict=True):
        if isinstance(value, array) and gradient is not None and not isinstance(gradient, array):
            raise TypeError(f"the gradient of `{name}` is an array or `None`, found {gradient!r}; {help}")
    return gradients


def launch_tiled(kernel: Kernel, dim: int | Sequence[int], *arguments: Any, block_dim: int, **named: Any) -> Launch | None:
    """Run a kernel once for each tile; a block has one thread, as on Warp's CPU."""
    if block_dim < 1:
        raise ValueError(f"a block has at least one thread, found {block_dim}")
    return launch(kernel, dim, *arguments, **named)


def _beside_gradients(
    kernel: Kernel, values: Sequence[Any], gradients: Sequence[Any], input_count: int
) -> list[Any]:
    """Return arguments with their gradients, or with copies of gradients that must not change for the caller.

    The reverse sets the gradients of arrays that the kernel wrote to 0. Warp leaves given gradients unchanged, which
    is right for arrays that the kernel doesn't read.
    """
    loaded, stored = kernel.loaded_and_stored()
    made = []
    for at, (name, value, gradient) in enumerate(zip(kernel.parameters, values, gradients, strict=True)):
        is_kept = name not in loaded if at >= input_count else name in stored
        made.append(_with_gradient(value, _copied(gradient) if is_kept else gradient))
    return made


def _copied(gradient: Any) -> Any:
    """Make a copy of a gradient with the same strides, filled when the reverse runs."""
    if not isinstance(gradient, array):
        return gradient
    source = gradient.numpy()
    memory = source.copy(order="K")
    capture.run(lambda: np.copyto(memory, source))
    return array(memory, dtype=gradient.dtype, copy=False)


def _with_gradient(value: Any, gradient: Any) -> Any:
    if not isinstance(value, array) or not isinstance(gradient, array):
        return value
    beside = array(value, copy=False)
    beside.grad = gradient
    return beside
