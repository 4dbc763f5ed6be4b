"""Kernels of a Python file, at any place in it, without running the rest of the file.

A test file defines kernels at its top, in functions and in methods, between statements that launch, measure and
assert. Only definitions are executed here: imports, assignments, functions and classes. A function around a kernel is
called with `None` for each of its parameters. A definition that fails is left out: a kernel that needed it is then
missing, or fails when it is compiled.
"""

import __future__

import ast
import hashlib
import sys
import types
from pathlib import Path

FOUND = "__kernels_by_line__"
DEFINES = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef)
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def kernels(path: Path, lines: "set[int]") -> "dict[int, object]":
    """Return the objects that the `def`s at these lines made: kernels, or plain functions."""
    tree = ast.parse(path.read_text(), str(path))
    module = types.ModuleType("source_" + hashlib.sha256(str(path).encode()).hexdigest()[:16])
    module.__file__ = str(path)
    module.__package__ = package_of(path)
    sys.modules[module.__name__] = module
    # These folders come last, because a file in them may have the name of a standard module.
    sys.path.extend({str(path.parent), str(root_of(path))} - set(sys.path))
    kernels_by_line = module.__dict__[FOUND] = {}
    futures = [name.name for node in tree.body if is_future(node) for name in node.names]
    flags = sum(getattr(__future__, name).compiler_flag for name in futures)
    for statement in definitions(tree.body, lines):
        body = ast.fix_missing_locations(ast.Module([statement], []))
        exec(compile(body, str(path), "exec", flags, True), module.__dict__)  # noqa: S102
    return kernels_by_line


def package_of(path: Path) -> str:
    """Return the dotted name of the file's folder, from its outermost package on."""
    return ".".join(path.parent.relative_to(root_of(path)).parts)


def root_of(path: Path) -> Path:
    """Return the folder around the outermost package."""
    folder = path.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def definitions(body: "list[ast.stmt]", lines: "set[int]") -> "list[ast.stmt]":
    """Return the definitions of a body, each in a `try`, with code that notes the wanted kernels."""
    chosen = []
    for node in body:
        if isinstance(node, BLOCKS) and holds(node, lines):
            chosen += definitions(node.body, lines)
        if not isinstance(node, DEFINES) or is_future(node):
            continue
        after = []
        if isinstance(node, ast.FunctionDef) and node.lineno in lines:
            after.append(f"{FOUND}[{node.lineno}] = {node.name}")
        elif isinstance(node, ast.FunctionDef) and holds(node, lines):
            node.body = definitions(node.body, lines) or [ast.Pass()]
            node.decorator_list = []
            after.append(call_of(node))
        elif isinstance(node, ast.ClassDef) and holds(node, lines):
            node.body = definitions(node.body, lines) or [ast.Pass()]
        block = [node]
        for text in after:
            block += [ast.copy_location(statement, node) for statement in ast.parse(text).body]
        nothing = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
        chosen.append(ast.copy_location(ast.Try(block, [nothing], [], []), node))
    return chosen


def holds(node: ast.AST, lines: "set[int]") -> bool:
    return any(isinstance(child, ast.FunctionDef) and child.lineno in lines for child in ast.walk(node))


def call_of(node: ast.FunctionDef) -> str:
    given = node.args
    positional = ["None"] * len(given.posonlyargs + given.args)
    return f"{node.name}({', '.join(positional + [f'{arg.arg}=None' for arg in given.kwonlyargs])})"
