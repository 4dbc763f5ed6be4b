"""Observations of an agent: named pictures, memory, flags, or several of these together."""

import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from gbxcule import _native
from gbxcule.argument_check import check_observation_memory, no_code, quoted, shown
from gbxcule.game import GAMES
from gbxcule.memory import Number, Watch, bounds_of
from gbxcule.output import Output, outputs_of
from gbxcule.symbol import Place, Symbols, banked_range_of


def _check_places(name: str, places: tuple[Any, ...]) -> None:
    if not places:
        raise ValueError(f"gbxcule.{name} needs at least one place")
    for place in places:
        if isinstance(place, bool) or not isinstance(place, (int, np.integer, str, tuple)):
            raise TypeError(
                f"gbxcule.{name} takes addresses, labels, ranges and (address, bytes), found {place!r}; an example is "
                f'gbxcule.{name}("wScore", 0xC000, "C000:C010", ("wLives", 2))'
            )


@dataclass(frozen=True, init=False)
class Ram:
    """The bytes at these places, one after the other."""

    places: tuple[Place, ...]

    def __init__(self, *places: Place) -> None:
        _check_places("Ram", places)
        object.__setattr__(self, "places", places)


@dataclass(frozen=True, init=False)
class Flags:
    """The bits at these places as a vector of 0 and 1, the lowest bit of a byte first."""

    places: tuple[Place, ...]

    def __init__(self, *places: Place) -> None:
        _check_places("Flags", places)
        object.__setattr__(self, "places", places)


@dataclass(frozen=True, init=False)
class Numbers:
    """Numbers in memory, of any width and form, as int64."""

    numbers: tuple[Number, ...]

    def __init__(self, *numbers: Number) -> None:
        for number in numbers:
            if not isinstance(number, Number):
                raise TypeError(f"gbxcule.Numbers takes gbxcule.Number, found {number!r}")
        if not numbers:
            raise ValueError("gbxcule.Numbers needs at least one number")
        object.__setattr__(self, "numbers", numbers)


View: TypeAlias = Literal[
    "packed", "gray", "mean", "stride", "rgb", "rgb_corrected", "rgb555", "obs_v0", "audio", "features"
]
One: TypeAlias = "View | str | os.PathLike[str] | Ram | Flags | Numbers"
Observation: TypeAlias = "One | Mapping[str, One]"

TILES = "tiles_v1"
"""The built-in program of tiles and objects."""

PICTURES = ("packed", "gray", "mean", "stride", "rgb", "rgb_corrected", "rgb555")

# Samples of one frame while the screen is on.
SAMPLES_PER_FRAME = 798


def program_of(spec: Observation) -> str | None:
    """Return the program in an observation, or None."""
    parts = [*spec.values()] if isinstance(spec, Mapping) else [spec]
    no_code("obs", parts)
    programs = {os.fspath(part) for part in parts if isinstance(part, (str, os.PathLike)) and is_program(part)}
    if len(programs) > 1:
        raise ValueError(f"one observation can be a program, found {', '.join(sorted(programs))}")
    return programs.pop() if programs else None


def is_program(spec: Any) -> bool:
    """Tell whether an observation is the path of a program, its text, or the name of a built-in one."""
    if not isinstance(spec, (str, os.PathLike)):
        return False
    name = os.fspath(spec)
    return name.endswith(".py") or name in GAMES or name == TILES or is_program_text(name)


def is_program_text(spec: str) -> bool:
    """Tell whether a string is the text of a program rather than a path."""
    return "\n" in spec and "def " in spec


class _ProgramView:
    """The numbers that a program's `observe` computed last, after a step or at the start of an episode."""

    dtype = "float32"

    def __init__(self, obs_dim: int) -> None:
        self.shape = (obs_dim,)

    def read(self, swarm: _native.Swarm, buffer: npt.NDArray[Any], mask: bytes | None) -> None:
        swarm.observations_into(buffer)


class _OutputView:
    """A named output of a program. The view of the first output fetches the numbers of all outputs."""

    def __init__(self, output: Output, numbers: npt.NDArray[np.float32]) -> None:
        self.output, self.numbers = output, numbers
        self.shape, self.dtype = output.shape, output.dtype

    def read(self, swarm: _native.Swarm, buffer: npt.NDArray[Any], mask: bytes | None) -> None:
        if self.output.first == 0:
            swarm.observations_into(self.numbers)
        self.output.fill(buffer, self.numbers)


class _NativeView:
    def __init__(self, view: _native.View) -> None:
        self.view, self.shape, self.dtype = view, view.shape, view.dtype

    def read(self, swarm: _native.Swarm, buffer: npt.NDArray[Any], mask: bytes | None) -> None:
        swarm.show(self.view, buffer, mask)


