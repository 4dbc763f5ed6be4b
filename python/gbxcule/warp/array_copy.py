"""Copies between arrays, which tapes can reverse and captures can record."""

from typing import Any

import numpy as np

from gbxcule.warp import capture, overwritten, tape
from gbxcule.warp.array_memory import array
from gbxcule.warp.indexed_array import indexedarray


class _Part:
    """The elements of one side of a copy: a whole array in its shape, or a range of the flat array."""

    def __init__(self, of: array, offset: int, count: int, is_whole: bool) -> None:
        if count > of.size - offset:
            raise RuntimeError(f"{of!r} has fewer than {count} elements from element {offset} on")
        self.array, self._is_whole, self._range = of, is_whole, slice(offset, offset + count)

    def memory(self) -> Any:
        return self._seen(self.array)

    def gradient(self) -> Any:
        return None if self.array.grad is None else self._seen(self.array.grad)

    def _seen(self, of: array) -> Any:
        return of.numpy() if self._is_whole else of.flatten()[self._range].numpy()


def copy(dest: array | indexedarray, src: array | indexedarray, dest_offset: int = 0, src_offset: int = 0,
         count: int = 0, stream: Any = None) -> None:  # fmt: skip
    """Copy elements from one array to another: the whole source, or `count` elements from the offsets on."""
    if isinstance(dest, indexedarray):
        dest.assign(src)
        return
    if isinstance(src, indexedarray):
        capture.run(lambda: dest.assign(src.contiguous()))
        return
    to, of = _copied(dest, src, dest_offset, src_offset, count)
    tape.record(lambda: capture.run(lambda: _reverse(to, of)), [dest, src])


def _reverse(to: _Part, of: _Part) -> None:
    """Add the gradient of a copy's destination to that of its source."""
    given, taken = to.gradient(), of.gradient()
    if given is None or to.array.grad is None:
        return
    if taken is not None:
        taken += given.reshape(taken.shape)
    before = to.array.grad.numpy().copy() if to.array.retain_grad else None
    given[...] = 0
    if before is not None:
        to.array.keep_gradient(before)


def _copied(dest: array, src: array, dest_offset: int, src_offset: int, count: int) -> tuple[_Part, _Part]:
    amount = count or src.size
    is_whole = dest_offset == src_offset == 0 and amount == src.size and src.shape == dest.shape
    to, of = _Part(dest, dest_offset, amount, is_whole), _Part(src, src_offset, amount, is_whole)
    if amount:
        target, source = to.memory(), of.memory()
        overwritten.before(dest.numpy())
        capture.run(lambda: np.copyto(target, source.reshape(target.shape), casting="unsafe"))
    return to, of


def assign(dest: array, source: Any) -> None:
    """Copy from an array, or from data to make one from; a tape records only a copy from an array."""
    if isinstance(source, (array, indexedarray)):
        copy(dest, source)
        return
    if not hasattr(source, "__len__"):
        raise RuntimeError(f"`assign` takes an array, or numbers for one, found `{source!r}`")
    _copied(dest, array(source, dtype=dest.dtype, copy=capture.is_capturing()), 0, 0, 0)


def clone(src: array, device: Any = None, requires_grad: bool | None = None, pinned: bool | None = None,
          retain_grad: bool = False) -> array:  # fmt: skip
    """Copy an array into a new one."""
    wanted = src.requires_grad if requires_grad is None else requires_grad
    made = array(shape=src.shape, dtype=src.dtype, device=device, requires_grad=wanted, retain_grad=retain_grad)
    copy(made, src)
    return made
