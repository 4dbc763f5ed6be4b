"""Tapes: records of launches and copies, which can be reversed."""

from collections.abc import Callable, Sequence
from typing import Any

from gbxcule.warp import capture, overwritten
from gbxcule.warp.array_memory import array
from gbxcule.warp.missing import KnownByName
from gbxcule.warp.overwritten import Keeper, Reader
from gbxcule.warp.structure import StructInstance

_open: list["Tape"] = []


class _Gradients(dict[Any, Any]):
    """Gradients by array; a struct's gradient is a struct of the gradients of its arrays."""

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


class Tape(KnownByName):
    """A record of the launches in a `with` block; `backward` runs their reverses, the last one first."""

    def __init__(self) -> None:
        self.gradients: dict[Any, Any] = _Gradients()
        self.launches: list[Callable[[], None]] = []
        self.loss: array | None = None
        self._keeper = Keeper(self.launches)

    def __enter__(self) -> "Tape":
        if _open:
            raise RuntimeError("another tape records already: end it first")
        _open.append(self)
        overwritten.watch(self._keeper)
        return self

    def __exit__(self, *_error: Any) -> None:
        _open.remove(self)

    def record_func(self, backward: Callable[[], None], arrays: Sequence[array]) -> None:
        """Record `backward`, which reverses something that was done to `arrays`, and may read them."""
        self._record(backward, arrays, [_always_read(value) for value in arrays if isinstance(value, array)])

    def _record(self, reverse: Callable[[], None], values: Sequence[Any], readers: Sequence[Reader]) -> None:
        self.launches.append(reverse)
        for value in values:
            self._remember(value)
        for reader in readers:
            self._keeper.need(reader)

    def _remember(self, value: Any) -> None:
        if isinstance(value, StructInstance):
            for each in value.argument(lambda part: part).values():
                self._remember(each)
        elif isinstance(value, array) and value.grad is not None:
            self.gradients[value] = value.grad

    def get_adjoint(self, a: Any) -> Any:
        """Return the gradient of an argument: an array's, a struct's with those of its arrays, or `None`."""
        self._remember(a)
        return self.gradients[a] if isinstance(a, StructInstance) else getattr(a, "grad", None)

    def backward(self, loss: array | None = None, grads: dict[array, array] | None = None) -> None:
        """Reverse all launches, from a loss, whose gradient becomes 1, or from given or already set gradients."""
        if loss is not None:
            if loss.size != 1:
                raise RuntimeError(f"a loss is an array of one element, found an array of the shape {loss.shape}")
            if loss.grad is None:
                raise RuntimeError("the loss has no gradient: make it with `requires_grad=True`")
            loss.grad.fill_(1.0)
        for value, gradient in (grads or {}).items():
            if value.grad is None:
                value.grad = gradient
            else:
                value.grad.assign(gradient)
        # Later writes don't belong to the tape's launches.
        overwritten.release(self._keeper)
        put_back = self._keeper.put_back()
        try:
            for reverse in reversed(self.launches):
                reverse()
        finally:
            put_back()
        capture.run(self._release_gradients)

    def _release_gradients(self) -> None:
        for value in self.gradients:
            value.release_gradient()

    def record_scope_begin(self, scope_name: str, metadata: Any = None) -> None:
        """Do nothing: names of parts of a tape are for drawings, which this module doesn't make."""

    def record_scope_end(self, remove_scope_if_empty: bool = True) -> None:
        """Do nothing, as `record_scope_begin`."""

    def zero(self) -> None:
        """Set all gradients to 0."""
        for gradient in self.gradients.values():
            gradient.zero_()

    def reset(self) -> None:
        """Forget what was recorded, and set all gradients to 0."""
        self.zero()
        self.gradients.clear()
        self.launches.clear()
        overwritten.release(self._keeper)
        self._keeper = Keeper(self.launches)
        if self in _open:
            overwritten.watch(self._keeper)


def _always_read(value: array) -> Reader:
    return Reader(value.numpy(), lambda: True, None)


def is_recording() -> bool:
    """Tell whether a tape records."""
    return bool(_open)


def record(reverse: Callable[[], None], values: Sequence[Any], readers: Sequence[Reader] = ()) -> None:
    """If a tape records, add a step's reverse to it, and the memory that the reverse reads."""
    if _open:
        _open[-1]._record(reverse, values, readers)


def refuse(name: str, *values: array) -> None:
    """Raise an error if a tape records and arrays have gradients, because the step can't be reversed."""
    if _open and any(value.grad is not None for value in values):
        raise NotImplementedError(f"`{name}` isn't reversed by a tape: use a kernel, or call it outside of the tape")


def forget(value: array, key: Any = ...) -> None:
    """Note that elements were overwritten by values without a gradient."""
    if value.grad is None or not _open:
        return

    def reverse() -> None:
        assert value.grad is not None
        gradient = value.grad.numpy()
        before = gradient.copy() if value.retain_grad else None
        gradient[key] = 0
        if before is not None:
            value.keep_gradient(before)

    record(lambda: capture.run(reverse), [value])
