"""Gradients of arrays with `retain_grad`, which stay when the launch that wrote the array has been reversed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule._native import CompiledKernel
from gbxcule.warp.array_memory import array
from gbxcule.warp.indexed_array import indexedarray
from gbxcule.warp.structure import StructInstance


class Retained:
    """An argument of a kernel: an array whose gradient stays."""

    def __init__(self, value: array, name: str, kernel: Any, is_only_written: bool) -> None:
        self._value, self._name, self._key, self._is_only_written = value, name, kernel.key, is_only_written

    def copy(self) -> npt.NDArray[Any]:
        """Copy the gradient before the reverse runs."""
        assert self._value.grad is not None
        return self._value.grad.numpy().copy()

    def keep(self, before: npt.NDArray[Any]) -> None:
        """Keep the gradient that the reverse has set to 0."""
        assert self._value.grad is not None
        if np.array_equal(before, self._value.grad.numpy()):
            return
        if not self._is_only_written:
            raise NotImplementedError(
                f"`retain_grad` is for arrays that a kernel only writes: `{self._key}` does more with `{self._name}`"
            )
        self._value.keep_gradient(before)


def retained_by(kernel: Any, compiled: CompiledKernel, arguments: Mapping[str, Any]) -> list[Retained]:
    """List the arrays with `retain_grad` that a kernel may write."""
    arrays = [(name, each) for name, value in arguments.items() for each in arrays_in(value) if each.grad is not None]
    if not any(each.retain_grad for _, each in arrays):
        return []
    written = {name for name, _, is_written in compiled.parameters if is_written}
    retained = [(name, each) for name, each in arrays if each.retain_grad and name in written]
    if not retained:
        return []
    _, stored = kernel.loaded_and_stored()
    return [Retained(each, name, kernel, name in stored and _is_alone(each, arrays)) for name, each in retained]


def arrays_in(value: Any) -> Sequence[array]:
    """List the arrays of an argument: itself, the fields of a struct, or the array behind an indexed array."""
    if isinstance(value, array):
        return (value,)
    if isinstance(value, (StructInstance, indexedarray)):
        return [each for part in value.argument(lambda part: part).values() for each in arrays_in(part)]
    return ()


def _is_alone(value: array, arrays: list[tuple[str, array]]) -> bool:
    """Tell whether no other argument's gradient lies in the same memory."""
    shared = [each for _, each in arrays if np.may_share_memory(_gradient(each), _gradient(value))]
    return len(shared) == 1


def _gradient(value: array) -> npt.NDArray[Any]:
    assert value.grad is not None
    return value.grad.numpy()
