"""Rewards and ends: the meaning of an environment's `reward` and `done`.

`None` means the game's own, `False` none, and any other value exactly what it names.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from gbxcule import game
from gbxcule.argument_check import no_code, quoted, shown
from gbxcule.memory import MAX_REWARD, Change, Number, changes_of
from gbxcule.observation import is_program

_SWARM_S_OWN = "reward_v0"


@dataclass(frozen=True)
class Task:
    """Rewards and ends of an environment."""

    # The program whose `reward` or `done` is used, if any.
    program: str | None
    # True if the reward is the program's, not made of `changes`.
    pays_program: bool
    changes: tuple[Change, ...]
    ends: tuple[Number, ...]
    # True if the program's `done` is used and must exist; None if it is used if it exists.
    ends_program: bool | None


def task_of(played: game.Game, reward: Any, done: Any) -> Task:
    """Return the rewards and ends for a game, from its row and the arguments."""
    paying = _program("reward", reward) if _is_path(reward) else None
    if paying is None:
        chosen = played.reward if reward is None else reward
        changes = () if chosen is False else tuple(changes_of(no_code("reward", chosen)))
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
        if not _is_path(no_code("done", part)):
            raise TypeError(
                "`done` takes a gbxcule.Number, the name of a program, a list of these, or False if nothing ends an "
                f"episode, found {shown(part)}"
            )
        ending = _program("done", part)
        if paying not in (None, ending):
            raise ValueError(
                f"`done` names the program {quoted(ending)} and `reward` {quoted(paying)}: give the same program"
            )
    return Task(paying or ending, paying is not None, changes, ends, ending is not None)


def _is_path(given: Any) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(given, (str, os.PathLike))


def _program(name: str, given: str | os.PathLike[str]) -> str:
    """Return the program's path or name."""
    program = os.fspath(given)
    if program == _SWARM_S_OWN and name == "reward" or is_program(program):
        return program
    own = f"{_SWARM_S_OWN}, {game.FEATURES}, " if name == "reward" else f"{game.FEATURES}, "
    number = "gbxcule.Change(...), and lists of changes" if name == "reward" else "gbxcule.Number(...), and lists of these"
    raise ValueError(
        f"no {name} {quoted(program)}; there are {own}the games' own ({', '.join(game.GAMES)}), files that end in .py, "
        f"their texts, {number}"
    )


Given: TypeAlias = "dict[str, float] | list[float]"


def named_weights(weights: Any) -> Given:
    """Return the weights of programs by name, or in their order."""
    if weights is None:
        return []
    if isinstance(weights, Mapping):
        return {name: _finite(f"`weights` {name}", number) for name, number in weights.items()}
    if isinstance(weights, (str, bytes)) or not hasattr(weights, "__iter__"):
        raise TypeError(f"`weights` are numbers, in a list or by name in a dictionary, found {shown(weights)}")
    return [_finite("a weight", number) for number in weights]


def changed_weights(known: Given, numbers: Sequence[Any], named: Mapping[str, Any]) -> Given:
    """Return the weights after a change."""
    if len(numbers) == 1 and isinstance(numbers[0], (Mapping, list, tuple, np.ndarray)):
        stars = "**" if isinstance(numbers[0], Mapping) else "*"
        raise TypeError(f"set_weights takes weights one by one, found {shown(numbers[0])}: write set_weights({stars}weights)")
    if bool(numbers) == bool(named) or named and not isinstance(known, dict):
        raise TypeError(
            "set_weights takes all weights in order, or some by name if make_vec got names, "
            'as in weights={"explore": 1.0} and set_weights(explore=0.5)'
        )
    if named and isinstance(known, dict):
        for name in named:
            if name not in known:
                raise ValueError(f"no weight `{name}`; there are {', '.join(known)}")
        return known | {name: _finite(name, number) for name, number in named.items()}
    if len(numbers) != len(known):
        raise ValueError(f"expected {len(known)} weights, found {len(numbers)}: give a number for each weight of `make_vec`")
    changed = [_finite("a weight", number) for number in numbers]
    return dict(zip(known, changed, strict=True)) if isinstance(known, dict) else changed


def _finite(name: str, number: Any) -> float:
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is a number, found {shown(number)}")
    try:
        finite = float(number)
    except OverflowError:
        finite = math.inf
    if not abs(finite) <= MAX_REWARD:
        raise ValueError(f"{name} is a finite float32, found {shown(number)}")
    return finite
