"""gbxcule: a swarm of Game Boys for reinforcement learning, and kernels in NVIDIA Warp's dialect.

`gbxcule.make_vec()` is a Gymnasium vector environment, `gbxcule.make()` a single one, `gbxcule.kernel` a decorator.
Names are imported when they are first used, so that the oracles run without the extension. Gymnasium knows the games
once the package is imported: `gymnasium.make("gbxcule/PearlDrift-v1")`.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbxcule import kernel as kernel
    from gbxcule import rank as rank
    from gbxcule.action import Buttons as Buttons
    from gbxcule.action import Choices as Choices
    from gbxcule.action import Press as Press
    from gbxcule.record_best import RecordBest as RecordBest
    from gbxcule.checkpoint import restore as restore
    from gbxcule.info import Cell as Cell
    from gbxcule.info import Hook as Hook
    from gbxcule.factory import make_vec as make_vec
    from gbxcule.memory import Change as Change
    from gbxcule.memory import Number as Number
    from gbxcule.observation import Flags as Flags
    from gbxcule.observation import Numbers as Numbers
    from gbxcule.observation import Ram as Ram
    from gbxcule.rank import make_vec_for_rank as make_vec_for_rank
    from gbxcule.single import SwarmEnv as SwarmEnv
    from gbxcule.single import make as make
    from gbxcule.registration import register as register
    from gbxcule.symbol import load_symbols as load_symbols
    from gbxcule.vector import SwarmVectorEnv as SwarmVectorEnv

_MODULES = {"kernel", "observation", "rank", "symbol"}
_HOMES = {
    "Buttons": "gbxcule.action",
    "Choices": "gbxcule.action",
    "Press": "gbxcule.action",
    "RecordBest": "gbxcule.record_best",
    "restore": "gbxcule.checkpoint",
    "Cell": "gbxcule.info",
    "Hook": "gbxcule.info",
    "Change": "gbxcule.memory",
    "Number": "gbxcule.memory",
    "Flags": "gbxcule.observation",
    "Numbers": "gbxcule.observation",
    "Ram": "gbxcule.observation",
    "make_vec_for_rank": "gbxcule.rank",
    "SwarmEnv": "gbxcule.single",
    "make": "gbxcule.single",
    "register": "gbxcule.registration",
    "load_symbols": "gbxcule.symbol",
    "SwarmVectorEnv": "gbxcule.vector",
    "make_vec": "gbxcule.factory",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"gbxcule.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gbxcule' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def _is_command() -> bool:
    """Is this process `gbxcule ..` or `python -m gbxcule..`? Those are no learners and need no Gymnasium."""
    words = sys.orig_argv
    module = words[words.index("-m") + 1 :][:1] if "-m" in words else []
    return os.path.basename(sys.argv[0]) == "gbxcule" or any(name.split(".")[0] == "gbxcule" for name in module)


if not _is_command():
    try:
        import_module("gbxcule.registration").register()
    except ImportError:
        # Where Gymnasium or the extension is missing, names that need them say so.
        pass
