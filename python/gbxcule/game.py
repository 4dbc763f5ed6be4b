"""The built-in games as environments: rewards, ends, infos, actions, and where their episodes begin.

`make_vec("KEEP_OF_KEYS", ..)` takes all that is not given from the game's row, `game.json` in its folder. Addresses are
found by label; docs/games.md says what they mean. Each game's reward, end and features are a program, too, which has the name of the ROM.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gbxcule import _native
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
    swarm = _on_the_title(name, 1, model, power_on)
    for _ in range(_FIRST):
        swarm.step(b"\0")
    return swarm.save_state(0)


@functools.cache
def starts(name: str, model: str = "auto", power_on: str = "zero") -> tuple[bytes, ...]:
    """The states after a game's title, made by pressing START."""
    swarm = _on_the_title(name, STARTS, model, power_on)
    # Until the first START all are one machine.
    swarm.load_states(b"\1" * STARTS, [title(name, model, power_on)])
    found: dict[int, bytes] = {}
    for step in range(400):
        swarm.step(bytes(step == env for env in range(STARTS)))
        for env in range(STARTS):
            if env not in found and swarm.read_memory(env, _STATE, _STATE + 1) == _PLAYING:
                found[env] = swarm.save_state(env)
        if len(found) == STARTS:
            return tuple(found[env] for env in range(STARTS))
    raise RuntimeError(f"{name} did not begin after its title")


def _on_the_title(name: str, num_envs: int, model: str, power_on: str) -> _native.Swarm:
    return _native.Swarm(
        _native.built_in_rom(name), num_envs, codec="NOOP,START", frames_per_step=_FRAMES, release_after_frames=_FRAMES,
        threads=1, model=model, power_on=power_on,
    )
