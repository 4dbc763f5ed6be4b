"""Autoreset: the moment at which an env begins its next episode after one is over.

In Gymnasium's three modes it begins in the next step, whose action is ignored; at the end of the same step, whose
infos hold the last observation; or only when the caller resets.
"""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from gbxcule.argument_check import one_of

Mask = npt.NDArray[np.bool_]

_MODES = {mode.value: mode for mode in AutoresetMode}


def mode_of(mode: Any) -> AutoresetMode:
    """Return a mode, given as itself or by its name."""
    return mode if isinstance(mode, AutoresetMode) else one_of("autoreset mode", mode, _MODES)


def refuse_disabled(name: str, mode: Any) -> None:
    """Refuse the mode `Disabled`, for a class that has no call to reset single envs."""
    if mode is not None and mode_of(mode) == AutoresetMode.DISABLED:
        raise ValueError(f"{name} resets all envs or none: autoreset_mode is NextStep or SameStep here, not Disabled")


def partners(mask: Mask) -> Mask:
    """Return the envs whose partner in a pair is marked."""
    return mask.reshape(-1, 2)[:, ::-1].reshape(-1)


def left_alone(over: Mask) -> Mask:
    """Return the envs that go on while their partner's episode is over: episodes of a pair must end together."""
    return partners(over) & ~over


def refuse_wrong_step(mode: AutoresetMode, over: Mask, unbegun: Mask) -> None:
    """Refuse a step before the first reset, and in mode `Disabled` a step while the caller hasn't reset all envs whose
    episodes are over."""
    if np.count_nonzero(unbegun):
        some = "" if unbegun.all() else f" of the envs {np.flatnonzero(unbegun).tolist()}"
        raise gymnasium.error.ResetNeeded(f"no episode{some} has begun: call reset before the first step")
    if mode == AutoresetMode.DISABLED and over.any():
        raise gymnasium.error.ResetNeeded(
            f"the episodes of the envs {np.flatnonzero(over).tolist()} are over; "
            'reset them with options={"reset_mask": mask}'
        )


def begins_in_step(mode: AutoresetMode, over: Mask) -> bool:
    """Tell whether a step resets the envs whose episodes were over before it."""
    return mode == AutoresetMode.NEXT_STEP and bool(np.count_nonzero(over))


def begins_at_end(mode: AutoresetMode, over: Mask) -> bool:
    """Tell whether the next episodes begin at the end of the step in which the last ones ended."""
    return mode == AutoresetMode.SAME_STEP and bool(np.count_nonzero(over))
