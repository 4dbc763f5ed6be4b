"""gbxcule: a swarm of Game Boys for reinforcement learning, and kernels in NVIDIA Warp's dialect.

`gbxcule.make_vec()` is a Gymnasium vector environment, `gbxcule.make()` a single one, `gbxcule.kernel` a decorator.
Names are imported when they are first used, so that the oracles run without the extension. Gymnasium knows the games
once the package is imported: `gymnasium.make("gbxcule/PearlDrift-v1")`.
"""

import ast
import os
import sys
from importlib import import_module
from importlib.resources import files
from typing import Any


def _homes() -> dict[str, str]:
    """The module of each public name, as `__init__.pyi` lists them."""
    tree = ast.parse(files(__name__).joinpath("__init__.pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gbxcule' has no attribute '{name}'")
    home = _HOMES[name]
    return import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def _is_command() -> bool:
    """Tell whether this process is `gbxcule ..` or `python -m gbxcule..`, which need no Gymnasium."""
    words = sys.orig_argv
    module = words[words.index("-m") + 1 :][:1] if "-m" in words else []
    return os.path.basename(sys.argv[0]) == "gbxcule" or any(name.split(".")[0] == "gbxcule" for name in module)


if not _is_command():
    try:
        import_module("gbxcule.registration").register()
    except ImportError:
        # Where Gymnasium or the extension is missing, names that need them say so.
        pass
