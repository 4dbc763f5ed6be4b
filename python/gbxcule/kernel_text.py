"""The text of a decorated kernel, with the Python values that it uses.

Functions and structs are included as text, other values as they are when the kernel is first compiled: numbers,
enumerations, tuples, types, attributes of modules and objects. Arguments of `wp.static(..)` and defaults of
parameters have the values they had when the function was declared. Two things of the same name, such as functions
made by two calls of a factory, get different names.
"""

import ast
import enum
import functools
import inspect
import math
import re
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from types import FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from gbxcule.kernel_source import Source, source_of
from gbxcule.kernel_static import (
    Loops,
    compiled,
    constant_names,
    first_bindings,
    free_names,
    is_static,
    place,
    spelled_by_number,
    static_arguments,
)

# Functions with these names overload operators, as in Warp.
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "mul", ast.Div: "div", ast.Mod: "mod", ast.Pow: "pow",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "bit_or", ast.BitXor: "bit_xor", ast.BitAnd: "bit_and",
    ast.FloorDiv: "floordiv",
}

P = ParamSpec("P")
R = TypeVar("R")


class Names:
    """A stand-in for NVIDIA Warp that remembers names, calls and indices as they were written."""

    def __init__(self, *parts: Any) -> None:
        # Strings, and the functions and structs between them.
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Names(*self._parts, f".{name}")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self._parts in [("wp", ".constant"), ("wp", ".static")]:
            return arguments[0]
        written = [_parts(each) for each in arguments]
        written += [(f"{name}=", *_parts(each)) for name, each in options.items()]
        between = [part for each in written for part in (", ", *each)][1:]
        return Names(*self._parts, "(", *between, ")")

    def __getitem__(self, index: Any) -> Any:
        return Names(*self._parts, "[", *_parts(index), "]")

    def __instancecheck__(self, _value: Any) -> bool:
        # A remembered name is no type, so no Python value is an instance of it.
        return False

    def __repr__(self) -> str:
        return "".join(part if isinstance(part, str) else part.__name__ for part in self._parts)


wp: Any = Names("wp")
"""The dialect's names, for annotations and editors; `import warp as wp` does as well."""


def is_warp(value: Any) -> bool:
    """Return true if a value has the dialect's names: NVIDIA Warp, or a module in its place."""
    return value is wp or getattr(value, "__name__", None) in ("warp", "gbxcule.warp")


class Piece(Generic[P, R]):
    """A function or struct of the dialect, to be compiled with the kernels that use it."""

    def __init__(self, python: Any, decorator: str) -> None:
        if decorator and not (isinstance(python, FunctionType) or isinstance(python, type)):
            raise TypeError(f"`@{decorator}` is for {'classes' if decorator == 'struct' else 'functions'}, found {python!r}")
        self.python = python
        self.decorator = decorator
        self.overloads: list[Piece[..., Any]] = []
        # Functions that replace this one in the backward launch, each with its own decorator.
        self.gradient_functions: list[Piece[..., Any]] = []
        # The lines from `def` on, if they are in no file that Python read.
        self.source: list[str] | None = None
        self.__name__ = python.__name__
        self.__doc__ = python.__doc__
        self._in_file: Source | None = None
        self._definition: ast.FunctionDef | ast.ClassDef | None = None
        # Values of `wp.static(..)`, spelled when the function was declared.
        self.statics = _declared_statics(self) if isinstance(python, FunctionType) and decorator else {}

    def in_file(self) -> Source:
        """Return the source in the file that Python read."""
        if self._in_file is None:
            self._in_file = source_of(self.python)
        return self._in_file

    def definition(self) -> ast.FunctionDef | ast.ClassDef:
        """Return the syntax of the lines, which have one line above the name for the decorator."""
        if self._definition is None:
            lines, _ = _text_of(self, self.decorator)
            definition: ast.stmt | None = self._in_file.definition if self._in_file else None
            if definition is None or definition.lineno == 1:
                # The file has no line for the decorator.
                (definition,) = ast.parse("\n".join(lines)).body
            assert isinstance(definition, (ast.FunctionDef, ast.ClassDef))
            self._definition = definition
        return self._definition

    def __call__(self, *_arguments: P.args, **_options: P.kwargs) -> R:
        raise TypeError(f"`{self.__name__}` is compiled for kernels; Python can't call it")


