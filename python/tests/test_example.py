"""Runs the examples by the commands in their docstrings."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


def test_ppo_in_one_file_learns():
    pytest.importorskip("torch", reason="torch is not installed")
    command = [sys.executable, ROOT / "examples/one_file_ppo.py", "--total-steps", "30000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    returns = [float(found) for found in re.findall(r"episodic_return=(-?[0-9.]+)", done.stdout)]
    # Random play gets 15.
    assert len(returns) == 14 and returns[0] < 30 and max(returns[-4:]) > 50, returns
