"""Rewards and ends of a step, measured in the machines' memory and by their programs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.info import Infos
from gbxcule.memory import Number, Watch
from gbxcule.symbol import Symbols
from gbxcule.task import Task

Mask = npt.NDArray[np.bool_]

_LIVES = "lives"


class Measure:
    """The numbers that rewards, ends and infos are made of, for all envs, as they were after the last step."""

    def __init__(
        self, task: Task, info: dict[str, Any], lives: Number | None, reported: Infos, symbols: Symbols, swarm: _native.Swarm
    ) -> None:
        numbers = {f"info {name}": number for name, number in info.items() if isinstance(number, Number)}
        numbers |= {f"reward {place}": change.number for place, change in enumerate(task.changes)}
        numbers |= {f"done {place}": number for place, number in enumerate(task.ends)}
        numbers |= {} if lives is None else {_LIVES: lives}
        self.watch = Watch(numbers, symbols, swarm.num_envs)
        self.changes, self.ends, self.lives = task.changes, task.ends, lives
        self.program_pays = task.pays_program
        self.program_ends = swarm.has_done if task.ends_program is None else task.ends_program
        if self.program_ends and not swarm.has_done:
            raise ValueError(f"`done` names the program `{task.program}`, which has no function `done`")
        self._reported = reported
        self.num_envs = swarm.num_envs
        self.levels = np.zeros((len(self.changes), swarm.num_envs), np.int64)
        self.lives_before = np.zeros(swarm.num_envs, np.int64)
        self._rewards = np.zeros(swarm.num_envs, np.float32)

    def read(self, swarm: _native.Swarm, mask: bytes | None) -> None:
        """Read the numbers of all envs, or of the marked ones."""
        self.watch.read(swarm, mask)
        self._reported.read(swarm)

    def read_start(self, swarm: _native.Swarm, mask: Mask) -> None:
        """Take the marked envs' numbers as the starting point of the next reward, after their machines got another
        state."""
        self.read(swarm, mask.tobytes())
        for place in range(len(self.changes)):
            self.levels[place, mask] = self.watch[f"reward {place}"][mask]
        if self.lives is not None:
            self.lives_before[mask] = self.watch[_LIVES][mask]

    def rewards(self, swarm: _native.Swarm) -> npt.NDArray[np.float32]:
        """Return the rewards of a step."""
        if self.program_pays:
            swarm.rewards_into(self._rewards)
            finite = np.isfinite(self._rewards)
            if np.count_nonzero(finite) < self.num_envs:
                env = int(np.argmin(finite))
                raise FloatingPointError(
                    f"the reward that the program computed for env {env} is {self._rewards[env]}; a reward is a finite number"
                )
            return self._rewards.copy()
        total = np.zeros(self.num_envs, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for place, change in enumerate(self.changes):
                level = self.watch[f"reward {place}"]
                total += np.float32(change.scale) * (level - self.levels[place])
                self.levels[place] = level
        if np.count_nonzero(np.isfinite(total)) < self.num_envs:
            raise FloatingPointError("the reward's changes are too large for a float32: give them smaller scales")
        return total

    def ended(self, swarm: _native.Swarm) -> Mask:
        """Return the envs whose episode a number or a program ended."""
        ended = np.zeros(self.num_envs, np.bool_)
        for place in range(len(self.ends)):
            ended |= self.watch[f"done {place}"] != 0
        if self.program_ends:
            ended |= np.frombuffer(swarm.dones(), np.bool_)
        return ended

    def lost_lives(self) -> Mask:
        """Return the envs that lost a life in the step."""
        if self.lives is None:
            return np.zeros(self.num_envs, np.bool_)
        lives = self.watch[_LIVES]
        lost = lives < self.lives_before
        self.lives_before = lives
        return lost