class _AudioView:
    """Samples of the last step."""

    dtype = "int16"

    def __init__(self, frames_per_step: int) -> None:
        self.shape = (SAMPLES_PER_FRAME * frames_per_step, 2)

    def read(self, swarm: _native.Swarm, buffer: npt.NDArray[Any], mask: bytes | None) -> None:
        swarm.sound_into(buffer, mask)


class _NumbersView:
    """Numbers that Python computes from the bytes that the swarm returns."""

    dtype = "int64"

    def __init__(self, spec: Numbers, symbols: Symbols, num_envs: int) -> None:
        self._watch = Watch({str(place): number for place, number in enumerate(spec.numbers)}, symbols, num_envs)
        self.shape = (len(spec.numbers),)

    def read(self, swarm: _native.Swarm, buffer: npt.NDArray[Any], mask: bytes | None) -> None:
        self._watch.read(swarm, mask)
        for place in range(buffer.shape[1]):
            buffer[:, place] = self._watch[str(place)]


def view_of(spec: One, symbols: Symbols, grays: str) -> _native.View:
    """Return the native view of a name or a description."""
    if isinstance(spec, Ram):
        return _native.View.memory([banked_range_of(place, symbols) for place in spec.places])
    if isinstance(spec, Flags):
        return _native.View.bits([banked_range_of(place, symbols) for place in spec.places])
    if isinstance(spec, str) and spec == "obs_v0":
        return _native.View.obs_v0()
    if isinstance(spec, str) and spec in PICTURES:
        return _native.View.picture(spec, grays)
    raise ValueError(
        f"no observation {quoted(spec if isinstance(spec, str) else shown(spec))}; there are {', '.join(PICTURES)}, obs_v0, {TILES}, audio, features, the games' programs ({', '.join(GAMES)}), "
        "files that end in .py, their texts, gbxcule.Ram(...), gbxcule.Flags(...), gbxcule.Numbers(...), and dictionaries of these"
    )


def draws(spec: Observation) -> bool:
    """Tell whether an observation needs pixels."""
    parts = spec.values() if isinstance(spec, Mapping) else [spec]
    return any(isinstance(part, str) and part in PICTURES for part in parts)


def listens(spec: Observation) -> bool:
    """Tell whether an observation needs sound."""
    parts = spec.values() if isinstance(spec, Mapping) else [spec]
    return any(isinstance(part, str) and part == "audio" for part in parts)


def with_audio(spec: Observation) -> Observation:
    """Return the observation with the sound beside it, as a dictionary."""
    named: Mapping[str, One] = spec if isinstance(spec, Mapping) else {"obs": spec}
    if "audio" in named:
        raise ValueError("the observation has an `audio` already; remove audio=True")
    return {**named, "audio": "audio"}


_AnyView: TypeAlias = "_NativeView | _ProgramView | _OutputView | _NumbersView | _AudioView"


def _space(spec: "One | Output", view: "_AnyView") -> spaces.Space[Any]:
    if isinstance(spec, Numbers):
        bounds = np.array([bounds_of(number) for number in spec.numbers])
        return spaces.Box(bounds[:, 0], bounds[:, 1], view.shape, np.int64)
    if isinstance(spec, Flags):
        return spaces.MultiBinary(view.shape[0])
    if isinstance(view, _OutputView):
        return view.output.space
    if isinstance(view, _AudioView):
        return spaces.Box(-32768, 32767, view.shape, np.int16)
    if isinstance(view, _ProgramView):
        return spaces.Box(-np.inf, np.inf, view.shape, np.float32)
    if view.dtype == "float32":
        return spaces.Box(0.0, 1.0, view.shape, np.float32)
    return spaces.Box(0, 255, view.shape, np.uint8)


def with_outputs(named: "Mapping[str, One]", outputs: "list[Output]") -> "dict[str, One | Output]":
    """Replace a program by its named outputs."""
    found: dict[str, One | Output] = {}
    for name, one in named.items():
        parts = {output.name: output for output in outputs} if outputs and is_program(one) else {name: one}
        if twice := found.keys() & parts.keys():
            raise ValueError(f"the observation has two entries `{twice.pop()}`: one is an output of the program")
        found |= parts
    return found


