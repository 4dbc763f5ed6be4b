"""Checkpoints: a whole environment as a file, and back.

A restored environment does what the kept one would have done, bit for bit. The extension's checkpoint holds the
machines and the swarm. Python's own part of an environment is a note in it, in JSON, so that reading a file runs no
code of others.
"""

import base64
import dataclasses
import enum
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gbxcule import _native
from gbxcule.argument_check import check_device, path_of, shown, whole
from gbxcule.info import Cell, Hook
from gbxcule.memory import Change, Number
from gbxcule.observation import Flags, Numbers, Ram, is_program, packed_samples, samples_of
from gbxcule.rank import Rank, RankVectorEnv
from gbxcule.symbol import Banked
from gbxcule.vector import SwarmVectorEnv

Path: TypeAlias = str | os.PathLike[str]

# Generators of NumPy by name: a file can make this package call nothing else of NumPy.
_GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}
_SPECS = {kind.__name__: kind for kind in (Cell, Change, Flags, Hook, Number, Numbers, Ram)}
# Spaces of an environment, which a learner may sample; `observation_space` is made at its first
# use.
_SPACES = ("action_space", "single_action_space", "observation_space", "single_observation_space")
# Arrays of a note whose last axis is the envs.
_OF_EACH_ENV = ("is_seeded", "steps", "returns", "over", "levels", "lives", "goes_on")
# Version of the meaning of a note's arguments: raised when the same arguments mean something else.
_MEANING = 2
# The largest whole number for each name in a generator's state; `_check_state` has the one for
# other names. NumPy doesn't check positions in its buffers.
_MAX_BY_NAME = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
_MAX_OF_OTHERS = 2**128 - 1
# The errors that reading a damaged note can raise; the note may be any JSON.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)
# A value that JSON can't express is a list of one of these words and its content.
_TUPLE, _DICT, _BYTES, _ARRAY, _SPEC, _BANKED = "tuple", "dict", "bytes", "array", "spec", "banked"


def plain(value: Any) -> Any:
    """Return a value in a form that JSON can express; `value_of` reverses it."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, Banked):
        return [_BANKED, int(value), value.bank]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bytes):
        return [_BYTES, base64.b64encode(value).decode()]
    if isinstance(value, np.ndarray):
        return [_ARRAY, value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode()]
    if type(value).__name__ in _SPECS and dataclasses.is_dataclass(value):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return [_SPEC, type(value).__name__, fields]
    if isinstance(value, Mapping):
        return [_DICT, [[plain(key), plain(one)] for key, one in value.items()]]
    if isinstance(value, (list, tuple)):
        return [_TUPLE, [plain(one) for one in value]]
    raise TypeError(f"a checkpoint can't hold an environment made with {value!r}")


def value_of(written: Any) -> Any:
    """Return the value that `plain` wrote."""
    if not isinstance(written, list):
        return written
    match written:
        case [kind, str(text)] if kind == _BYTES:
            return base64.b64decode(text)
        case [kind, address, bank] if kind == _BANKED:
            return Banked(address, bank)
        case [kind, dtype, shape, text] if kind == _ARRAY:
            if np.dtype(dtype).kind not in "biuf":
                raise ValueError(f"an array of `{dtype}`, where there are numbers alone")
            return np.frombuffer(base64.b64decode(text), np.dtype(dtype)).reshape(shape).copy()
        case [kind, name, fields] if kind == _SPEC:
            values = {field: value_of(one) for field, one in fields.items()}
            made = _SPECS[name]
            # These constructors take their values as positional arguments.
            return made(*next(iter(values.values()))) if made in (Flags, Numbers, Ram) else made(**values)
        case [kind, pairs] if kind == _DICT:
            return {value_of(key): value_of(one) for key, one in pairs}
        case [kind, values] if kind == _TUPLE:
            return tuple(value_of(one) for one in values)
    raise ValueError("the checkpoint is damaged: its note has an unknown form")


def _random(generator: np.random.Generator | None) -> dict[str, Any] | None:
    return None if generator is None else dict(generator.bit_generator.state)


def _generator(state: dict[str, Any]) -> np.random.Generator:
    name = state["bit_generator"]
    if name not in _GENERATORS:
        raise ValueError(f"no generator of random numbers `{name}`; there are {', '.join(_GENERATORS)}")
    generator = np.random.Generator(_GENERATORS[name]())
    _check_state(name, state, generator.bit_generator.state)
    generator.bit_generator.state = state
    return generator


def _part_of(env: RankVectorEnv) -> list[int]:
    return [env.envs.start, env.envs.stop, *(() if env.rank is None else dataclasses.astuple(env.rank))]


def _as_meant_now(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a note of the first meaning, in which no episode of a game had a limit of its own and a
    program's `done` counted beside a number given as `done`."""
    limit, done, reward = arguments.get("max_episode_steps"), arguments.get("done"), arguments.get("reward")
    both = isinstance(done, Number) and isinstance(reward, str) and is_program(reward)
    return arguments | {"max_episode_steps": limit or False, "done": (done, reward) if both else done}


