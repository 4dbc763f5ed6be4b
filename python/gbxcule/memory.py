"""Numbers in a game's memory, and the rewards, ends and infos made of them.

Each step reads all numbers that an environment watches at once, for all envs, into one array.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.check import whole
from gbxcule.symbol import Symbols, address_of

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Number:
    """An unsigned number at an address or label, low byte first."""

    address: int | str
    width_bytes: int = 1

    def __post_init__(self) -> None:
        _check_width(self.width_bytes)


@dataclass(frozen=True)
class Change:
    """A reward: the growth of a number in a step, times `scale`; an episode begins with none."""

    address: int | str
    width_bytes: int = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        _check_width(self.width_bytes)
        if not isinstance(self.scale, (int, float, np.number)) or not math.isfinite(self.scale):
            raise ValueError(f"a reward's scale is a finite number, found {self.scale!r}")

    @property
    def number(self) -> Number:
        return Number(self.address, self.width_bytes)


def _check_width(width_bytes: Any) -> None:
    # A whole number of 7 bytes and its differences are exact.
    if whole("width_bytes", width_bytes, 1) > 7:
        raise ValueError(f"a number has 1 to 7 bytes, found {width_bytes}")


class Watch:
    """Named numbers of all envs, read together."""

    def __init__(self, numbers: Mapping[str, Number], symbols: Symbols, num_envs: int) -> None:
        self._places: dict[str, slice] = {}
        ranges: list[tuple[int, int]] = []
        for name, number in numbers.items():
            if not isinstance(number, Number):
                raise TypeError(f"`{name}` takes a gbxcule.Number, found {number!r}")
            low = address_of(number.address, symbols)
            begin = sum(high - low for low, high in ranges)
            self._places[name] = slice(begin, begin + number.width_bytes)
            ranges.append((low, low + number.width_bytes))
        self._view = _native.View.memory(ranges)
        self._bytes: Bytes = np.zeros((num_envs, *self._view.shape), np.uint8)

    def look(self, swarm: _native.Swarm, mask: bytes | None = None) -> None:
        """Read the numbers of all envs, or of the marked ones."""
        if self._places:
            swarm.show(self._view, self._bytes, mask)

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        columns = self._bytes[:, self._places[name]].astype(np.int64)
        return columns @ (1 << 8 * np.arange(columns.shape[1], dtype=np.int64))
