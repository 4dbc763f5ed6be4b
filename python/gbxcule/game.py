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

# Levels of a game, and most levels of one environment, in which each is a saved state.
LEVELS = 65_535
MAX_LEVELS = 4096

DIFFICULTIES = ("normal", "easy")
# A built-in game's own program in `obs` and `reward`, named as in the environments' ids.
FEATURES = "features"

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
    # The game runs on a Game Boy Color alone.
    needs_color: bool = False
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
        needs_color=row["console"] == "color",
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


def check_model(rom: Any, model: Any) -> None:
    """Refuse an original Game Boy for a game that needs a Color."""
    if game_of(rom).needs_color and isinstance(model, str) and model != "auto" and not model.startswith("cgb"):
        raise ValueError(f'{rom} is a Color game, found model="{model}": leave `model` out, or give "cgb"')


def with_features(rom: Any, **options: Any) -> list[Any]:
    """Return an observation, a reward and ends, with the name of the game's own program for `features`."""
    return [_with_features(rom, option, given) for option, given in options.items()]


def _with_features(rom: Any, option: str, given: Any) -> Any:
    if isinstance(given, Mapping):
        return {name: _with_features(rom, option, one) for name, one in given.items()}
    if isinstance(given, (list, tuple)):
        return [_with_features(rom, option, one) for one in given]
    if not isinstance(given, str) or given != FEATURES:
        return given
    if game_of(rom) is OTHER:
        raise ValueError(
            f'{option}="{FEATURES}" is the program of a built-in game ({", ".join(GAMES)}), and {_rom_shown(rom)} has none: '
            "give the path of a program"
        )
    return NAME if rom is None else rom


@functools.cache
def title(name: str, model: str = "auto", power_on: str = "zero") -> bytes:
    """Return the state of a game that waits on its title, with its memory and random state set up."""
    return _native.game_title(name, model, power_on)


@functools.lru_cache(maxsize=16)
def starts(
    name: str, model: str = "auto", power_on: str = "zero", bits: int = 0, levels: tuple[int, ...] | None = None
) -> tuple[bytes, ...]:
    """Return states after the title, of the variant with these `bits`: those in which `levels` begin, or a few in which
    START was pressed at different steps."""
    return tuple(_native.game_starts(name, model, power_on, bits, levels))


def levels_of(levels: Any, rom: Any, is_paired: bool, begins_elsewhere: bool, chance: Number | None) -> tuple[int, ...] | None:
    """Check the levels of an environment, and that no other option says where episodes begin."""
    if levels is None:
        return None
    if isinstance(levels, (str, bytes)) or not isinstance(levels, (Sequence, np.ndarray)):
        raise TypeError(f"`levels` takes the numbers of levels, such as range(200), found {shown(levels)}")
    if game_of(rom) is OTHER:
        raise ValueError("only built-in games (`gbxcule roms`) have `levels`; for other ROMs give saved states as `starts`")
    if is_paired:
        raise ValueError("`levels` are for single machines: pairs begin on the title, where one machine calls the other")
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
    if variant == difficulty == "easy":
        raise ValueError('variant="easy" and difficulty="easy" are the same: leave one of them out')
    asked = {"variant": variant, "difficulty": None if difficulty == "normal" else difficulty}
    names = game_of(rom).variants
    bits = 0
    for option, name in asked.items():
        if name is None:
            continue
        if not isinstance(name, str) or name not in names:
            variants = f"the variants {', '.join(names)}" if names else "no variants"
            raise ValueError(f"`{option}={shown(name)}`: {_rom_shown(rom)} has {variants}")
        if begins_elsewhere:
            raise ValueError(f"`{option}` says how games begin, and so do {_BEGINNINGS}: give one of them")
        bits |= 1 << names.index(name)
    return bits


def _rom_shown(rom: Any) -> str:
    """Return a ROM's name for messages."""
    return NAME if rom is None else rom if isinstance(rom, str) else "this ROM"
