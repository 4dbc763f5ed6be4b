"""Timers and other context managers around blocks."""

import time
from typing import Any

_depth: list["ScopedTimer"] = []


class ScopedTimer:
    """Measures a block's milliseconds, in `elapsed` and in `dict` under the timer's name."""

    def __init__(
        self, name: str, active: bool = True, print: bool = True, detailed: bool = False,
        dict: dict[str, list[float]] | None = None, **_options: Any,
    ) -> None:  # fmt: skip
        self.name, self.active, self.print, self.dict = name, active, print, dict
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
