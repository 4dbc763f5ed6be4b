"""One machine as a plain Gymnasium environment: a swarm of one."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from gbxcule.picture import colored
from gbxcule.start import RomLike
from gbxcule.vector import RENDER_MODES, SwarmVectorEnv


class SwarmEnv(gymnasium.Env[Any, Any]):
    """A swarm of one; takes the arguments of `make_vec`."""

    metadata = {"render_modes": RENDER_MODES[:1], "render_fps": 2}

    def __init__(self, rom: RomLike = None, **options: Any) -> None:
        options |= {"autoreset_mode": AutoresetMode.DISABLED, "copy": False}
        self.swarm = SwarmVectorEnv(rom, 1, **options)
        self.render_mode = self.swarm.render_mode
        self.observation_space = self.swarm.single_observation_space
        self.action_space = self.swarm.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        _, infos = self.swarm.reset(seed=seed)
        return self._observation(), _first(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Press an action and run the frames of a step."""
        _, rewards, terminated, truncated, infos = self.swarm.step(np.array([action]))
        return self._observation(), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), _first(infos)

    def render(self) -> Any:
        """The screen, RGB."""
        return colored(self.swarm.screens()[0]) if self.render_mode else None

    def close(self) -> None:
        """Let the machine go."""
        self.swarm.close()

    def _observation(self) -> Any:
        return self.swarm._observer.copy_of(0)


def _first(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: values[0].item() for name, values in infos.items() if not name.startswith("_")}


def make(rom: RomLike = None, **options: Any) -> SwarmEnv:
    """One machine as a Gymnasium `Env`; takes the arguments of `make_vec`."""
    return SwarmEnv(rom, **options)


def register() -> None:
    """Let `gymnasium.make` and `gymnasium.make_vec` know the built-in game as `gbxcule/PearlDrift-v0`."""
    if "gbxcule/PearlDrift-v0" in gymnasium.registry:
        return
    gymnasium.register(
        "gbxcule/PearlDrift-v0",
        entry_point="gbxcule.single:SwarmEnv",
        vector_entry_point="gbxcule.vector:SwarmVectorEnv",
    )