class Observer:
    """The buffers that observations are computed into, and their spaces."""

    def __init__(
        self,
        spec: Observation,
        symbols: Symbols,
        swarm: _native.Swarm,
        grays: str = "even",
        frames_per_step: int = 1,
        copies: bool = True,
        pictures: _native.View | None = None,
    ) -> None:
        num_envs = swarm.num_envs
        # The swarm's stack of pictures, if it keeps one.
        self.pictures = pictures
        self.outputs = outputs_of(_native.observation_text(swarm), swarm.obs_dim) if program_of(spec) is not None else []
        self.is_mapping = isinstance(spec, Mapping) or bool(self.outputs)
        named = with_outputs(dict(spec) if isinstance(spec, Mapping) else {"": spec}, self.outputs)
        if not named:
            raise ValueError("a dictionary of observations needs at least one observation")
        for name in named:
            if not isinstance(name, str):
                raise TypeError(f"the keys of a dictionary of observations are names, found {name!r}")
        program = _ProgramView(swarm.obs_dim)
        numbers = np.zeros((num_envs, swarm.obs_dim if self.outputs else 0), np.float32)

        def view(one: "One | Output") -> _AnyView:
            if isinstance(one, Output):
                return _OutputView(one, numbers)
            if isinstance(one, Numbers):
                return _NumbersView(one, symbols, num_envs)
            if listens(one):
                return _AudioView(frames_per_step)
            if pictures is not None and isinstance(one, str) and one in PICTURES:
                return _NativeView(pictures)
            return program if is_program(one) else _NativeView(view_of(one, symbols, grays))

        self._views = {name: view(one) for name, one in named.items()}
        env_bytes = sum(np.dtype(view.dtype).itemsize * math.prod(view.shape) for view in self._views.values())
        check_observation_memory(num_envs, env_bytes, copies)
        parts = {name: _space(one, self._views[name]) for name, one in named.items()}
        self.single_space: spaces.Space[Any] = spaces.Dict(parts) if self.is_mapping else parts[""]
        self._num_envs = num_envs
        self._buffers = {
            name: np.zeros((num_envs, *view.shape), parts[name].dtype) for name, view in self._views.items()
        }
        self._is_new = False

    def space(self) -> spaces.Space[Any]:
        """Make the space of all envs' observations. Gymnasium's bounds are four times as large as the observations."""
        return batch_space(self.single_space, self._num_envs)

    def read(self, swarm: _native.Swarm, mask: bytes | None = None) -> None:
        """Compute the observations of all envs, or only of the marked ones; a new buffer is computed for all envs."""
        for name, view in self._views.items():
            view.read(swarm, self._buffers[name], None if self._is_new else mask)
        self._is_new = False

    def heard(self) -> dict[str, bytes]:
        """Pack the samples of the last step for a checkpoint, because the machines do not keep them."""
        of_sound = [name for name, view in self._views.items() if isinstance(view, _AudioView)]
        return {name: packed_samples(self._buffers[name]) for name in of_sound}

    def hear_again(self, heard: Mapping[str, bytes]) -> None:
        """Take over the samples that `heard` packed."""
        for name, packed in heard.items():
            samples = samples_of(packed, self._num_envs)
            self._buffers[name][...] = samples.reshape(self._buffers[name].shape)

    @property
    def batch(self) -> Any:
        """The buffers themselves, in the form of `space`."""
        return dict(self._buffers) if self.is_mapping else self._buffers[""]

    def forget(self) -> None:
        """Note that the buffers are out of date, so that the next `look` computes all envs."""
        self._is_new = True

    def write_to(self, buffer: npt.NDArray[Any]) -> None:
        """Compute into the caller's array from now on."""
        if self.is_mapping:
            raise ValueError(
                "a dictionary of observations does not go into one array; ask make_vec for one observation, or use copy=False"
            )
        if not isinstance(buffer, np.ndarray):
            raise TypeError(f"observations are written to a NumPy array, found {shown(buffer)}")
        own = self._buffers[""]
        if (buffer.shape, buffer.dtype) != (own.shape, own.dtype):
            raise ValueError(
                f"observations are written to an array of {own.dtype} {own.shape}, found {buffer.dtype} {buffer.shape}; "
                f"np.empty({own.shape}, np.{own.dtype}) makes one"
            )
        if not (buffer.flags.c_contiguous and buffer.flags.aligned and buffer.flags.writeable):
            raise ValueError(
                "observations are written to an array in C order without gaps that is aligned and may be written to; "
                "np.ascontiguousarray, np.require and np.copy make one"
            )
        self._buffers[""] = buffer
        self._is_new = True

    def copy(self) -> Any:
        """Return a copy, which the next step doesn't overwrite."""
        copies = {name: buffer.copy() for name, buffer in self._buffers.items()}
        return copies if self.is_mapping else copies[""]

    def copy_of(self, env: int) -> Any:
        """Return a copy of one env's observation."""
        copies = {name: buffer[env].copy() for name, buffer in self._buffers.items()}
        return copies if self.is_mapping else copies[""]


def packed_samples(samples: npt.NDArray[Any]) -> bytes:
    """Pack samples of all envs for a checkpoint."""
    return zlib.compress(samples.tobytes(), 1)


def samples_of(packed: bytes, num_envs: int) -> npt.NDArray[np.int16]:
    """Unpack samples, a row for each env."""
    return np.frombuffer(zlib.decompress(packed), np.int16).reshape(num_envs, -1)
