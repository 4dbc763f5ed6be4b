"""Kernels that another process compiled are found on disk, if all their inputs are equal."""

import os
import pathlib
import subprocess
import sys

import pytest

KERNELS = """
import warp as wp

from near import scale
from far import OFFSET


@wp.kernel
def run(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = scale(x[i]) + OFFSET
"""
NEAR = """
import warp as wp


@wp.func
def scale(x: float):
    return {factor} * x
"""
LAUNCH = """
import sys
import numpy as np
from gbxcule import kernel

run = kernel.from_file(sys.argv[1])["run"]
x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
run.launch(4, x, y)
gradient = np.zeros(4, np.float32)
run.backward(4, x, y, grads={"x": gradient, "y": np.ones(4, np.float32)})
print(y.tolist(), gradient.tolist())
try:
    run.launch(5, x, y)
except kernel.LaunchError as error:
    print(error)
"""


class Folder:
    def __init__(self, root: pathlib.Path) -> None:
        self.root, self.cache = root, root / "cache"
        self.write("kernels.py", KERNELS)
        self.write("near.py", NEAR.format(factor=2.0))
        self.write("far.py", "OFFSET = 1.0\n")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def run(self, cache: str | None = None) -> str:
        path = os.pathsep.join(filter(None, sys.path))
        settings = {"GBXCULE_CACHE": cache or str(self.cache), "PYTHONPATH": path}
        command = [sys.executable, "-c", LAUNCH, str(self.root / "kernels.py")]
        ran = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def kept(self) -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in self.cache.iterdir()}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Folder:
    return Folder(tmp_path)


def test_a_second_process_compiles_nothing(folder):
    first = folder.run()
    assert first.startswith("[1.0, 3.0, 5.0, 7.0] [2.0, 2.0, 2.0, 2.0]\n")
    assert "kernels.py:11" in first, "the line of the fault"
    kept = folder.kept()
    assert sorted(name.rsplit(".")[-1] for name in kept) == ["object", "object", "outline"]
    assert folder.run() == first
    assert folder.kept() == kept


def test_a_change_of_an_imported_file_makes_other_code(folder):
    folder.run()
    folder.write("near.py", NEAR.format(factor=3.0))
    assert folder.run().startswith("[1.0, 4.0, 7.0, 10.0] [3.0, 3.0, 3.0, 3.0]\n")
    folder.write("far.py", "OFFSET = 0.5\n")
    assert folder.run().startswith("[0.5, 3.5, 6.5, 9.5] ")
    folder.write("far.py", "from further import OFFSET\n")
    folder.write("further.py", "OFFSET = 8.0\n")
    assert folder.run().startswith("[8.0, 11.0, 14.0, 17.0] ")
    folder.write("further.py", "OFFSET = 9.0\n")
    assert folder.run().startswith("[9.0, 12.0, 15.0, 18.0] ")


def test_a_file_that_python_would_import_in_its_place_makes_other_code(folder):
    folder.run()
    (folder.root / "far").mkdir()
    folder.write("far/__init__.py", "OFFSET = 5.0\n")
    assert folder.run().startswith("[5.0, 7.0, 9.0, 11.0] ")


def test_damaged_files_are_made_anew(folder):
    first = folder.run()
    whole = {path: path.read_bytes() for path in folder.cache.iterdir()}
    for path, content in whole.items():
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert folder.run() == first
    assert {path: path.read_bytes() for path in folder.cache.iterdir()} == whole


def test_nothing_is_kept_where_the_cache_is_off(folder, monkeypatch):
    monkeypatch.chdir(folder.root)
    before = sorted(folder.root.iterdir())
    assert folder.run("off").startswith("[1.0, 3.0, 5.0, 7.0] ")
    assert sorted(folder.root.iterdir()) == before
