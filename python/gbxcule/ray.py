"""A swarm spread over Ray actors, on one machine or many."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gbxcule import autoreset
from gbxcule.argument_check import check_options, shown, whole
from gbxcule.option import VECTOR_NAMES
from gbxcule.rank import Rank, RankVectorEnv
from gbxcule.start import RomLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import Options

try:
    import ray
except ModuleNotFoundError as error:
    message = f"{__name__} needs Ray: `pip install ray`"
    raise ModuleNotFoundError(message, name=error.name) from error


class _ActorEnv:
    """The share of the swarm that one actor holds."""

    def __init__(self, rom: RomLike, num_envs: int, rank: Rank, options: dict[str, Any]) -> None:
        self._env = RankVectorEnv(rom, num_envs, rank, **options)

    def spaces(self) -> tuple[Any, Any]:
        return self._env.single_observation_space, self._env.single_action_space

    def reset(self, seed: int | None) -> Any:
        return self._env.reset(seed=seed)

    def step(self, actions: Any) -> Any:
        return self._env.step(actions)


class RaySwarm:
    """`num_envs` machines on `num_actors` Ray actors; the other arguments are those of `make_vec`.

    Seeds and env numbers go on from actor to actor, so that the games are those that one swarm
    would play. `actors` may also be driven one by one, each with `reset.remote(seed)` and
    `step.remote(actions)`.
    """

    def __init__(self, rom: RomLike = None, num_envs: int = 1, *, num_actors: int = 1, **options: "Unpack[Options]") -> None:
        check_options("RaySwarm", options, VECTOR_NAMES)
        autoreset.refuse_disabled("RaySwarm", options.get("autoreset_mode"))
        num_envs, num_actors = whole("num_envs", num_envs, 1), whole("num_actors", num_actors, 1)
        if num_envs < num_actors:
            raise ValueError(f"{num_envs} envs are too few for {num_actors} actors")
        ranks = [Rank(number, num_actors) for number in range(num_actors)]
        actor = ray.remote(_ActorEnv)
        self.num_envs = num_envs
        self.actors = [actor.remote(rom, num_envs, rank, options) for rank in ranks]
        self._shares = [rank.share(num_envs) for rank in ranks]
        self.single_observation_space, self.single_action_space = ray.get(self.actors[0].spaces.remote())

    def reset(self, seed: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
        """Begin new episodes everywhere; the infos are those of each actor."""
        results = ray.get([actor.reset.remote(seed) for actor in self.actors])
        return _joined([obs for obs, _ in results]), [infos for _, infos in results]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Step all actors at once."""
        actions = np.asarray(actions)
        if actions.ndim == 0 or len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} envs take as many actions, found {shown(actions)}")
        calls = [
            actor.step.remote(actions[share.start : share.stop])
            for actor, share in zip(self.actors, self._shares, strict=True)
        ]
        obs, rewards, terminated, truncated, infos = zip(*ray.get(calls), strict=True)
        return _joined(obs), _joined(rewards), _joined(terminated), _joined(truncated), list(infos)

    def close(self) -> None:
        """End the actors."""
        for actor in self.actors:
            ray.kill(actor)


def _joined(parts: Any) -> Any:
    if isinstance(parts[0], dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return np.concatenate(parts)
