"""Names for addresses: `.sym` files, and the spellings of places in memory."""

import os
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from gbxcule import _native
from gbxcule.argument_check import nearest, path_of, whole

Symbols: TypeAlias = Mapping[str, int]
"""Addresses by label."""

Place: TypeAlias = "int | str | tuple[int | str, int]"
"""One address (`0xC000`, `"C000"`, `"wScore"`), a range without its end (`"C000:C010"`), or an address and a number
of bytes (`("wScore", 2)`). A label with a bank, and `"02:D100"`, are read in that bank, whichever bank is mapped.
"""

# Most bytes of a file of symbols.
MAX_TEXT_BYTES = 1 << 24

# A bank and an address. A range differs: it has a label or four digits before the colon.
_BANKED = re.compile(r"^([0-9A-Fa-f]{2,3}):([0-9A-Fa-f]{4})$")
_LINE = re.compile(r"^\s*([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{4})\s+(\S+)")


class Banked(int):
    """An address with a bank, as a `.sym` file gives both; it is a plain number otherwise."""

    bank: int

    def __new__(cls, address: int, bank: int) -> "Banked":
        made = super().__new__(cls, address)
        made.bank = bank
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Banked, (int(self), self.bank)


def parse_symbols(text: str) -> dict[str, int]:
    """Read the labels of a `.sym` text: lines like `00:C000 wScore`, `;` begins a comment."""
    addresses: dict[str, int] = {}
    for line in text.splitlines():
        match = _LINE.match(line.partition(";")[0])
        if match:
            addresses[match[3]] = Banked(int(match[2], 16), int(match[1], 16))
    return addresses


