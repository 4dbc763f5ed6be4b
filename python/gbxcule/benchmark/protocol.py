"""The rules of protocol 1: tasks, levels, seeds, lengths, observations and rewards.

A change here that changes a score raises `PROTOCOL`.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.wrappers.vector import ClipReward, NormalizeReward

from gbxcule.game import EPISODE_STEPS, GAMES, Game
from gbxcule.option import Autoreset
from gbxcule.vector import SwarmVectorEnv

PROTOCOL = 1
SEEDS = 5
TRAINING_LEVELS = range(200)
HELD_OUT_LEVELS = range(200, 400)
# Seed s plays the held-out levels of its share, so that five seeds play each of them once.
EVALUATION_EPISODES = len(HELD_OUT_LEVELS) // SEEDS
TRAINING_ENVS = 64
# Longest episode of the training, in steps. In a longer one the agent has taken all that it can
# reach; from steps without rewards it unlearns what it knew.
TRAINING_STEPS = 1000
GAMMA = 0.99
# Largest reward of a step, in spreads of the returns: a rare larger one would drown the others.
MAX_REWARD = 10.0
OBSERVATIONS = ("features", "pixels")
EASY = "-easy"


@dataclass(frozen=True)
class Task:
    """A game in one of its difficulties: `KEEP_OF_KEYS`, `KEEP_OF_KEYS-easy`."""

    name: str

    @property
    def game(self) -> str:
        return self.name.removesuffix(EASY)

    @property
    def difficulty(self) -> Literal["normal", "easy"]:
        return "easy" if self.name.endswith(EASY) else "normal"

    @property
    def row(self) -> Game:
        return GAMES[self.game]


# Games for one player, in the order of the table.
GAME_TASKS = [name for name, row in GAMES.items() if not row.has_rival]
TASKS = GAME_TASKS + [name + EASY for name in GAME_TASKS if "easy" in GAMES[name].variants]


def held_out_levels(seed: int) -> list[int]:
    """Return the levels of a seed's evaluation."""
    first = HELD_OUT_LEVELS.start + EVALUATION_EPISODES * (seed % SEEDS)
    return list(range(first, first + EVALUATION_EPISODES))


def machines(
    task: Task, obs: str, levels: list[int], envs: int, threads: int, autoreset_mode: Autoreset = "SameStep"
) -> SwarmVectorEnv[Any]:
    """Make the environment of a task, with the reward of the game's own program."""
    seen: dict[str, Any] = {"obs": task.game}
    if obs == "pixels":
        seen = {"obs": "gray", "resize": (84, 84), "frame_stack": 4}
    return SwarmVectorEnv(
        task.game, envs, **seen, reward=task.game, levels=levels, difficulty=task.difficulty,
        max_episode_steps=EPISODE_STEPS, autoreset_mode=autoreset_mode, threads=threads,
    )


class Played(VectorWrapper):
    """Counts steps and keeps the scores of the last hundred episodes. An observation of features holds this step's
    and the previous step's row, in a first axis; a new episode has its first row twice.

    Episodes are truncated after `longest` steps; the first ones of the envs earlier, each at another time, so that
    there are always envs in all parts of an episode."""

    def __init__(self, env: VectorEnv[Any, Any, Any], longest: int | None = None) -> None:
        super().__init__(env)
        self.steps = 0
        self._longest = longest
        # Steps until each env's episode is cut.
        self._left = (np.arange(env.num_envs) + 1) * (longest or 0) // env.num_envs
        self.scores: list[float] = []
        self._is_row = len(env.single_observation_space.shape or ()) == 1
        # Rows of features of the last step, and the rows that came before them in the observation.
        self._last: npt.NDArray[Any] = np.empty(0)
        self._before = self._last

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes, in all envs or in those of `options["reset_mask"]`."""
        obs, infos = super().reset(**options)
        mask = (options.get("options") or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        return self._seen(obs, mask, self._before), infos

    def step(self, actions: Any) -> Any:
        """Step all envs."""
        obs, rewards, terminated, truncated, infos = super().step(actions)
        self.steps += self.num_envs
        if "final_info" in infos:
            ended = infos["final_info"]["score"][infos["_final_info"]]
            self.scores = (self.scores + ended.tolist())[-100:]
        if self._longest:
            self._left = np.where(terminated | truncated, self._longest, self._left - 1)
            if (cut := self._left <= 0).any():
                self.scores = (self.scores + infos["score"][cut].tolist())[-100:]
                self._left[cut] = self._longest
                truncated = truncated | cut
                obs = self.env.reset(options={"reset_mask": cut})[0]
        return self._seen(obs, terminated | truncated, self._last), rewards, terminated, truncated, infos

    def _seen(self, obs: npt.NDArray[Any], begins: npt.NDArray[np.bool_], before: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not self._is_row:
            return obs
        self._before = obs if begins.all() else np.where(begins[:, None], obs, before)
        self._last = obs
        return np.stack([self._before, obs], 1)


def training_env(task: Task, obs: str, threads: int) -> tuple[Played, VectorEnv[Any, Any, Any]]:
    """Make the environment that an agent learns in, with rewards divided by their returns' spread; return its
    `Played`, too."""
    played = Played(machines(task, obs, list(TRAINING_LEVELS), TRAINING_ENVS, threads), TRAINING_STEPS)
    return played, ClipReward(NormalizeReward(played, gamma=GAMMA), -MAX_REWARD, MAX_REWARD)
