"""Captures: launches, copies and fills that are kept instead of done, to be done together later."""

from collections.abc import Callable
from typing import Any

Work = Callable[[], Any]


class Graph:
    """Work that was kept."""

    def __init__(self) -> None:
        self.work: list[Work] = []


_open: list[Graph] = []


def run(work: Work) -> None:
    """Do some work, or keep it if a capture is on."""
    if _open:
        _open[-1].work.append(work)
    else:
        work()


def is_capturing() -> bool:
    """Tell whether a capture is on."""
    return bool(_open)


def capture_begin(*_arguments: Any, **_options: Any) -> None:
    """Begin to keep work instead of doing it."""
    _open.append(Graph())


def capture_end(*_arguments: Any, **_options: Any) -> Graph:
    """End a capture, and give what it kept."""
    if not _open:
        raise RuntimeError("no capture was begun")
    return _open.pop()


def capture_launch(graph: Graph, *_arguments: Any, **_options: Any) -> None:
    """Do the work that a capture kept, in order."""
    for work in list(graph.work):
        run(work)


class ScopedCapture:
    """A capture around a block; `graph` has what it kept."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        self.graph: Graph | None = None

    def __enter__(self) -> "ScopedCapture":
        capture_begin()
        return self

    def __exit__(self, *_error: Any) -> None:
        self.graph = capture_end()
