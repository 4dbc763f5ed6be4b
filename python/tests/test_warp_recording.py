"""Inputs of launches, recorded by `python -m gbxcule.warp --record`, and rows that `synth harvest` makes of them."""

import json
import subprocess
import sys

import numpy as np
import pytest

import gbxcule.warp as wp
from gbxcule.dataset import Dataset

PROGRAM = """# SPDX-License-Identifier: MIT
import sys
import numpy as np
import warp as wp

@wp.struct
class Body:
    mass: float
    at: wp.vec3

@wp.kernel
def pick(at: wp.array(dtype=int), bodies: wp.array(dtype=Body), gain: float, out: wp.array2d(dtype=float)):
    i = wp.tid()
    body = bodies[at[i] - 5000]
    out[i, 0] = gain * body.mass
    out[i, 1] = body.at[2]

@wp.kernel
def count(tree: wp.uint64, out: wp.array(dtype=int)):
    query = wp.bvh_query_aabb(tree, wp.vec3(0.0), wp.vec3(1.0))
    found = int(0)
    while wp.bvh_query_next(query, found):
        wp.atomic_add(out, 0, 1)

bodies = wp.array(np.array([(i / 3.0, (0.0, 0.0, i)) for i in range(4)], dtype=Body.numpy_dtype()), dtype=Body)
at, out = wp.array([5003, 5001, 5002], dtype=int), wp.zeros((3, 2), dtype=float)
for step in range(5):
    wp.launch(pick, dim=3, inputs=[at, bodies, 0.1 * (step + 1)], outputs=[out])
    if step == 0:
        np.save(sys.argv[1], out.numpy())
corners = wp.array([[0.0, 0.0, 0.0]], dtype=wp.vec3)
tree = wp.Bvh(corners, corners)
wp.launch(count, dim=1, inputs=[tree.id], outputs=[wp.zeros(1, dtype=int)])
"""


def ran(*command):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture
def recorded(tmp_path):
    (tmp_path / "code").mkdir()
    program = tmp_path / "code" / "program.py"
    program.write_text(PROGRAM)
    ran("gbxcule.warp", "--record", tmp_path / "inputs", program, tmp_path / "out.npy")
    return tmp_path


def test_launches_one_two_and_four_are_written_with_the_numbers_that_they_had(recorded):
    files = {path.name.split(".")[1]: path for path in (recorded / "inputs").iterdir()}
    assert set(files) == {"pick", "count"}
    launches = [json.loads(line) for line in files["pick"].read_text().splitlines()]
    assert [each["launch"] for each in launches] == [1, 2, 4]
    first = launches[0]
    line = PROGRAM.splitlines()[first["line"] - 1]
    assert line.startswith("def pick(") and first["dims"] == [3]
    inputs = {each["name"]: (each["shape"], each["values"]) for each in first["inputs"]}
    assert inputs["at"] == ([3], [5003, 5001, 5002])
    assert inputs["gain"] == ([], [0.1])
    masses = [float(str(np.float32(i / 3.0))) for i in range(4)]
    assert inputs["bodies"] == ([4], [part for i in range(4) for part in (masses[i], 0.0, 0.0, float(i))])
    assert inputs["out"] == ([3, 2], [0.0] * 6)
    assert [each["inputs"][2]["values"] for each in launches] == [[0.1], [0.2], [0.4]]
    refused = json.loads(files["count"].read_text())
    assert "`bvhs`" in refused["refused"]


def test_a_row_on_recorded_inputs_has_the_results_of_the_program(recorded):
    out = recorded / "rows"
    told = ran(
        "gbxcule", "synth", "harvest", recorded / "code", "--license", "MIT", "--inputs", recorded / "inputs", "--out", out
    )
    assert "1 rows have recorded inputs" in told
    row = next(row for row in Dataset(out) if row["kernel"] == "pick")
    assert row.inputs()["at"].tolist() == [5003, 5001, 5002]
    assert np.array_equal(row.outputs()["out"], np.load(recorded / "out.npy"))
    assert json.loads(row["origin_json"])["recorded"] == {"program": "program.py", "launch": 1}
    # No recording holds geometry, so the inputs of `count` are drawn.
    count = next(row for row in Dataset(out) if row["kernel"] == "count")
    assert json.loads(count["origin_json"]).get("recorded") is None
    assert count.inputs()["bvhs.nodes"].shape[0] % 2 == 1


def test_a_call_records_until_another_call_ends_it(tmp_path):
    @wp.kernel
    def add(x: wp.array(dtype=float)):
        x[wp.tid()] += 1.0

    x = wp.zeros(2, dtype=float)
    wp.record(tmp_path)
    wp.launch(add, dim=2, inputs=[x])
    x.fill_(float("inf"))
    wp.launch(add, dim=2, inputs=[x])
    wp.record(None)
    wp.launch(add, dim=2, inputs=[x])
    (file,) = tmp_path.iterdir()
    first, second = [json.loads(line) for line in file.read_text().splitlines()]
    assert first["inputs"] == [{"name": "x", "shape": [2], "values": [0.0, 0.0]}]
    assert "`x`" in second["refused"] and "finite" in second["refused"]


def test_a_struct_with_arrays_is_recorded_field_by_field_and_cuda_is_the_cpu(tmp_path):
    @wp.struct
    class Cloth:
        x: wp.array(dtype=wp.vec2)
        rest: wp.array(dtype=float)
        stiffness: float

    @wp.kernel
    def pull(cloth: Cloth):
        i = wp.tid()
        cloth.x[i] = cloth.x[i] * cloth.stiffness

    cloth = Cloth()
    wp.record(tmp_path)
    with pytest.warns(UserWarning, match="`cuda:0`.*on the CPU"):
        cloth.x = wp.array([[1.0, 2.0]], dtype=wp.vec2, device="cuda:0")
    cloth.stiffness = 0.5
    wp.launch(pull, dim=1, inputs=[cloth])
    wp.record(None)
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text())["inputs"] == [
        {"name": "cloth.x", "shape": [1], "values": [1.0, 2.0]},
        {"name": "cloth.rest", "shape": None, "values": []},
        {"name": "cloth.stiffness", "shape": [], "values": [0.5]},
    ]
    with pytest.raises(ValueError, match="cuda:0"):
        wp.zeros(1, dtype=float, device="cuda:0")


def test_a_program_that_is_missing_is_named(tmp_path):
    command = [sys.executable, "-m", "gbxcule.warp", str(tmp_path / "nothing.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "nothing.py" in done.stderr
