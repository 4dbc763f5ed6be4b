"""Infos of every env: the game's numbers, hooks, cells of programs, masks of actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import whole
from gbxcule.memory import Number, Watch
from gbxcule.symbol import Symbols, code_of

MASK = "action_mask"
LEVEL = "level_number"
# Names that infos use for other values, here and in the adapters.
_TAKEN = ("final_obs", "final_info", "env_id", "episode", "terminal_observation", "TimeLimit.truncated", MASK, LEVEL)


@dataclass(frozen=True)
class Cell:
    """A cell of the scratch in which a program keeps a number: the reward's program, or `of="obs"`, the observation's.
    `array` is the program's array: `"scratch"`, `"int_scratch"` or `"byte_scratch"`."""

    cell: int
    of: str = "reward"
    array: str = "scratch"

    @property
    def dtype(self) -> type[np.number[Any]]:
        """The type of an info's numbers."""
        return np.float32 if self.array == "scratch" else np.int64

    def __post_init__(self) -> None:
        whole("a cell", self.cell, 0)
        if self.of not in ("reward", "obs"):
            raise ValueError(f'a cell is of the "reward" or of the "obs", found {self.of!r}')
        if self.array not in ("scratch", "int_scratch", "byte_scratch"):
            raise ValueError(f'a cell\'s array is "scratch", "int_scratch" or "byte_scratch", found {self.array!r}')


@dataclass(frozen=True)
class Hook:
    """A place in the game's program, a label or `bank:address`. Infos count how often an env reached it in a step.
    `ends_step` ends the step with that frame; `calls` names a program's function that is called there."""

    place: int | str
    ends_step: bool = False
    calls: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.place, bool) or not isinstance(self.place, (int, np.integer, str)):
            raise TypeError(f"a hook is at a label, an address or bank:address, found {self.place!r}")
        if not isinstance(self.ends_step, (bool, np.bool_)):
            raise TypeError(f"ends_step is True or False, found {self.ends_step!r}")
        if self.calls is not None and (not isinstance(self.calls, str) or not self.calls.isidentifier()):
            raise TypeError(f"`calls` is the name of a function in a program, found {self.calls!r}")


Info: TypeAlias = Mapping[str, "Number | Cell"]
Hooks: TypeAlias = Mapping[str, "Hook | int | str"]


def hooks_of(hooks: Any) -> dict[str, Hook]:
    """Return hooks by name; a place alone becomes a hook that only counts."""
    if hooks is None:
        return {}
    if not isinstance(hooks, Mapping):
        raise TypeError(f'`hooks` takes a dictionary of names and places, as in {{"caught": "CatchPokemon"}}, found {hooks!r}')
    for name in hooks:
        _check_name("hooks", name)
    return {name: hook if isinstance(hook, Hook) else Hook(hook) for name, hook in hooks.items()}


NativeHook: TypeAlias = tuple[int, int, bool, str | None]


def native_hooks(hooks: Mapping[str, Hook], symbols: Symbols) -> tuple[list[NativeHook], dict[str, int]]:
    """Return the hooks as the extension takes them, one for each place, and the index of each name's hook. Several
    names may have one place: their options are joined, but only one function may be called there."""
    by_place: dict[tuple[int, int], NativeHook] = {}
    callers: dict[tuple[int, int], str] = {}
    names: dict[str, tuple[int, int]] = {}
    for name, hook in hooks.items():
        place = names[name] = code_of(hook.place, symbols)
        _, _, ends_step, calls = by_place.get(place, (*place, False, None))
        if hook.calls is not None and calls not in (None, hook.calls):
            raise ValueError(
                f"the hooks `{callers[place]}` and `{name}` are both at {place[0]:02x}:{place[1]:04x} and call two functions, "
                f"`{calls}` and `{hook.calls}`; call one function that does both"
            )
        if hook.calls is not None:
            callers[place] = name
        by_place[place] = (*place, bool(hook.ends_step) or ends_step, hook.calls or calls)
    numbers = {place: number for number, place in enumerate(by_place)}
    return list(by_place.values()), {name: numbers[place] for name, place in names.items()}


def check_programs(
    info: Mapping[str, "Number | Cell"], hooks: Mapping[str, Hook], reward: str | None, observation: str | None
) -> None:
    """Refuse cells and called functions if there is no program to have them."""
    for name, number in info.items():
        of_obs = isinstance(number, Cell) and number.of == "obs"
        if isinstance(number, Cell) and (observation if of_obs else reward) is None:
            argument = "obs" if of_obs else "reward"
            raise ValueError(f'`info {name}` is a cell of a program, and no program is given: pass {argument}="task.py"')
    for name, hook in hooks.items():
        if hook.calls is not None and reward is None and observation is None:
            raise ValueError(f'hook `{name}` calls a function of a program, and no program is given: pass reward="task.py"')


