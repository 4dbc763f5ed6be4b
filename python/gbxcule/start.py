"""Where episodes begin: the ROM, its symbols, and a chance for every episode that depends on the seed alone."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gbxcule import _native, game
from gbxcule.symbol import Symbols, load_symbols, parse_symbols

RomLike: TypeAlias = "str | os.PathLike[str] | bytes | None"

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def rom_bytes(rom: RomLike) -> bytes:
    """The ROM: the built-in game for `None`, a built-in ROM by name, a file, or the bytes themselves."""
    if rom is None:
        return _native.built_in_rom(game.NAME)
    if isinstance(rom, bytes):
        return rom
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


def rom_symbols(rom: RomLike, symbols: Symbols | str | os.PathLike[str] | None) -> Symbols:
    """The symbols given, those of a built-in ROM, or none."""
    if isinstance(symbols, (str, os.PathLike)):
        return load_symbols(symbols)
    if symbols is not None:
        return symbols
    name = game.NAME if rom is None else rom
    if isinstance(name, str) and name in _native.built_in_roms():
        return parse_symbols(_native.built_in_symbols(name))
    return {}


class Chance:
    """Sixteen bits for each episode of each env, made of the env's seed and the episode's number alone.

    An env thus plays the same games whatever its neighbours do, and env `i` of a swarm seeded `s` those of a single
    env seeded `s + i`.
    """

    def __init__(self, num_envs: int) -> None:
        self._seeds = np.zeros(num_envs, np.uint64)
        self._episodes = np.zeros(num_envs, np.uint64)

    def seed(self, seed: int | Sequence[int | None], mask: npt.NDArray[np.bool_]) -> None:
        """Begin anew with these seeds: a number for the first env, or one for each; `None` leaves an env's alone."""
        count = len(self._seeds)
        if isinstance(seed, (int, np.integer)):
            seeds: Sequence[int | None] = [int(seed) + env for env in range(count)]
        else:
            seeds = seed
        if len(seeds) != count:
            raise ValueError(f"expected one seed for each of the {count} envs, found {len(seeds)}")
        for env in np.flatnonzero(mask):
            one = seeds[int(env)]
            if one is not None:
                self._seeds[env] = np.uint64(one % 2**64)
                self._episodes[env] = 0

    def draw(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint16]:
        """A number from 1 to 65,535 for the next episode of each marked env."""
        self._episodes[mask] += np.uint64(1)
        with np.errstate(over="ignore"):
            # splitmix64, once over the seed and once over the episode.
            bits = _mixed(_mixed(self._seeds[mask]) + self._episodes[mask] * _GOLDEN)
        return (bits % np.uint64(65535) + np.uint64(1)).astype(np.uint16)


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    bits = bits + _GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed
