"""Devices in cartridges (the tilt sensor of an MBC7, the motor of an MBC5 with rumble), and a Super Game Boy's border
and controllers."""

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import mask_of, shown


class WithCartridges:
    """The calls of an environment about devices in its cartridges, and about a Super Game Boy."""

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

    def bordered_pictures(self) -> npt.NDArray[np.uint8]:
        """Return each env's last frame with the border that its program sent: `[num_envs, 224, 256, 3]`, of a Super
        Game Boy alone."""
        return np.frombuffer(_native.bordered_pictures(self._swarm), np.uint8).reshape(self.num_envs, 224, 256, 3)

    def set_controllers(self, mask: npt.ArrayLike, controller: int, buttons: npt.ArrayLike) -> None:
        """Hold buttons on controller 1, 2 or 3 of all marked envs, one byte for all or for each, until they are set
        again or an episode begins: bit 0 is right, then left, up, down, A, B, SELECT, START. Controller 0 has the
        buttons of the actions."""
        marked = mask_of("mask", mask, self.num_envs)
        pressed = np.asarray(buttons)
        count = int(marked.sum())
        are_bytes = pressed.dtype.kind in "iu" and ((pressed >= 0) & (pressed <= 255)).all()
        if not are_bytes or pressed.shape not in {(), (count,)}:
            expected = f"a number from 0 to 255, or one for each of the {count} marked envs"
            raise ValueError(f"buttons are {expected}, found {shown(buttons)}")
        row = np.broadcast_to(pressed.astype(np.uint8), (count,))
        _native.set_controllers(self._swarm, marked.tobytes(), controller, row.tobytes())
