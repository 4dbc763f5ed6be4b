"""Expressions in `wp.static(..)`: the names that they need, and their values for each index of a loop.

`kernel_text` evaluates those that need none of the function's names when the function is declared, and those that
need loop indices when the text is made.
"""

import ast
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

# The compiler unrolls a loop around `wp.static` up to this many times.
_MAX_VALUES = 4096
# Stands for a value that Python couldn't evaluate; the compiler refuses this name if it is used.
_NO_VALUE = "wp.no_value_in_python"


def is_static(node: ast.Call, is_warp: Callable[[str], bool]) -> bool:
    """Return true for a call of `wp.static`; `is_warp` tells whether a name is the module's."""
    match node.func:
        case ast.Attribute(value=ast.Name(id=module), attr="static"):
            return is_warp(module) and len(node.args) == 1
    return False


def static_arguments(definition: ast.AST, is_warp: Callable[[str], bool]) -> Iterator[ast.expr]:
    """List the arguments of calls of `wp.static`."""
    for node in ast.walk(definition):
        if isinstance(node, ast.Call) and is_static(node, is_warp):
            yield node.args[0]


def place(expression: ast.expr) -> tuple[int, int, str]:
    """Return a key that distinguishes the expressions of one text."""
    return expression.lineno, expression.col_offset, ast.unparse(expression)


def free_names(expression: ast.expr) -> set[str]:
    """List the names that an expression reads and doesn't bind itself."""
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return read - bound


def compiled(expression: ast.expr, file: str) -> CodeType:
    """Compile an expression for Python's `eval`."""
    return compile(ast.unparse(expression), file, "eval")


def constant_names(definition: ast.AST, is_warp: Callable[[str], bool]) -> dict[str, ast.expr]:
    """Return the names that a function binds exactly once, to a `wp.static(..)`, with its argument."""
    bound = [each.id for each in ast.walk(definition) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    arguments = {}
    for node in ast.walk(definition):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if is_static(call, is_warp):
                if bound.count(name) == 1:
                    arguments[name] = call.args[0]
    return arguments


def first_bindings(definition: ast.AST) -> dict[str, tuple[int, int]]:
    """Return the place from which each name is bound that statements bind; parameters are bound everywhere."""
    places: dict[str, tuple[int, int]] = {}
    for statement in ast.walk(definition):
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            end = statement.end_lineno or statement.lineno, statement.end_col_offset or 0
            for name in _stored(statement):
                places[name.id] = min(places.get(name.id, end), end)
        elif isinstance(statement, ast.For):
            for name in _stored(statement.target):
                begin = name.lineno, name.col_offset
                places[name.id] = min(places.get(name.id, begin), begin)
    parameters = {each.arg for each in ast.walk(definition) if isinstance(each, ast.arg)}
    return {name: at for name, at in places.items() if name not in parameters}


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


class Loops:
    """The loops around the statement that is visited, by the names of their indices."""

    def __init__(self, definition: ast.AST) -> None:
        self._definition = definition
        self._around: list[tuple[str, ast.expr]] = []

    @functools.cached_property
    def _rebound(self) -> set[str]:
        """Names that the function binds elsewhere than in the head of a loop."""
        nodes = list(ast.walk(self._definition))
        targets = {id(each.target) for each in nodes if isinstance(each, ast.For)}
        names = [each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        return {each.id for each in names if id(each) not in targets}

    def enter(self, loop: ast.For) -> None:
        """Note a loop whose body is visited next."""
        self._around.append((loop.target.id if isinstance(loop.target, ast.Name) else "", loop.iter))

    def leave(self) -> None:
        """Forget the loop that was entered last."""
        self._around.pop()

    def numbers(self, index: str, evaluate: Callable[[ast.expr], Any]) -> range | None:
        """Return the numbers that an index takes, if Python knows them; `evaluate` evaluates the loop's bounds."""
        if index in self._rebound:
            return None
        iterated = next((of for name, of in reversed(self._around) if name == index), None)
        while isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id == "reversed":
            iterated = iterated.args[0] if iterated.args else None
        if iterated is None:
            return None
        try:
            numbers = evaluate(iterated)
        except Exception:
            return None
        return numbers if isinstance(numbers, range) else None


def spelled_by_number(numbers: Mapping[str, range], spell: Callable[[dict[str, int]], str | None]) -> str | None:
    """Spell a tuple of a value for each number of the indices that it needs, subscripted by these indices.

    The compiler, which unrolls the loop, can evaluate `(1.0, 0.5, )[i]`, but not `d[i]`.
    """
    if not 0 < math.prod(len(of) for of in numbers.values()) <= _MAX_VALUES:
        return None
    values = [_value(spell, dict(zip(numbers, at, strict=True))) for at in itertools.product(*numbers.values())]
    if None in values or all(value == _NO_VALUE for value in values):
        return None
    for of in reversed(list(numbers.values())):
        rows = [values[at : at + len(of)] for at in range(0, len(values), len(of))]
        values = [f"({''.join(f'{value}, ' for value in row)})" for row in rows]
    return f"{values[0]}" + "".join(f"[{_position(index, of)}]" for index, of in numbers.items())


def _value(spell: Callable[[dict[str, int]], str | None], chosen: dict[str, int]) -> str | None:
    try:
        return spell(chosen)
    except Exception:
        # The expression may be in a branch that isn't taken for this number: `if wp.static(i in
        # d)`.
        return _NO_VALUE


def _position(index: str, numbers: range) -> str:
    """Spell the position of an index among its numbers."""
    return index if numbers.start == 0 and numbers.step == 1 else f"({index} - {numbers.start}) // {numbers.step}"