def load_symbols(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read a `.sym` file."""
    text = _native.read_file(path_of("a file of symbols", path), MAX_TEXT_BYTES).decode("utf-8-sig", errors="replace")
    symbols = parse_symbols(text)
    if not symbols:
        raise ValueError(f"{os.fspath(path)} holds no symbols; expected lines like `00:c000 wScore`")
    return symbols


def listing_of(symbols: Symbols) -> str:
    """Write labels as the text of a `.sym` file."""
    lines = (f"{getattr(at, 'bank', 0):02x}:{int(at):04x} {label}\n" for label, at in symbols.items() if 0 <= at <= 0xFFFF)
    return "".join(lines)


def symbols_of(symbols: Any) -> Symbols:
    """Return addresses by label: the given ones, or those of a `.sym` file."""
    if isinstance(symbols, (str, os.PathLike)):
        return load_symbols(symbols)
    if not isinstance(symbols, Mapping):
        raise TypeError(f"symbols are the path of a .sym file or a dictionary of addresses, found {symbols!r}")
    for label, address in symbols.items():
        if not isinstance(label, str) or isinstance(address, bool) or not isinstance(address, (int, np.integer)):
            raise TypeError(f"symbols are addresses by label, found {label!r}: {address!r}")
    return symbols


def end_of(place: int | str, symbols: Symbols) -> int:
    """Find the end of a range, the address after its last byte, from a label, a number, or hexadecimal digits. Digits
    are four or five, or fewer after `0x` or `$`, because `Bad` is a label."""
    if isinstance(place, (int, np.integer)) and not isinstance(place, bool):
        address = int(place)
    elif not isinstance(place, str):
        raise TypeError(f"an address is a whole number, a label or hexadecimal digits, found {place!r}")
    elif place in symbols:
        address = symbols[place]
    elif re.fullmatch(r"(0x|\$)[0-9A-Fa-f]{1,5}|[0-9A-Fa-f]{4,5}", place):
        address = int(place.removeprefix("$").removeprefix("0x"), 16)
    else:
        raise ValueError(_unknown(place, symbols))
    if not 0 <= address <= 0x10000:
        raise ValueError(f"address {address:#x} is not inside 0x0000 to 0x10000")
    return address


def _unknown(label: str, symbols: Symbols) -> str:
    address = "a hexadecimal address, such as C0DE or 0x80"
    if not symbols:
        return f'no symbol `{label}`: none is known without a .sym file; pass symbols="game.sym", or {address}'
    near = nearest(label, symbols)
    meant = f"did you mean `{near}`?" if near else f"expected one of them or {address}"
    return f"no symbol `{label}` among the {len(symbols)} known; {meant}"


def address_of(place: int | str, symbols: Symbols) -> int:
    """Find the address of a label, a number, or hexadecimal digits."""
    address = end_of(place, symbols)
    if address > 0xFFFF:
        raise ValueError(f"address {address:#x} is not inside 0x0000 to 0xFFFF")
    return address


def place_of(place: int | str, symbols: Symbols) -> int:
    """Encode the place of a label, a number, or hexadecimal digits for the machine: the address in 16 bits, and above
    them the bank plus one, or 0 without a bank. A ROM label in bank 0 counts as one without a bank, because some
    linkers put all of a ROM of 32 KiB into bank 0."""
    if isinstance(place, str) and place not in symbols and (match := _BANKED.match(place)):
        return (int(match[1], 16) + 1) << 16 | int(match[2], 16)
    address = address_of(place, symbols)
    named = symbols[place] if isinstance(place, str) and place in symbols else place
    has_banks = 0x4000 <= address < 0xC000 or 0xD000 <= address < 0xE000
    if not isinstance(named, Banked) or not has_banks or (named.bank == 0 and address < 0x8000):
        return address
    return (named.bank + 1) << 16 | address


def labels_of(symbols: Symbols, *programs: str | None) -> dict[str, int]:
    """Find the places of all labels, if any program needs them."""
    if not any(programs):
        return {}
    return {label: place_of(label, symbols) for label, address in symbols.items() if 0 <= address < 0x10000}


def code_of(place: int | str, symbols: Symbols) -> tuple[int, int]:
    """Find the bank and the address of an instruction, given as a label or as `bank:address` in hexadecimal digits.
    Without a bank this is the first bank that can be mapped at the address, in a ROM of 32 KiB the only one."""
    if isinstance(place, str) and place not in symbols and ":" in place:
        bank, _, digits = place.partition(":")
        if not re.fullmatch(r"[0-9A-Fa-f]{1,3}", bank) or digits in symbols:
            raise ValueError(f"a place in the program is a label or bank:address, such as 01:4150, found {place!r}")
        return int(bank, 16), _code(address_of(digits, {}), place)
    named = symbols[place] if isinstance(place, str) and place in symbols else address_of(place, symbols)
    address = _code(named, place)
    return (named.bank if isinstance(named, Banked) else int(0x4000 <= address < 0x8000)), address


def _code(address: int, place: Any) -> int:
    if not 0 <= address < 0x10000:
        raise ValueError(f"no instruction is at {place!r}: addresses are 0x0000 to 0xFFFF")
    return int(address)


def range_of(place: Place, symbols: Symbols) -> tuple[int, int]:
    """Find the first address of a place and the one after its last, as the CPU sees them, without a bank."""
    if isinstance(place, tuple):
        if len(place) != 2:
            raise ValueError(f"a place is an address and a count of bytes, found {place!r}")
        low, length = address_of(place[0], symbols), whole("a count of bytes", place[1], 1)
        high = low + length
    elif isinstance(place, str) and ":" in place:
        first, _, end = place.partition(":")
        low, high = address_of(first, symbols), end_of(end, symbols)
    else:
        low = address_of(place, symbols)
        high = low + 1
    if low >= high:
        raise ValueError(f"the range `{place}` ends at {high:#06x}, before it begins at {low:#06x}: name its lower end first")
    if high > 0x10000:
        raise ValueError(f"`{place}` is {low:#06x} to {high:#06x}, not a range inside 0x0000 to 0x10000")
    return low, high


def banked_range_of(place: Place, symbols: Symbols) -> tuple[int, int]:
    """Find the first place of a range and the one after its last, both in the bank of the first; see `place_of`."""
    first = _first(place)
    if isinstance(first, str) and first not in symbols and _BANKED.match(first):
        low = place_of(first, symbols)
        if not isinstance(place, tuple):
            return low, low + 1
        if len(place) != 2:
            raise ValueError(f"a place is an address and a count of bytes, found {place!r}")
        return low, low + whole("a count of bytes", place[1], 1)
    low, high = range_of(place, symbols)
    if isinstance(first, str) and first not in symbols:
        first = first.partition(":")[0]
    begin = place_of(first, symbols) & ~0xFFFF
    return begin + low, begin + high


def written_from(place: Place, count: int, symbols: Symbols) -> int:
    """Find the place to write `count` bytes to. A place with a size must have `count` bytes; at an address or a label
    alone the bytes begin."""
    low, high = banked_range_of(place, symbols)
    if low & 0xFFFF < 0x8000:
        shown_place = f"{place:04X}" if isinstance(place, int) else place
        raise ValueError(f"`{shown_place}` is in ROM, which can't be written; writable memory begins at 8000")
    says_count = isinstance(place, tuple) or (isinstance(place, str) and ":" in place and not _BANKED.match(place))
    if says_count and count != high - low:
        raise ValueError(f"`{place}` has {high - low} bytes, found {count} to write; write {high - low} bytes, or give only the first address")
    return low


def _first(place: Place) -> int | str:
    return place[0] if isinstance(place, tuple) and place else place
