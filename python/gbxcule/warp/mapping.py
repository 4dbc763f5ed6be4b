"""Functions over the elements of arrays: `wp.map`, and operators between arrays.

A call writes the text of a kernel that applies the function to each element, compiles it once, and launches it, so
that a tape can reverse it.
"""

import ast
import inspect
import textwrap
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule._native import CompiledKernel
from gbxcule.kernel_text import Piece, text_around
from gbxcule.warp import builtin
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import composite
from gbxcule.warp.element import spelled_element
from gbxcule.warp.indexed_array import indexedarray
from gbxcule.warp.program import Kernel, Module, launch
from gbxcule.warp.scalar import BY_NAME, float_base

# The extension looks for this name.
_FUNCTION = "value_of_call"
_KERNEL = "map_kernel"
# Kernels by their text, and types of results by the text before it.
_kernels: dict[str, "MapKernel"] = {}
_results: dict[str, list[tuple[str, list[int], str]]] = {}


class MapKernel(Kernel):
    """A kernel that was made as text."""

    def __init__(self, parameters: list[str], compiled: CompiledKernel) -> None:
        self.key = self.__name__ = _KERNEL
        self.module = Module(__name__)
        self.options = {}
        self.parameters = parameters
        self._compiled = compiled

    def compiled_for(self, _values: Sequence[Any]) -> CompiledKernel:
        return self._compiled

    def loaded_and_stored(self) -> tuple[set[str], set[str]]:
        stored = {name for name in self.parameters if name.startswith("out")}
        return set(self.parameters) - stored, stored


class _Generic(Piece[..., Any]):
    """A Python function or lambda as a function of the dialect, with parameters of type `Any`."""

    def __init__(self, python: FunctionType) -> None:
        super().__init__(python, "func")
        taken = ", ".join(f"{name}: Any" for name in inspect.signature(python).parameters)
        if python.__name__ == "<lambda>":
            self.__name__ = "lambda_function"
            self.source = [f"def lambda_function({taken}):", f"    return {ast.unparse(_lambda_of(python).body)}"]
            return
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(python))).body
        assert isinstance(definition, ast.FunctionDef)
        body = "\n".join(ast.unparse(each) for each in definition.body)
        self.source = [f"def {self.__name__}({taken}):", *textwrap.indent(body, "    ").splitlines()]


def _lambda_of(python: FunctionType) -> ast.Lambda:
    """Find a lambda's text: the lambda on its line that compiles to the same code."""
    code = python.__code__
    lines, _ = inspect.findsource(python)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            made = compile(ast.Expression(node), code.co_filename, "eval").co_consts[0]
            if (made.co_varnames, made.co_consts) == (code.co_varnames, code.co_consts) and _is_same(made, code):
                return node
    raise TypeError("the text of a lambda can't be read: write the function with `def`")


def _is_same(made: Any, code: Any) -> bool:
    # Compiled alone, a lambda reads the variables around it by other instructions: compare names.
    return set(made.co_names) == {*code.co_names, *code.co_freevars}


def map(
    func: Any,
    *inputs: Any,
    out: Any = None,
    return_kernel: bool = False,
    block_dim: int | None = None,
    device: Any = None,
) -> Any:
    """Apply a function to elements of arrays, at least one, and to values; shapes are broadcast as NumPy does.

    The result is an array, or a list of them if the function gives several values.
    """
    return _mapped(*_definition(func, len(inputs)), inputs, out, return_kernel)


def operate(expression: str, *inputs: Any, out: Any = None) -> Any:
    """Evaluate an expression in `x0`, `x1` for each element."""
    return _mapped("import warp as wp\n", expression, inputs, out, False)


def _definition(func: Any, count: int) -> tuple[str, str]:
    """Return the text that defines a function, and its call with arguments `x0`, `x1` and so on."""
    names = ", ".join(f"x{at}" for at in range(count))
    if isinstance(func, builtin.Builtin):
        return "import warp as wp\n", f"wp.{func.__name__}({names})"
    if isinstance(func, FunctionType):
        func = _Generic(func)
    if not isinstance(func, Piece):
        raise TypeError(f"`wp.map` takes a function, found {func!r}")
    taken = len(inspect.signature(func.python).parameters)
    if taken != count:
        raise TypeError(f"`{func.__name__}` takes {taken} arguments, found {count}")
    text, _ = text_around(func)
    return f"from typing import Any\n{text}", f"{func.__name__}({names})"


