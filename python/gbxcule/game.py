"""The built-in games as environments: rewards, ends, infos, actions and starts of episodes.

`make_vec("KEEP_OF_KEYS", ..)` takes missing options from the game's row, `game.json` in its folder. docs/games.md
explains its labels. Each game's reward, end and features also exist as a program, named like the ROM.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule.argument_check import one_of, shown, whole
from gbxcule.memory import Change, Number

# The game of an environment that is given no ROM.
NAME = "PEARL_DRIFT"

# Limit of an episode's steps in all games: without a player some games never end.
EPISODE_STEPS = 4500

# Number of states after the title in which episodes begin; each presses START one step later.
STARTS = 16
_FRAMES = 4
_FIRST = 30
_STATE = 0xC005
_PLAYING = b"\1"
_RANDOM = 0xC00C

# Levels of a game, and most levels of one environment, in which each is a saved state.
LEVELS = 65_535
MAX_LEVELS = 4096

# Address of the bits that choose variants and difficulty (`game/variant.inc`).
_VARIANT = 0xDFAB
DIFFICULTIES = ("normal", "easy")
_BEGINNINGS = "`start_state`, `starts`, `start_battery` and `boot_rom`"


@dataclass(frozen=True)
class Game:
    """Default options for the environments of a game."""

    # The game's name in Gymnasium's registry, as in `gbxcule/KeepOfKeys-v1`.
    title: str
    info: Mapping[str, Number] | None
    # The buttons that the game needs, as a codec's name or its spelling.
    actions: str
    frames_per_step: int
    release_after_frames: int
    has_title: bool = True
    variants: tuple[str, ...] = ()
    # The game can be played over the cable, where it begins on the title.
    has_rival: bool = False
    max_episode_steps: int | None = EPISODE_STEPS
    reward: Change | None = Change("Score", 2)
    done: Number | None = Number("GameOver")
    # The 16 bits of the game's random generator; 0 would stay 0.
    chance: Number | None = Number("Random", 2)


def _game(title: str, text: str) -> Game:
    """Read a game's row, `game.json` in its folder."""
    row = json.loads(text)
    return Game(
        title,
        {name: Number(*place) for name, place in row["info"].items()},
        row["actions"],
        row["frames_per_step"],
        row["release_after_frames"],
        has_title=row["has_title"],
        variants=tuple(name for name, _ in row["variants"]),
        has_rival=row["players"] > 1,
    )


GAMES = {name: _game(title, row) for name, title, row in _native.games()}

# Defaults for other ROMs, whose rewards, ends and titles aren't known.
OTHER = Game(
    "", None, "full_v1", 24, 8, has_title=False, max_episode_steps=None, reward=None, done=None, chance=None
)


def game_of(rom: Any) -> Game:
    """Return the game that an environment's `rom` names, or `OTHER`."""
    if rom is None:
        return GAMES[NAME]
    return GAMES.get(rom, OTHER) if isinstance(rom, str) else OTHER


def variants(name: str) -> tuple[str, ...]:
    """Return the names of a built-in game's variants, which have other rules, speeds or colors: `make_vec(variant=..)`
    takes one."""
    played: Game = one_of("game", name, GAMES)
    return played.variants


