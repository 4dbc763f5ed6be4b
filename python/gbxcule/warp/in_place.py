"""Launches that overwrite numbers which their own reverse needs, such as `x[i] = x[i] * x[i]`.

If each thread reads only its own elements, and reads them before it writes them, then a copy of the array from before
the launch has all numbers that it read. A tape makes this copy, and the reverse gets it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule._native import CompiledKernel, CompileError
from gbxcule.warp import capture

Memory = npt.NDArray[Any]


class Copies:
    """Copies of arrays from before a launch, by parameter, and the kernel whose reverse reads them."""

    def __init__(self, compiled: CompiledKernel, added: Sequence[str], memory: Mapping[str, Memory]) -> None:
        self.compiled = compiled
        # Parameters whose copy goes to a parameter of its own, behind all others.
        self._added = added
        self._copies = {name: np.empty_like(each) for name, each in memory.items()}

        def copy() -> None:
            for name, each in self._copies.items():
                np.copyto(each, memory[name])

        capture.run(copy)

    def reverse(self, grid: list[int], arguments: Mapping[str, Any], gradients: dict[str, Any]) -> None:
        """Run the reverse with the copies; each has a gradient of its own, which is added to the array's."""
        values, beside = dict(arguments), dict(gradients)
        for name, copy in self._copies.items():
            place = f"{name}_before_launch" if name in self._added else name
            values[place] = copy
            if name in gradients:
                beside[place] = np.zeros_like(gradients[name])
        self.compiled.backward(grid, tuple(values.values()), beside, "cpu")
        for name in self._copies:
            if name in gradients:
                gradients[name] += beside[f"{name}_before_launch" if name in self._added else name]


def copies_for(compiled: CompiledKernel, grid: list[int], memories: list[tuple[str, Memory]]) -> Copies | None:
    """Copy what the reverse of a launch needs and the launch overwrites; return None if no copy helps."""
    dims, pairs = _reads_before_writes(compiled)
    if not pairs or any(extent != 1 for extent in grid[dims:]):
        return None
    derived = _with_copies(compiled)
    if derived is None:
        return None
    made, added, read = derived
    targets = [(name, memory) for name, memory in memories if name in written(compiled)]
    chosen = {}
    for name, memory in memories:
        others = [(to, other) for to, other in targets if to != name and np.may_share_memory(memory, other)]
        if name not in added and not (others and name in read):
            continue
        is_known = all((name, to) in pairs and _is_one(memory, other) for to, other in others)
        if not is_known or memory.dtype.fields or _overlaps_itself(memory):
            return None
        chosen[name] = memory
    return Copies(made, added, chosen) if chosen else None


@lru_cache(maxsize=1024)
def _with_copies(compiled: CompiledKernel) -> tuple[CompiledKernel, list[str], list[str]] | None:
    """Return a kernel that has a reverse, its added copies, and the parameters that its reverse reads."""
    try:
        return compiled, [], compiled.read_by_reverse
    except CompileError:
        _, pairs = _reads_before_writes(compiled)
        added = [read for read, to in pairs if read == to]
    try:
        made = compiled.with_copies(added)
        return made, added, made.read_by_reverse
    except CompileError:
        # `backward` will raise the error of the kernel without copies.
        return None


@lru_cache(maxsize=1024)
def _reads_before_writes(compiled: CompiledKernel) -> tuple[int, list[tuple[str, str]]]:
    return compiled.reads_before_writes


@lru_cache(maxsize=1024)
def written(compiled: CompiledKernel) -> frozenset[str]:
    """Return the parameters that a launch may write."""
    return frozenset(name for name, _, is_written in compiled.parameters if is_written)


def _is_one(one: Memory, other: Memory) -> bool:
    """Tell whether two arrays have the same elements at the same places."""
    key = [(each.__array_interface__["data"], each.shape, each.strides, each.dtype) for each in (one, other)]
    return key[0] == key[1]


def _overlaps_itself(memory: Memory) -> bool:
    """Tell whether two elements may share memory, as with a stride of 0."""
    reach = memory.itemsize
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(memory.strides, memory.shape, strict=True)):
        if extent > 1 and stride < reach:
            return True
        reach += stride * (extent - 1)
    return False
