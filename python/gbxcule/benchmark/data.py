"""`python -m gbxcule.benchmark.data`: games of random, scripted and trained players as files of actions, and their transitions.

    python -m gbxcule.benchmark.data make runs/data --steps 1e6        # a file for each game and player
    python -m gbxcule.benchmark.data replay runs/data/*.jsonl.xz       # plays them again: counts and digests
    python -m gbxcule.benchmark.data minari runs/data/EMBER_LEAP-random.jsonl.xz --id ember-leap/random-v0

A file holds buttons alone, under a byte a step; observations and rewards are made by playing again, byte for byte the same on
every computer. `gbxcule.action_log` reads the files, docs/judge.md has their format.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gbxcule.action_log import ActionLog, LoggedGame, Transitions, digest, read, transitions
from gbxcule.benchmark.__main__ import whole_number
from gbxcule.benchmark.play import AGENTS, RANDOM, SCRIPTED, Settings, episodes, random_policy, scripted, trained
from gbxcule.benchmark.protocol import GAME_TASKS, TASKS, TRAINING_LEVELS, Task

# Levels that are played beside each other.
TOGETHER = 50


def made(player: str, task: Task, steps: int, settings: Settings) -> ActionLog:
    """Games of a player, level after level from 0 on, until they have so many steps."""
    policy, obs = None, "features"
    if player not in (RANDOM, SCRIPTED):
        learner, _ = trained(player, task, 0, settings)
        policy, obs = learner.policy(), settings.obs
    games: list[LoggedGame] = []
    log = ActionLog(task.game, 1, 1, task.difficulty)
    while sum(len(game.buttons) for game in games) < steps:
        first = len(games)
        # A learner knows the training levels, each of which it plays again.
        levels = [(first + each) % len(TRAINING_LEVELS) if policy else first + each for each in range(TOGETHER)]
        if player == SCRIPTED:
            log = scripted(task, levels[:1])[1]
        else:
            log = episodes(task, obs, levels, policy or random_policy(task, first), settings.threads)[1]
        games += log.games
    return ActionLog(log.game, log.frames_per_step, log.release_after_frames, log.difficulty, games)


def make(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = Settings(arguments.frames, "features", 1)
    for name in arguments.games:
        for player in arguments.players:
            path = arguments.out / f"{name}-{player.replace(' ', '-')}.jsonl.xz"
            if not path.exists() and not (player == SCRIPTED and Task(name).difficulty != "normal"):
                log = made(player, Task(name), arguments.steps, settings)
                log.write(path)
                size = path.stat().st_size
                print(f"{path}: {len(log.games)} games, {log.steps} steps, {size} bytes, {size / log.steps:.3f} a step", flush=True)


def replay(arguments: argparse.Namespace) -> None:
    for path in arguments.files:
        log = read(path)
        print(f"{digest(log, obs=arguments.obs or log.game)}  {log.steps} steps  {path}", flush=True)


def minari(arguments: argparse.Namespace) -> None:
    log = read(arguments.file)
    dataset = exported(log, arguments.id, obs=arguments.obs or log.game)
    print(f"{arguments.id}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")


def exported(log: ActionLog, name: str, **options: Any) -> Any:
    """Write a log's transitions as a data set of Minari. Its actions are bytes of buttons; a game that its player stopped is
    truncated there."""
    try:
        from minari import create_dataset_from_buffers
        from minari.data_collector import EpisodeBuffer
    except ImportError as error:
        raise SystemExit("Minari is not installed: pip install 'minari[hdf5]'") from error
    from gymnasium import spaces

    def buffers() -> Iterator[tuple[Transitions, Any]]:
        for number, game in enumerate(transitions(log, **options)):
            ends = game.truncated.copy()
            ends[-1] |= not game.terminated[-1]
            yield game, EpisodeBuffer(
                id=number, observations=game.observations, actions=game.buttons.astype(np.int64), rewards=game.rewards.tolist(),
                terminations=game.terminated.tolist(), truncations=ends.tolist(), seed=game.game.level,
            )

    found = list(buffers())
    first = found[0][0].observations
    seen = (
        spaces.Box(0, 255, first.shape[1:], np.uint8)
        if first.dtype == np.uint8
        else spaces.Box(-np.inf, np.inf, first.shape[1:], first.dtype.type)
    )
    return create_dataset_from_buffers(
        name, buffer=[buffer for _, buffer in found], observation_space=seen, action_space=spaces.Discrete(256),
        description=f"{log.game}, {log.difficulty}, {log.frames_per_step} frames a step; actions are bytes of buttons",
    )


def main(arguments: list[str] | None = None) -> int:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(
        prog="python -m gbxcule.benchmark.data", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("make", help="play, and write files of actions")
    command.set_defaults(run=make)
    command.add_argument("out", type=Path, help="folder of the files; files that are there stay")
    command.add_argument("--steps", type=whole_number, default=1_000_000, help="steps of each file, at least")
    command.add_argument("--games", nargs="+", default=GAME_TASKS, choices=TASKS, metavar="GAME")
    command.add_argument("--players", nargs="+", default=[RANDOM, SCRIPTED, "PPO"], choices=AGENTS, metavar="PLAYER")
    command.add_argument("--frames", type=whole_number, default=1_000_000, help="frames that a player that learns is trained for")
    command = commands.add_parser("replay", help="play files again; print the SHA-256 of their transitions")
    command.set_defaults(run=replay)
    command.add_argument("files", nargs="+", type=Path)
    command.add_argument("--obs", help="observations as `make_vec` takes them; the game's features if left out")
    command = commands.add_parser("minari", help="write a file's transitions as a data set of Minari")
    command.set_defaults(run=minari)
    command.add_argument("file", type=Path)
    command.add_argument("--id", required=True, help="the data set's id, such as ember-leap/random-v0")
    command.add_argument("--obs", help="observations as `make_vec` takes them; the game's features if left out")
    given = parser.parse_args(arguments)
    given.run(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
