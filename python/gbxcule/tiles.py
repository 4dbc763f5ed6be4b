"""The observation of tiles and objects around the player: the built-in program with other constants."""

import re
from collections.abc import Sequence

from gbxcule import _native
from gbxcule.argument_check import shown, whole
from gbxcule.observation import TILES

MAX_OBJECTS = 40


def tile_program(
    lines: int = 18,
    columns: int = 20,
    *,
    around: int | Sequence[str | int] | None = None,
    objects: int = MAX_OBJECTS,
) -> str:
    """Write a program whose `observe` gives the numbers of the tiles in a grid and a list of objects.

    around          None for a grid that begins in the screen's upper left corner, or what stands in its middle: the number of
                    an object, or two places in memory (labels or addresses) with x and y on the screen, in pixels
    objects         how many objects the list has room for
    """
    lines, columns = _within("lines", lines, 1, 32), _within("columns", columns, 1, 32)
    objects = _within("objects", objects, 0, MAX_OBJECTS)
    outputs = {"tiles": ("int16", (lines, columns), -1, 767)}
    if objects:
        outputs["objects"] = ("int16", (objects, 5), -255, 255)
    constants = {
        "LINES": lines,
        "COLUMNS": columns,
        "TOP": 0 if around is None else lines // 2,
        "LEFT": 0 if around is None else columns // 2,
        "OBJECTS": objects,
        "OBS_DIM": lines * columns + 5 * objects,
        "OUTPUTS": outputs,
    }
    text = _native.built_in_program(TILES)
    for name, value in constants.items():
        text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value!r}", text)
    for axis, origin in zip("xy", _origins(around), strict=True):
        head, function, rest = text.partition(f"def origin_{axis}(")
        text = head + function + rest.replace("return 0", f"return {origin}", 1)
    return text


def _origins(around: int | Sequence[str | int] | None) -> tuple[str, str]:
    """Write the expressions for the middle square's column and line on the screen."""
    if around is None:
        return "0", "0"
    if isinstance(around, int) and not isinstance(around, bool):
        place = 0xFE00 + 4 * _within("around", around, 0, MAX_OBJECTS - 1)
        return f"byte(machine, {place + 1}) - 8", f"byte(machine, {place}) - 16"
    if isinstance(around, (str, bytes)) or not isinstance(around, Sequence) or len(around) != 2:
        raise TypeError(
            "`around` is the number of an object, or two places in memory with x and y on the screen, as in "
            f'("HeroX", "HeroY"), found {shown(around)}'
        )
    x, y = (f"wp.int32(gb.read(machine, {_place(place)})) - 4" for place in around)
    return x, y


def _place(place: str | int) -> str:
    if isinstance(place, str):
        if not place.isidentifier() and not re.fullmatch(r"[\w.@#$]+", place):
            raise ValueError(f"a place around which tiles are shown is a label or an address, found {shown(place)}")
        return f'"{place}"'
    return str(_within("a place", place, 0, 0xFFFF))


def _within(name: str, value: int, least: int, most: int) -> int:
    number = whole(name, value, least)
    if number > most:
        raise ValueError(f"{name} is at most {most}, found {number}")
    return number
