"""Optimizers of arrays: Adam, and gradient descent with momentum, with Warp's rounding."""

from collections.abc import Sequence
from typing import Any

from gbxcule.warp import linear as linear
from gbxcule.warp.array_factory import zeros
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import composite
from gbxcule.warp.missing import Missing
from gbxcule.warp.optimizer_step import adam, adam_half, adam_vec3, descent
from gbxcule.warp.program import Kernel, launch
from gbxcule.warp.scalar import float16, float32


def _kept(before: "list[array]", params: Sequence[array], dtypes: Sequence[Any]) -> "list[array]":
    """Return an array for each parameter: the earlier one if it fits, else zeros."""
    old: list[array | None] = [*before] if len(before) == len(params) else [None] * len(params)
    return [
        own if own is not None and (own.shape, own.dtype) == (of.shape, dtype) else zeros(of.shape, dtype)
        for own, of, dtype in zip(old, params, dtypes, strict=True)
    ]


def _check(of: str, params: array, grad: array) -> None:
    if params.dtype is not grad.dtype:
        raise TypeError(f"{of} takes a gradient of its parameter's type, `{params.dtype.__name__}`, found {grad!r}")
    if params.shape != grad.shape:
        raise ValueError(f"{of} takes a gradient of its parameter's shape, {params.shape}, found {grad!r}")


class Adam:
    """Adam: steps by the means of gradients and of their squares."""

    _kernels: dict[Any, tuple[Kernel, Any]] = {
        float32: (adam, float32),
        float16: (adam_half, float32),
        composite("vector", (3,), float32): (adam_vec3, composite("vector", (3,), float32)),
    }

    def __init__(
        self,
        params: Sequence[array] | None = None,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-08,
    ) -> None:
        self.m: list[array] = []
        self.v: list[array] = []
        self.lr, (self.beta1, self.beta2), self.eps = lr, betas, eps
        self.t = 0
        self.set_params(params)

    def set_params(self, params: Sequence[array] | None) -> None:
        """Choose the arrays that a step changes."""
        self.params = params
        if not params:
            return
        for each in params:
            if each.dtype not in self._kernels:
                raise RuntimeError(f"Adam takes arrays of `float16`, `float32` and `vec3`, found {each!r}")
        dtypes = [self._kernels[each.dtype][1] for each in params]
        self.m, self.v = _kept(self.m, params, dtypes), _kept(self.v, params, dtypes)

    def reset_internal_state(self) -> None:
        """Forget the means."""
        for each in (*self.m, *self.v):
            each.zero_()
        self.t = 0

    def step(self, grad: Sequence[array]) -> None:
        """Change all parameters by their gradients."""
        if self.params is None:
            raise RuntimeError("Adam has no parameters: `set_params` gives them")
        for g, m, v, x in zip(grad, self.m, self.v, self.params, strict=False):
            self.step_detail(g, m, v, self.lr, self.beta1, self.beta2, self.t, self.eps, x)
        self.t += 1

    @staticmethod
    def step_detail(
        g: array, m: array, v: array, lr: float, beta1: float, beta2: float, t: int, eps: float, params: array
    ) -> None:
        """Change one array."""
        _check("Adam", params, g)
        step, _ = Adam._kernels[params.dtype]
        launch(step, len(params), [g, m, v, lr, beta1, beta2, float(t), eps, params])


class SGD:
    """Gradient descent, with momentum if it is wanted."""

    def __init__(
        self,
        params: Sequence[array] | None = None,
        lr: float = 0.001,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        self.b: list[array] = []
        self.lr, self.momentum, self.dampening = lr, momentum, dampening
        self.weight_decay, self.nesterov = weight_decay, nesterov
        self.t = 0
        self.set_params(params)

    def set_params(self, params: Sequence[array] | None) -> None:
        """Choose the arrays that a step changes."""
        self.params = params
        if params:
            self.b = _kept(self.b, params, [each.dtype for each in params])

    def reset_internal_state(self) -> None:
        """Forget the momentum."""
        for each in self.b:
            each.zero_()
        self.t = 0

    def step(self, grad: Sequence[array]) -> None:
        """Change all parameters by their gradients."""
        if self.params is None:
            raise RuntimeError("SGD has no parameters: `set_params` gives them")
        how = (self.lr, self.momentum, self.dampening, self.weight_decay, self.nesterov, self.t)
        for g, b, x in zip(grad, self.b, self.params, strict=False):
            self.step_detail(g, b, *how, x)
        self.t += 1

    @staticmethod
    def step_detail(
        g: array, b: array, lr: float, momentum: float, dampening: float, weight_decay: float, nesterov: bool, t: int,
        params: array,
    ) -> None:  # fmt: skip
        """Change one array."""
        _check("SGD", params, g)
        launch(descent, len(params), [g, b, lr, momentum, dampening, weight_decay, int(nesterov), t, params])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"warp.optim.{name}")