def _check_state(name: str, found: Any, form: Any) -> None:
    """Refuse a part of a generator's state that differs in form from a new generator's; NumPy wouldn't check it."""
    match form:
        case Mapping():
            fits = isinstance(found, Mapping) and set(found) == set(form)
            for part in form if fits else ():
                _check_state(part, found[part], form[part])
        case np.ndarray():
            fits = isinstance(found, np.ndarray) and (found.dtype, found.shape) == (form.dtype, form.shape)
        case int():
            fits = type(found) is int and 0 <= found <= _MAX_BY_NAME.get(name, _MAX_OF_OTHERS)
        case _:
            fits = found == form
    if not fits:
        raise ValueError(f"the state of a generator of random numbers has no part `{name}`")


def note_of(env: SwarmVectorEnv[Any]) -> bytes:
    """Write the note: the part of an environment that Python keeps."""
    spaces = [getattr(env, name) if name in env.__dict__ else None for name in _SPACES]
    note = {
        "arguments": env._arguments,
        "weights": env.weights,
        "symbols": dict(env.symbols),
        "is_seeded": env._is_seeded,
        "steps": env._steps,
        "returns": env._returns,
        "over": env._over,
        "levels": env._measure.levels,
        "lives": env._measure.lives_before,
        "goes_on": env._goes_on,
        "heard": env._observer.heard(),
        "meaning": _MEANING,
        "part": _part_of(env) if isinstance(env, RankVectorEnv) else None,
        "random": _random(env._np_random),
        "random_seed": env._np_random_seed,
        "spaces": [None if space is None else _random(space._np_random) for space in spaces],
    }
    return json.dumps(plain(note)).encode()


def env_of(
    checkpoint: bytes,
    device: str | None = None,
    threads: int | None = None,
    kind: type[SwarmVectorEnv[Any]] = SwarmVectorEnv,
) -> SwarmVectorEnv[Any]:
    """Make the environment that a checkpoint holds."""
    machines, text = _native.Swarm.restored(checkpoint, device=device, threads=threads)
    try:
        return _env_of_note(value_of(json.loads(text)), machines, threads, kind)
    except _DAMAGE as error:
        raise ValueError(
            f"the checkpoint is damaged, or was not written by an environment of this version: {error}"
        ) from error


def _env_of_note(
    note: dict[str, Any], machines: Any, threads: int | None, kind: type[SwarmVectorEnv[Any]]
) -> SwarmVectorEnv[Any]:
    arguments = note["arguments"] if note.get("meaning") == _MEANING else _as_meant_now(note["arguments"])
    arguments = arguments | {"symbols": note["symbols"], "device": machines.device}
    random = None if note["random"] is None else _generator(note["random"])
    generators = [None if state is None else _generator(state) for state in note["spaces"]]
    random_seed = note["random_seed"]
    if not (random_seed is None or type(random_seed) is int):
        raise ValueError(f"a seed of {random_seed!r}")
    if threads is not None:
        arguments["threads"] = threads
    part = note.get("part")
    if part is not None and not issubclass(kind, RankVectorEnv):
        kind = RankVectorEnv
    env = kind.__new__(kind)
    SwarmVectorEnv.__init__(env, **arguments, _machines=machines)
    if isinstance(env, RankVectorEnv):
        parts: list[Any] = part or []
        first, end, *rank = parts
        if not type(first) is type(end) is int or end - first != env.num_envs or first < 0:
            raise ValueError(f"envs {first} to {end} of a job, where there are {env.num_envs}")
        env.envs, env.rank = range(first, end), Rank(*rank) if rank else None
    env._is_seeded[:] = note["is_seeded"]
    env._observer.hear_again(note.get("heard", {}))
    env._steps[:], env._over[:], env._measure.levels[:] = note["steps"], note["over"], note["levels"]
    # Checkpoints of older versions lack these.
    env.weights = note.get("weights", [])
    env.weights = list(env.weights) if isinstance(env.weights, tuple) else env.weights
    env._returns[:], env._goes_on[:] = note.get("returns", 0.0), note.get("goes_on", False)
    env._measure.lives_before[:] = note.get("lives", 0)
    for name, generator in zip(_SPACES, generators, strict=True):
        if generator is not None:
            getattr(env, name)._np_random = generator
    if random is not None:
        env._np_random, env._np_random_seed = random, random_seed
    return env


