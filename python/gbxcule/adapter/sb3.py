"""The swarm as a Stable-Baselines3 `VecEnv`.

Pictures get the channel axis that `CnnPolicy` looks for. Episodes are reset in the step that ends
them; returns and lengths are in `infos` as `Monitor` would put them.
"""

import inspect
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from gbxcule.argument_check import check_options, reset_options, without
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.start import RomLike, env_seeds
from gbxcule.info import MASK, one_env
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import SingleOptions

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    message = f"{__name__} needs Stable-Baselines3: `pip install stable-baselines3`"
    raise ModuleNotFoundError(message, name=error.name) from error


class SwarmVecEnv(VecEnv):  # type: ignore[misc]
    """Machines stepped together; takes the arguments of `make_vec`."""

    @showing(SwarmVectorEnv, VECTOR_NAMES, ("autoreset_mode", "copy"))
    def __init__(self, rom: RomLike = None, num_envs: int = 1, **options: "Unpack[SingleOptions]") -> None:
        without(options, dict.fromkeys(["autoreset_mode", "copy"], "Stable-Baselines3 asks for its own"))
        check_options("SwarmVecEnv", options, VECTOR_NAMES)
        self.swarm = SwarmVectorEnv(rom, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, copy=True, **options)
        super().__init__(num_envs, _with_channel(self.swarm.single_observation_space), self.swarm.single_action_space)
        self.metadata = dict(self.swarm.metadata)
        self._actions: Any = None
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._begun = time.time()

    def reset(self) -> Any:
        """Begin new episodes in all envs, with the seeds and options that `seed` and `set_options` gave."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        states = [reset_options(options, ("state",)).get("state") for options in self._options]
        begun = np.array([state is not None for state in states])
        reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        obs: Any = None
        for mask in (~begun, begun):
            if not mask.any():
                continue
            chosen = {"reset_mask": mask} | ({"state": [state for state in states if state is not None]} if mask is begun else {})
            obs, infos = self.swarm.reset(seed=seeds, options=chosen)
            for env in np.flatnonzero(mask):
                reset_infos[env] = self._infos_of(infos, int(env))
        self.reset_infos = reset_infos
        self._reset_seeds()
        self._reset_options()
        self._returns[:], self._lengths[:] = 0, 0
        return self._channelled(obs)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Keep seeds for the next reset, mixed from this seed so that two seeds share no env's seed."""
        if seed is None:
            seed = int(np.random.randint(0, np.iinfo(np.uint32).max, dtype=np.uint32))
        self._seeds = env_seeds(seed, np.ones(self.num_envs, np.bool_))
        return self._seeds

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Step all machines with the actions that `step_async` kept."""
        obs, rewards, terminated, truncated, infos = self.swarm.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        done = terminated | truncated
        env_infos = [self._infos_of(infos, env) for env in range(self.num_envs)]
        for env in np.flatnonzero(done):
            self.reset_infos[env] = env_infos[env]
        for env in np.flatnonzero(done):
            elapsed = round(time.time() - self._begun, 6)
            env_infos[env] = {name: one_env(values, int(env)) for name, values in _data(infos["final_info"])}
            env_infos[env] |= {
                "terminal_observation": self._channelled(infos["final_obs"][env]),
                "TimeLimit.truncated": bool(truncated[env] and not terminated[env]),
                "episode": {"r": float(self._returns[env]), "l": int(self._lengths[env]), "t": elapsed},
            }
        self._returns[done], self._lengths[done] = 0, 0
        return self._channelled(obs), rewards, done, env_infos

    def close(self) -> None:
        """Free the machines."""
        self.swarm.close()

    def get_images(self) -> Sequence[Any]:
        """Return every env's screen, in RGB."""
        return list(self.swarm.pictures())

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the swarm's attribute, once for each env."""
        return [self._attribute(attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: the envs share their attributes."""
        raise NotImplementedError(f"the envs of a swarm share `{attr_name}`; pass it to the constructor")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method that takes an env first, such as `save_state`, for each env."""
        method = self._attribute(method_name)
        if next(iter(inspect.signature(method).parameters), None) not in ("env", "source"):
            raise TypeError(
                f"`{method_name}` is for all envs at once, not for one: call swarm.{method_name}(..) of this SwarmVecEnv"
            )
        return [method(env, *method_args, **method_kwargs) for env in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """Say that each env is wrapped in a `Monitor`, whose infos this class writes, and in no other wrapper."""
        return [issubclass(Monitor, wrapper_class) for _ in self._get_indices(indices)]

    def _attribute(self, name: str) -> Any:
        """Return the swarm's attribute, or the `action_masks` that `MaskablePPO` needs, if a program has a mask."""
        has_mask = MASK in self.swarm._reported.names and isinstance(self.swarm.single_action_space, spaces.Discrete)
        return self.swarm._reported.action_mask if name == "action_masks" and has_mask else getattr(self.swarm, name)

    def _infos_of(self, infos: dict[str, Any], env: int) -> dict[str, Any]:
        return {name: one_env(infos[name], env) for name in self.swarm._reported.names}

    def _channelled(self, obs: Any) -> Any:
        space = self.swarm.single_observation_space
        if isinstance(space, spaces.Dict):
            return {name: _shaped(part, space[name]) for name, part in obs.items()}
        return _shaped(obs, space)


def _shaped(part: Any, space: spaces.Space[Any]) -> Any:
    """Return the array of one env or of all envs; gray pictures get a channel axis."""
    return part[..., None] if _is_gray(space) else part


def _is_gray(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Box) and len(space.shape) == 2 and space.dtype == np.uint8


def _with_channel(space: spaces.Space[Any]) -> spaces.Space[Any]:
    if isinstance(space, spaces.Dict):
        return spaces.Dict({name: _with_channel(part) for name, part in space.spaces.items()})
    if isinstance(space, spaces.Box) and _is_gray(space):
        return spaces.Box(0, 255, (*space.shape, 1), np.uint8)
    return space


def _data(infos: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    return [(name, values) for name, values in infos.items() if not name.startswith("_")]
