"""Starts of episodes: the ROM, its symbols, states, cartridge RAM, and the envs' seeds."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from gbxcule import _native, game
from gbxcule.argument_check import content, path_of, quoted, seed_of, shown, whole
from gbxcule.symbol import Symbols, parse_symbols, symbols_of

# Types of an argument that is one state, not several.
_ONE = (bytes, bytearray, memoryview, str, os.PathLike)

# Bytes of the largest cartridge.
MAX_ROM_BYTES = 1 << 23

# Bytes of cartridge RAM that the machine can address at once.
_BANK_BYTES = 0x2000

RomLike: TypeAlias = "str | os.PathLike[str] | bytes | None"


def rom_bytes(rom: RomLike) -> bytes:
    """Return the ROM: PEARL_DRIFT for `None`, a built-in ROM by name, a file, or the bytes themselves."""
    if rom is None:
        return _native.built_in_rom(game.NAME)
    if isinstance(rom, (bytes, bytearray, memoryview)):
        return bytes(rom)
    if not isinstance(rom, (str, os.PathLike)):
        raise TypeError(f"a ROM is a path, its bytes, or the name of a built-in ROM, found {rom!r}")
    if isinstance(rom, str) and rom in _native.built_in_roms():
        return _native.built_in_rom(rom)
    path = Path(path_of("a ROM", rom))
    if not path.exists():
        near = _native.meant_rom(os.fspath(rom))
        meant = f"; did you mean {near}?" if near else ""
        raise FileNotFoundError(
            f"no ROM {quoted(str(rom))}: it is neither a file nor a built-in ROM (`gbxcule roms`){meant}"
        )
    return _native.read_file(os.fspath(rom), MAX_ROM_BYTES)


def rom_name(rom: RomLike) -> str:
    """Return the ROM's name: a built-in name, or the file's."""
    if rom is None:
        return game.NAME
    return Path(rom).name if isinstance(rom, (str, os.PathLike)) else "a ROM"


def rom_symbols(rom: RomLike, symbols: Symbols | str | os.PathLike[str] | None) -> Symbols:
    """Return the given symbols, and those of a built-in ROM, which its reward and its end need."""
    name = game.NAME if rom is None else rom
    own: Symbols = {}
    if isinstance(name, str) and name in _native.built_in_roms():
        own = parse_symbols(_native.built_in_symbols(name))
    return own if symbols is None else {**own, **symbols_of(symbols)}


def is_one_for_each(seed: Any) -> TypeGuard[Sequence[int | None]]:
    """Tell whether `seed` is a sequence with a seed for each env."""
    if isinstance(seed, np.ndarray):
        return seed.ndim > 0
    return isinstance(seed, Sequence) and not isinstance(seed, (str, bytes))


def env_seeds(seed: int | Sequence[int | None], mask: npt.NDArray[np.bool_], first_env: int = 0) -> list[int | None]:
    """Return a seed for each marked env: a single `seed` mixed with the env's number, so that two swarms share none
    and env 0 has `seed` itself, or one of a sequence, in which None leaves the env's seed unchanged."""
    count = len(mask)
    if is_one_for_each(seed):
        seeds = [seed_of(each) for each in seed]
    else:
        one_for_all = seed_of(seed)
        mixed = [] if one_for_all is None else _native.env_seeds(one_for_all % 2**64, first_env, count)
        seeds = list(mixed) or [None] * count
    if len(seeds) != count:
        raise ValueError(f"expected one seed for each of the {count} envs, found {len(seeds)}")
    return [one % 2**64 if marked and one is not None else None for one, marked in zip(seeds, mask, strict=True)]


def weights_of(weights: Any) -> list[int]:
    """Return a weight for each start."""
    if isinstance(weights, (str, bytes)) or not isinstance(weights, Iterable):
        raise TypeError(f"weights are whole numbers, one for each start, found {weights!r}")
    numbers = [whole("a weight", weight, 0) for weight in weights]
    if not any(numbers):
        raise ValueError("episodes need a state to begin in: give at least one weight above 0")
    return numbers


def states_of(name: str, states: Any) -> list[bytes]:
    """Return several states, each bytes or the content of a file."""
    if isinstance(states, (*_ONE, Mapping)) or not isinstance(states, Iterable):
        raise TypeError(f"{name} takes several states, bytes or paths, as in a list, found {shown(states)}")
    return [content(name, state) for state in states]


def one_or_more_states(name: str, states: Any) -> list[bytes]:
    """Return one state for all, or several."""
    return [content(name, states)] if isinstance(states, _ONE) else states_of(name, states)


def bank_of(bank: Any, battery: bytes) -> slice:
    """Return the bytes of a bank of a cartridge's memory."""
    # A clock's registers, 48 bytes, may follow the RAM.
    size = len(battery) - len(battery) % 0x100
    banks = -(-size // _BANK_BYTES)
    if not 0 <= whole("a bank", bank, 0) < banks:
        raise ValueError(f"no bank {bank} of cartridge RAM; this cartridge has {banks}")
    return slice(bank * _BANK_BYTES, min((bank + 1) * _BANK_BYTES, size))


def with_bank(battery: bytes, bank: Any, data: bytes) -> bytes:
    """Return a cartridge's memory with other bytes in one bank."""
    place = bank_of(bank, battery)
    if len(data) != place.stop - place.start:
        raise ValueError(f"bank {bank} has {place.stop - place.start} bytes, found {len(data)}")
    return battery[: place.start] + data + battery[place.stop :]
