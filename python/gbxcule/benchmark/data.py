"""`python -m gbxcule.benchmark.data`: games of random, scripted and trained players as files of actions, and their transitions.

    python -m gbxcule.benchmark.data make runs/data --steps 1e6        # a file for each game and player
    python -m gbxcule.benchmark.data replay runs/data/*.jsonl.gz       # plays them again: counts and digests
    python -m gbxcule.benchmark.data minari runs/data/EMBER_LEAP-random.jsonl.gz --id ember-leap/random-v0

A file holds buttons alone, under a byte a step; observations and rewards are made by playing again, byte for byte the same on
every computer. `gbxcule.action_log` reads the files, docs/judge.md has their format.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from gbxcule.action_log import ActionLog, LoggedGame, Transitions, begin_levels, buttons_of, digest, read, transitions
from gbxcule.benchmark.__main__ import whole_number
from gbxcule.benchmark.play import AGENTS, RANDOM, SCRIPTED, Policy, Settings, random_policy, scripted, trained
from gbxcule.benchmark.progress import Progress
from gbxcule.benchmark.protocol import GAME_TASKS, TASKS, Played, Task, machines
from gbxcule.game import EPISODE_STEPS, LEVELS

# Most games that are played side by side, and most levels of an environment.
TOGETHER, LEVELS_TOGETHER = 50, 250


def made(player: str, task: Task, steps: int, settings: Settings) -> ActionLog:
    """Return games of a player, one in each level from 0 on, until they have `steps` steps."""
    row = task.row
    length = 1, 1
    progress = Progress(f"{task.name} {player}", "steps", steps)
    if player == SCRIPTED:
        played_games = played_by_script(task, steps)
    else:
        length = row.frames_per_step, row.release_after_frames
        policy, obs = random_policy(task, 0), "features"
        if player != RANDOM:
            policy, obs = trained(player, task, 0, settings)[0].policy(), settings.obs
        # Games are always played to their end, so begin few at once for few steps.
        played_games = played(task, obs, policy, min(TOGETHER, 1 + steps // EPISODE_STEPS), steps, settings.threads)
    games: list[LoggedGame] = []
    count = 0
    for game in played_games:
        games.append(game)
        count += len(game.buttons)
        progress.at(count)
    if count < steps:
        raise SystemExit(f"{task.name} {player}: its {LEVELS:,} levels have {count:,} steps, and --steps asks for {steps:,}: ask for less")
    return ActionLog(task.game, *length, task.difficulty, sorted(games, key=lambda game: game.level or 0))


def played_by_script(task: Task, steps: int) -> Iterator[LoggedGame]:
    """Yield games of the scripted player, level after level, until they have `steps` steps."""
    for level in range(LEVELS):
        (game,) = scripted(task, [level])[1].games
        yield game
        steps -= len(game.buttons)
        if steps <= 0:
            return


def played(task: Task, obs: str, policy: Policy, envs: int, steps: int, threads: int) -> Iterator[LoggedGame]:
    """Yield games in the order in which they end; an env then begins the next level, until there are `steps` steps.
    """
    for first in range(0, LEVELS, LEVELS_TOGETHER):
        if steps <= 0:
            return
        levels = list(range(first, min(first + LEVELS_TOGETHER, LEVELS)))
        env = Played(machines(task, obs, levels, envs, threads, "Disabled"))
        swarm: Any = env.unwrapped
        buttons = buttons_of(swarm.action_names)
        seen = begin_levels(env, [min(each, len(levels) - 1) for each in range(envs)], len(levels))
        pressed = [bytearray() for _ in range(envs)]
        plays: list[int | None] = [each if each < len(levels) else None for each in range(envs)]
        following, begins = envs, np.ones(envs, np.bool_)
        while any(place is not None for place in plays):
            actions = policy(seen, begins)
            seen, _, terminated, truncated, _ = env.step(actions)
            begins = terminated | truncated
            for each, row in enumerate(pressed):
                if plays[each] is not None:
                    row.append(buttons[actions[each]])
            for each in map(int, np.flatnonzero(begins)):
                place = plays[each]
                if place is not None:
                    yield LoggedGame(bytes(pressed[each]), levels[place])
                    steps -= len(pressed[each])
                pressed[each] = bytearray()
                going = sum(map(len, pressed))
                plays[each] = following if following < len(levels) and steps > going else None
                following += plays[each] is not None
                # Only one start has a weight, so this env begins there.
                swarm.weigh_starts([int(place == (plays[each] or 0)) for place in range(len(levels))])
                seen, _ = env.reset(options={"reset_mask": np.arange(envs) == each})
        env.close()


def make(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = Settings(arguments.frames, "features", 1)
    for name in arguments.games:
        for player in arguments.players:
            path = arguments.out / f"{name}-{player.replace(' ', '-')}.jsonl.gz"
            if not path.exists() and not (player == SCRIPTED and Task(name).difficulty != "normal"):
                log = made(player, Task(name), arguments.steps, settings)
                log.write(path)
                size = path.stat().st_size
                print(f"{path}: {len(log.games)} games, {log.steps} steps, {size} bytes, {size / log.steps:.3f} a step", flush=True)


def replay(arguments: argparse.Namespace) -> None:
    for path in arguments.files:
        log = read(path)
        progress = Progress(str(path), "games", len(log.games))
        sha256 = digest(log, progress.at, obs=arguments.obs or log.game)
        print(f"{sha256}  {log.steps} steps  {path}", flush=True)


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
        raise SystemExit(f"Minari is not installed whole ({error}): pip install 'minari[hdf5]>=0.5.4' pillow") from error
    if not log.games:
        raise ValueError("the file has no games, of which a data set is made: record some")

    def buffers() -> Iterator[tuple[Transitions, Any]]:
        for number, game in enumerate(transitions(log, **options)):
            ends = game.truncated.copy()
            ends[-1] |= not game.terminated[-1]
            yield game, EpisodeBuffer(
                id=number, observations=game.observations, actions=game.buttons.astype(np.int64), rewards=game.rewards.tolist(),
                terminations=game.terminated.tolist(), truncations=ends.tolist(),
                seed=game.game.seed if game.game.level is None else game.game.level,
            )

    pairs = list(buffers())
    played = [log.difficulty] + ([] if log.variant is None else [log.variant])
    seen = _space_of(pairs[0][0].observations)
    return create_dataset_from_buffers(
        name, buffer=[buffer for _, buffer in pairs], observation_space=seen, action_space=spaces.Discrete(256),
        description=f"{log.game}, {', '.join(played)}, {log.frames_per_step} frames a step; actions are bytes of buttons",
        # Minari would keep pictures with the losses of JPEG.
        jpeg_encoding=False,
    )


def _space_of(observations: Any) -> spaces.Space[Any]:
    """Return the space of a game's observations, which are an array or a dictionary of arrays."""
    if isinstance(observations, dict):
        return spaces.Dict({name: _space_of(array) for name, array in observations.items()})
    dtype, shape = observations.dtype.type, observations.shape[1:]
    if np.issubdtype(dtype, np.floating):
        return spaces.Box(-np.inf, np.inf, shape, dtype)
    return spaces.Box(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)


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
    try:
        given.run(given)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
    return 0


if __name__ == "__main__":
    sys.exit(main())
