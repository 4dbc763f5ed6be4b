"""Renderers: there are none here. Programs that were told not to render import this and go on."""

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(f"gbxcule.warp.render has no `{name}`: run the program without a stage or a window")
