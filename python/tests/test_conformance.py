"""This package runs the suite of examples/conformance: no gradient is wrong, and each verdict equals results.csv."""

import subprocess
import sys

from conftest import ROOT


def test_gradients_are_right_or_refused_as_the_table_says():
    command = [sys.executable, ROOT / "examples/conformance/run.py", "--with", "gbxcule.warp", "--hold"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ", wrong 0, dies 0, - 0 of" in ran.stdout