def spelled(value: Any, name: Callable[[Piece[..., Any]], str] = lambda piece: piece.__name__) -> str | None:
    """Spell a value in the dialect, or return None if it can't; `name` names functions and structs."""
    if isinstance(value, enum.Enum) and not isinstance(value, (int, float)):
        value = value.value
    if isinstance(value, Piece):
        return name(value)
    # Types and values of `gbxcule.warp` have their own spelling.
    if hasattr(type(value), "__spelled__"):
        text: str | None = value.__spelled__(name)
        return text
    if isinstance(value, (tuple, list)):
        parts = [spelled(each, name) for each in value]
        return None if None in parts else f"({''.join(f'{each}, ' for each in parts)})"
    if isinstance(value, dict):
        items = [(spelled(key, name), spelled(each, name)) for key, each in value.items()]
        return None if any(None in item for item in items) else f"{{{', '.join(f'{k}: {v}' for k, v in items)}}}"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        names = {math.inf: "wp.inf", -math.inf: "-wp.inf"}
        return "wp.nan" if math.isnan(number) else names.get(number, repr(number))
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, Names):
        return "".join(part if isinstance(part, str) else name(part) for part in value._parts)
    if isinstance(value, type):
        return _spelled_type(value)
    makes_types = getattr(value, "__module__", None) in ("gbxcule.warp.composite", "warp._src.types")
    return f"wp.types.{value.__name__}" if makes_types and isinstance(value, FunctionType) else None


def _spelled_type(value: type) -> str | None:
    if value in (bool, int, float):
        return value.__name__
    if issubclass(value, np.generic):
        return f"wp.{value.__name__}"
    if hasattr(value, "__type_spelled__"):
        text: str = value.__type_spelled__()
        return text
    if value.__module__ == "gbxcule.warp.scalar":
        return f"wp.{value.__name__}"
    if value.__module__.split(".")[0] != "warp":
        return None
    # NVIDIA Warp's own types, if Warp is installed.
    scalar, shape = getattr(value, "_wp_scalar_type_", None), list(getattr(value, "_shape_", ()))
    # Types that calls make at run time all have one of these two names.
    if scalar is None or value.__name__ not in ("vec_t", "mat_t"):
        return f"wp.{value.__name__}"
    if value.__name__ == "vec_t":
        return f"wp.types.vector(length={shape[0]}, dtype=wp.{scalar.__name__})"
    return f"wp.types.matrix(shape={tuple(shape)}, dtype=wp.{scalar.__name__})"


def _declared_statics(piece: Piece[..., Any]) -> dict[tuple[int, int, str], Names]:
    """Evaluate the arguments of `wp.static(..)` that Python can evaluate when the function is declared."""
    python = piece.python
    if "static" not in python.__code__.co_names:
        return {}
    try:
        definition = piece.definition()
    except (TypeError, SyntaxError):
        return {}
    around, local = surroundings(python), _locals_of(python)
    statics = {}
    for argument in static_arguments(definition, lambda name: is_warp(around.get(name))):
        if free_names(argument) & local:
            continue
        try:
            value = eval(compiled(argument, python.__code__.co_filename), dict(around))
        except Exception:
            # The expression may read a name that is bound later.
            continue
        remembered = _remembered(value)
        if remembered is not None:
            statics[place(argument)] = remembered
    return statics


def _remembered(value: Any) -> Names | None:
    """Spell a value now, because its list or object may change; functions in it get their names later."""
    pieces: list[Any] = []

    def hole(piece: Piece[..., Any]) -> str:
        pieces.append(piece)
        return "\0"

    text = spelled(value, hole)
    if text is None:
        return None
    first, *rest = text.split("\0")
    return Names(first, *(part for pair in zip(pieces, rest, strict=True) for part in pair))


