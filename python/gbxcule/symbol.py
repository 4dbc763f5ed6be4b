"""Names for addresses: `.sym` files, and places in memory as people write them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gbxcule.check import whole

Symbols: TypeAlias = Mapping[str, int]
"""Addresses by label."""

Place: TypeAlias = "int | str | tuple[int | str, int]"
"""One address (`0xC000`, `"C000"`, `"wScore"`), a range without its end (`"C000:C010"`), or an address and how many
bytes from there (`("wScore", 2)`)."""

_LINE = re.compile(r"^\s*[0-9A-Fa-f]+:([0-9A-Fa-f]{4})\s+(\S+)")


def parse_symbols(text: str) -> dict[str, int]:
    """Read the labels of a `.sym` text: lines like `00:C000 wScore`, `;` begins a comment."""
    found = {}
    for line in text.splitlines():
        match = _LINE.match(line.partition(";")[0])
        if match:
            found[match[2]] = int(match[1], 16)
    return found


def load_symbols(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read a `.sym` file."""
    symbols = parse_symbols(Path(path).read_text(encoding="utf-8", errors="replace"))
    if not symbols:
        raise ValueError(f"{os.fspath(path)} holds no symbols; expected lines like `00:c000 wScore`")
    return symbols


def symbols_of(symbols: Any) -> Symbols:
    """Addresses by label, or those of a `.sym` file."""
    if isinstance(symbols, (str, os.PathLike)):
        return load_symbols(symbols)
    if not isinstance(symbols, Mapping):
        raise TypeError(f"symbols are the path of a .sym file or a dictionary of addresses, found {symbols!r}")
    for label, address in symbols.items():
        if not isinstance(label, str) or not isinstance(address, (int, np.integer)):
            raise TypeError(f"symbols are addresses by label, found {label!r}: {address!r}")
    return symbols


def address_of(place: int | str, symbols: Symbols) -> int:
    """Find the address of a label, a number, or four hexadecimal digits."""
    if isinstance(place, (int, np.integer)) and not isinstance(place, bool):
        address = int(place)
    elif not isinstance(place, str):
        raise TypeError(f"an address is a whole number, a label or hexadecimal digits, found {place!r}")
    elif place in symbols:
        address = symbols[place]
    elif re.fullmatch(r"(0x|\$)?[0-9A-Fa-f]{1,5}", place):
        address = int(place.removeprefix("$").removeprefix("0x"), 16)
    else:
        raise ValueError(
            f"no symbol `{place}` among the {len(symbols)} known; expected one of them or a hexadecimal address"
        )
    if not 0 <= address <= 0x10000:
        raise ValueError(f"address {address:#x} is not inside 0x0000 to 0x10000")
    return address


def range_of(place: Place, symbols: Symbols) -> tuple[int, int]:
    """Find the first address of a place and the one behind its last."""
    if isinstance(place, tuple):
        if len(place) != 2:
            raise ValueError(f"a place is an address and a count of bytes, found {place!r}")
        low, length = address_of(place[0], symbols), whole("a count of bytes", place[1], 1)
        high = low + length
    elif isinstance(place, str) and ":" in place:
        first, _, end = place.partition(":")
        low, high = address_of(first, symbols), address_of(end, symbols)
    else:
        low = address_of(place, symbols)
        high = low + 1
    if not low < high <= 0x10000:
        raise ValueError(f"`{place}` is {low:#06x} to {high:#06x}, not a range inside 0x0000 to 0x10000")
    return low, high