def press_frames(played: Game, frames_per_step: int) -> int:
    """Return the frames of a step that an action is pressed: the share in the game's row, rounded up."""
    return -(-played.release_after_frames * frames_per_step // played.frames_per_step)


def check_programs_of(rom: Any, *programs: str | None) -> None:
    """Refuse a game's program on another game, where its addresses mean something else."""
    played = NAME if rom is None else rom
    is_built_in = isinstance(played, str) and played in GAMES
    for program in programs:
        if is_built_in and program in GAMES and program != played:
            raise ValueError(f'"{program}" reads the memory of {program}, and this is {played}: give "{played}"')


@functools.cache
def title(name: str, model: str = "auto", power_on: str = "zero") -> bytes:
    """Return the state of a game that waits on its title, with its memory and random state set up."""
    swarm = _switched_on(name, 1, model, power_on)
    for _ in range(_FIRST):
        swarm.step(b"\0")
    return swarm.save_state(0)


@functools.cache
def starts(name: str, model: str = "auto", power_on: str = "zero", bits: int = 0) -> tuple[bytes, ...]:
    """Return states after the title, of the variant with these `bits`; each presses START one step later."""
    swarm = _on_the_title(name, STARTS, model, power_on, bits)
    return _begun(name, swarm, range(STARTS)) if GAMES[name].has_title else (swarm.save_state(0),)


def level_seed(level: int) -> int:
    """Return the random state of a level: unique, and never 0, which would stay 0."""
    return 1 + level * 40_507 % LEVELS


@functools.lru_cache(maxsize=16)
def level_starts(
    name: str, levels: tuple[int, ...], model: str = "auto", power_on: str = "zero", bits: int = 0
) -> tuple[bytes, ...]:
    """Make the first state of each level: write its random state on the title, and press START."""
    swarm = _on_the_title(name, len(levels), model, power_on, bits)
    for env, level in enumerate(levels):
        swarm.write_memory(env, _RANDOM, level_seed(level).to_bytes(2, "little"))
    if not GAMES[name].has_title:
        return tuple(swarm.save_state(env) for env in range(len(levels)))
    return _begun(name, swarm, [0] * len(levels))


def levels_of(levels: Any, rom: Any, is_paired: bool, begins_elsewhere: bool, chance: Number | None) -> tuple[int, ...] | None:
    """Check the levels of an environment, and that no other option says where episodes begin."""
    if levels is None:
        return None
    if isinstance(levels, (str, bytes)) or not isinstance(levels, (Sequence, np.ndarray)):
        raise TypeError(f"`levels` takes the numbers of levels, such as range(200), found {shown(levels)}")
    if game_of(rom) is OTHER:
        raise ValueError("`levels` are of built-in games (`gbxcule roms`); for other ROMs give saved states as `starts`")
    if is_paired:
        raise ValueError("`levels` are of games for one: a pair's games begin on the title, where one machine calls the other")
    if begins_elsewhere:
        raise ValueError(f"`levels` say where episodes begin, and so do {_BEGINNINGS}: give one of them")
    if chance is not None:
        raise ValueError("a level decides all chance of its game: leave out `chance` or `levels`")
    numbers = tuple(whole("a level", level, 0) for level in levels)
    if not 1 <= len(numbers) <= MAX_LEVELS:
        raise ValueError(f"`levels` takes 1 to {MAX_LEVELS} levels, found {len(numbers)}")
    if max(numbers) >= LEVELS:
        raise ValueError(f"levels are 0 to {LEVELS - 1}, found {max(numbers)}")
    if len(set(numbers)) < len(numbers):
        raise ValueError("`levels` names a level twice; `env.weigh_starts(..)` lets one begin more often than others")
    return numbers


def variant_bits(variant: Any, difficulty: Any, rom: Any, begins_elsewhere: bool) -> int:
    """Check variant and difficulty; return the bits that games begin with, 0 for the plain game."""
    if not isinstance(difficulty, str) or difficulty not in DIFFICULTIES:
        raise ValueError(f"`difficulty` is one of {', '.join(DIFFICULTIES)}, found {shown(difficulty)}")
    asked = {"variant": variant, "difficulty": None if difficulty == "normal" else difficulty}
    names = game_of(rom).variants
    bits = 0
    for option, name in asked.items():
        if name is None:
            continue
        if not isinstance(name, str) or name not in names:
            there = f"the variants {', '.join(names)}" if names else "no variants"
            raise ValueError(f"`{option}={shown(name)}`: {_rom_shown(rom)} has {there}")
        if begins_elsewhere:
            raise ValueError(f"`{option}` says how games begin, and so do {_BEGINNINGS}: give one of them")
        bits |= 1 << names.index(name)
    return bits


def _rom_shown(rom: Any) -> str:
    """Return a ROM's name for messages."""
    return NAME if rom is None else rom if isinstance(rom, str) else "this ROM"


def _begun(name: str, swarm: _native.Swarm, first_steps: Sequence[int]) -> tuple[bytes, ...]:
    """Press START in each env from its own step on; return the states in which play began."""
    states: dict[int, bytes] = {}
    for step in range(400):
        swarm.step(bytes(step == first for first in first_steps))
        for env in range(len(first_steps)):
            if env not in states and swarm.read_memory(env, _STATE, _STATE + 1) == _PLAYING:
                states[env] = swarm.save_state(env)
        if len(states) == len(first_steps):
            return tuple(states[env] for env in range(len(first_steps)))
    raise RuntimeError(f"{name} did not begin after its title")


def _switched_on(name: str, num_envs: int, model: str, power_on: str) -> _native.Swarm:
    return _native.Swarm(
        _native.built_in_rom(name), num_envs, codec="NOOP,START", frames_per_step=_FRAMES, release_after_frames=_FRAMES,
        threads=1, model=model, power_on=power_on,
    )


def _on_the_title(name: str, num_envs: int, model: str, power_on: str, bits: int) -> _native.Swarm:
    """Make equal machines that wait on a game's title, with the bits of a variant."""
    swarm = _switched_on(name, num_envs, model, power_on)
    swarm.load_states(b"\1" * num_envs, [title(name, model, power_on)])
    if bits:
        swarm.write_memories(b"\1" * num_envs, _VARIANT, bytes([bits]) * num_envs)
    return swarm
