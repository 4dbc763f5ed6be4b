"""Films of the best episodes: each one that earned more than all before it."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorWrapper

from gbxcule.argument_check import film_options, folder_of
from gbxcule.vector import SwarmVectorEnv


class RecordBest(VectorWrapper):
    """Writes a film of each episode whose return is higher than those of all earlier episodes, in any env:
    `best-0.gif`, `best-1.gif` and so on, or `.mp4` with ffmpeg installed. Films in the folder stay; the numbers of
    new ones follow theirs. If an env got another state within an episode, as by `load_state`, its film begins there.

    Training draws nothing. The wrapper keeps each env's actions and its state at the beginning of the episode, 23 KB
    in most games, and films an episode by playing it again."""

    def __init__(
        self, env: SwarmVectorEnv[Any], folder: str | os.PathLike[str], *, kind: str = "gif", every: int = 4, scale: int = 2
    ) -> None:
        if not isinstance(env, SwarmVectorEnv):
            raise TypeError(f"RecordBest takes an environment of gbxcule.make_vec, before other wrappers, found {env!r}")
        if kind not in ("gif", "mp4"):
            raise ValueError(f"a film is a gif or an mp4, found {kind!r}")
        if env.is_paired:
            raise ValueError('a film plays one machine, and link="pairs" plugs two together: RecordBest can\'t film them')
        if kind == "mp4" and shutil.which("ffmpeg") is None:
            raise RuntimeError('an mp4 needs ffmpeg, which is not installed; kind="gif" works without it')
        path = folder_of("the folder of films", folder)
        super().__init__(env)
        self._swarm = env
        self._folder, self._kind = Path(path), kind
        self._every, self._scale = film_options(f"best.{kind}", every, scale)
        self._states = [b""] * env.num_envs
        self._actions: list[list[int]] = [[] for _ in range(env.num_envs)]
        self._returns = np.zeros(env.num_envs)
        self._was_over = np.zeros(env.num_envs, np.bool_)
        self.best_return: float | None = None
        self.films: list[Path] = []

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes."""
        result = super().reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        self._begin(np.ones(self.num_envs, np.bool_) if mask is None else np.asarray(mask))
        return result

    def step(self, actions: Any) -> Any:
        """Step all envs; write a film if the best episode so far is over."""
        pressed = self._swarm._pressed(actions)
        self._follow()
        # Envs whose episodes were over are reset by this step.
        played = ~self._swarm._over
        result = super().step(actions)
        _, rewards, terminated, truncated, _ = result
        self._returns[played] += rewards[played]
        for env in np.flatnonzero(played):
            self._actions[env].append(pressed[env])
        over = played & (terminated | truncated)
        for env in np.flatnonzero(over):
            self._film(int(env))
        mode = self._swarm.autoreset_mode
        if mode == AutoresetMode.SAME_STEP:
            self._begin(over)
        elif mode == AutoresetMode.NEXT_STEP:
            self._begin(~played)
        self._was_over = self._swarm._over.copy()
        return result

    def _follow(self) -> None:
        """Restart the films of envs that got another state; if their episode was over, this begins the next one."""
        moved = self._swarm._moved
        self._returns[self._was_over & ~self._swarm._over] = 0
        self._restart_films(moved)

    def _begin(self, mask: npt.NDArray[np.bool_]) -> None:
        self._restart_films(mask)
        self._returns[mask] = 0

    def _restart_films(self, mask: npt.NDArray[np.bool_]) -> None:
        for env in np.flatnonzero(mask):
            self._states[env] = self._swarm.save_state(int(env))
            self._actions[env] = []
        self._swarm._moved &= ~mask

    def _film(self, env: int) -> None:
        earned = float(self._returns[env])
        if not self._states[env] or (self.best_return is not None and earned <= self.best_return):
            return
        path = self._next_path()
        self._swarm._film(path, self._states[env], bytes(self._actions[env]), every=self._every, scale=self._scale)
        self.best_return = earned
        self.films.append(path)

    def _next_path(self) -> Path:
        numbers = [path.stem.removeprefix("best-") for path in self._folder.glob(f"best-*.{self._kind}")]
        last = max((int(number) for number in numbers if number.isdecimal()), default=-1)
        return self._folder / f"best-{last + 1}.{self._kind}"
