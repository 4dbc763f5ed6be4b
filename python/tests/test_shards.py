"""Datasets made by a Ray cluster on this computer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "scale" / "ray_shards.py"
ROWS = ["--count", "1100", "--seed", "4", "--mode", "text"]


def program() -> str:
    """The program that GBXCULE names, else the program that cargo builds of this tree."""
    if "GBXCULE" in os.environ:
        return os.environ["GBXCULE"]
    command = ["cargo", "build", "--quiet", "--package", "gbxcule-cli", "--message-format", "json"]
    built = subprocess.run(command, cwd=SCRIPT.parent, check=True, capture_output=True, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return next(found for message in messages if (found := message.get("executable")))


def data(folder: Path) -> "dict[str, bytes]":
    return {path.name: path.read_bytes() for path in sorted((folder / "data").iterdir())}


def test_shards_by_ray_tasks_are_the_dataset_that_one_process_makes(tmp_path):
    pytest.importorskip("ray", reason="ray is not installed")
    command = program()
    one, many = tmp_path / "one", tmp_path / "many"
    subprocess.run([command, "synth", "batch", *ROWS, "--out", str(one)], check=True)
    script = [sys.executable, str(SCRIPT), "--shards", "3", "--out", str(many), "--", *ROWS]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    subprocess.run(script, check=True, env=environment | {"GBXCULE": command}, timeout=600)
    assert len(data(one)) == 3
    assert data(one) == data(many)
    assert json.loads((many / "dataset.json").read_text())["count"] == 1100
    assert "1100 rows" in (many / "dataset_card.md").read_text()
