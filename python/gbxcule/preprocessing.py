"""Preprocessing that benchmarks use, done in the swarm: stacks of pictures, sticky actions, and so on.

`make_vec` says what the options mean, docs/python.md how they compare with those of ALE, EnvPool and Gymnasium.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule.argument_check import shown, switch_of, whole
from gbxcule.memory import Number
from gbxcule.observation import PICTURES


@dataclass(frozen=True)
class Preprocessing:
    """Checked options."""

    frame_stack: int | None
    max_pool: bool
    resize: list[int] | None
    crop: list[int] | None
    sticky: float
    noop_max: int
    episodic_life: Number | None

    def pictures(self, obs: Any, grays: str) -> _native.View | None:
        """Return the view of the picture among the observations, if an option changes it."""
        named = {"frame_stack": self.frame_stack, "resize": self.resize, "crop": self.crop}
        asked = [name for name, value in named.items() if value is not None] + ["max_pool"] * self.max_pool
        if not asked:
            return None
        parts = obs.values() if isinstance(obs, Mapping) else [obs]
        pictures = [part for part in parts if isinstance(part, str) and part in PICTURES]
        if len(pictures) != 1:
            raise ValueError(
                f"`{asked[0]}` changes the one picture of the observation, and obs={shown(obs)} has {len(pictures)} pictures: give "
                f"one of {', '.join(PICTURES)}, alone or in a dictionary"
            )
        return _native.View.pictures(
            pictures[0], grays, crop=self.crop, size=self.resize, depth=self.frame_stack, max_pool=self.max_pool
        )


def checked(
    *, frame_stack: Any, max_pool: Any, resize: Any, crop: Any, sticky: Any, noop_max: Any, episodic_life: Any, link: Any
) -> Preprocessing:
    """Check the options of preprocessing."""
    if episodic_life is not None and not isinstance(episodic_life, Number):
        raise TypeError(
            f"`episodic_life` takes the number of lives, a gbxcule.Number such as gbxcule.Number(\"Lives\"), found {shown(episodic_life)}"
        )
    if episodic_life is not None and link == "pairs":
        raise ValueError("`episodic_life` ends one env's episode, but the episodes of link=\"pairs\" end together: leave one of both out")
    if isinstance(sticky, (bool, np.bool_)) or not isinstance(sticky, (int, float, np.integer, np.floating)):
        raise TypeError(f"`sticky` is a probability from 0 to 1, such as 0.25, found {shown(sticky)}")
    return Preprocessing(
        None if frame_stack is None else _small("frame_stack", frame_stack, 1),
        switch_of("max_pool", max_pool),
        None if resize is None else _resize(resize),
        None if crop is None else _numbers("crop", crop, 4, "top, left, lines, columns"),
        float(sticky),
        whole("noop_max", noop_max, 0),
        episodic_life,
    )


def _small(name: str, value: Any, least: int) -> int:
    number = whole(name, value, least)
    if number >= 2**16:
        raise ValueError(f"{name} is at least {least} and below 65536, found {number}")
    return number


def _resize(resize: Any) -> list[int]:
    if isinstance(resize, (int, np.integer)):
        return [_small("resize", resize, 1)] * 2
    return _numbers("resize", resize, 2, "lines, columns")


def _numbers(name: str, value: Any, count: int, meaning: str) -> list[int]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) != count:
        one = ", or one number for both" if name == "resize" else ""
        raise ValueError(f"`{name}` is ({meaning}){one}, found {shown(value)}")
    return [_small(name, number, 0) for number in value]
