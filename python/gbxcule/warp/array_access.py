"""The arrays that a kernel reads, and those that it only writes, found in its text."""

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeGuard


def loaded_and_stored(function: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """Return the names that a kernel indexes to read, and those that it only indexes to write."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    added = {id(each.target) for each in ast.walk(tree) if _is_sum(each)}
    loaded: set[str] = set()
    uses: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    for each in ast.walk(tree):
        if isinstance(each, ast.Name):
            uses[each.id] += 1
        elif isinstance(each, ast.AugAssign) and id(each.target) not in added:
            loaded.update(name.id for name in ast.walk(each.target) if isinstance(name, ast.Name))
        elif isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
            if isinstance(each.ctx, ast.Store):
                stores[each.value.id] += 1
            else:
                loaded.add(each.value.id)
    return loaded, {name for name, count in uses.items() if count == stores[name] and name not in loaded}


def _is_sum(node: ast.AST) -> TypeGuard[ast.AugAssign]:
    return isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub))
