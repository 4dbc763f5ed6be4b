"""Steps with actions on the environment's device, which leave their results there; and the arrays of these results.

On a CUDA device the extension does the whole step there (crates/swarm/swarm/src/device/rollout.rs). On the CPU the
arrays are NumPy's, filled by `SwarmVectorEnv.step`, so that one training script works on both.
"""

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from gbxcule import _native
from gbxcule.argument_check import shown
from gbxcule.memory import Number
from gbxcule.symbol import Symbols, place_of

if TYPE_CHECKING:
    from gbxcule.vector import SwarmVectorEnv

Array = npt.NDArray[Any]
NumberTuple: TypeAlias = "tuple[int, int, bool, bool, bool]"

_CUDA = 2


class _HasHandle(Protocol):
    @property
    def cuda_stream(self) -> int: ...


class _SaysHandle(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...


Streamed: TypeAlias = "int | _HasHandle | _SaysHandle | None"
"""A CUDA stream: its handle, an object that has a handle, or None for the default stream."""


def stream_handle(stream: Any) -> int:
    """Return the handle of a CUDA stream; 0 is the default stream."""
    if stream is None:
        return 0
    handle = stream
    if hasattr(stream, "__cuda_stream__"):
        given = stream.__cuda_stream__
        handle = (given() if callable(given) else given)[1]
    elif hasattr(stream, "cuda_stream"):
        handle = stream.cuda_stream
    if isinstance(handle, bool) or not isinstance(handle, (int, np.integer)) or not 0 <= handle < 2**64:
        raise TypeError(
            f"a CUDA stream is its handle, an object with `cuda_stream` or `__cuda_stream__`, such as torch.cuda.Stream, or "
            f"None, found {shown(stream)}"
        )
    return int(handle)


def lies_on_device(actions: Any) -> bool:
    """Tell whether actions lie on a CUDA device."""
    ask = getattr(actions, "__dlpack_device__", None)
    return ask is not None and int(ask()[0]) == _CUDA


def _tuple_of(number: Number, symbols: Symbols) -> NumberTuple:
    low = place_of(number.address, symbols)
    return low, number.width_bytes, bool(number.big_endian), bool(number.signed), bool(number.bcd)


class Rollout:
    """The arrays on an environment's device, and its steps there."""

    def __init__(self) -> None:
        self.is_entered = False
        self._native: _native.Rollout | None = None
        self._arrays: dict[str, Any] | None = None
        # The named outputs of a program, which are columns of its observations.
        self._outputs: dict[str, Any] = {}

    def arrays(self, env: "SwarmVectorEnv[Any]") -> dict[str, Any]:
        """Return the arrays by name."""
        if self._arrays is None:
            self._arrays = _of_host(env) if env._machines.device == "cpu" else self._of_device(env)
            self.observed(env)
            if "observations" in self._arrays:
                whole = self._arrays["observations"]
                self._outputs = {each.name: _columns(whole, each.first, each.end) for each in env._observer.outputs}
        return self._arrays | {f"observations.{name}": part for name, part in self._outputs.items()}

    def _of_device(self, env: "SwarmVectorEnv[Any]") -> dict[str, Any]:
        machines, computed = env._machines, env._computed
        arrays: dict[str, Any] = {"rewards": machines.reward_array, "dones": machines.done_array}
        arrays |= {"observations": machines.observation_array, "frames": machines.frame_array}
        arrays = {name: array for name, array in arrays.items() if computed[name]}
        if machines.picture_array is not None:
            arrays["pictures"] = machines.picture_array
        try:
            rollout = self._made(env)
        except ValueError:
            # Only the host can read some numbers. Steps with actions on the device raise this
            # error.
            return arrays
        arrays |= {"rewards": machines.reward_array} | rollout.arrays()
        if not computed["observations"]:
            arrays.pop("final_observations", None)
        return arrays

    def _made(self, env: "SwarmVectorEnv[Any]") -> _native.Rollout:
        measure = env._measure
        if self._native is None:
            self._native = _native.Rollout(
                env._machines,
                same_step=env.autoreset_mode == AutoresetMode.SAME_STEP,
                max_episode_steps=env.max_episode_steps,
                program_pays=measure.program_pays,
                program_ends=measure.program_ends,
                changes=[(_tuple_of(change.number, env.symbols), float(change.scale)) for change in measure.changes],
                ends=[_tuple_of(number, env.symbols) for number in measure.ends],
                lives=None if measure.lives is None else _tuple_of(measure.lives, env.symbols),
            )
        return self._native

    def step(self, env: "SwarmVectorEnv[Any]", actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run a step with actions that lie on the device."""
        if env._machines.device == "cpu":
            raise ValueError('the actions lie on a CUDA device, and the machines on the CPU: pass device="cuda" to make_vec')
        if env.autoreset_mode == AutoresetMode.DISABLED:
            raise ValueError("actions on a device need an autoreset_mode that begins episodes there: NextStep or SameStep")
        if env._live is not None:
            raise ValueError("the live view shows only steps whose actions lie on the host: close the view, or pass NumPy actions")
        if not env._is_seeded.all():
            raise ValueError("call reset before the first step whose actions lie on the device: it seeds the envs")
        native = self._made(env)
        arrays = self.arrays(env)
        seen = next((arrays[name] for name in ("observations", "pictures", "frames") if name in arrays), None)
        if seen is None:
            raise ValueError(
                "actions on a device need an observation that stays there: a program's, as in obs=\"task.py\", or a picture, "
                "which `frames` then holds"
            )
        if not self.is_entered:
            native.enter(env._steps.tolist(), env._returns.tolist(), env._over.tolist(), env._goes_on.tolist())
            self.is_entered = True
        native.step(actions)
        returned = ("rewards", "terminated", "truncated")
        own = [seen, *self._outputs.values()]
        infos = {name: array for name, array in arrays.items() if name not in returned and not any(array is one for one in own)}
        if self._outputs:
            seen = dict(self._outputs)
        return seen, arrays["rewards"], arrays["terminated"], arrays["truncated"], infos

    def leave(self, env: "SwarmVectorEnv[Any]") -> None:
        """Wait for the steps on the device, and copy the episodes' lengths, returns and ends back to Python."""
        left = None if self._native is None else self._native.leave()
        self.is_entered = False
        if left is None:
            return
        env._steps[:], env._returns[:] = left[0], left[1]
        env._over, env._goes_on = np.array(left[2], np.bool_), np.array(left[3], np.bool_)
        env._observer.forget()
        env._reported.begin(env._machines, np.ones(env.num_envs, np.bool_))
        env._measure.read_start(env._machines, np.ones(env.num_envs, np.bool_))

    # On the CPU, each step copies its results to the arrays once `arrays` has been called.

    def ended(self, env: "SwarmVectorEnv[Any]", rewards: Array, terminated: Array, truncated: Array) -> None:
        """Copy the rewards, ends and last observations of a step on the host."""
        arrays = self._arrays
        if arrays is None or env._machines.device != "cpu":
            return
        arrays["rewards"][:], arrays["returns"][:], arrays["lengths"][:] = rewards, env._returns, env._steps
        arrays["terminated"][:], arrays["truncated"][:] = terminated, truncated
        if "dones" in arrays:
            arrays["dones"][:] = np.frombuffer(env._machines.dones(), np.uint8)
        if "final_observations" in arrays:
            over = env._over
            seen = np.empty_like(arrays["observations"])
            env._machines.observations_into(seen)
            arrays["final_observations"][over] = seen[over]

    def observed(self, env: "SwarmVectorEnv[Any]") -> None:
        """Copy the current observations, after a step and the episodes that began in it."""
        arrays = self._arrays
        if arrays is None or env._machines.device != "cpu":
            return
        if "observations" in arrays:
            env._machines.observations_into(arrays["observations"])
        if env._observer.pictures is not None:
            env._machines.show(env._observer.pictures, arrays["pictures"])
        if "frames" in arrays:
            width = arrays["frames"].shape[1]
            name = "packed" if width == 5760 else "rgb555"
            env._machines.show(_native.View.picture(name), arrays["frames"])
        if "action_masks" in arrays:
            env._reported.masks_into(arrays["action_masks"])


def _columns(array: Any, low: int, high: int) -> Any:
    """Return a view of columns of NumPy's or the device's array."""
    return array[:, low:high] if isinstance(array, np.ndarray) else array.columns(low, high)


def _of_host(env: "SwarmVectorEnv[Any]") -> dict[str, Any]:
    """Make the CPU's arrays, with the names and shapes of a device's."""
    envs, machines = env.num_envs, env._machines
    arrays: dict[str, Any] = {"rewards": np.zeros(envs, np.float32)}
    if env._computed["dones"]:
        arrays["dones"] = np.zeros(envs, np.uint8)
    if env._computed["observations"]:
        arrays["observations"] = np.zeros((envs, machines.obs_dim), np.float32)
    if env._computed["frames"]:
        arrays["frames"] = np.zeros((envs, machines.frame_bytes), np.uint8)
    if env._observer.pictures is not None:
        arrays["pictures"] = np.zeros((envs, int(np.prod(env._observer.pictures.shape))), np.uint8)
    arrays |= {"terminated": np.zeros(envs, np.bool_), "truncated": np.zeros(envs, np.bool_)}
    arrays |= {"returns": env._returns.copy(), "lengths": env._steps.astype(np.int32)}
    if env.autoreset_mode == AutoresetMode.SAME_STEP and env._computed["observations"]:
        arrays["final_observations"] = np.zeros((envs, machines.obs_dim), np.float32)
    if machines.mask_len:
        arrays["action_masks"] = np.zeros((envs, machines.mask_len), np.float32)
    return arrays


class OnDevice:
    """The calls of an environment about its device."""

    _machines: _native.Swarm
    _rollout: Rollout

    def _check_open(self) -> None:
        raise NotImplementedError

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Return the arrays that a step leaves on the environment's device, by name; on the CPU they are NumPy's. Any
        library that speaks DLPack takes them without a copy, as `torch.from_dlpack` does; the next step writes to the
        same memory. Programs give `observations`, `observations.NAME` for each named output, `dones` and
        `action_masks`. Drawn frames give `frames`, four pixels a byte, or on a Color two bytes a pixel as in
        `rgb555`. Unless the reward or the end needs numbers that only the host reads, there are `rewards`,
        `terminated`, `truncated`, `returns` and `lengths` of episodes, and in the mode SameStep `final_observations`.
        """
        self._check_open()
        return self._rollout.arrays(self)  # type: ignore[arg-type]

    def wait_for(self, stream: Streamed = None) -> None:
        """Let the machines wait for the work that a CUDA stream has been given so far: a handle, an object with
        `cuda_stream` or `__cuda_stream__`, or None for the default stream. The host doesn't wait. On the CPU this
        does nothing."""
        self._check_open()
        _native.wait_for(self._machines, stream_handle(stream))

    def ready_on(self, stream: Streamed = None) -> None:
        """Let a CUDA stream wait for the work that the machines have been given so far, the reverse of `wait_for`."""
        self._check_open()
        _native.ready_on(self._machines, stream_handle(stream))
