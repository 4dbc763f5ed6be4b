"""Rows of a dataset from Python: their columns, and their arrays beside the kernel's results."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gbxcule.dataset import Dataset

SAMPLE = Path(__file__).parents[2] / "examples" / "dataset"


@pytest.fixture(scope="module")
def rows() -> Dataset:
    return Dataset(SAMPLE)


def test_rows_are_those_of_the_folder_in_order(rows):
    assert [row.id for row in rows] == list(range(len(rows)))
    assert len(rows) == json.loads((SAMPLE / "dataset.json").read_text())["count"]
    assert rows[-1]["kernel"] in rows[-1]["source"]
    assert [row.id for row in rows[2:6:3]] == [2, 5]


def test_splits_divide_the_rows(rows):
    parts = [Dataset(SAMPLE, split=split) for split in ("train", "valid", "test")]
    assert sorted(row.id for part in parts for row in part) == list(range(len(rows)))
    assert {row["split"] for row in parts[1]} == {"valid"}
    with pytest.raises(ValueError, match="has the splits train, valid, test"):
        Dataset(SAMPLE, split="validation")


def test_shards_divide_the_rows(tmp_path):
    command = ["synth", "generate", "--count", "1010", "--mode", "text", "--sampled", "100", "--out", str(tmp_path / "rows")]
    subprocess.run([sys.executable, "-m", "gbxcule", *command], check=True, capture_output=True)
    parts = [Dataset(tmp_path / "rows", shard=(index, 2)) for index in range(2)]
    assert [len(part) for part in parts] == [510, 500]
    assert [parts[1][0].id, parts[0][500].id] == [500, 1000]
    with pytest.raises(ValueError, match="from 0 up to the second"):
        Dataset(tmp_path / "rows", shard=(2, 2))


def test_arrays_have_the_numbers_of_the_columns(rows):
    for row in rows:
        signature = {parameter["name"]: parameter for parameter in json.loads(row["signature_json"])}
        shapes = {given["name"]: tuple(given["shape"]) for given in json.loads(row["inputs_json"])}
        inputs = row.inputs()
        assert list(inputs) == list(signature)
        for name, array in inputs.items():
            assert array.shape[: len(shapes[name])] == shapes[name]
        assert list(row.cotangents()) == list(row.outputs())
        for column, arrays in [("outputs_json", row.outputs()), ("gradients_json", row.gradients())]:
            stored = json.loads(row[column] or "[]")
            assert [tensor["name"] for tensor in stored] == list(arrays)
            for tensor in stored:
                array = arrays[tensor["name"]]
                assert np.array_equal(array.ravel(), np.array(tensor["values"], array.dtype)), (row.id, tensor["name"])


def test_rows_of_one_kernel_and_of_several_run_anew(rows):
    several = [row for row in rows if row["launches_json"]]
    assert several
    for row in [*several, *rows[:4]]:
        for made, stored in zip(row.run(), (row.outputs(), row.gradients()), strict=True):
            assert list(made) == list(stored) or not stored
            for name, wanted in stored.items():
                np.testing.assert_allclose(made[name], wanted, rtol=1e-4, atol=1e-5, err_msg=f"row {row.id}: {name}")
    launches = json.loads(several[0]["launches_json"])
    assert {launch["kernel"] for launch in launches} == set(several[0]["kernels"])


BODIES = """# SPDX-License-Identifier: MIT
import warp as wp

@wp.struct
class Body:
    place: wp.vec3
    mass: wp.float64
    is_fixed: bool

@wp.kernel
def moment(bodies: wp.array(dtype=Body), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = bodies[i].mass * wp.float64(bodies[i].place[1])
    if bodies[i].is_fixed:
        out[i] = wp.float64(0.5)
"""


def test_structs_are_records(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "bodies.py").write_text(BODIES)
    command = ["synth", "harvest", str(tmp_path / "code"), "--license", "MIT", "--out", str(tmp_path / "rows")]
    subprocess.run([sys.executable, "-m", "gbxcule", *command], check=True, capture_output=True)
    (row,) = Dataset(tmp_path / "rows")
    bodies = row.inputs()["bodies"]
    assert bodies.dtype.names == ("place", "mass", "is_fixed") and bodies["place"].shape == (*bodies.shape, 3)
    moments = bodies["mass"] * bodies["place"][..., 1].astype(np.float64)
    wanted = np.where(bodies["is_fixed"], 0.5, moments)
    assert np.array_equal(row.outputs()["out"][: wanted.size], wanted)


def test_a_launch_with_the_inputs_gives_the_outputs(rows):
    """Kernels of float32 alone, launched by this package."""
    kernel = importlib.import_module("gbxcule.kernel")
    ran = 0
    for row in rows:
        inputs, outputs = row.inputs(), row.outputs()
        types = [parameter["type"] for parameter in json.loads(row["signature_json"])]
        if set(types) != {"f32"} or "wp.tile" in row["source"] or row["launches_json"]:
            continue
        compiled = kernel.from_text(row["source"])[row["kernel"]]
        compiled.launch(row["launch_dims"], *[array if array.shape else array.item() for array in inputs.values()])
        for name, wanted in outputs.items():
            np.testing.assert_allclose(inputs[name], wanted, rtol=1e-5, atol=1e-5)
        ran += 1
    assert ran > 3


@pytest.mark.parametrize("name", ["pyarrow", "polars"])
def test_a_table_has_the_rows(rows, name, monkeypatch):
    part = Dataset(SAMPLE, split="test")
    convert = getattr(part, {"pyarrow": "to_arrow", "polars": "to_polars"}[name])
    try:
        importlib.import_module(name)
    except ImportError:
        with pytest.raises(ImportError, match=f"pip install {name}"):
            convert()
        return
    table = convert()
    assert list(table["id"]) == [row.id for row in part] or table["id"].to_pylist() == [row.id for row in part]


def test_json_lines_are_read_as_tables_are(rows, tmp_path):
    command = ["synth", "dedupe", str(SAMPLE), "--jsonl", "--out", str(tmp_path / "lines")]
    subprocess.run([sys.executable, "-m", "gbxcule", *command], check=True, capture_output=True)
    lines = Dataset(tmp_path / "lines")
    assert [dict(row) for row in lines] == [dict(row) for row in rows]
    for name, array in lines[3].inputs().items():
        assert np.array_equal(array, rows[3].inputs()[name])


def test_a_folder_that_is_no_dataset_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"dataset\.json"):
        Dataset(tmp_path)
