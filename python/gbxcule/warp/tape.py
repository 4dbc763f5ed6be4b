"""Tapes: what was launched and copied, to be reversed."""

from collections.abc import Callable, Sequence
from typing import Any

from gbxcule.warp import capture
from gbxcule.warp.array_memory import array
from gbxcule.warp.structure import StructInstance

_open: list["Tape"] = []


class _Gradients(dict[Any, Any]):
    """Gradients by array; those of a struct are one with the gradients of its arrays."""

    def __missing__(self, key: Any) -> Any:
        if not isinstance(key, StructInstance):
            raise KeyError(key)
        made = key._struct()
        for name in key._struct.vars:
            value = getattr(key, name)
            if isinstance(value, array):
                setattr(made, name, value.grad)
            elif isinstance(value, StructInstance):
                setattr(made, name, self[value])
        return made


class Tape:
    """Record of launches within a `with`; `backward` runs their reverses, the last one first."""

    def __init__(self) -> None:
        self.gradients: dict[Any, Any] = _Gradients()
        self.launches: list[Callable[[], None]] = []
        self.loss: array | None = None

    def __enter__(self) -> "Tape":
        if _open:
            raise RuntimeError("a tape records already: one records at a time")
        _open.append(self)
        return self

    def __exit__(self, *_error: Any) -> None:
        _open.remove(self)

    def record_func(self, backward: Callable[[], None], arrays: Sequence[array]) -> None:
        """Record what reverses something that was done to arrays."""
        self.launches.append(backward)
        for value in arrays:
            self._remember(value)

    def _remember(self, value: Any) -> None:
        if isinstance(value, StructInstance):
            for each in value.argument(lambda part: part).values():
                self._remember(each)
        elif isinstance(value, array) and value.grad is not None:
            self.gradients[value] = value.grad

    def backward(self, loss: array | None = None, grads: dict[array, array] | None = None) -> None:
        """Reverse everything, from a loss whose gradient is 1, or from gradients that are given or set."""
        if loss is not None:
            if loss.size != 1:
                raise RuntimeError(f"a loss is an array of one element, found the shape {loss.shape}")
            if loss.grad is None:
                raise RuntimeError("the loss has no gradient: make it with `requires_grad=True`")
            loss.grad.fill_(1.0)
        for value, gradient in (grads or {}).items():
            if value.grad is None:
                value.grad = gradient
            else:
                value.grad.assign(gradient)
        for reverse in reversed(self.launches):
            reverse()
        capture.run(self._release_gradients)

    def _release_gradients(self) -> None:
        for value in self.gradients:
            value.release_gradient()

    def zero(self) -> None:
        """Set all gradients to 0."""
        for gradient in self.gradients.values():
            gradient.zero_()

    def reset(self) -> None:
        """Forget what was recorded, and set all gradients to 0."""
        self.zero()
        self.gradients.clear()
        self.launches.clear()


def record(reverse: Callable[[], None], values: Sequence[Any]) -> None:
    """Note what reverses a step, if a tape records."""
    if _open:
        _open[-1].record_func(reverse, values)
