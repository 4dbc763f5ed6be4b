"""Renderers: those of NVIDIA Warp's wheel, if it is installed, on this module's arrays and kernels."""

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from gbxcule.warp import examples

# The files of the wheel, and what programs take from them; the first is imported by the others.
_FILES = {"utils": (), "render_usd": ("UsdRenderer",), "render_opengl": ("OpenGLRenderer",)}


def _load(name: str) -> ModuleType:
    """Load a file of the wheel; its `import warp` imports `gbxcule.warp`."""
    package = "warp._src.render"
    folder = os.path.join(os.path.dirname(examples.get_source_directory()), "_src", "render")
    holder = sys.modules.setdefault(package, ModuleType(package))
    holder.__path__ = [folder]
    spec = importlib.util.spec_from_file_location(f"{package}.{name}", os.path.join(folder, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def __getattr__(name: str) -> Any:
    file = next((file for file, names in _FILES.items() if name in names), None)
    if file is None:
        raise AttributeError(f"gbxcule.warp.render has no `{name}`")
    if sys.modules.get("warp") is not sys.modules["gbxcule.warp"]:
        raise AttributeError(f"`{name}` needs `gbxcule.warp.stand_in()`, or run the program by `python -m gbxcule.warp`")
    for each in ("utils", file):
        if f"warp._src.render.{each}" not in sys.modules:
            _load(each)
    return getattr(sys.modules[f"warp._src.render.{file}"], name)
