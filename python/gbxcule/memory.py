"""Numbers in a game's memory, and the rewards, ends and infos that are made from them.

A step reads all numbers that an environment watches, for all envs, into one array at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import shown, switch_of, whole
from gbxcule.symbol import Symbols, place_of

Bytes = npt.NDArray[np.uint8]

# Rewards are float32.
MAX_REWARD = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Number:
    """A number at an address or label, by default unsigned and low byte first; `bcd` means two decimal digits a byte,
    as in many games' scores and money."""

    address: int | str
    width_bytes: int = 1
    big_endian: bool = False
    signed: bool = False
    bcd: bool = False

    def __post_init__(self) -> None:
        _check_format(self)


@dataclass(frozen=True)
class Change:
    """A reward: the growth of a number in a step, times `scale`; the start of an episode counts for nothing."""

    address: int | str
    width_bytes: int = 1
    scale: float = 1.0
    big_endian: bool = False
    signed: bool = False
    bcd: bool = False

    def __post_init__(self) -> None:
        _check_format(self)
        if isinstance(self.scale, bool) or not isinstance(self.scale, (int, float, np.integer, np.floating)):
            raise ValueError(f"a reward's scale is a finite number, found {self.scale!r}")
        # The comparison takes whole numbers of any size, and is false for NaN.
        if not abs(self.scale) <= MAX_REWARD:
            raise ValueError(f"a reward's scale is a finite number, found {shown(self.scale)}; a float32 is at most {MAX_REWARD:.3g}")

    @property
    def number(self) -> Number:
        return Number(self.address, self.width_bytes, self.big_endian, self.signed, self.bcd)


def changes_of(reward: Any) -> list[Change]:
    """Return the changes in memory that a reward is made of."""
    if reward is None:
        return []
    changes = list(reward) if isinstance(reward, Sequence) and not isinstance(reward, bytes) else [reward]
    for change in changes:
        if not isinstance(change, Change):
            raise TypeError(
                f"a reward is a gbxcule.Change, a list of these, the name of a program, or False for no reward, found {shown(change)}"
            )
    return changes


def _check_format(number: Number | Change) -> None:
    # Numbers of 7 bytes and their differences are exact in int64.
    if whole("width_bytes", number.width_bytes, 1) > 7:
        raise ValueError(f"a number has 1 to 7 bytes, found {number.width_bytes}")
    for name in ("big_endian", "signed", "bcd"):
        switch_of(name, getattr(number, name))
    if number.signed and number.bcd:
        raise ValueError("decimal digits have no sign: a number is signed or bcd")


def numbers_in(columns: Bytes, number: Number) -> npt.NDArray[np.int64]:
    """Return the number that each row of bytes holds."""
    digits = columns.astype(np.int64)
    if number.bcd:
        digits = (digits >> 4) * 10 + (digits & 15)
    places = range(number.width_bytes) if number.big_endian else range(number.width_bytes - 1, -1, -1)
    numbers: npt.NDArray[np.int64] = digits[:, places[0]]
    for place in places[1:]:
        numbers = numbers * (100 if number.bcd else 256) + digits[:, place]
    if number.signed:
        sign = 1 << (8 * number.width_bytes - 1)
        numbers = (numbers ^ sign) - sign
    return numbers


def bounds_of(number: Number) -> tuple[int, int]:
    """Return the least and the greatest number that its bytes can hold."""
    values = 1 << 8 * number.width_bytes
    if number.signed:
        return -values // 2, values // 2 - 1
    # Half a byte that is no decimal digit still counts, as up to 15.
    return 0, 165 * (100**number.width_bytes - 1) // 99 if number.bcd else values - 1


class Watch:
    """Named numbers of all envs, read together."""

    def __init__(self, numbers: Mapping[str, Number], symbols: Symbols, num_envs: int) -> None:
        self._places: dict[str, slice] = {}
        self._numbers = dict(numbers)
        ranges: list[tuple[int, int]] = []
        for name, number in numbers.items():
            if not isinstance(number, Number):
                raise TypeError(f"`{name}` takes a gbxcule.Number, found {number!r}")
            low = place_of(number.address, symbols)
            begin = sum(high - low for low, high in ranges)
            self._places[name] = slice(begin, begin + number.width_bytes)
            ranges.append((low, low + number.width_bytes))
        self._view = _native.View.memory(ranges)
        self._bytes: Bytes = np.zeros((num_envs, *self._view.shape), np.uint8)

    def read(self, swarm: _native.Swarm, mask: bytes | None = None) -> None:
        """Read the numbers of all envs, or of the marked ones."""
        if self._places:
            swarm.show(self._view, self._bytes, mask)

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        return numbers_in(self._bytes[:, self._places[name]], self._numbers[name])