def _locals_of(python: Any) -> set[str]:
    code = getattr(python, "__code__", None)
    return set(code.co_varnames + code.co_cellvars) if code else set()


def _parts(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Names):
        return value._parts
    if isinstance(value, Piece):
        return (value,)
    return (spelled(value) or getattr(value, "__name__", None) or repr(value),)


def text_around(piece: Piece[..., Any]) -> tuple[str, str]:
    """Return the text of a piece with everything that it uses, and the file that messages name."""
    program = Program(piece)
    return program.text(), program.file


class Program:
    """The text of a piece with everything that it uses, and the things that its names refer to."""

    def __init__(self, piece: Piece[..., Any]) -> None:
        self.file = inspect.getsourcefile(piece.python) or "<unknown>"
        self._lines: list[str] = []
        # Annotations that Python evaluated are spelled with the names of these imports.
        self._behind = ["import warp as wp", "from typing import Any"]
        self._things: dict[str, Any] = {"wp": "import warp", "Any": "Any"}
        # For each piece in `_behind`: first line there, number of lines, file and line in Python.
        self._parts: list[tuple[int, int, str, int]] = []
        # Keeps the pieces alive, so that no two get the same `id`.
        self._pieces: dict[int, tuple[Piece[..., Any], str]] = {}
        self.piece(piece)

    def text(self) -> str:
        """The text as it is now."""
        return "\n".join([*self._lines, *self._behind]) + "\n"

    def parts(self) -> list[tuple[int, int, str, int]]:
        """List blocks of lines that come from elsewhere: first line, number of lines, original file and line."""
        return [(len(self._lines) + at, count, file, line) for at, count, file, line in self._parts]

    def _named(self, wanted: str, thing: Any, hidden: Set[str] = frozenset()) -> tuple[str, bool]:
        """Find a name for a thing; return it, and True if the thing is new.

        The name is the wanted one, unless another thing has it, or it is in `hidden`: names that the using function
        binds itself.
        """
        name, count = wanted, 1
        while name in hidden or (name in self._things and self._things[name] != thing):
            count += 1
            name = f"{wanted}_{count}"
        is_new = name not in self._things
        self._things[name] = thing
        return name, is_new

    def bind(self, wanted: str, text: str, hidden: Set[str] = frozenset()) -> str:
        """Name the value that an expression's text stands for."""
        return self._bind(wanted, text, "{name} = " + text.replace("{", "{{").replace("}", "}}"), hidden)

    def _bind(self, wanted: str, thing: str, line: str, hidden: Set[str]) -> str:
        name, is_new = self._named(wanted, thing, hidden)
        if is_new:
            self._behind.append(line.format(name=name))
        return name

    def take(self, wanted: str, value: Any, hidden: Set[str] = frozenset()) -> str | None:
        """Add a value to the text, and return its name there, which differs from the hidden ones.

        Returns None if the text can't hold the value.
        """
        if isinstance(value, Piece):
            return self.piece(value, hidden, wanted)
        if is_warp(value):
            return self._bind(wanted, "import warp", "import warp as {name}", hidden)
        for name, thing in (("Any", Any), ("Tuple", typing.Tuple), ("Callable", Callable), ("Callable", typing.Callable)):
            if value is thing:
                return self._bind(wanted, name, f"from typing import {name} as {{name}}", hidden)
        if isinstance(value, ModuleType):
            line = f"import {value.__name__}"
            return self._bind(wanted, line, line + " as {name}", hidden)
        if (text := spelled(value, self.piece)) is not None:
            return self.bind(wanted, text, hidden)
        # The compiler will say that kernels can't call it.
        return self.piece(Piece(value, ""), hidden, wanted) if isinstance(value, FunctionType) else None

    def piece(self, piece: Piece[..., Any], hidden: Set[str] = frozenset(), wanted: str | None = None) -> str:
        """Add a function or struct to the text, and return its name there, which differs from the hidden ones."""
        key = id(piece.python)
        if key not in self._pieces:
            name, _ = self._named(piece.__name__, key)
            self._pieces[key] = (piece, name)
            self._add_all([*piece.overloads, piece], name)
        name = self._pieces[key][1]
        return self.bind(wanted or name, name, hidden) if name in hidden else name

    def _add_all(self, overloads: Sequence[Piece[..., Any]], name: str) -> None:
        for each in overloads:
            self._add(each, name)
        # The compiler matches each to its overload by the parameters' types.
        for function in [function for each in overloads for function in each.gradient_functions]:
            own, _ = self._named(function.__name__, id(function.python))
            self._add(function, own, f"{function.decorator}({name})")

    def _add(self, piece: Piece[..., Any], name: str, decorator: str | None = None) -> None:
        """Add the lines of a piece under a name."""
        lines, first = _text_of(piece, decorator or piece.decorator)
        if piece.decorator:
            lines = _Names(self, piece, lines).replaced(name)
        place = slice(first - 1, first - 1 + len(lines))
        if inspect.getsourcefile(piece.python) == self.file and not any(self._lines[place]):
            # Pieces of the kernel's own file keep their line numbers, for messages.
            self._lines += [""] * (place.stop - len(self._lines))
            self._lines[place] = lines
            return
        file = inspect.getsourcefile(piece.python)
        if file is not None and piece.source is None:
            self._parts.append((len(self._behind) + 1, len(lines), file, first))
        self._behind += lines


class _Names(ast.NodeVisitor):
    """Visitor that adds to a program everything that a piece mentions, and notes where a mention needs another name."""

    def __init__(self, program: Program, piece: Piece[..., Any], lines: list[str]) -> None:
        self._program = program
        self._piece = piece
        self._python = piece.python
        self._statics = piece.statics
        self._lines = lines
        self._around = surroundings(piece.python)
        self._local = _locals_of(piece.python)
        # Line, first byte, last byte, and the text to put there.
        self._edits: list[tuple[int, int, int, str]] = []

    def replaced(self, name: str) -> list[str]:
        definition = self._piece.definition()
        self._loops = Loops(definition)
        self._bound_from = first_bindings(definition)
        head = re.match(r"(def|class)\s+", self._lines[definition.lineno - 1])
        if head and definition.name != name:
            self._edits.append((definition.lineno, head.end(), head.end() + len(definition.name), name))
        if isinstance(definition, ast.FunctionDef):
            arguments = definition.args
            for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                self._annotation(each.annotation, each.arg)
            self._annotation(definition.returns, "return")
            self._defaults(arguments)
        for statement in definition.body:
            if isinstance(definition, ast.ClassDef) and isinstance(statement, ast.AnnAssign):
                self._annotation(statement.annotation, ast.unparse(statement.target))
            else:
                self.visit(statement)
        return self._with_edits()

    def _with_edits(self) -> list[str]:
        lines = [line.encode() for line in self._lines]
        for line, begin, end, text in sorted(self._edits, reverse=True):
            before = lines[line - 1]
            lines[line - 1] = before[:begin] + text.encode() + before[end:]
        return [line.decode() for line in lines]

    def _replace(self, node: ast.expr, text: str, is_in_brackets: bool = False) -> bool:
        """Replace an expression by a text; an expression of several lines only where lines may be left empty."""
        last, end = node.end_lineno, node.end_col_offset
        if last is None or end is None or (node.lineno != last and not is_in_brackets):
            return False
        begin = node.col_offset
        for line in range(node.lineno, last):
            self._edits.append((line, begin, len(self._lines[line - 1].encode()), text))
            begin, text = 0, ""
        self._edits.append((last, begin, end, text))
        return True

    def _annotation(self, node: ast.expr | None, name: str) -> None:
        """Replace an annotation by its value in Python, because its names may be local to a function around it."""
        if node is None:
            return
        value = self._python.__annotations__.get(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            value = self._quoted(node.value)
        text = spelled(value, self._program.piece) if not isinstance(value, str) else None
        is_type = isinstance(value, (Names, Piece, type)) or hasattr(type(value), "__spelled__")
        if not (is_type and text is not None and self._replace(node, text)):
            self._visit_outside(node)

    def _quoted(self, annotation: str) -> Any:
        """Evaluate an annotation that is a string, if Python can."""
        try:
            return eval(annotation, dict(self._around))
        except Exception:
            return annotation

    def _defaults(self, arguments: ast.arguments) -> None:
        """Replace defaults by the values that Python evaluated when the function was declared."""
        # A text made from a signature may leave out the first defaults, or all.
        values = list(zip(reversed(arguments.defaults), reversed(self._python.__defaults__ or ()), strict=False))
        by_name = self._python.__kwdefaults__ or {}
        for argument, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if node is not None:
                values.append((node, by_name.get(argument.arg)))
        for node, value in values:
            text = None if isinstance(node, ast.Constant) else spelled(value, self._program.piece)
            if text is None or not self._replace(node, text, is_in_brackets=True):
                self._visit_outside(node)

    def _visit_outside(self, node: ast.expr) -> None:
        """Visit an expression that is evaluated outside the function, where its local names aren't bound."""
        local, self._local = self._local, set()
        self.visit(node)
        self._local = local

    def _name_of(self, piece: Piece[..., Any]) -> str:
        """Return a name for a function or struct that no local name of the visited function hides."""
        return self._program.piece(piece, self._local)

    def generic_visit(self, node: ast.AST) -> None:
        """Visit only nodes that may mention something: a program has tens of thousands of others."""
        for name in node._fields:
            value = getattr(node, name, None)
            for each in value if value.__class__ is list else (value,):
                if isinstance(each, ast.AST) and each._fields and each.__class__ is not ast.Constant:
                    self.visit(each)

    def _is_own(self, node: ast.Name) -> bool:
        """Tell whether a name is the function's own. As in Warp it is not before its first binding: `f = f(x)`."""
        return node.id in self._local and (node.lineno, node.col_offset) >= self._bound_from.get(node.id, (0, 0))

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) or self._is_own(node) or node.id not in self._around:
            return
        name = self._program.take(node.id, self._around[node.id], self._local)
        if name is not None and name != node.id:
            self._replace(node, name)

    def visit_BinOp(self, node: ast.BinOp | ast.AugAssign) -> None:
        """Bring in a function that takes the operator's place."""
        self._operator(node.op)
        self.generic_visit(node)

    visit_AugAssign = visit_BinOp  # noqa: N815

    def _operator(self, operator: ast.operator) -> None:
        name = _OPERATORS.get(type(operator), "")
        function = self._around.get(name)
        if isinstance(function, Piece):
            self._program.take(name, function, self._local)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Replace an attribute such as `a.b.c` by its value, unless the text has a module to find it in."""
        chain: list[ast.Attribute] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            chain.insert(0, root)
            root = root.value
        if not isinstance(root, ast.Name) or self._is_own(root) or root.id not in self._around:
            self.visit(root)
            return
        value = self._around[root.id]
        is_plain_piece = isinstance(value, Piece) and not hasattr(value, chain[0].attr)
        if is_warp(value) or isinstance(value, Names) or is_plain_piece or _is_known(value):
            self.visit_Name(root)
            return
        values = [value := getattr(value, each.attr, None) for each in chain]
        for each, value in zip(reversed(chain), reversed(values), strict=True):
            text = self._after_dots(ast.unparse(each).replace(".", "_"), value)
            if text is not None and self._replace(each, text):
                return
        self.visit_Name(root)

    def _after_dots(self, name: str, value: Any) -> str | None:
        """Spell an attribute's value: a number as itself, any other value by a name."""
        text = spelled(value, self._name_of)
        if text is None:
            return None
        is_type = isinstance(value, (Names, type))
        # A type that a call made gets a name, so that the text can call it.
        if hasattr(type(value), "_wp_scalar_type_") or (is_type and text.endswith(")")):
            return self._program.bind(name, text, self._local)
        if is_type:
            return text
        return f"({text})" if text.startswith("-") else text

    def visit_For(self, node: ast.For) -> None:
        """Note the loop while its body is visited."""
        self.visit(node.iter)
        self._loops.enter(node)
        for statement in node.body:
            self.visit(statement)
        self._loops.leave()
        for statement in node.orelse:
            self.visit(statement)

    def visit_Call(self, node: ast.Call) -> None:
        """Let Python evaluate the argument of `wp.static`."""
        if is_static(node, self._is_warp):
            text = self._static(node.args[0])
            if text is not None and self._replace(node.args[0], text, is_in_brackets=True):
                return
        self.generic_visit(node)

    def _static(self, argument: ast.expr) -> str | None:
        """Spell the value of an argument of `wp.static(..)`, if Python can evaluate it."""
        own = sorted(free_names(argument) & self._local)
        if not own:
            declared = self._statics.get(place(argument))
            return spelled(self._evaluated(argument) if declared is None else declared, self._name_of)
        constants = {
            name: self._evaluated(value)
            for name in own
            if (value := self._constants.get(name)) is not None and not free_names(value) & self._local
        }
        # The compiler evaluates arguments that use other names of the kernel itself.
        others = [name for name in own if name not in constants]
        numbers = {name: found for name in others if (found := self._loops.numbers(name, self._bound)) is not None}
        if len(numbers) < len(others):
            return None
        if not numbers:
            return spelled(self._evaluated(argument, constants), self._name_of)
        code, around = compiled(argument, self._program.file), {**self._around, **constants}
        return spelled_by_number(numbers, lambda chosen: spelled(eval(code, {**around, **chosen}), self._name_of))

    @functools.cached_property
    def _constants(self) -> dict[str, ast.expr]:
        """The names that the function binds exactly once, to a `wp.static(..)`, with its argument."""
        return constant_names(self._piece.definition(), self._is_warp)

    def _evaluated(self, expression: ast.expr, own: Mapping[str, Any] | None = None) -> Any:
        return eval(compiled(expression, self._program.file), {**self._around, **(own or {})})

    def _bound(self, expression: ast.expr) -> Any:
        """Evaluate a loop's bound, unless it needs names of the kernel itself."""
        return None if free_names(expression) & self._local else self._evaluated(expression)

    def _is_warp(self, name: str) -> bool:
        return name not in self._local and is_warp(self._around.get(name))


