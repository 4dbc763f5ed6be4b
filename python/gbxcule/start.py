"""Where episodes begin: the ROM, its symbols, and the envs' seeds."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gbxcule import _native, game
from gbxcule.check import seed_of
from gbxcule.symbol import Symbols, parse_symbols, symbols_of

RomLike: TypeAlias = "str | os.PathLike[str] | bytes | None"


def rom_bytes(rom: RomLike) -> bytes:
    """The ROM: the built-in game for `None`, a built-in ROM by name, a file, or the bytes themselves."""
    if rom is None:
        return _native.built_in_rom(game.NAME)
    if isinstance(rom, (bytes, bytearray, memoryview)):
        return bytes(rom)
    if not isinstance(rom, (str, os.PathLike)):
        raise TypeError(f"a ROM is a path, its bytes, or the name of one that is built in, found {rom!r}")
    if isinstance(rom, str) and rom in _native.built_in_roms():
        return _native.built_in_rom(rom)
    path = Path(rom)
    if not path.exists():
        near = difflib.get_close_matches(path.name.upper(), _native.built_in_roms(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise FileNotFoundError(
            f"no ROM `{rom!s}`: it is neither a file nor one of those built in (`gbxcule roms`){meant}"
        )
    return path.read_bytes()


def rom_name(rom: RomLike) -> str:
    """What people call the ROM: a built-in name, or the file's."""
    if rom is None:
        return game.NAME
    return Path(rom).name if isinstance(rom, (str, os.PathLike)) else "a ROM"


def rom_symbols(rom: RomLike, symbols: Symbols | str | os.PathLike[str] | None) -> Symbols:
    """The symbols given, those of a built-in ROM, or none."""
    if symbols is not None:
        return symbols_of(symbols)
    name = game.NAME if rom is None else rom
    if isinstance(name, str) and name in _native.built_in_roms():
        return parse_symbols(_native.built_in_symbols(name))
    return {}


def env_seeds(seed: int | Sequence[int | None], mask: npt.NDArray[np.bool_]) -> list[int | None]:
    """A seed for each marked env: `seed` for the first env and the next number for the next, or one given for each;
    `None` leaves an env's alone."""
    count = len(mask)
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes)):
        seeds = [seed_of(each) for each in seed]
    else:
        first = seed_of(seed)
        seeds = [None if first is None else first + env for env in range(count)]
    if len(seeds) != count:
        raise ValueError(f"expected one seed for each of the {count} envs, found {len(seeds)}")
    return [one % 2**64 if marked and one is not None else None for one, marked in zip(seeds, mask, strict=True)]
