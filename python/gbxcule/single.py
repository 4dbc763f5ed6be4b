"""One machine as a plain Gymnasium environment: a swarm of one."""

from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.vector import AutoresetMode

from gbxcule.argument_check import RENDER_MODES, check_options, reset_options, seed_of, without
from gbxcule.info import one_env
from gbxcule.option import SINGLE_NAMES, showing
from gbxcule.registration import register as register
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import SingleOptions


_NOT_HERE = {
    "num_envs": "gbxcule.make makes one machine, gbxcule.make_vec makes many",
    "autoreset_mode": "Gymnasium resets a single environment by calling reset",
    "copy": "the observations of a single environment are copies",
    "link": "a cable needs two machines: gbxcule.make_vec makes pairs",
}


class SwarmEnv(gymnasium.Env[Any, Any]):
    """A swarm of one; takes the arguments of `make_vec`."""

    metadata = {"render_modes": RENDER_MODES[:1], "render_fps": 2}
    # A `Discrete`, unless `actions` asks for another space.
    action_space: Any

    @showing(SwarmVectorEnv, SINGLE_NAMES)
    def __init__(self, rom: RomLike = None, **options: Any) -> None:
        without(options, _NOT_HERE)
        check_options("gbxcule.make", options, SINGLE_NAMES)
        modes = self.metadata["render_modes"]
        if options.get("render_mode") not in [None, *modes]:
            raise ValueError(f"no render mode `{options['render_mode']}` for one machine; there is {', '.join(modes)}")
        self.swarm = SwarmVectorEnv(rom, 1, autoreset_mode=AutoresetMode.DISABLED, copy=False, **options)
        # The rate depends on the environment's frames per step.
        self.metadata = self.metadata | {"render_fps": self.swarm.metadata["render_fps"]}
        self.render_mode = self.swarm.render_mode
        self.observation_space = self.swarm.single_observation_space
        self.action_space = self.swarm.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode; `options["state"]` may give a saved state to begin in."""
        chosen = reset_options(options, ("state",))
        seed = seed_of(seed)
        super().reset(seed=seed)
        _, infos = self.swarm.reset(seed=seed, options=chosen)
        return self._observation(), _first(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Press an action and run the frames of a step."""
        if self.swarm._over[0] and not self.swarm.closed:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset before the next step")
        _, rewards, terminated, truncated, infos = self.swarm.step(self.swarm._numbering.batch_of_one(action))
        return self._observation(), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), _first(infos)

    def render(self) -> Any:
        """Return the screen, in RGB."""
        return self.swarm.pictures()[0] if self.render_mode else None

    def close(self) -> None:
        """Free the machine."""
        self.swarm.close()

    def _observation(self) -> Any:
        return self.swarm._observer.copy_of(0)


class RegisteredEnv(SwarmEnv):
    """One machine for `gymnasium.make`, which limits the steps of an episode itself."""

    def __init__(self, rom: RomLike = None, **options: Any) -> None:
        super().__init__(rom, max_episode_steps=False, **options)


def _first(infos: dict[str, Any]) -> dict[str, Any]:
    return {name: one_env(values, 0) for name, values in infos.items() if not name.startswith("_")}


@showing(SwarmVectorEnv, SINGLE_NAMES)
def make(rom: RomLike = None, **options: "Unpack[SingleOptions]") -> SwarmEnv:
    """Make one machine as a Gymnasium `Env`; the arguments are those of `make_vec`."""
    return SwarmEnv(rom, **options)
