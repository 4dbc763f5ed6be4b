"""Games as files (docs/judge.md): their starts and buttons. Playing a game again makes its transitions.

Data flow: buttons of a player -> `ActionLog` -> a file -> `transitions` -> Minari, or arrays of your own.
"""

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import path_of, without
from gbxcule.game import EPISODE_STEPS, GAMES
from gbxcule.vector import SwarmVectorEnv

FORMAT, VERSION = "gbxcule games", 1
# Bits of a step's byte, in the order of the codec `buttons_v1`.
BITS = {"A": 0x10, "B": 0x20, "SELECT": 0x40, "START": 0x80, "UP": 0x04, "DOWN": 0x08, "LEFT": 0x02, "RIGHT": 0x01}
_OPPOSITES = (BITS["LEFT"] | BITS["RIGHT"], BITS["UP"] | BITS["DOWN"])
MAX_BYTES = 1 << 30
_GZIP = b"\x1f\x8b"
# Number of games that are played at once.
TOGETHER = 32

_CHOSEN_BY_LOG = dict.fromkeys(
    ("levels", "difficulty", "variant", "actions", "frames_per_step", "release_after_frames"), "the file of games says it"
)
_CHANGES_GAMES = dict.fromkeys(
    ("sticky", "noop_max", "chance", "start_state", "start_battery", "starts", "start_steps", "boot_rom", "power_on", "model",
     "link", "autoreset_mode", "episodic_life"),
    "it would change the games",
)


@dataclass(frozen=True)
class LoggedGame:
    """A game: a byte of buttons for each step. It began in a level, or as the seed and the episode say; without level and
    seed it began at power-on."""

    buttons: bytes
    level: int | None = None
    seed: int | None = None
    episode: int = 0


@dataclass(frozen=True)
class ActionLog:
    """The content of a file: games of one ROM."""

    game: str
    frames_per_step: int
    release_after_frames: int
    difficulty: Literal["normal", "easy"] = "normal"
    games: list[LoggedGame] = field(default_factory=list)
    variant: str | None = None

    @property
    def steps(self) -> int:
        """Number of steps of all games."""
        return sum(len(game.buttons) for game in self.games)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file: text, packed by gzip where the name ends in `.gz`."""
        header = {
            "format": FORMAT, "version": VERSION, "game": self.game, "rom_sha256": rom_sha256(self.game),
            "frames_per_step": self.frames_per_step, "release_after_frames": self.release_after_frames,
        }
        if self.variant is not None:
            header["variant"] = self.variant
        if self.difficulty != "normal":
            header["difficulty"] = self.difficulty
        lines = [header, *map(_line, self.games)]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = Path(path_of("a file of games", path))
        _native.write_file(os.fspath(file), gzip.compress(data, 9, mtime=0) if file.suffix == ".gz" else data)


def rom_sha256(game: str) -> str:
    """The SHA-256 of a built-in game's ROM."""
    return hashlib.sha256(_native.built_in_rom(game)).hexdigest()


def _line(game: LoggedGame) -> dict[str, Any]:
    start = {"level": game.level} if game.level is not None else {"seed": game.seed, "episode": game.episode}
    runs = [(byte, len(list(run))) for byte, run in groupby(game.buttons)]
    words = [f"{byte:02x}" if count == 1 else f"{byte:02x}*{count}" for byte, count in runs]
    return {name: value for name, value in start.items() if value is not None} | {"buttons": " ".join(words)}


