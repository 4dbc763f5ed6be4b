"""Timers, levels of messages, and the activity of CUDA devices, of which the CPU has none."""

import time
from collections.abc import Sequence
from typing import Any

TIMING_KERNEL, TIMING_KERNEL_BUILTIN, TIMING_MEMCPY, TIMING_MEMSET, TIMING_GRAPH = 1, 2, 4, 8, 16
TIMING_ALL = 0xFFFFFFFF

_depth: list["ScopedTimer"] = []


class ScopedTimer:
    """Measures a block's milliseconds, in `elapsed` and in `dict` under the timer's name."""

    enabled = True
    """False makes all timers inactive."""

    def __init__(
        self, name: str, active: bool = True, print: bool = True, detailed: bool = False,
        dict: dict[str, list[float]] | None = None, **_options: Any,
    ) -> None:  # fmt: skip
        self.name, self.active, self.print, self.dict = name, active and self.enabled, print, dict
        self.elapsed = 0.0
        self._begin = 0.0

    def __enter__(self) -> "ScopedTimer":
        if self.active:
            _depth.append(self)
            self._begin = time.perf_counter()
        return self

    def __exit__(self, *_error: Any) -> None:
        if not self.active:
            return
        self.elapsed = (time.perf_counter() - self._begin) * 1000.0
        _depth.remove(self)
        if self.dict is not None:
            self.dict.setdefault(self.name, []).append(self.elapsed)
        if self.print:
            print(f"{'  ' * len(_depth)}{self.name} took {self.elapsed:.2f} ms")


class ScopedLogLevel:
    """A level of messages within a block; this package prints no messages."""

    def __init__(self, _level: Any) -> None:
        pass

    def __enter__(self) -> "ScopedLogLevel":
        return self

    def __exit__(self, *_error: Any) -> None:
        pass


class ScopedCudaProfiler:
    """A block that CUDA's profiler would show; nothing here runs on CUDA devices."""

    def __enter__(self) -> "ScopedCudaProfiler":
        return self

    def __exit__(self, *_error: Any) -> None:
        pass


def cuda_profiler_start() -> None:
    """Do nothing: this module runs nothing on CUDA devices."""


def cuda_profiler_stop() -> None:
    """Do nothing: this module runs nothing on CUDA devices."""


def timing_begin(cuda_filter: int = TIMING_ALL, synchronize: bool = True) -> None:
    """Do nothing: only the activity of CUDA devices is recorded."""


def timing_end(synchronize: bool = True) -> list[Any]:
    """Return an empty list: no CUDA device was active."""
    return []


def timing_print(results: Sequence[Any], indent: str = "") -> None:
    """Print that no CUDA device was active."""
    print(f"{indent}No activity")
