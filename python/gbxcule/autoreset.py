"""Autoreset: when the next episode of an env begins whose episode is over.

Gymnasium has three modes. In the next step, whose action is then ignored; at the end of the same step, whose last
observation is in the infos then; or never, so that the caller resets. `SwarmVectorEnv.step` asks here.
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
    """Return a mode, or the one of this name."""
    return mode if isinstance(mode, AutoresetMode) else one_of("autoreset mode", mode, _MODES)


def refuse_disabled(name: str, mode: Any) -> None:
    """Refuse the mode in which the caller resets single envs, where there is no such call."""
    if mode is not None and mode_of(mode) == AutoresetMode.DISABLED:
        raise ValueError(f"{name} resets all envs or none: autoreset_mode is NextStep or SameStep here, not Disabled")


def partners(mask: Mask) -> Mask:
    """Return the envs whose partner in a pair is marked."""
    return mask.reshape(-1, 2)[:, ::-1].reshape(-1)


def left_alone(over: Mask, is_paired: bool) -> Mask:
    """Return the envs whose partner's episode is over: episodes of a pair end together."""
    return partners(over) & ~over if is_paired else np.zeros_like(over)


def refuse_late_step(mode: AutoresetMode, over: Mask) -> None:
    """Refuse a step if nobody has reset the envs whose episodes are over."""
    if mode == AutoresetMode.DISABLED and over.any():
        raise gymnasium.error.ResetNeeded(
            f"the episodes of the envs {np.flatnonzero(over).tolist()} are over; "
            'reset them with options={"reset_mask": mask}'
        )


def begin_in_step(mode: AutoresetMode, over: Mask) -> Mask:
    """Return the envs for which a step is the reset: their episodes were over before it."""
    return over if mode == AutoresetMode.NEXT_STEP else np.zeros_like(over)


def begin_at_end(mode: AutoresetMode, over: Mask) -> Mask:
    """Return the envs whose next episode begins at the end of the step in which the last one ended."""
    return over if mode == AutoresetMode.SAME_STEP else np.zeros_like(over)
