"""Devices in cartridges: an MBC7's sensor of tilt, and the motor of an MBC5 with rumble."""

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import mask_of, shown


class WithCartridges:
    """The calls of an environment about devices in its cartridges."""

    num_envs: int

    @property
    def _swarm(self) -> _native.Swarm:
        raise NotImplementedError

    def set_tilts(self, mask: npt.ArrayLike, tilts: npt.ArrayLike) -> None:
        """Tilt the cartridges of all marked envs from the next frame on, one tilt for all or a row for each: to the
        right and to the bottom, -2 to 2 times the gravity of Earth. Only an MBC7 senses it."""
        marked = mask_of("mask", mask, self.num_envs)
        rows = np.asarray(tilts, np.float32)
        count = int(marked.sum())
        if rows.shape not in {(2,), (count, 2)}:
            raise ValueError(f"tilts are two numbers, or a row of two for each of the {count} marked envs, found {shown(tilts)}")
        _native.set_tilts(self._swarm, marked.tobytes(), np.broadcast_to(rows, (count, 2)).tolist())

    def rumbles(self) -> npt.NDArray[np.bool_]:
        """Tell for each env whether the motor in its cartridge runs. Programs call `gb.rumble(machine)`."""
        return np.array(_native.rumbles(self._swarm), np.bool_)
