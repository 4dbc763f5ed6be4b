"""Arrays that are overwritten before a reverse reads them.

A reverse needs arrays as its launch left them. So each function that writes memory calls `before`; each tape that
waits for `backward` then saves the numbers that it needs, and puts them back when it reverses the earlier launches.
"""

import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture

Memory = npt.NDArray[Any]


@dataclasses.dataclass(slots=True)
class Reader:
    """Memory of a tape's step, and a test whether the step's reverse reads it."""

    memory: Memory
    is_read: Callable[[], bool]
    # Equal for steps that are alike, so that the test runs once for them.
    question: Any


class Keeper:
    """Saves numbers that the steps of a tape need when something overwrites them."""

    def __init__(self, steps: list[Callable[[], None]]) -> None:
        self._steps = steps
        # Readers by allocation, then by memory and question.
        self._readers: dict[int, dict[Any, Reader]] = {}
        self._restored: dict[int, Memory] = {}

    def need(self, reader: Reader) -> None:
        """Note that a step's reverse may read memory."""
        readers = self._readers.setdefault(_allocation(reader.memory), {})
        readers[id(reader.memory), reader.question] = reader

    def keep(self, memory: Memory) -> None:
        """Copy memory that is about to be overwritten, if a step's reverse reads it; add a step that restores it."""
        readers = self._readers.get(_allocation(memory))
        if readers is None:
            return
        shared = {key: each for key, each in readers.items() if np.may_share_memory(each.memory, memory)}
        needed = [key for key, each in shared.items() if each.is_read()]
        if not needed:
            return
        numbers = np.empty_like(memory)
        capture.run(lambda: np.copyto(numbers, memory))
        self._steps.append(lambda: capture.run(lambda: np.copyto(memory, numbers)))
        self._restored[id(memory)] = memory
        for key in needed:
            if memory.flags.forc and _is_within(readers[key].memory, memory):
                del readers[key]

    def put_back(self) -> Callable[[], None]:
        """Copy the memory that steps restore; return a function that writes the copies back."""
        pairs = [(memory, np.empty_like(memory)) for memory in self._restored.values()]

        def copy(there: bool) -> None:
            for memory, numbers in reversed(pairs) if there else pairs:
                np.copyto(*((memory, numbers) if there else (numbers, memory)))

        capture.run(lambda: copy(False))
        return lambda: capture.run(lambda: copy(True))


_allocations: "dict[int, tuple[weakref.ref[Memory], int]]" = {}


def _allocation(memory: Memory) -> int:
    """Return the address of the whole block that memory is a part of."""
    key = id(memory)
    if key not in _allocations:
        block = memory
        while isinstance(block.base, np.ndarray):
            block = block.base
        # NumPy takes microseconds to tell an address.
        address = int(block.__array_interface__["data"][0])
        _allocations[key] = weakref.ref(memory, lambda _: _allocations.pop(key, None)), address
    return _allocations[key][1]


def _is_within(part: Memory, whole: Memory) -> bool:
    (first, last), (begin, end) = _ends(part), _ends(whole)
    return begin <= first and last <= end


def _ends(memory: Memory) -> tuple[int, int]:
    address: int = memory.__array_interface__["data"][0]
    reaches = [(extent - 1) * stride for extent, stride in zip(memory.shape, memory.strides, strict=True)]
    low, high = (sum(chosen(reach, 0) for reach in reaches) for chosen in (min, max))
    return address + low, address + high + memory.itemsize


_keepers: "dict[int, weakref.ref[Keeper]]" = {}


def watch(keeper: Keeper) -> None:
    """Call a tape's keeper before memory is overwritten, until it is released."""
    key = id(keeper)
    _keepers[key] = weakref.ref(keeper, lambda _: _keepers.pop(key, None))


def release(keeper: Keeper) -> None:
    """Stop calling a keeper."""
    _keepers.pop(id(keeper), None)


def is_watched() -> bool:
    """Tell whether a tape waits for `backward`."""
    return bool(_keepers)


def before(*memories: Memory) -> None:
    """Let all keepers save memory that is about to be overwritten."""
    for reference in list(_keepers.values()):
        keeper = reference()
        if keeper is not None:
            for memory in memories:
                keeper.keep(memory)
