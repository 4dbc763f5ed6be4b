"""Inputs of launches, written to files for `gbxcule synth harvest --inputs`.

A file of JSON lines holds the launches 1, 2, 4, 8, .. of one kernel: its place in the program's text, the grid, and
for each parameter the shape and the numbers in the order of memory.
"""

import inspect
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.warp import device
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import Composite
from gbxcule.warp.indexed_array import indexedarray
from gbxcule.warp.scalar import BY_NAME, Scalar
from gbxcule.warp.structure import StructInstance

MAX_NUMBERS = 1 << 20
"""Greatest number of numbers in the arguments of a recorded launch."""
MAX_LAUNCHES = 4
"""Greatest number of recorded launches of a kernel."""

_folder: Path | None = None
# Number of launches of each kernel, and lines of its recorded ones, by its function's file, line
# and name.
_kernels: dict[tuple[str, int, str], tuple[int, list[str]]] = {}


def record(folder: str | os.PathLike[str] | None) -> None:
    """Write inputs of all later launches into a folder; `None` ends that."""
    global _folder
    _kernels.clear()
    _folder = None if folder is None else Path(folder).absolute()
    device.cuda_is_cpu = _folder is not None
    if _folder is not None:
        _folder.mkdir(parents=True, exist_ok=True)


def is_on() -> bool:
    """Tell whether launches are recorded."""
    return _folder is not None


def of_launch(
    function: Callable[..., Any], grid: Sequence[int], values: Mapping[str, Any], tables: Sequence[str]
) -> None:
    """Record a launch of a kernel, unless enough launches of it are recorded; `tables` names its tables of geometry."""
    if _folder is None or function.__code__.co_filename.startswith("<"):
        return
    place = _place(function)
    count, lines = _kernels.get(place, (0, []))
    count += 1
    _kernels[place] = (count, lines)
    if len(lines) == MAX_LAUNCHES or count & (count - 1) != 0:
        return
    file, line, name = place
    head = {"file": file, "line": line, "kernel": name, "program": os.path.abspath(sys.argv[0]), "launch": count}
    try:
        if tables:
            raise _Refused(f"it queries geometry by an id (`{', '.join(tables)}`), which no recording holds")
        outcome = {"dims": list(grid), "inputs": _inputs(values)}
    except _Refused as refusal:
        outcome = {"refused": str(refusal)}
    path = _folder / f"{Path(sys.argv[0]).stem}.{name}.{line}.{os.getpid()}.jsonl"
    lines.append(json.dumps(head | outcome, allow_nan=False) + "\n")
    _native.write_file(os.fspath(path), "".join(lines).encode())


class _Refused(Exception):
    pass


def _place(function: Callable[..., Any]) -> tuple[str, int, str]:
    """Return a function's file, the line of its name, and its name."""
    lines, first = inspect.getsourcelines(function)
    name = function.__name__
    named = re.compile(rf"\s*def\s+{re.escape(name)}\b")
    line = next((at for at, text in enumerate(lines) if named.match(text)), 0)
    return os.path.abspath(function.__code__.co_filename), first + line, name


def _inputs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    count = sum(_size(part) for named in values.items() for _, part in _parts(*named))
    if count > MAX_NUMBERS:
        raise _Refused(f"its arguments have {count} numbers, and a recording has at most {MAX_NUMBERS}")
    return [{"name": name, **_input(name, part)} for named in values.items() for name, part in _parts(*named)]


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """List the fields of a struct with arrays by name, as `s.x`, or the argument itself."""
    if not _holds_array(value):
        yield name, value
        return
    for field, part in value.argument(lambda field: field).items():
        yield from _parts(f"{name}.{field}", part)


def _holds_array(value: Any) -> bool:
    """Tell whether a value is a struct with arrays; of its fields only an array can be `None`."""
    if not isinstance(value, StructInstance):
        return False
    fields = value.argument(lambda field: field).values()
    return any(field is None or isinstance(field, (array, indexedarray)) or _holds_array(field) for field in fields)


def _input(name: str, value: Any) -> dict[str, Any]:
    if value is None or isinstance(value, array) and not value.has_memory:
        return {"shape": None, "values": []}
    if isinstance(value, indexedarray):
        raise _Refused(f"argument `{name}` is an indexed array, which a row can't hold")
    if isinstance(value, array):
        inner = value.numpy().ndim - value.ndim
        shape = list(value.shape)
        return {"shape": shape, "values": _numbers(name, _memory(value), inner)}
    return {"shape": [], "values": _value(name, value)}


def _memory(value: array) -> npt.NDArray[Any]:
    memory = value.numpy()
    if value.dtype is BY_NAME["bfloat16"]:
        return (memory.astype(np.uint32) << 16).view(np.float32)
    return memory


def _value(name: str, value: Any) -> list[Any]:
    """List the numbers of an argument that is no array."""
    if isinstance(value, StructInstance):
        fields = value.argument(lambda field: field)
        return [number for field in fields.values() for number in _value(name, field)]
    if isinstance(value, Scalar):
        value = value.value
    if isinstance(value, Composite):
        value = value._numbers
    return _numbers(name, np.asarray(value), np.ndim(value))


def _numbers(name: str, memory: npt.NDArray[Any], inner: int) -> list[Any]:
    """List numbers in the order of memory, `inner` being the dimensions of an element."""
    count = math.prod(memory.shape[: memory.ndim - inner])
    parts = _columns(memory.reshape(count, *memory.shape[memory.ndim - inner :]), count)
    if not all(np.isfinite(part.astype(np.float64)).all() for part in parts):
        raise _Refused(f"argument `{name}` has a number that isn't finite, which a row can't hold")
    return [number for row in zip(*(part.tolist() for part in parts), strict=True) for one in row for number in one]


def _columns(memory: npt.NDArray[Any], count: int) -> list[npt.NDArray[Any]]:
    """Return the numbers of each field, with a row for each element."""
    if memory.dtype.names:
        return [part for field in memory.dtype.names for part in _columns(memory[field], count)]
    kind = memory.dtype
    if kind.kind not in "biuf":
        raise _Refused(f"an argument has elements of type `{kind}`, which a row can't hold")
    width = math.prod(memory.shape[1:])
    rows = memory.reshape(count, width)
    if kind.kind == "b":
        return [rows.astype(np.uint8)]
    # The shortest decimals of a narrow float.
    return [rows.astype(str).astype(np.float64) if kind.kind == "f" and kind.itemsize < 8 and rows.size else rows]


def _size(value: Any) -> int:
    memory = value.numpy() if isinstance(value, (array, indexedarray)) else None
    if memory is None:
        return 1
    fields = memory.dtype.itemsize // 4 if memory.dtype.names else 1
    return int(memory.size) * max(fields, 1)
