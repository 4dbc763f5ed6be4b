"""The body that all networks share: pictures go through two convolutions and a layer, rows of
numbers through two layers."""

from typing import Any

import torch
from torch import nn

WIDTH = 256


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