def read(path: str | os.PathLike[str]) -> ActionLog:
    """Read a file of games of this gbxcule's ROMs."""
    file = Path(path_of("a file of games", path))
    data = _native.read_file(os.fspath(file), MAX_BYTES)
    if file.suffix == ".gz" or data.startswith(_GZIP):
        data = _unpacked(file, data)
    try:
        header, *lines = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
        if (header["format"], header["version"]) != (FORMAT, VERSION) or header["game"] not in GAMES:
            raise ValueError
        games = [_game(line) for line in lines]
        log = ActionLog(
            header["game"], int(header["frames_per_step"]), int(header["release_after_frames"]),
            header.get("difficulty") or "normal", games, header.get("variant"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} does not hold games of format {FORMAT!r}, version {VERSION}: docs/judge.md has the format") from error
    if header["rom_sha256"] != rom_sha256(log.game):
        raise ValueError(
            f"{file} has games of another {log.game}: its ROM has the SHA-256 {header['rom_sha256']}, this gbxcule's "
            f"{rom_sha256(log.game)}; use the gbxcule that wrote the file"
        )
    return log


def _unpacked(file: Path, data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f"{file} is not packed by gzip, as its name or its first bytes say: {error}") from error
    if not unpacker.eof:
        raise ValueError(f"{file} is cut off, or holds more than {MAX_BYTES} bytes")
    return text


def _game(line: dict[str, Any]) -> LoggedGame:
    parts = []
    for word in line["buttons"].split():
        byte, count = re.fullmatch(r"([0-9a-f]{2})(?:\*(\d{1,8}))?", word).groups()  # type: ignore[union-attr]
        parts.append(bytes([int(byte, 16)]) * int(count or 1))
    return LoggedGame(b"".join(parts), line.get("level"), line.get("seed"), line.get("episode", 0))


def buttons_of(action_names: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The byte of buttons of each action of an environment, by its names such as `A+RIGHT`."""
    return np.array([sum(BITS.get(name, 0) for name in action.split("+")) for action in action_names], np.uint8)


@dataclass(frozen=True)
class Transitions:
    """A game's steps. It has one observation more than steps: the first one precedes the first step. A dictionary of
    observations is one of arrays."""

    game: LoggedGame
    observations: Any
    buttons: npt.NDArray[np.uint8]
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        seen = self.observations.values() if isinstance(self.observations, dict) else [self.observations]
        return *seen, self.buttons, self.rewards, self.terminated, self.truncated


def transitions(log: ActionLog, **options: Any) -> Iterator[Transitions]:
    """Play the games of a log again, in their order. The options are those of `gbxcule.make_vec` that change observations
    and rewards, such as `obs` and `reward`, not the games."""
    without(options, _CHOSEN_BY_LOG | _CHANGES_GAMES)
    number = 0
    for _, alike in groupby(log.games, _kind_of_start):
        while games := list(islice(alike, TOGETHER)):
            yield from _together(log, number, games, options)
            number += len(games)


def _kind_of_start(game: LoggedGame) -> str:
    return "level" if game.level is not None else "power-on" if game.seed is None else "seed"


def _together(log: ActionLog, first: int, games: list[LoggedGame], options: dict[str, Any]) -> list[Transitions]:
    for number, game in enumerate(games, first):
        _check_buttons(number, game)
    # Several games may begin in one level; the environment needs each level once.
    levels = list(dict.fromkeys(game.level for game in games if game.level is not None))
    env: Any = SwarmVectorEnv(
        log.game, len(games), levels=levels or None, difficulty=log.difficulty, variant=log.variant, actions="buttons_v1",
        frames_per_step=log.frames_per_step, release_after_frames=log.release_after_frames, autoreset_mode="Disabled",
        **{"max_episode_steps": most_steps(log), **options},
    )
    with env:
        _begin(env, log, games, levels)
        bits = np.array(list(BITS.values()), np.uint8)
        seen: list[list[Any]] = [[env._observer.copy_of(place)] for place in range(len(games))]
        results: list[list[Any]] = [[] for _ in games]
        for step in range(max(len(game.buttons) for game in games)):
            plays = [place for place, game in enumerate(games) if step < len(game.buttons)]
            pressed = np.zeros(len(games), np.uint8)
            pressed[plays] = [games[place].buttons[step] for place in plays]
            _, rewards, terminated, truncated, _ = env.step((pressed[:, None] & bits != 0).astype(np.int8))
            over = terminated | truncated
            for place in plays:
                seen[place].append(env._observer.copy_of(place))
                results[place].append((rewards[place], terminated[place], truncated[place]))
                left = len(games[place].buttons) - step - 1
                if over[place] and left:
                    raise ValueError(
                        f"game {first + place} of the log has {left} steps after its end, which came with step {step + 1}: "
                        "`gbxcule judge FILE --seal SEALED` writes a file without them"
                    )
            if over.any() and not over.all():
                env.reset(options={"reset_mask": over})
    played = []
    for game, rows, result in zip(games, seen, results, strict=True):
        rewards, terminated, truncated = (np.array(column) for column in zip(*result, strict=True))
        buttons = np.frombuffer(game.buttons, np.uint8)
        played.append(Transitions(game, _stacked(rows), buttons, rewards.astype(np.float32), terminated, truncated))
    return played


def _check_buttons(number: int, game: LoggedGame) -> None:
    if not game.buttons:
        raise ValueError(f"game {number} of the log has no steps: leave it out")
    for step, byte in enumerate(game.buttons, 1):
        if any(byte & both == both for both in _OPPOSITES):
            raise ValueError(
                f"step {step} of game {number} of the log has the buttons {byte:02x}, LEFT and RIGHT or UP and DOWN at once, which "
                "no direction pad can press: press one of the two"
            )


def _begin(env: Any, log: ActionLog, games: list[LoggedGame], levels: list[int]) -> None:
    """Begin each game in its env: in its level, in its seed's episode, or at power-on."""
    if levels:
        begin_levels(env, [levels.index(game.level) for game in games if game.level is not None], len(levels))
    elif games[0].seed is None:
        env.reset(seed=0)
        env.reset(options={"state": _at_power_on(log)})
    else:
        env.reset(seed=[game.seed for game in games])
        for episode in range(1, 1 + max(game.episode for game in games)):
            env.reset(options={"reset_mask": np.array([game.episode >= episode for game in games])})


def _at_power_on(log: ActionLog) -> bytes:
    """Return the state at power-on."""
    if log.variant is not None or log.difficulty != "normal":
        raise ValueError("a game from power-on is no variant: give each game of the log a seed or a level")
    with SwarmVectorEnv(_native.built_in_rom(log.game), start_steps=0) as machine:
        machine.reset(seed=0)
        return machine.save_state(0)


def _stacked(rows: list[Any]) -> Any:
    """Return observations as one array, or as a dictionary of arrays."""
    if isinstance(rows[0], dict):
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return np.stack(rows)


def most_steps(log: ActionLog) -> int:
    """Return the limit of an episode's steps, which has the same frames for every length of a step.
    """
    return -(-EPISODE_STEPS * GAMES[log.game].frames_per_step // log.frames_per_step)


def begin_levels(env: Any, starts: Sequence[int], count: int) -> Any:
    """Begin an episode in each env from the start whose number `starts` gives; return all observations."""
    swarm, envs = env.unwrapped, np.arange(env.num_envs)
    obs, _ = env.reset(seed=0)
    for start in sorted(set(starts)):
        # Only one start has a weight, so these envs begin there.
        swarm.weigh_starts([int(start == other) for other in range(count)])
        obs, _ = env.reset(options={"reset_mask": np.array(starts)[envs] == start})
    return obs


def digest(log: ActionLog, progress: Callable[[int], object] = lambda _games: None, **options: Any) -> str:
    """Return the SHA-256 of all transitions of a log, little-endian, game after game: it is equal on every computer.
    `progress` gets the number of games that are done."""
    hashed = hashlib.sha256()
    for number, game in enumerate(transitions(log, **options)):
        progress(number)
        for array in game.arrays():
            hashed.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()
