"""A swarm spread over Ray actors, on one machine or many."""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gbxcule import autoreset
from gbxcule.argument_check import check_options, folder_of, shown, whole
from gbxcule.checkpoint import restore
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.rank import Rank, RankVectorEnv
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

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
        self._rank = rank
        self._env: SwarmVectorEnv[Any] = RankVectorEnv(rom, num_envs, rank, **options)

    def spaces(self) -> tuple[Any, Any]:
        return self._env.single_observation_space, self._env.single_action_space

    def reset(self, seed: int | None) -> Any:
        return self._env.reset(seed=seed)

    def step(self, actions: Any) -> Any:
        return self._env.step(actions)

    def checkpoint(self, path: str) -> str:
        self._env.checkpoint(path)
        return path

    def restore(self, paths: list[str]) -> None:
        restored = restore(paths, rank=self._rank)
        self._env.close()
        self._env = restored


class RaySwarm:
    """`num_envs` machines on `num_actors` Ray actors; the other arguments are those of `make_vec`.

    Seeds and env numbers continue from actor to actor, so that the actors play the games that one swarm would play.
    `actors` may also be driven one by one, each with `reset.remote(seed)` and `step.remote(actions)`. `actor_options`
    are Ray's own for each actor, such as `{"num_cpus": 4, "num_gpus": 1, "resources": {"emulator": 1}}`; an actor
    steps on as many threads as it has CPUs, by default one.

    If an actor is lost (`step` raises `ray.exceptions.RayActorError`), `restore` replaces it and puts all actors back
    to a checkpoint.
    """

    @showing(SwarmVectorEnv, VECTOR_NAMES, ("copy",))
    def __init__(
        self,
        rom: RomLike = None,
        num_envs: int = 1,
        *,
        num_actors: int = 1,
        actor_options: Mapping[str, Any] | None = None,
        **options: "Unpack[Options]",
    ) -> None:
        check_options("RaySwarm", options, VECTOR_NAMES)
        autoreset.refuse_disabled("RaySwarm", options.get("autoreset_mode"))
        num_envs, num_actors = whole("num_envs", num_envs, 1), whole("num_actors", num_actors, 1)
        if num_envs < num_actors:
            raise ValueError(f"{num_envs} envs are too few for {num_actors} actors")
        if actor_options is not None and not isinstance(actor_options, Mapping):
            raise TypeError(f'actor_options are Ray\'s, as in {{"num_cpus": 4}}, found {shown(actor_options)}')
        asked = {"num_cpus": 1, **(actor_options or {})}
        # Ray copies what a call returns, before the next call.
        own = {"threads": max(1, int(asked["num_cpus"])), **options, "copy": False}
        ranks = [Rank(number, num_actors) for number in range(num_actors)]
        actor = ray.remote(_ActorEnv).options(**asked)
        self.num_envs = num_envs
        self._new_actors = [functools.partial(actor.remote, rom, num_envs, rank, own) for rank in ranks]
        self.actors = [new_actor() for new_actor in self._new_actors]
        self._shares = [rank.share(num_envs) for rank in ranks]
        self.single_observation_space, self.single_action_space = ray.get(self.actors[0].spaces.remote())

    def checkpoint(self, folder: str | os.PathLike[str]) -> list[str]:
        """Let each actor write its part to a file in this folder, which all nodes must see; return the paths. Use a
        new folder each time, because parts of different steps don't make a checkpoint."""
        place = Path(folder_of("a checkpoint's folder", folder)).absolute()
        place.mkdir(parents=True, exist_ok=True)
        names = [f"part-{number}-of-{len(self.actors)}.ckpt" for number in range(len(self.actors))]
        calls = [actor.checkpoint.remote(str(place / name)) for actor, name in zip(self.actors, names, strict=True)]
        return list(ray.get(calls))

    def restore(self, paths: Sequence[str]) -> None:
        """Put all actors into a checkpoint's state, with new actors in place of lost ones. The checkpoint may come
        from a swarm with another number of actors."""
        for number, new_actor in enumerate(self._new_actors):
            try:
                ray.get(self.actors[number].spaces.remote())
            except ray.exceptions.RayActorError:
                self.actors[number] = new_actor()
        ray.get([actor.restore.remote(list(paths)) for actor in self.actors])

    def reset(self, seed: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
        """Begin new episodes in all envs; return the infos of each actor."""
        results = ray.get([actor.reset.remote(seed) for actor in self.actors])
        return _joined([obs for obs, _ in results]), [infos for _, infos in results]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Step all actors at once."""
        actions = np.asarray(actions)
        if actions.ndim == 0 or len(actions) != self.num_envs:
            raise ValueError(f"expected an action for each of the {self.num_envs} envs, found {shown(actions)}")
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
