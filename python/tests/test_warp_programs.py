"""Example programs of NVIDIA Warp's wheel, run by Warp and, word for word, by `gbxcule.warp`.

GBXCULE_WARP_PYTHON names a Python that has Warp (`make warp-programs`), GBXCULE_NEWTON a folder with newton, and
GBXCULE_MUJOCO one with mujoco_warp.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

WARP = os.environ.get("GBXCULE_WARP_PYTHON")
pytestmark = pytest.mark.skipif(WARP is None, reason="GBXCULE_WARP_PYTHON names no Python with NVIDIA Warp")

RUN = """
import inspect, sys
import numpy as np
path, steps, out, module = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
if module == "gbxcule.warp":
    import gbxcule.warp
    gbxcule.warp.stand_in()
import warp as wp
import importlib.util
spec = importlib.util.spec_from_file_location("program", path)
program = importlib.util.module_from_spec(spec)
sys.modules["program"] = program
spec.loader.exec_module(program)
wanted = {"stage_path": None, "height": 64, "width": 128}
taken = inspect.signature(program.Example.__init__).parameters
example = program.Example(**{name: value for name, value in wanted.items() if name in taken})
for _ in range(steps):
    (example.step if hasattr(example, "step") else example.render)()
arrays = {name: value.numpy() for name, value in vars(example).items() if isinstance(value, wp.array)}
np.savez(out, **arrays)
"""

PROGRAMS = [
    ("core/example_fluid.py", 3),
    ("core/example_wave.py", 2),
    ("core/example_raymarch.py", 1),
    ("core/example_graph_capture.py", 2),
]


def wheel():
    code = "import importlib.util as u; print(u.find_spec('warp').submodule_search_locations[0])"
    found = subprocess.run([WARP, "-c", code], capture_output=True, text=True, check=True)
    return pathlib.Path(found.stdout.strip())


@pytest.mark.parametrize("name, steps", PROGRAMS)
def test_an_example_gives_what_warp_gives(name, steps, tmp_path):
    agrees(wheel() / "examples" / name, steps, tmp_path)


def test_elements_of_indexed_arrays_are_those_that_warp_takes(tmp_path):
    agrees(pathlib.Path(__file__).with_name("warp_indexed.py"), 2, tmp_path)


def test_queries_of_geometry_find_what_warp_finds(tmp_path):
    agrees(pathlib.Path(__file__).with_name("warp_geometry.py"), 1, tmp_path)


def test_volumes_are_and_hold_what_warp_makes_and_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("GBXCULE_WARP_ASSETS", str(wheel() / "tests" / "assets"))
    agrees(pathlib.Path(__file__).with_name("warp_volume.py"), 1, tmp_path)


def test_tiles_are_those_that_warp_makes_on_a_cpu(tmp_path):
    agrees(pathlib.Path(__file__).with_name("warp_tile.py"), 1, tmp_path)


def test_sparse_matrices_are_those_that_warp_makes(tmp_path):
    agrees(pathlib.Path(__file__).with_name("warp_sparse.py"), 1, tmp_path)


@pytest.mark.skipif("GBXCULE_NEWTON" not in os.environ, reason="GBXCULE_NEWTON names no folder with newton")
@pytest.mark.parametrize("program", ["warp_newton.py", "warp_newton_cloth.py"])
def test_steps_of_newton_are_what_warp_makes_of_them(program, tmp_path):
    agrees(pathlib.Path(__file__).with_name(program), 8, tmp_path)


@pytest.mark.skipif("GBXCULE_MUJOCO" not in os.environ, reason="GBXCULE_MUJOCO names no folder with mujoco_warp")
def test_steps_of_mujoco_are_what_warp_makes_of_them(tmp_path):
    agrees(pathlib.Path(__file__).with_name("warp_mujoco.py"), 8, tmp_path)


def agrees(program, steps, tmp_path):
    for python, module in [(WARP, "warp"), (sys.executable, "gbxcule.warp")]:
        out = tmp_path / f"{module}.npz"
        path = os.pathsep.join(filter(None, sys.path)) if python == sys.executable else ""
        command = [python, "-c", RUN, str(program), str(steps), str(out), module]
        ran = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stderr
    theirs, ours = np.load(tmp_path / "warp.npz"), np.load(tmp_path / "gbxcule.warp.npz")
    assert theirs.files == ours.files and theirs.files
    for array in theirs.files:
        if array.startswith("near"):
            apart = np.abs(theirs[array] - ours[array]).max(axis=0)
            assert (apart <= 1e-4).all(), f"{array}: {apart}"
            continue
        assert np.array_equal(theirs[array], ours[array], equal_nan=True), array
