"""The built-in games as environments: rewards, ends, infos, actions, and where their episodes begin.

`make_vec("KEEP_OF_KEYS", ..)` takes all that is not given from the game's row, `game.json` in its folder. Addresses are
found by label; docs/games.md says what they mean. Each game's reward, end and features are a program, too, which has the name of the ROM.
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

# The game that an environment without a ROM plays.
NAME = "PEARL_DRIFT"

# The longest episode, in steps, of all games: a game that nobody plays may go on for ever.
EPISODE_STEPS = 4500

# States after the title in which episodes begin: in each of them START was pressed a little later.
STARTS = 16
_FRAMES = 4
_FIRST = 30
_STATE = 0xC005
_PLAYING = b"\1"
_RANDOM = 0xC00C

# Levels that a game has, and of which an environment may have so many: each is a saved state.
LEVELS = 65_535
MAX_LEVELS = 4096

# A bit for each variant that a game begins as (`game/variant.inc`); difficulties are two of them.
_VARIANT = 0xDFAB
DIFFICULTIES = ("normal", "easy")
_BEGINNINGS = "`start_state`, `starts`, `start_battery` and `boot_rom`"


@dataclass(frozen=True)
class Game:
    """Defaults of an environment of a game."""

    # In Gymnasium's registry, as `gbxcule/KeepOfKeys-v1`.
    title: str
    info: Mapping[str, Number] | None
    # The buttons that the game needs, as a codec's name or its spelling.
    actions: str
    frames_per_step: int
    release_after_frames: int
    has_title: bool = True
    variants: tuple[str, ...] = ()
    # A game over the cable begins on the title, where one machine calls the other.
    has_rival: bool = False
    max_episode_steps: int | None = EPISODE_STEPS
    reward: Change | None = Change("Score", 2)
    done: Number | None = Number("GameOver")
    # Sixteen bits from which all chance is made; zero would stay zero.
    chance: Number | None = Number("Random", 2)


def _game(title: str, text: str) -> Game:
    """The game of a row, `game.json` in its folder."""
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

# A ROM that is none of them has no reward, no end and no title that is known here.
OTHER = Game(
    "", None, "full_v1", 24, 8, has_title=False, max_episode_steps=None, reward=None, done=None, chance=None
)


def game_of(rom: Any) -> Game:
    """The game that an environment's `rom` names, or `OTHER`."""
    if rom is None:
        return GAMES[NAME]
    return GAMES.get(rom, OTHER) if isinstance(rom, str) else OTHER


def variants(name: str) -> tuple[str, ...]:
    """Return the names of a built-in game's variants, which have other rules, speeds or colors: `make_vec(variant=..)`
    takes one."""
    played: Game = one_of("game", name, GAMES)
    return played.variants


def press_frames(played: Game, frames_per_step: int) -> int:
    """How many frames of a step of this length an action is pressed: the share that the game's own has, rounded up."""
    return -(-played.release_after_frames * frames_per_step // played.frames_per_step)


def check_programs_of(rom: Any, *programs: str | None) -> None:
    """Refuse programs of a game on another one: they read addresses that mean something else there."""
    played = NAME if rom is None else rom
    is_built_in = isinstance(played, str) and played in GAMES
    for program in programs:
        if is_built_in and program in GAMES and program != played:
            raise ValueError(f'"{program}" reads the memory of {program}, and this is {played}: give "{played}"')


@functools.cache
def title(name: str, model: str = "auto", power_on: str = "zero") -> bytes:
    """The state of a game that waits on its title. Earlier, a game sets up its memory, and with it what chance has drawn."""
    swarm = _switched_on(name, 1, model, power_on)
    for _ in range(_FIRST):
        swarm.step(b"\0")
    return swarm.save_state(0)


@functools.cache
def starts(name: str, model: str = "auto", power_on: str = "zero", bits: int = 0) -> tuple[bytes, ...]:
    """The states after a game's title, made by pressing START, in each one a step later; of a variant by its bits."""
    swarm = _on_the_title(name, STARTS, model, power_on, bits)
    return _begun(name, swarm, range(STARTS)) if GAMES[name].has_title else (swarm.save_state(0),)


def level_seed(level: int) -> int:
    """The random state with which a level begins: another for each level, and never 0, which would stay 0."""
    return 1 + level * 40_507 % LEVELS


@functools.lru_cache(maxsize=16)
def level_starts(
    name: str, levels: tuple[int, ...], model: str = "auto", power_on: str = "zero", bits: int = 0
) -> tuple[bytes, ...]:
    """The beginning of each level: the random state is written on the title, and START pressed."""
    swarm = _on_the_title(name, len(levels), model, power_on, bits)
    for env, level in enumerate(levels):
        swarm.write_memory(env, _RANDOM, level_seed(level).to_bytes(2, "little"))
    if not GAMES[name].has_title:
        return tuple(swarm.save_state(env) for env in range(len(levels)))
    return _begun(name, swarm, [0] * len(levels))


def levels_of(levels: Any, rom: Any, is_paired: bool, begins_elsewhere: bool, chance: Number | None) -> tuple[int, ...] | None:
    """Check the levels of an environment, beside its other options that say where episodes begin."""
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
    """Check variant and difficulty of an environment; the bits with which its games begin, 0 for the game itself."""
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
    """The name of a built-in ROM, as messages say it."""
    return NAME if rom is None else rom if isinstance(rom, str) else "this ROM"


def _begun(name: str, swarm: _native.Swarm, first_steps: Sequence[int]) -> tuple[bytes, ...]:
    """Press START in each env in a step of its own; the states in which play began."""
    found: dict[int, bytes] = {}
    for step in range(400):
        swarm.step(bytes(step == first for first in first_steps))
        for env in range(len(first_steps)):
            if env not in found and swarm.read_memory(env, _STATE, _STATE + 1) == _PLAYING:
                found[env] = swarm.save_state(env)
        if len(found) == len(first_steps):
            return tuple(found[env] for env in range(len(first_steps)))
    raise RuntimeError(f"{name} did not begin after its title")


def _switched_on(name: str, num_envs: int, model: str, power_on: str) -> _native.Swarm:
    return _native.Swarm(
        _native.built_in_rom(name), num_envs, codec="NOOP,START", frames_per_step=_FRAMES, release_after_frames=_FRAMES,
        threads=1, model=model, power_on=power_on,
    )


def _on_the_title(name: str, num_envs: int, model: str, power_on: str, bits: int) -> _native.Swarm:
    """Machines that wait on a game's title, one like the other, with the bits of a variant."""
    swarm = _switched_on(name, num_envs, model, power_on)
    swarm.load_states(b"\1" * num_envs, [title(name, model, power_on)])
    if bits:
        swarm.write_memories(b"\1" * num_envs, _VARIANT, bytes([bits]) * num_envs)
    return swarm