def _is_known(value: Any) -> bool:
    """Return true for a module whose names the compiler knows."""
    return isinstance(value, ModuleType) and value.__name__.split(".")[0] in ("warp", "math", "numpy", "typing")


def _text_of(piece: Piece[..., Any], decorator: str) -> tuple[list[str], int]:
    if piece.source is not None:
        return [f"@wp.{decorator}", *piece.source], 1
    try:
        source = piece.in_file()
        text, line = list(source.lines), source.first
        first = next(place for place, each in enumerate(text) if re.match(r"(def|class)\b", each))
    except (OSError, StopIteration):
        raise TypeError(
            f"the text of `{piece.__name__}` can't be read: a kernel is a `def` in a file or a notebook's cell; "
            "`from_text` takes a string"
        ) from None
    # Our decorators are replaced by Warp's, which the compiler knows. They may take several lines.
    text[:first] = ["" for _ in range(first)]
    if decorator and first == 0:
        # After `wp.kernel(f)` the text has no line for the decorator.
        return [f"@wp.{decorator}", *text], max(line - 1, 1)
    if decorator:
        text[first - 1] = f"@wp.{decorator}"
    return text, line


def surroundings(python: Any) -> Mapping[str, Any]:
    if inspect.isclass(python):
        module = inspect.getmodule(python)
        return dict(vars(module)) if module else {}
    names = dict(python.__globals__)
    for name, cell in zip(python.__code__.co_freevars, python.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            # Not bound yet.
            names.pop(name, None)
    return names
