"""The servers behind `python -m gbxcule.oracle`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]


@pytest.mark.parametrize(("oracle", "wanted"), [("pyboy", "pyboy==2.8.1"), ("warp", "warp-lang==1.19.0")])
def test_a_python_without_the_reference_says_how_to_get_it(oracle, wanted):
    # `-S` leaves out all installed packages.
    command = [sys.executable, "-S", "-m", "gbxcule.oracle", oracle]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    ended = subprocess.run(command, env=environment, input="", capture_output=True, text=True)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert f"`{sys.executable} -m pip install {wanted}`, or name another Python in GBXCULE_PYTHON" in ended.stderr
