"""Loggers: objects that get the messages of programs which log by `warp`; the default one prints them."""

import sys
import warnings
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Logger(Protocol):
    """An object that takes messages, such as one that passes them to a program's own log."""

    def debug(self, message: str) -> None:
        """Take a message for developers."""

    def info(self, message: str) -> None:
        """Take a message."""

    def warning(self, message: str, category: Any = None, stacklevel: int = 1) -> None:
        """Take a warning."""

    def error(self, message: str) -> None:
        """Take an error."""


class _Printer:
    def debug(self, message: str) -> None:
        pass

    def info(self, message: str) -> None:
        print(message)

    def warning(self, message: str, category: Any = None, stacklevel: int = 1) -> None:
        warnings.warn(message, category, stacklevel=stacklevel + 1)

    def error(self, message: str) -> None:
        print(message, file=sys.stderr)


_printer: Logger = _Printer()
_chosen = _printer


def get_logger() -> Logger:
    """Return the logger that gets messages."""
    return _chosen


def set_logger(logger: Logger | None) -> None:
    """Choose the logger that gets messages; `None` is the one that prints them."""
    global _chosen
    if logger is not None and not isinstance(logger, Logger):
        raise TypeError(f"a logger has `debug`, `info`, `warning` and `error`, found {logger!r}")
    _chosen = _printer if logger is None else logger


class ScopedLogger:
    """A block in which another logger gets messages."""

    def __init__(self, logger: Logger | None) -> None:
        self._logger, self._before = logger, _chosen

    def __enter__(self) -> "ScopedLogger":
        self._before = get_logger()
        set_logger(self._logger)
        return self

    def __exit__(self, *_error: Any) -> None:
        set_logger(self._before)


def log_info(message: str) -> None:
    """Give a message to the logger."""
    get_logger().info(message)


def log_error(message: str) -> None:
    """Give an error to the logger."""
    get_logger().error(message)
