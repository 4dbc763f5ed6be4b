"""Programs made from functions in a notebook or a training script (docs/programs.md)."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from gbxcule.argument_check import shown, whole
from gbxcule.kernel_text import Names, Piece, Program

Machine: Any = Names("gb", ".Machine")
"""The machine that a program's functions read, for their annotations."""

# Numbers that a program sets, each with its smallest value.
_SETTINGS = {"SCRATCH": 0, "INT_SCRATCH": 1, "BYTE_SCRATCH": 1, "OBS_DIM": 1, "ACTIONS": 1, "WEIGHTS": 1}


def program_text(*functions: Callable[..., Any], **settings: Any) -> str:
    """Write the text of a program from Python functions such as `reward` and `observe`, with everything that they
    use. The settings are `SCRATCH`, `INT_SCRATCH`, `BYTE_SCRATCH`, `OBS_DIM`, `ACTIONS`, `WEIGHTS` and `OUTPUTS`.
    Arguments that take a program's path also take its text. Python never runs the functions."""
    if not functions:
        raise TypeError("program_text takes the functions of a program: `reward`, `done`, `observe` and so on")
    pieces = [_piece(function) for function in functions]
    written = Program(pieces[0])
    written._bind("gb", "import gbxcule", "import gbxcule as {name}", frozenset())
    for piece in pieces[1:]:
        written.piece(piece)
    for name, value in settings.items():
        if name == "OUTPUTS":
            written.bind(name, repr(value))
            continue
        if name not in _SETTINGS:
            raise TypeError(f"a program has no setting `{name}`; there are {', '.join(_SETTINGS)}, OUTPUTS")
        written.bind(name, str(whole(name, value, _SETTINGS[name])))
    return written.text()


def _piece(function: Any) -> Piece[..., Any]:
    if not isinstance(function, (FunctionType, Piece)):
        raise TypeError(f"program_text takes functions that Python text defines, found {shown(function)}: write them with `def`")
    piece = function if isinstance(function, Piece) else Piece(function, "func")
    if piece.decorator != "func":
        raise TypeError(f"a program is made of functions, found the {piece.decorator} {shown(piece.__name__)}")
    return piece
