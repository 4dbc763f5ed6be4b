"""Options of an environment as types, for checkers and editors.

`gbxcule.make_vec` says what they mean; `gbxcule.setting.Given` has their defaults, which `showing` gives to the functions
that pass options on. A test compares both lists.
"""

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from gymnasium.vector import AutoresetMode

from gbxcule.action import Actions, Row
from gbxcule.info import Hooks, Info
from gbxcule.memory import Change, Number
from gbxcule.observation import Observation
from gbxcule.symbol import Symbols

Reward: TypeAlias = str | os.PathLike[str] | Change | Sequence[Change] | Literal[False]
Done: TypeAlias = Number | str | os.PathLike[str] | Sequence[Number | str | os.PathLike[str]] | Literal[False]
Weights: TypeAlias = Mapping[str, float] | Sequence[float]
State: TypeAlias = bytes | str | os.PathLike[str]
Grays: TypeAlias = Literal["even", "pyboy"]
PowerOn: TypeAlias = Literal["zero", "pattern", "random"]
Model: TypeAlias = Literal["auto", "dmg", "dmg-b", "mgb", "sgb", "sgb2", "cgb", "cgb-c", "cgb-e"]
Difficulty: TypeAlias = Literal["normal", "easy"]
Link: TypeAlias = Literal["open", "pairs"]
Autoreset: TypeAlias = AutoresetMode | Literal["NextStep", "SameStep", "Disabled"]
Resize: TypeAlias = int | tuple[int, int]
Crop: TypeAlias = tuple[int, int, int, int]
RenderMode: TypeAlias = Literal["rgb_array", "rgb_array_each"]


class _Shared(TypedDict, total=False):
    device: str
    frames_per_step: int | None
    release_after_frames: int | None
    obs: Observation
    grays: Grays
    resize: Resize | None
    crop: Crop | None
    frame_stack: int | None
    max_pool: bool
    reward: Reward | None
    done: Done | None
    weights: Weights | None
    info: Info | None
    hooks: Hooks | None
    chance: Number | None
    power_on: PowerOn
    model: Model
    boot_rom: State | None
    audio: bool
    symbols: Symbols | str | os.PathLike[str] | None
    start_state: State | None
    start_battery: State | None
    starts: Sequence[State] | None
    levels: Sequence[int] | None
    difficulty: Difficulty
    variant: str | None
    start_steps: int
    max_episode_steps: int | Literal[False] | None
    sticky: float
    noop_max: int
    episodic_life: Number | None
    render_mode: RenderMode | None
    threads: int | None
    recompile: bool


class SingleOptions(_Shared, total=False):
    """Options of `make`."""

    actions: "Actions | None"


class _VectorOptions(TypedDict, total=False):
    autoreset_mode: Autoreset
    copy: bool
    link: Link


class Options(SingleOptions, _VectorOptions, total=False):
    """Options of `make_vec`."""


# Names of the options, for messages.
SINGLE_NAMES = tuple(SingleOptions.__annotations__)
VECTOR_NAMES = tuple(Options.__annotations__)


class OptionsWithoutActions(_Shared, _VectorOptions, total=False):
    """Options of `make_vec` without `actions`."""


class DiscreteOptions(OptionsWithoutActions, total=False):
    """Options whose `actions` let an agent choose one action at a time."""

    actions: str | Sequence[Row] | None


Function = TypeVar("Function", bound=Callable[..., Any])


def showing(source: type, names: Collection[str], but: Collection[str] = ()) -> Callable[[Function], Function]:
    """Let a function that takes `**options` show in `help`, editors and `inspect.signature` the options themselves, as
    the constructor of `source` has them."""
    options = inspect.signature(source).parameters

    def shown(function: Function) -> Function:
        own = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
        passed_on = [each for name, each in options.items() if name in names and name not in but]
        function.__signature__ = inspect.Signature([*own, *passed_on])  # type: ignore[attr-defined]
        return function

    return shown