def named_numbers(info: Any) -> dict[str, "Number | Cell"]:
    """Return the numbers of `info`; refuse names that infos use already."""
    if info is None:
        return {}
    if not isinstance(info, Mapping):
        raise TypeError(f'`info` takes a dictionary of names and gbxcule.Number, as in {{"score": ..}}, found {info!r}')
    for name, number in info.items():
        _check_name("info", name)
        if not isinstance(number, (Number, Cell)):
            raise TypeError(f"`info {name}` takes a gbxcule.Number or a gbxcule.Cell, found {number!r}")
    return dict(info)


def _check_name(where: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the names in `{where}` are strings, found {name!r}")
    if name in _TAKEN or name.startswith("_"):
        raise ValueError(
            f"`{where}` can't have a number named `{name}`: {', '.join(_TAKEN)} and names that begin with _ are used already"
        )


class Infos:
    """The arrays of infos, one row for each env."""

    def __init__(
        self, info: Mapping[str, "Number | Cell"], hooks: Mapping[str, int], swarm: _native.Swarm, levels: Sequence[int] | None
    ) -> None:
        for name in info:
            if name in hooks:
                raise ValueError(f"`info` and `hooks` both have `{name}`; infos have each name once")
        self._info, self._hooks, envs = dict(info), dict(hooks), swarm.num_envs
        self.counts: npt.NDArray[np.uint32] = np.zeros((envs, len(set(hooks.values())), 2), np.uint32)
        # The level of each start, and of each env's episode, if the environment has levels.
        self.level_of_start = None if levels is None else np.array(levels, np.int64)
        self._levels = np.zeros(envs, np.int64)
        self._mask: npt.NDArray[np.int8] = np.zeros((envs, swarm.mask_len), np.int8)
        self._cells = {
            name: (number, np.zeros(envs, np.float64)) for name, number in info.items() if isinstance(number, Cell)
        }
        self.read(swarm)

    @property
    def names(self) -> list[str]:
        """The names in every info."""
        masks, levels = [MASK] if self._mask.size else [], [] if self.level_of_start is None else [LEVEL]
        return [*self._info, *self._hooks, *masks, *levels]

    def begin(self, swarm: _native.Swarm, mask: npt.NDArray[np.bool_]) -> None:
        """Note the levels in which the marked envs begin their episodes."""
        if self.level_of_start is not None:
            for env in np.flatnonzero(mask):
                self._levels[env] = self.level_of_start[swarm.episode(int(env))[2]]

    @property
    def levels(self) -> npt.NDArray[np.int64] | None:
        """The levels of the envs' episodes, if episodes begin in levels."""
        return None if self.level_of_start is None else self._levels

    def read(self, swarm: _native.Swarm) -> None:
        """Fetch the swarm's hook counts, cells and masks."""
        if self._hooks:
            swarm.hook_counts_into(self.counts)
        if self._mask.size:
            swarm.action_masks_into(self._mask)
        for cell, kept in self._cells.values():
            swarm.kept_into(cell.of == "obs", cell.array, cell.cell, kept)

    def of(self, mask: npt.NDArray[np.bool_] | None, watch: Watch) -> dict[str, Any]:
        """Return the infos of the marked envs, or of all."""
        columns: dict[str, Any] = {}
        for name in self._info:
            if name in self._cells:
                cell, numbers = self._cells[name]
                columns[name] = numbers.astype(cell.dtype)
            else:
                columns[name] = watch[f"info {name}"]
        for name, place in self._hooks.items():
            columns[name] = self.counts[:, place, 1].astype(np.int64)
        if self._mask.size:
            columns[MASK] = self._mask.copy()
        if self.level_of_start is not None:
            columns[LEVEL] = self._levels.copy()
        infos: dict[str, Any] = {}
        for name, values in columns.items():
            if mask is not None:
                values = np.where(mask[:, None] if values.ndim == 2 else mask, values, values.dtype.type(0))
            infos[name] = values
            infos[f"_{name}"] = np.ones(len(values), np.bool_) if mask is None else mask.copy()
        return infos

    def action_mask(self, env: int) -> npt.NDArray[np.bool_]:
        """Return which actions an env's program allows next."""
        return np.asarray(self._mask[env], np.bool_)

    def masks_into(self, out: npt.NDArray[np.float32]) -> None:
        """Write the action masks of all envs: 1 for an action that the program allows next."""
        out[:] = self._mask

    def in_episode(self, name: str) -> npt.NDArray[np.int64]:
        """Return how often each env reached a hook since its episode began."""
        if not isinstance(name, str) or name not in self._hooks:
            raise ValueError(f"no hook `{name}`; there are {', '.join(self._hooks) or 'none'}")
        return self.counts[:, self._hooks[name], 0].astype(np.int64)


def one_env(values: npt.NDArray[Any], env: int) -> Any:
    """Return one env's part of an info: a number, or a row."""
    return values[env].copy() if values.ndim > 1 else values[env].item()
