"""The folder with the meshes and images of NVIDIA Warp's examples, which Warp's wheel holds."""

import os
from importlib.machinery import PathFinder
from typing import Any


def get_source_directory() -> str:
    """Return the folder of Warp's examples."""
    spec = PathFinder.find_spec("warp")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "the files of NVIDIA Warp's examples are in its wheel, which isn't installed: `pip install warp-lang`"
        )
    return os.path.join(os.path.realpath(spec.submodule_search_locations[0]), "examples")


def get_asset_directory() -> str:
    """Return the folder of the meshes and images that Warp's examples load."""
    return os.path.join(get_source_directory(), "assets")


def __getattr__(name: str) -> Any:
    raise AttributeError(f"gbxcule.warp.examples has no `{name}`: run Warp's examples by `python -m gbxcule.warp FILE`")
