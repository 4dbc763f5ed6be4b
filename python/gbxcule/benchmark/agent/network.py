"""The optimizer and the body of networks, which all agents share. Pictures go through two convolutions
and a layer, rows of numbers through two layers."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

WIDTH = 256
# Parameters begin at multiples of these many numbers, 64 bytes, as tensors of their own do: the
# last bits of products depend on it.
ALIGNMENT = 16


def body(shape: tuple[int, ...], norm: bool = False) -> nn.Module:
    """Return layers from observations to `WIDTH` numbers; `norm` adds a LayerNorm after each, as PQN needs."""

    def dense(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Linear(inputs, outputs), *([nn.LayerNorm(outputs)] if norm else []), nn.ReLU()]

    if len(shape) == 2:
        return nn.Sequential(nn.Flatten(), *dense(shape[0] * shape[1], WIDTH), *dense(WIDTH, WIDTH))
    convolutions = nn.Sequential(
        nn.Conv2d(shape[0], 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten()
    )
    outputs = convolutions(torch.zeros(1, *shape)).shape[1]
    return nn.Sequential(convolutions, *dense(outputs, WIDTH))


def actions_of(env: Any) -> int:
    """Return the number of actions of an environment."""
    return int(env.single_action_space.n)


def tensor(obs: Any) -> torch.Tensor:
    """Return observations as floats; the bytes of pictures become numbers from 0 to 1."""
    numbers = torch.from_numpy(obs)
    return numbers.float() / 255 if numbers.dtype == torch.uint8 else numbers.float().clone()


class Optimizer:
    """Takes steps down a loss. All parameters are views of one vector, so that a step is a few operations for all of
    them; the results are those of an optimizer of separate parameters, bit for bit."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        make: Callable[[list[nn.Parameter]], torch.optim.Optimizer],
        max_gradient: float,
    ) -> None:
        self._parameters, self._max_gradient = list(parameters), max_gradient
        sizes = [-(-each.numel() // ALIGNMENT) * ALIGNMENT for each in self._parameters]
        vector = nn.Parameter(torch.zeros(sum(sizes)))
        self._gradient = vector.grad = torch.zeros(sum(sizes))
        parts = zip(self._parameters, vector.detach().split(sizes), self._gradient.split(sizes), strict=True)
        for each, values, gradient in parts:
            numbers = values[: each.numel()].view_as(each)
            numbers.copy_(each.detach())
            each.data, each.grad = numbers, gradient[: each.numel()].view_as(each)
        self._inner = make([vector])

    def set_rate(self, rate: float) -> None:
        for group in self._inner.param_groups:
            group["lr"] = rate

    def step(self, loss: torch.Tensor) -> None:
        """Change the parameters by the gradient of a loss, which is first cut to its largest length."""
        self._gradient.zero_()
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters, self._max_gradient)
        self._inner.step()
