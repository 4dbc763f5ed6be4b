"""Rewards and ends: what an environment's `reward` and `done` say.

`None` stands for what the game has, `False` for nothing, and all else for exactly what it names.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeGuard

from gbxcule import game
from gbxcule.argument_check import quoted, shown
from gbxcule.memory import Change, Number, changes_of
from gbxcule.observation import is_program

_SWARM_S_OWN = "reward_v0"


@dataclass(frozen=True)
class Task:
    """Rewards and ends of an environment."""

    # The program whose `reward` or `done` counts, if one does.
    program: str | None
    # The program's rewards count, and not the changes.
    pays_program: bool
    changes: tuple[Change, ...]
    ends: tuple[Number, ...]
    # The program's `done` counts, which it must have; `None` where it need not have one.
    ends_program: bool | None


def task_of(played: game.Game, reward: Any, done: Any) -> Task:
    """Return what counts for a game, by its own row and the arguments."""
    paying = _program("reward", reward) if _is_path(reward) else None
    if paying is None:
        chosen = played.reward if reward is None else reward
        changes = () if chosen is False else tuple(changes_of(_loaded("reward", chosen)))
    else:
        changes = ()
    if done is None:
        own = () if played.done is None else (played.done,)
        return Task(paying, paying is not None, changes, own, None if paying else False)
    parts = [] if done is False else list(done) if isinstance(done, (list, tuple)) else [done]
    ends = tuple(part for part in parts if isinstance(part, Number))
    ending = None
    for part in parts:
        if isinstance(part, Number):
            continue
        if not _is_path(_loaded("done", part)):
            raise TypeError(
                "`done` takes a gbxcule.Number, the name of a program, several of these in a list, or False where nothing ends an "
                f"episode, found {shown(part)}"
            )
        ending = _program("done", part)
        if paying not in (None, ending):
            raise ValueError(
                f"`done` names the program {quoted(ending)} and `reward` {quoted(paying)}: one program has both"
            )
    return Task(paying or ending, paying is not None, changes, ends, ending is not None)


def _is_path(given: Any) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(given, (str, os.PathLike))


def _program(name: str, given: str | os.PathLike[str]) -> str:
    """Return the program's path or name."""
    program = os.fspath(given)
    if program == _SWARM_S_OWN and name == "reward" or is_program(program):
        return program
    own = f"{_SWARM_S_OWN}, " if name == "reward" else ""
    number = "gbxcule.Change(...), and lists of changes" if name == "reward" else "gbxcule.Number(...), and lists of these"
    text = "; write a program's text into such a file" if "\n" in program else ""
    raise ValueError(
        f"no {name} {quoted(program)}; there are {own}the games' own ({', '.join(game.GAMES)}), files that end in .py, "
        f"{number}{text}"
    )


def _loaded(name: str, given: Any) -> Any:
    """Refuse a module: the package reads a program's text and runs none of its Python."""
    for one in given if isinstance(given, Sequence) and not isinstance(given, (str, bytes)) else [given]:
        if isinstance(one, ModuleType):
            path = getattr(one, "__file__", None)
            raise TypeError(f"`{name}` takes the path of a program, found the module {one.__name__}; give {name}={path!r}")
    return given
