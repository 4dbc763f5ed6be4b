"""Actions of an agent: named codecs, the caller's own tables, several choices at once, or any buttons.

Each becomes a codec of the swarm (crates/swarm/swarm/src/action.rs), named by its spelling.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gbxcule.argument_check import shown, whole


@dataclass(frozen=True, init=False)
class Press:
    """Buttons pressed together and held for `frames`.

    Without `frames` they are held as long as `release_after_frames` says.
    """

    buttons: tuple[str, ...]
    frames: int | None

    def __init__(self, *buttons: str, frames: int | None = None) -> None:
        object.__setattr__(self, "buttons", buttons)
        object.__setattr__(self, "frames", None if frames is None else whole("frames", frames, 1))


Row: TypeAlias = "str | Sequence[str] | Press"
"""One action: a button (`"A"`), several (`["A", "RIGHT"]` or `"A+RIGHT"`), none (`[]` or
`"NOOP"`), or a `Press`.
"""


@dataclass(frozen=True, init=False)
class Choices:
    """Tables of actions; an agent presses one action of each at once: a `MultiDiscrete` space."""

    tables: tuple[Sequence[Row], ...]

    def __init__(self, *tables: Sequence[Row]) -> None:
        object.__setattr__(self, "tables", tables)


@dataclass(frozen=True, init=False)
class Buttons:
    """Any of these buttons at once: a `MultiBinary` space."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


Codec: TypeAlias = Literal["full_v1", "pokemonred_puffer_v1", "pad_v1", "buttons_v1"]
Actions: TypeAlias = "Codec | str | Sequence[Row] | Choices | Buttons"
"""The name of a codec or its spelling, the caller's own table, `Choices`, or `Buttons`."""

_NOTHING = "NOOP"
_BUTTONS = ("A", "B", "SELECT", "START", "UP", "DOWN", "LEFT", "RIGHT")


def spelling_of(actions: Any) -> str:
    """Return the name by which the swarm knows a codec."""
    if isinstance(actions, str):
        return actions
    if isinstance(actions, Buttons):
        if not actions.names:
            raise ValueError("gbxcule.Buttons needs at least one button")
        for name in actions.names:
            if actions.names.count(name) > 1:
                raise ValueError(f"the button {_button(name)} stands twice in gbxcule.Buttons; name each once")
        return "/".join(f"{_NOTHING},{_button(name)}" for name in actions.names)
    if isinstance(actions, Choices):
        if not actions.tables:
            raise ValueError("gbxcule.Choices needs at least one table of actions")
        return "/".join(map(_table, actions.tables))
    return _table(actions)


def _table(rows: Any) -> str:
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Sequence):
        raise TypeError(
            "actions are the name of a codec, a list of actions, gbxcule.Choices(...) or gbxcule.Buttons(...), found "
            f"{rows!r}"
        )
    if not rows:
        raise ValueError("a table of actions needs at least one action")
    spelling = ",".join(map(_row, rows))
    # The swarm would read a single word as a codec's name.
    if spelling.isidentifier() and spelling not in (*_BUTTONS, _NOTHING):
        raise ValueError(f"no button `{spelling}`; there are {', '.join(_BUTTONS)}")
    return spelling


def _row(row: Any) -> str:
    if isinstance(row, str):
        if not row:
            raise ValueError('an action that presses nothing is [] or "NOOP", found an empty string')
        return row
    names, frames = (row.buttons, row.frames) if isinstance(row, Press) else (row, None)
    if not isinstance(names, Sequence):
        raise TypeError(f"an action is a button, a list of buttons, or a gbxcule.Press, found {row!r}")
    pressed = "+".join(map(_button, names)) or _NOTHING
    return pressed if frames is None else f"{pressed}:{frames}"


def _button(name: Any) -> str:
    if not isinstance(name, str) or any(mark in name for mark in ",/+:"):
        raise ValueError(f"a button is {', '.join(_BUTTONS[:-1])} or {_BUTTONS[-1]}, found {name!r}")
    return name


ActionSpace: TypeAlias = "spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary"


class Numbering:
    """The space of a codec's actions, and the conversion of its elements to numbers."""

    def __init__(self, choices: list[list[str]]) -> None:
        self.counts = np.array([len(table) for table in choices])
        self._strides = np.array([math.prod(self.counts[:place].tolist()) for place in range(len(choices))])
        self.space: ActionSpace
        if len(choices) == 1:
            self.space = spaces.Discrete(int(self.counts[0]))
        elif all(_is_button(table) for table in choices):
            self.space = spaces.MultiBinary(len(choices))
        else:
            self.space = spaces.MultiDiscrete(self.counts)

    @property
    def _each(self) -> str:
        return "one whole number" if len(self.counts) == 1 else f"{len(self.counts)} whole numbers"

    @property
    def _kinds(self) -> str:
        # Samples of a Bernoulli distribution are floats, 0 and 1.
        return "iubf" if isinstance(self.space, spaces.MultiBinary) else "iu"

    def batch_of_one(self, action: Any) -> npt.NDArray[Any]:
        """Return a batch that holds one action, for one env."""
        try:
            array = np.asarray(action)
        except ValueError:
            # The rows differ in length.
            array = np.empty((0, 0))
        if array.shape != self.space.shape or array.dtype.kind not in self._kinds:
            raise ValueError(f"an action is {self._each}, found {shown(action)}")
        return array[None]

    def numbers(self, actions: Any, num_envs: int) -> bytes:
        """Return the number of each env's action."""
        shape = (num_envs,) if len(self.counts) == 1 else (num_envs, len(self.counts))
        each = self._each
        try:
            batch = np.asarray(actions)
        except ValueError as error:
            raise ValueError(f"expected {each} for each of the {num_envs} envs, found {shown(actions)}") from error
        if batch.shape != shape or batch.dtype.kind not in self._kinds:
            kind = shown(actions) if batch.dtype.kind == "O" else f"{batch.dtype} {batch.shape}"
            raise ValueError(f"expected {each} for each of the {num_envs} envs, found {kind}")
        if len(shape) == 1 and batch.itemsize > 1 and batch.dtype.isnative:
            # Read without its sign, a negative number is larger than every count.
            unsigned = batch.view(f"u{batch.itemsize}")
            if np.maximum.reduce(unsigned) < self.counts[0]:
                return unsigned.astype(np.uint8).tobytes()
        chosen: npt.NDArray[Any] = batch.reshape(num_envs, -1)
        for place, count in enumerate(self.counts.tolist()):
            column = chosen[:, place]
            # The comparisons also refuse NaN.
            wrong = np.flatnonzero(~((column >= 0) & (column < count) & (column == np.trunc(column))))
            if wrong.size:
                which = "actions" if len(shape) == 1 else f"actions in column {place}"
                raise ValueError(f"{which} are 0 to {count - 1}, found {column[wrong[0]]} for env {wrong[0]}")
        if len(shape) == 1:
            return batch.astype(np.uint8).tobytes()
        numbers: npt.NDArray[np.int64] = chosen.astype(np.int64) @ self._strides
        return numbers.astype(np.uint8).tobytes()


def _is_button(table: list[str]) -> bool:
    """Tell whether a table chooses between pressing one button and pressing nothing."""
    return len(table) == 2 and table[0] == _NOTHING and "+" not in table[1] and ":" not in table[1]
