"""The source lines of functions and classes, from the files that Python read.

`inspect` takes milliseconds to find the end of a function, because it reads tokens; Python's own parser takes a
fraction of that.
"""

import ast
import inspect
import linecache
import textwrap
from types import FunctionType
from typing import Any, NamedTuple

# Most lines that look like a function's end but stand in brackets or in a long string.
_MAX_ENDS = 20


class Source(NamedTuple):
    """Lines without their common indentation, the number of the first, and their syntax if it is known."""

    lines: list[str]
    first: int
    definition: ast.FunctionDef | None


def source_of(python: Any) -> Source:
    """Return the source of a function or class."""
    source = _function(inspect.unwrap(python)) if isinstance(python, FunctionType) else None
    if source is not None:
        return source
    lines, first = inspect.getsourcelines(python)
    return Source(textwrap.dedent("".join(lines)).splitlines(), first, None)


def _function(function: Any) -> Source | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno - 1
    if first >= len(lines):
        return None
    around = _indentation(lines[first])
    head = next((at for at in range(first, len(lines)) if lines[at].lstrip().startswith("def ")), len(lines))
    ends = (at for at in range(head + 1, len(lines)) if _ends(lines[at], around))
    for _ in range(_MAX_ENDS):
        end = next(ends, len(lines))
        text = textwrap.dedent("".join(lines[first:end]))
        try:
            body = ast.parse(text).body
        except SyntaxError:
            continue
        split = text.splitlines()
        # If the text has other line separators than `\n`, line numbers would be wrong.
        is_plain = len(split) == end - first
        match body:
            case [ast.FunctionDef(name=name) as definition] if is_plain and name == code.co_name:
                definition.decorator_list = []
                return Source(split[: definition.end_lineno], first + 1, definition)
        return None
    return None


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ends(line: str, around: int) -> bool:
    """Tell whether a line may be the first after a function with this indentation."""
    text = line.strip()
    return bool(text) and text[0] not in "#)" and _indentation(line) <= around
