"""A pattern that an adapter of a framework gives to `run.py`."""

import dataclasses
import importlib.util
import inspect
import pathlib
import sys
import types
from collections.abc import Callable


@dataclasses.dataclass
class Pattern:
    name: str
    title: str
    # Runs the pattern on both arrays of the framework.
    call: Callable


def load(path: pathlib.Path) -> types.ModuleType:
    """Import a file of patterns; `import warp` must already mean the framework's module."""
    spec = importlib.util.spec_from_file_location(f"pattern_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    # A search for the text of a class asks for its module.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def functions(module: types.ModuleType, is_kernel, launched) -> "list[Pattern]":
    """The patterns of a file: kernels with the parameters of a pattern, and functions of both arrays, with titles."""
    patterns = []
    for name, value in vars(module).items():
        function = is_kernel(value) or value
        if not inspect.isfunction(function) or function.__module__ != module.__name__ or not function.__doc__:
            continue
        parameters = list(inspect.signature(function).parameters)
        if is_kernel(value) and parameters == ["x", "o", "n", "m"]:
            patterns.append(Pattern(name, function.__doc__, launched(value)))
        elif parameters == ["x", "o"]:
            patterns.append(Pattern(name, function.__doc__, value))
    return patterns
