"""C++ and CUDA text that NVIDIA Warp writes for a kernel, forward and backward.

Nothing is compiled, and no GPU is needed. The text is what Warp puts into its kernel cache for a
module with this one text; a test compares both. Comments name the file that the text was read from:
here that is `row.py`.
"""

import hashlib
import importlib.util
import json
import re
import tempfile
from pathlib import Path

import warp as wp
from warp._src import context

from gbxcule.oracle import wheel

NAME = "row"


def texts(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Return the texts of each source, or the error instead."""
    with tempfile.TemporaryDirectory(prefix="gbxcule-") as folder:
        results = [text(source, Path(folder)) for source in header["sources"]]
    return {"origin": wheel.provenance("warp-lang")}, json.dumps(results).encode()


def text(source: str, folder: Path) -> dict:
    """Write both texts as in a process that has seen no other source.

    Warp numbers functions of the same name, so earlier sources would change the text.
    """
    counts = dict(context.function_key_counts)
    context.function_key_counts.clear()
    try:
        module = read(source, folder)
        return {target: written(module, target, folder) for target in ("cpp", "cuda")}
    except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
        return {"error": re.sub(f"{folder}/\\w+/", "", f"{type(error).__name__}: {error}")}
    finally:
        context.function_key_counts.update(counts)
        # Warp keeps modules by name; without this the next source would get this module.
        context.user_modules.pop(NAME, None)


def read(source: str, folder: Path):
    """Make a module of Warp's from the source.

    Warp reads a source from a file, and Python caches the file's lines by its name.
    """
    place = folder / hashlib.sha256(source.encode()).hexdigest()[:16]
    place.mkdir(exist_ok=True)
    path = place / f"{NAME}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(NAME, path)
    module = importlib.util.module_from_spec(spec)
    wp.config.enable_backward = True
    spec.loader.exec_module(module)
    return wp.get_module(NAME)


def written(module, target: str, folder: Path) -> str:
    """Return the text for one target."""
    options = module.resolve_options(wp.config) | {"output_arch": None}
    device = {"cpp": "cpu", "cuda": "cuda"}[target]
    builder = context.ModuleBuilder(module, options, target=device)
    lines = builder.codegen(device).splitlines(keepends=True)
    return "".join(bare(line, folder) for line in lines)


def bare(line: str, folder: Path) -> str:
    """Drop the temporary folder from a comment that names the file."""
    begin = line.find(str(folder))
    if begin < 0:
        return line
    return line[:begin] + line[line.index(f"{NAME}.py", begin) :]

