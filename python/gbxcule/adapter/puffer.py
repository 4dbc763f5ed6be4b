"""The swarm as a native PufferLib environment: it writes straight into PufferLib's buffers."""

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from gbxcule.argument_check import check_options, without
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.start import RomLike
from gbxcule.info import one_env
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import SingleOptions

try:
    import pufferlib
except ModuleNotFoundError as error:
    message = f"{__name__} needs PufferLib: `pip install pufferlib`"
    raise ModuleNotFoundError(message, name=error.name) from error


class SwarmPufferEnv(pufferlib.PufferEnv):  # type: ignore[misc]
    """Machines stepped together, one agent each; takes the arguments of `make_vec`.

    Observations are one array; PufferLib takes no dictionary of them. Ended episodes report
    `episode_return`, `episode_length` and the game's own numbers.
    """

    @showing(SwarmVectorEnv, VECTOR_NAMES, ("autoreset_mode", "copy"))
    def __init__(
        self, rom: RomLike = None, num_envs: int = 1, buf: Any = None, seed: int = 0, **options: "Unpack[SingleOptions]"
    ) -> None:
        without(options, dict.fromkeys(["autoreset_mode", "copy"], "PufferLib asks for its own"))
        check_options("SwarmPufferEnv", options, VECTOR_NAMES)
        self.swarm = SwarmVectorEnv(rom, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, copy=False, **options)
        self.single_observation_space = self.swarm.single_observation_space
        self.single_action_space = self.swarm.single_action_space
        self.num_agents = num_envs
        self._seed = seed
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        super().__init__(buf)
        self.swarm.write_observations_to(self.observations)

    def reset(self, seed: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
        """Begin new episodes in all envs."""
        self.swarm.reset(seed=self._seed if seed is None else seed)
        self.rewards[:], self.terminals[:], self.truncations[:], self.masks[:] = 0, False, False, True
        self._returns[:], self._lengths[:] = 0, 0
        return self.observations, []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Step all machines; the results are also in PufferLib's buffers."""
        _, rewards, terminated, truncated, infos = self.swarm.step(np.asarray(actions).reshape(self.swarm.action_space.shape))
        self.rewards[:], self.terminals[:], self.truncations[:] = rewards, terminated, truncated
        self._returns += rewards
        self._lengths += 1
        return self.observations, self.rewards, self.terminals, self.truncations, self._ended(infos)

    def render(self) -> Any:
        """Return a mosaic of all screens."""
        return self.swarm.render()

    def close(self) -> None:
        """Free the machines."""
        self.swarm.close()

    def _ended(self, infos: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if "final_info" not in infos:
            return found
        for env in np.flatnonzero(infos["_final_info"]):
            report = {"episode_return": float(self._returns[env]), "episode_length": int(self._lengths[env])}
            numbers = infos["final_info"]
            report |= {name: one_env(numbers[name], int(env)) for name in numbers if not name.startswith("_")}
            found.append(report)
            self._returns[env], self._lengths[env] = 0, 0
        return found
