"""Numbers in a game's memory, and the rewards, ends and infos made of them.

All numbers that an environment watches are read in one go each step, for all envs, into one array.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.symbol import Symbols, address_of

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Number:
    """An unsigned number at an address or label, low byte first."""

    address: int | str
    width_bytes: int = 1


@dataclass(frozen=True)
class Change:
    """A reward: how much a number grew in the step, times `scale`. A new episode begins with no change."""

    address: int | str
    width_bytes: int = 1
    scale: float = 1.0

    @property
    def number(self) -> Number:
        return Number(self.address, self.width_bytes)


class Watch:
    """Named numbers of all envs, read together."""

    def __init__(self, numbers: Mapping[str, Number], symbols: Symbols, num_envs: int) -> None:
        self._places: dict[str, slice] = {}
        ranges: list[tuple[int, int]] = []
        for name, number in numbers.items():
            if not isinstance(number, Number):
                raise TypeError(f"`{name}` takes a gbxcule.Number, found {number!r}")
            if not 1 <= number.width_bytes <= 7:
                raise ValueError(f"a number has 1 to 7 bytes, found {number.width_bytes} for `{name}`")
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
