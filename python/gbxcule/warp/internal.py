"""Private parts of Warp that programs use nevertheless.

`runtime.core` replaces Warp's C library. Its functions for builtins write the result to an argument, a `ctypes.byref`
of a value.
"""

import os
from typing import Any

from gbxcule import _native
from gbxcule.warp import builtin, capture
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import Composite
from gbxcule.warp.logger import log_error as log_error
from gbxcule.warp.logger import log_info as log_info
from gbxcule.warp.scalar import float32

_PREFIX = "wp_builtin_"


class _Core:
    """Functions by their names in Warp's library."""

    def __getattr__(self, name: str) -> Any:
        # `wp_builtin_quat_from_matrix_mat44f`: the builtin's name, then its arguments' types.
        words = name.removeprefix(_PREFIX).split("_") if name.startswith(_PREFIX) else []
        builtins = set(_native.builtin_names())
        names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        builtin = next((each for each in names if each in builtins), None)
        if builtin is None:
            raise AttributeError(f"gbxcule.warp has no `{name}` of Warp's library", name=name, obj=self)
        return _by_reference(builtin)

    @staticmethod
    def wp_array_inner_float_host(a: int, b: int, out: int, count: int, *layout: int) -> None:
        """Add the products of numbers one after the other."""
        of_a, of_b, length = layout
        left = array(ptr=a, shape=(count, length), strides=(of_a, 4), dtype=float32).numpy()
        right = array(ptr=b, shape=(count, length), strides=(of_b, 4), dtype=float32).numpy()
        target = array(ptr=out, shape=1, dtype=float32).numpy()

        def add() -> None:
            sums = (left * right).reshape(-1).cumsum(dtype=left.dtype)
            target[0] = sums[-1] if sums.size else 0.0

        capture.run(add)


def _by_reference(name: str) -> Any:
    def function(*arguments: Any) -> None:
        *values, reference = arguments
        target = reference._obj
        result = builtin.call(name, *values)
        if isinstance(target, Composite):
            target._numbers[...] = result._numbers
        else:
            target.value = getattr(result, "value", result)

    return function


class _Runtime:
    core = _Core()


runtime = _Runtime()
"""Replaces `warp._src.context.runtime`."""


def user_cache_dir(appname: str | None = None, appauthor: Any = None, version: str | None = None) -> str:
    """Return a program's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, *(part for part in (appname, appname and version) if part))
