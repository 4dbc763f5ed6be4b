"""Two machines with a cable between them as a PettingZoo `ParallelEnv`: each is an agent."""

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from gbxcule.argument_check import RENDER_MODES, check_options, reset_options, seed_of, shown, without
from gbxcule.info import one_env
from gbxcule.option import SINGLE_NAMES, showing
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import SingleOptions

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    message = f"{__name__} needs PettingZoo: `pip install pettingzoo`"
    raise ModuleNotFoundError(message, name=error.name) from error

AGENTS = ["player_0", "player_1"]
_NOT_HERE = dict.fromkeys(["autoreset_mode", "copy", "link", "num_envs"], "a pair has its own")


class PairEnv(ParallelEnv):  # type: ignore[misc]
    """A pair of machines; takes the arguments of `make`. The agents are `player_0` and `player_1`.

    Episodes of both agents end together: if one agent's episode is over, the other's is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES[:1], "name": "gbxcule_pair_v0"}

    @showing(SwarmVectorEnv, SINGLE_NAMES)
    def __init__(self, rom: RomLike = None, **options: "Unpack[SingleOptions]") -> None:
        without(options, _NOT_HERE)
        check_options("PairEnv", options, SINGLE_NAMES)
        self.swarm = SwarmVectorEnv(rom, 2, link="pairs", autoreset_mode=AutoresetMode.DISABLED, **options)
        self.metadata = self.metadata | {"render_fps": self.swarm.metadata["render_fps"]}
        self.render_mode = self.swarm.render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        # Each agent has its own spaces, so that each samples from its own random generator.
        self._observation_spaces = {agent: deepcopy(self.swarm.single_observation_space) for agent in AGENTS}
        self._action_spaces = {agent: deepcopy(self.swarm.single_action_space) for agent in AGENTS}
        for space in [*self._observation_spaces.values(), *self._action_spaces.values()]:
            # Without a new seed a copy would draw the samples of its original.
            space.seed()

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new episode of both machines, in one state or one for each if `options["state"]` gives some."""
        # PettingZoo's own test passes options that no environment has.
        given = {} if options is None else reset_options(options, options)
        chosen = {name: value for name, value in given.items() if name == "state"}
        observations, infos = self.swarm.reset(seed=seed_of(seed), options=chosen)
        self.agents = list(AGENTS)
        return _each(observations), self._infos(infos)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Press an action on each machine and run the frames of a step."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        if not isinstance(actions, Mapping) or set(actions) != set(AGENTS):
            raise ValueError(f"expected an action for each of {' and '.join(AGENTS)}, found {shown(actions)}")
        pressed = np.array([actions[agent] for agent in AGENTS])
        observations, rewards, terminated, truncated, infos = self.swarm.step(pressed)
        if (terminated | truncated).any():
            self.agents = []
        return (
            _each(observations),
            {agent: float(rewards[env]) for env, agent in enumerate(AGENTS)},
            {agent: bool(terminated[env]) for env, agent in enumerate(AGENTS)},
            {agent: bool(truncated[env]) for env, agent in enumerate(AGENTS)},
            self._infos(infos),
        )

    def render(self) -> Any:
        """Return both screens side by side."""
        return self.swarm.render() if self.render_mode else None

    def close(self) -> None:
        """Free the machines."""
        if not self.swarm.closed:
            self.swarm.close()

    def _infos(self, infos: dict[str, Any]) -> dict[str, dict[str, Any]]:
        named = {name: values for name, values in infos.items() if not name.startswith("_")}
        return {
            agent: {name: one_env(values, env) for name, values in named.items()} for env, agent in enumerate(AGENTS)
        }


def _each(observations: Any) -> dict[str, Any]:
    """Return the observation of each agent; a dictionary of batches becomes one dictionary for each agent."""
    if isinstance(observations, dict):
        parts = {name: _each(values) for name, values in observations.items()}
        return {agent: {name: part[agent] for name, part in parts.items()} for agent in AGENTS}
    return {agent: observations[env] for env, agent in enumerate(AGENTS)}
