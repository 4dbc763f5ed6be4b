"""One run of the benchmark, for an agent, a task and a seed: the training, then episodes in held-out levels."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.action_log import ActionLog, LoggedGame, begin_levels, buttons_of
from gbxcule.benchmark.progress import Progress
from gbxcule.benchmark.protocol import Played, Task, held_out_levels, machines, training_env
from gbxcule.game import EPISODE_STEPS

RANDOM, SCRIPTED = "random", "scripted"
LEARNERS = ("PPO", "recurrent PPO", "RND", "PQN")
AGENTS = (RANDOM, SCRIPTED, *LEARNERS)
# Most points of a curve that are kept.
CURVE_POINTS = 100

# A policy gets observations and the mask of envs that begin an episode, and returns actions.
Policy = Callable[[npt.NDArray[Any], npt.NDArray[np.bool_]], npt.NDArray[Any]]


class Learner(Protocol):
    """An agent that learns: each file of `agent` has one."""

    def update(self, left: float) -> None:
        """Play some steps and learn from them; `left` is the share of the budget that is left, from 1 to 0."""

    def policy(self) -> Policy:
        """Return the policy that was learned so far, for an evaluation."""


@dataclass(frozen=True)
class Settings:
    """Settings that all runs of a folder share."""

    frames: int
    obs: str
    threads: int


Run = dict[str, Any]


def run(agent: str, task: Task, seed: int, settings: Settings) -> tuple[Run, ActionLog]:
    """Play a run; return a row of the results, and the games behind its scores."""
    row: Run = {"task": task.name, "agent": agent, "seed": seed}
    levels = held_out_levels(seed)
    if agent == SCRIPTED:
        scores, log = scripted(task, levels)
        return row | {"levels": levels, "scores": scores}, log
    if agent == RANDOM:
        scores, log = episodes(task, "features", levels, random_policy(task, seed), settings.threads)
        return row | {"levels": levels, "scores": scores}, log
    began = time.process_time()
    learner, curve = trained(agent, task, seed, settings)
    training = {"seconds": round(time.process_time() - began), "frames": curve[-1][0], "curve": thinned(curve)}
    scores, log = episodes(task, settings.obs, levels, learner.policy(), settings.threads)
    return row | {"levels": levels, "scores": scores} | training, log


def scripted(task: Task, levels: Sequence[int]) -> tuple[list[float], ActionLog]:
    """Play the game's scripted test player, which reads the game's memory and decides in every frame."""
    frames = EPISODE_STEPS * task.row.frames_per_step
    played = [_native.scripted_game(task.game, level, frames) for level in levels]
    games = [LoggedGame(buttons, level) for level, (_, _, buttons) in zip(levels, played, strict=True)]
    return [float(score) for score, _, _ in played], ActionLog(task.game, 1, 1, task.difficulty, games)


def random_policy(task: Task, seed: int) -> Policy:
    """Return a policy of random actions."""
    rng = np.random.default_rng(seed)
    actions = len(_native.Swarm(_native.built_in_rom(task.game), 1, codec=task.row.actions).action_names)
    return lambda obs, _begins: rng.integers(actions, size=len(obs))


def episodes(task: Task, obs: str, levels: Sequence[int], policy: Policy, threads: int) -> tuple[list[float], ActionLog]:
    """Play one episode of each level, all at once; return their scores and the games."""
    count = len(levels)
    env = Played(machines(task, obs, list(levels), count, threads))
    swarm: Any = env.unwrapped
    seen = begin_levels(env, range(count), count)
    buttons = buttons_of(swarm.action_names)
    pressed: list[list[int]] = [[] for _ in levels]
    scores, begins = np.full(count, np.nan), np.ones(count, np.bool_)
    while np.isnan(scores).any():
        actions = policy(seen, begins)
        for each in np.flatnonzero(np.isnan(scores)):
            pressed[each].append(buttons[actions[each]])
        seen, _, terminated, truncated, infos = env.step(actions)
        begins = terminated | truncated
        first = begins & np.isnan(scores)
        if first.any():
            scores[first] = infos["final_info"]["score"][first]
    env.close()
    games = [LoggedGame(bytes(bytearray(row)), level) for row, level in zip(pressed, levels, strict=True)]
    row = task.row
    return scores.tolist(), ActionLog(task.game, row.frames_per_step, row.release_after_frames, task.difficulty, games)


def trained(agent: str, task: Task, seed: int, settings: Settings) -> tuple[Learner, list[tuple[int, float | None]]]:
    """Train an agent for the budget. Its curve holds frames and the mean score of the last hundred episodes, which is
    None before the first end."""
    from gbxcule.benchmark import agent as agents

    played, env = training_env(task, settings.obs, settings.threads)
    learner = agents.make(agent, env, seed, settings.threads)
    frames_per_step = task.row.frames_per_step
    curve: list[tuple[int, float | None]] = [(0, None)]
    progress = Progress(f"{task.name} {agent} {seed}, training", "frames", settings.frames)
    while curve[-1][0] < settings.frames:
        learner.update(1 - curve[-1][0] / settings.frames)
        curve.append((played.steps * frames_per_step, float(np.mean(played.scores)) if played.scores else None))
        progress.at(curve[-1][0])
    env.close()
    return learner, curve


def thinned(curve: list[tuple[int, float | None]]) -> list[tuple[int, float]]:
    """Return at most `CURVE_POINTS` of a curve's points that have a score, including the last."""
    points = [(frames, round(score, 1)) for frames, score in curve if score is not None]
    return points[:: -(-len(points) // CURVE_POINTS) or 1] if points else []
