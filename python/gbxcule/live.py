"""The live view of an environment, served while Python steps it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.argument_check import path_of, whole
from gbxcule.symbol import Place, Symbols, banked_range_of, listing_of

if TYPE_CHECKING:
    from types import TracebackType

Mask = npt.NDArray[np.bool_]

# The path of a file of games, and their variant and difficulty.
Record: TypeAlias = "tuple[str, str | None, str | None]"

Heatmap: TypeAlias = "tuple[Place, Place]"
"""The places of x and y, numbers of one or two bytes, low byte first."""


def record_of(
    path: Any, take_over: Any, arguments: Mapping[str, Any], began_as: tuple[str | None, str, int] | None
) -> Record:
    """Check that a replay can repeat the games of an environment with these arguments; return how they are recorded."""
    path = path_of("`record`", path)
    if not take_over:
        raise ValueError("`record` keeps the games in which viewers drive: give take_over=True, too")
    if began_as is None:
        raise ValueError("`record` needs an environment of `make_vec`: a restored one does not know its variant")
    if arguments["levels"] is None:
        raise ValueError("`record` keeps games that begin in levels of a built-in game: make the environment with levels=range(200)")
    variant, difficulty, start_steps = began_as
    changes = [name for name in ("sticky", "noop_max", "hooks", "episodic_life") if arguments[name]]
    if changes or start_steps != 1:
        raise ValueError(f"a replay would not repeat these games: leave out `{(changes or ['start_steps'])[0]}`, or `record`")
    return path, variant, difficulty


def _coordinates(heatmap: Any, symbols: Symbols) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if heatmap is None:
        return None
    if not isinstance(heatmap, (tuple, list)) or len(heatmap) != 2:
        raise TypeError(f'a heatmap has two places in memory, as in ("wXCoord", "wYCoord"), found {heatmap!r}')
    x, y = (banked_range_of(place, symbols) for place in heatmap)
    return x, y


class LiveView:
    """A page at `url` that shows the machines as they are stepped; `close` ends it, as does the end of a `with`.

    Viewers change nothing. Their data is read between two steps, which takes at most a twentieth of the time. With
    `take_over` viewers may drive machines, at the speed of a real machine, and change their memory."""

    def __init__(
        self, swarm: _native.Swarm, rom: str, host: str, port: int, heatmap: Any, symbols: Symbols, take_over: bool,
        record: "Record | None" = None,
    ) -> None:
        if not isinstance(host, str):
            raise TypeError(f"a host is an address, such as 127.0.0.1 or 0.0.0.0, found {host!r}")
        if whole("port", port, 0) > 65535:
            raise ValueError(f"a port is at most 65535, found {port}")
        if not isinstance(take_over, (bool, np.bool_)):
            raise TypeError(f"take_over is True or False, found {take_over!r}")
        self._swarm = swarm
        self._process = os.getpid()
        self._view = _native.LiveView(
            swarm, rom, host=host, port=port, heatmap=_coordinates(heatmap, symbols), take_over=bool(take_over),
            symbols=listing_of(symbols), record=record,
        )
        self._records = record is not None
        self.url = self._view.url
        self._wants_picture = False
        self.is_closed = False

    def __repr__(self) -> str:
        return f"<live view: {self.url}{', closed' if self.is_closed else ''}>"

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect the viewers and free the port; the environment goes on."""
        if not self.is_closed and self._process == os.getpid():
            self._view.close(self._swarm)
        self.is_closed = True

    @property
    def held(self) -> list[int]:
        """The envs that viewers drive now; the learner's actions for them are ignored."""
        return [] if self.is_closed else self._view.held

    def _ask(self) -> bool:
        """Return true if a viewer waits for the next step's picture."""
        self._wants_picture = self._view.wants_picture()
        return self._wants_picture

    def _stepped(self, actions: bytes, rewards: npt.NDArray[np.float32], over: Mask, between: Mask) -> None:
        """Show a step; rewards of envs `between` two episodes belong to neither episode."""
        drawn = self._wants_picture
        self._view.stepped(self._swarm, actions, rewards.tobytes(), over.tobytes(), between.tobytes(), drawn)

    def _begin_games(self, mask: Mask, levels: npt.NDArray[np.int64] | None) -> None:
        """Record the games that begin now in the marked envs; games in no level are not recorded."""
        if self._records and levels is not None:
            self._view.begin_games(mask.tobytes(), levels.tolist())
        elif self._records:
            self._view.end_games(mask.tobytes())

    def _end_games(self, mask: Mask) -> None:
        """End the recorded games of the marked envs, which were put into other states."""
        if self._records:
            self._view.end_games(mask.tobytes())

    def _began(self, mask: Mask) -> None:
        """Show that episodes have begun."""
        self._view.began(self._swarm, mask.tobytes())
