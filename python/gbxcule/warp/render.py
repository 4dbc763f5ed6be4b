"""A module without renderers, so that programs that were told not to render can import it."""

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(f"gbxcule.warp.render has no `{name}`: run the program without a stage or a window")
