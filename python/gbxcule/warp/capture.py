"""Captures: they record launches, copies and fills instead of running them, so that all can be run later."""

from collections.abc import Callable
from typing import Any

Work = Callable[[], Any]


class Graph:
    """The work that a capture recorded."""

    def __init__(self) -> None:
        self.work: list[Work] = []


_open: list[Graph] = []


def run(work: Work) -> None:
    """Run some work, or record it if a capture is on."""
    if _open:
        _open[-1].work.append(work)
    else:
        work()


def is_capturing() -> bool:
    """Tell whether a capture is on."""
    return bool(_open)


def capture_begin(*_arguments: Any, **_options: Any) -> None:
    """Begin to record work instead of running it."""
    _open.append(Graph())


def capture_end(*_arguments: Any, **_options: Any) -> Graph:
    """End a capture; return its work."""
    if not _open:
        raise RuntimeError("no capture was begun")
    return _open.pop()


def capture_launch(graph: Graph, *_arguments: Any, **_options: Any) -> None:
    """Run the work of a capture, in order."""
    for work in list(graph.work):
        run(work)


class ScopedCapture:
    """A capture around a block; `graph` has its work."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        self.graph: Graph | None = None

    def __enter__(self) -> "ScopedCapture":
        capture_begin()
        return self

    def __exit__(self, *_error: Any) -> None:
        self.graph = capture_end()
