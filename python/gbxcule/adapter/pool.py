"""`send` and `recv`: machines step while the learner computes.

The swarm is cut into batches. Each batch has a thread that steps it, with Python's lock released. `recv` returns a
batch that is ready, `send` takes its actions. With one batch this is `step` in two halves.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from gbxcule import autoreset
from gbxcule.argument_check import check_options, seed_of, shown, whole
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.start import RomLike, env_seeds
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from gbxcule.option import Options

Batch = tuple[Any, Any, Any, Any, dict[str, Any]]


class SwarmPool:
    """Machines in batches of `batch_size`; takes the arguments of `make_vec`."""

    @showing(SwarmVectorEnv, VECTOR_NAMES)
    def __init__(
        self, rom: RomLike = None, num_envs: int = 1, *, batch_size: int | None = None, **options: "Unpack[Options]"
    ) -> None:
        check_options("SwarmPool", options, VECTOR_NAMES)
        autoreset.refuse_disabled("SwarmPool", options.get("autoreset_mode"))
        self.num_envs = whole("num_envs", num_envs, 1)
        self.batch_size = num_envs if batch_size is None else whole("batch_size", batch_size, 1)
        if num_envs % self.batch_size != 0:
            raise ValueError(f"{num_envs} envs can't be cut into batches of {self.batch_size}")
        count = num_envs // self.batch_size
        self._parts = [SwarmVectorEnv(rom, self.batch_size, **options) for _ in range(count)]
        self._workers = ThreadPoolExecutor(count, thread_name_prefix="gbxcule")
        self._ready: SimpleQueue[tuple[int, Future[Batch]]] = SimpleQueue()
        self._is_busy = [False] * count
        self._is_closed = False
        first = self._parts[0]
        self.single_observation_space = first.single_observation_space
        self.single_action_space = first.single_action_space
        self.action_names = first.action_names

    def async_reset(self, seed: int | None = None) -> None:
        """Begin new episodes in all envs; `recv` gives the first observations."""
        seed = seed_of(seed)
        self._wait()
        batch = np.ones(self.batch_size, np.bool_)
        for number, part in enumerate(self._parts):
            seeds = None if seed is None else env_seeds(seed, batch, number * self.batch_size)
            self._start(number, _reset, part, seeds)

    def send(self, actions: Any, env_id: npt.ArrayLike | None = None) -> None:
        """Send actions for a batch that `recv` handed out, named by its `info["env_id"]`."""
        if env_id is None and len(self._parts) > 1:
            raise ValueError("send needs the env_id that recv gave, because the pool has several batches")
        number = 0 if env_id is None else self._batch_of(env_id)
        if self._is_busy[number]:
            raise RuntimeError(f"batch {number} is stepping; recv it before sending it actions")
        part = self._parts[number]
        # Check the actions here: an error belongs to this call, not to a later `recv`.
        part._pressed(actions)
        # The copy lets the caller reuse the array while the batch steps.
        self._start(number, SwarmVectorEnv.step, part, np.array(actions))

    def recv(self) -> Batch:
        """Wait for the next batch.

        The result is observations, rewards, terminated, truncated, and info with `env_id`.
        """
        if self._is_closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed; make a new one")
        if not any(self._is_busy):
            raise RuntimeError("nothing is stepping; call async_reset or send first")
        number, future = self._ready.get()
        self._is_busy[number] = False
        obs, rewards, terminated, truncated, infos = future.result()
        return obs, rewards, terminated, truncated, infos | {"env_id": self._ids(number)}

    def close(self) -> None:
        """Wait for batches that are stepping, then free the machines."""
        self._is_closed = True
        self._wait()
        self._workers.shutdown()
        for part in self._parts:
            part.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a pool has threads, which can't be pickled: make a pool in the process that steps it")

    def _batch_of(self, env_id: Any) -> int:
        for number in range(len(self._parts)):
            if np.array_equal(env_id, self._ids(number)):
                return number
        raise ValueError(f"send the env_id that recv gave, a whole batch of {self.batch_size}; found {shown(env_id)}")

    def _ids(self, number: int) -> npt.NDArray[np.int32]:
        return np.arange(number * self.batch_size, (number + 1) * self.batch_size, dtype=np.int32)

    def _start(self, number: int, work: Any, *arguments: Any) -> None:
        if self._is_closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed; make a new one")
        future = self._workers.submit(work, *arguments)
        self._is_busy[number] = True
        future.add_done_callback(lambda done: self._ready.put((number, done)))

    def _wait(self) -> None:
        while any(self._is_busy):
            number, _ = self._ready.get()
            self._is_busy[number] = False


def _reset(part: SwarmVectorEnv, seeds: list[int | None] | None) -> Batch:
    obs, infos = part.reset(seed=seeds)
    nothing = np.zeros(part.num_envs, np.bool_)
    return obs, np.zeros(part.num_envs, np.float32), nothing, nothing.copy(), infos