def restore(
    path: Path | Sequence[Path], *, device: str | None = None, threads: int | None = None, rank: Rank | None = None
) -> SwarmVectorEnv[Any]:
    """Make the environment that `checkpoint(path)` kept.

    Its next step gives what the kept environment's next step would have given. The file holds the ROM and the
    programs' texts. Without `device` the environment runs on the device it was on; results are equal on every device.
    A single part of a job can be restored by the process of its rank in a job of as many processes, or by a process
    outside of any job. If `path` is a list of all parts, in any order, each process of a job of any size restores its
    own envs, and a process outside of any job restores all. `rank` says which process this is.
    """
    threads = None if threads is None else whole("threads", threads, 1)
    if device is not None:
        check_device(device)
    if rank is not None and not isinstance(rank, Rank):
        raise TypeError(f"rank is a gbxcule.rank.Rank, found {rank!r}")
    here = Rank.launched() if rank is None else rank
    if isinstance(path, (str, os.PathLike)):
        checkpoint = _native.read_checkpoint(path_of("a checkpoint", path))
        try:
            env = env_of(checkpoint, device, threads)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error
        if isinstance(env, RankVectorEnv):
            _check_rank(env, here, os.fspath(path))
        elif rank is not None:
            env.close()
            raise ValueError(f"{os.fspath(path)} is no part of a job: give it in a list, of which each process takes its envs")
        return env
    if isinstance(path, (bytes, Mapping)) or not isinstance(path, Iterable):
        raise TypeError(f"restore takes the path of a checkpoint, or a list of the paths of all parts of a job, found {shown(path)}")
    parts = [_Part(each) for each in path]
    if not parts:
        raise ValueError("restore takes the paths of all parts of a job, found an empty list: give at least one path")
    return env_of(_divided_anew(parts, Rank() if here is None else here), device, threads)


class _Part:
    """A part of a job's checkpoint, and its note."""

    def __init__(self, path: Path) -> None:
        self.name = os.fspath(path_of("a checkpoint", path))
        self.checkpoint = _native.read_checkpoint(self.name)
        try:
            self.note: dict[str, Any] = value_of(json.loads(_native.checkpoint_note(self.checkpoint)))
            part = self.note.get("part")
            self.envs = range(0, self.note["arguments"]["num_envs"]) if part is None else range(*part[:2])
        except _DAMAGE as error:
            raise ValueError(f"{self.name}: the checkpoint is damaged, or no environment wrote it: {error}") from error


def _divided_anew(parts: list[_Part], rank: Rank) -> bytes:
    """Cut all parts of a job anew; return the checkpoint of this rank's envs."""
    parts = sorted(parts, key=lambda part: part.envs.start)
    total = 0
    for part in parts:
        if part.envs.start != total:
            found = ", ".join(f"{part.name} ({part.envs.start} to {part.envs.stop - 1})" for part in parts)
            raise ValueError(f"the parts of a job hold each env once, from env 0 on, found {found}: give each part once")
        total = part.envs.stop
    share = rank.share(total)
    if not share:
        raise ValueError(f"{total} envs are too few for {rank.world_size} processes")
    chosen = [(part, range(max(part.envs.start, share.start), min(part.envs.stop, share.stop))) for part in parts]
    chosen = [(part, envs) for part, envs in chosen if envs]
    pieces = [(part, slice(envs.start - part.envs.start, envs.stop - part.envs.start)) for part, envs in chosen]
    try:
        note = {**pieces[0][0].note, "part": [share.start, share.stop, *dataclasses.astuple(rank)], "heard": {}}
        note["arguments"] = {**note["arguments"], "num_envs": len(share)}
        for name in _OF_EACH_ENV:
            columns = [part.note[name][..., piece] for part, piece in pieces if name in part.note]
            if len(columns) == len(pieces):
                note[name] = np.concatenate(columns, axis=-1)
        for name in pieces[0][0].note.get("heard", {}):
            samples = [samples_of(part.note["heard"][name], len(part.envs))[piece] for part, piece in pieces]
            note["heard"][name] = packed_samples(np.concatenate(samples))
    except _DAMAGE as error:
        raise ValueError(f"the checkpoints are damaged, or parts of different jobs: {error}") from error
    joined = [(part.checkpoint, piece.start, piece.stop) for part, piece in pieces]
    return _native.joined_checkpoint(joined, json.dumps(plain(note)).encode())


def _check_rank(env: RankVectorEnv, here: Rank | None, path: str) -> None:
    """Refuse a part of a job in a process of another rank, or in a job of another size."""
    wrote = env.rank
    if wrote is None or here is None or (wrote.rank, wrote.world_size) == (here.rank, here.world_size):
        return
    env.close()
    raise ValueError(
        f"{path} holds the envs {env.envs.start} to {env.envs.stop - 1}, the part of rank {wrote.rank} of {wrote.world_size} "
        f"processes, and this process is rank {here.rank} of {here.world_size}: start {wrote.world_size} processes, and restore "
        f"in each the part that its rank wrote, or give the paths of all {wrote.world_size} parts in a list, of which each "
        "process takes its envs"
    )