def _mapped(head: str, call: str, inputs: Sequence[Any], out: Any, return_kernel: bool) -> Any:
    arrays = [each for each in inputs if isinstance(each, (array, indexedarray))]
    if not arrays:
        raise ValueError("`wp.map` takes at least one array")
    shape = np.broadcast_shapes(*[each.shape for each in arrays])
    types = [_type_of(each) for each in inputs]
    parameters = ", ".join(f"x{at}: {of}" for at, of in enumerate(types))
    names = ", ".join(f"x{at}" for at in range(len(inputs)))
    head += f"@wp.func\ndef {_FUNCTION}({parameters}):\n    return {call}\n"
    if head not in _results:
        probe = f"@wp.kernel\ndef {_KERNEL}({parameters}):\n    {_FUNCTION}({names})\n"
        _results[head] = _native.result_types(head + probe)
    results = _results[head]
    if not results:
        raise TypeError("a function for `wp.map` gives a value")
    outs = _outs(results, shape, out, any(each.requires_grad for each in arrays))
    text = head + _kernel_text(inputs, types, results, outs, len(shape))
    if text not in _kernels:
        compiled = _native.compile_kernels(text, "<map>", [_KERNEL])[0]
        _kernels[text] = MapKernel([name for name, _, _ in compiled.parameters], compiled)
    if return_kernel:
        return _kernels[text]
    launch(_kernels[text], shape, inputs, outs)
    return outs[0] if len(outs) == 1 else outs


def _type_of(value: Any) -> str:
    if isinstance(value, (array, indexedarray)):
        return str(spelled_element(value.dtype, lambda piece: piece.__name__))
    return builtin.type_of(value, "map")


def _kernel_text(
    inputs: Sequence[Any],
    types: Sequence[str],
    results: Sequence[tuple[str, list[int], str]],
    outs: Sequence[Any],
    dims: int,
) -> str:
    """Write a kernel that applies the function to each element."""
    places = [f"t{dim}" for dim in range(dims)]
    parameters, arguments = [], []
    for at, (value, of) in enumerate(zip(inputs, types, strict=True)):
        if not isinstance(value, (array, indexedarray)):
            parameters.append(f"x{at}: {of}")
            arguments.append(f"x{at}")
            continue
        parameters.append(f"x{at}: {_array_type(value, of)}")
        own = places[dims - len(value.shape) :]
        indices = ["0" if extent == 1 else place for extent, place in zip(value.shape, own, strict=True)]
        arguments.append(f"x{at}[{', '.join(indices)}]")
    for at, (result, value) in enumerate(zip(results, outs, strict=True)):
        parameters.append(f"out{at}: {_array_type(value, builtin.spelled_result(*result))}")
    values = ", ".join(f"value{at}" for at in range(len(outs)))
    stores = "".join(f"    out{at}[{', '.join(places)}] = value{at}\n" for at in range(len(outs)))
    return (
        f"@wp.kernel\ndef {_KERNEL}({', '.join(parameters)}):\n"
        f"    {', '.join(places)} = wp.tid()\n    {values} = {_FUNCTION}({', '.join(arguments)})\n{stores}"
    )


def _array_type(value: Any, element: str) -> str:
    family = "indexedarray" if isinstance(value, indexedarray) else "array"
    return f"wp.{family}(dtype={element}, ndim={len(value.shape)})"


def _outs(
    results: Sequence[tuple[str, list[int], str]], shape: tuple[int, ...], out: Any, is_followed: bool
) -> list[Any]:
    """Return the arrays for results: the caller's, or new ones."""
    dtypes = [
        BY_NAME[scalar] if kind == "scalar" else composite(kind, extents, BY_NAME[scalar])
        for kind, extents, scalar in results
    ]
    if out is None:
        return [
            array(shape=shape, dtype=of, requires_grad=is_followed and issubclass(BY_NAME[scalar], float_base))
            for of, (_, _, scalar) in zip(dtypes, results, strict=True)
        ]
    given = list(out) if isinstance(out, (list, tuple)) else [out]
    if len(given) != len(dtypes):
        raise TypeError(f"the function gives {len(dtypes)} values, found {len(given)} arrays for them")
    for each, of in zip(given, dtypes, strict=True):
        if each.dtype is not of or each.shape != shape:
            raise TypeError(f"an array of {shape} and `{of.__name__}` is needed for results, found {each!r}")
    return given
