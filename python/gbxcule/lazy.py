"""Names that a package imports when they are first used, each from the module that `__init__.pyi` lists for it."""

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from typing import Any


def homes_of(package: str) -> dict[str, str]:
    """Return the module of each public name of a package; a module among them has the package itself."""
    tree = ast.parse(files(package).joinpath("__init__.pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def lazy_names(package: str, own: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package with the globals `own`."""
    homes = homes_of(package)

    def imported(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        if homes[name] != package:
            return getattr(import_module(homes[name]), name)
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            # `help` and `hasattr` go on without the module of a library that is missing.
            raise AttributeError(str(error)) from error

    return imported, lambda: sorted({*homes, *(name for name in own if name.startswith("__"))})
