"""Branches and loops in captures: an array's value at launch decides whether work is done."""

from collections.abc import Callable
from typing import Any

from gbxcule.warp import capture
from gbxcule.warp.array_memory import array
from gbxcule.warp.scalar import int32

Body = Callable[..., Any] | capture.Graph | None


def _is_true(condition: array) -> bool:
    return bool(condition.numpy().ravel()[0])


def _checked(condition: Any) -> array:
    if not isinstance(condition, array) or condition.dtype is not int32 or not condition.size:
        raise TypeError(f"a condition is an array of one `int32`, found {condition!r}")
    return condition


def _work_of(body: Body, options: dict[str, Any]) -> Callable[[], Any]:
    """Make work from a function or a graph; during a capture the function is called once, to record its launches."""
    if isinstance(body, capture.Graph):
        return lambda: capture.capture_launch(body)
    if body is None:
        return lambda: None
    if not callable(body):
        raise TypeError(f"the body of a captured branch is a function or a graph, found {body!r}")
    if not capture.is_capturing():
        return lambda: body(**options)
    capture.capture_begin()
    try:
        body(**options)
    finally:
        graph = capture.capture_end()
    return lambda: capture.capture_launch(graph)


def capture_if(
    condition: array, on_true: Body = None, on_false: Body = None, stream: Any = None, **options: Any
) -> None:
    """Run one of two bodies, chosen by an array's first element."""
    _checked(condition)
    work, other = _work_of(on_true, options), _work_of(on_false, options)
    capture.run(lambda: work() if _is_true(condition) else other())


def capture_while(condition: array, while_body: Body, stream: Any = None, **options: Any) -> None:
    """Run a body as long as an array's first element isn't 0."""
    _checked(condition)
    work = _work_of(while_body, options)

    def loop() -> None:
        while _is_true(condition):
            work()

    capture.run(loop)
