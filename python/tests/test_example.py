"""Examples, run as their pages say."""

import os
import re
import runpy
import subprocess
import sys

import numpy as np
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


def test_the_gradients_of_self_play_are_those_of_its_loss():
    """Compared with differences of the loss as PPO's paper writes it."""
    module = runpy.run_path(str(ROOT / "examples/self_play.py"))
    rng, clip = np.random.default_rng(0), module["CLIP"]
    player = module["Player"](seed=1)
    player.weights = [each.astype(np.float64) + rng.normal(size=each.shape) * 0.1 for each in player.weights]
    rows = np.arange(9)
    seen, actions = rng.normal(size=(9, len(player.weights[0]))), rng.integers(7, size=9)
    before = player.look(seen)[1][rows, actions] + rng.normal(size=9) * 0.15
    gains, targets = rng.normal(size=9), rng.normal(size=9)

    def loss():
        _, logs, values = player.look(seen)
        ratio = np.exp(logs[rows, actions] - before)
        paid = np.minimum(ratio * gains, np.clip(ratio, 1 - clip, 1 + clip) * gains)
        entropy = -(np.exp(logs) * logs).sum(1)
        return (0.25 * (values - targets) ** 2 - paid - module["ENTROPY"] * entropy).mean()

    gradients = player.gradients(seen, actions, before, gains, targets)
    for weights, gradient in zip(player.weights, gradients, strict=True):
        for _ in range(5):
            at = tuple(rng.integers(extent) for extent in weights.shape)
            value, losses = weights[at], []
            for moved in (1e-6, -1e-6):
                weights[at] = value + moved
                losses.append(loss())
            weights[at] = value
            assert abs((losses[0] - losses[1]) / 2e-6 - gradient[at]) < 1e-6


def test_self_play_trains_and_what_it_keeps_plays(tmp_path):
    weights = tmp_path / "weights.npz"
    settings = os.environ | {"SELF_PLAY_WEIGHTS": str(weights)}
    run = [sys.executable, ROOT / "examples/self_play.py", "--minutes", "0.01", "--envs", "4", "--games", "2"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=1200, env=settings)
    assert done.returncode == 0 and done.stdout.count(" of 2") == 3, done.stdout + done.stderr
    duel = [sys.executable, "-m", "gbxcule.duel", "--games", "1", "--player", f"{ROOT / 'examples/self_play.py'}:play"]
    done = subprocess.run(duel, capture_output=True, text=True, timeout=1200, env=settings)
    assert done.returncode == 0 and "self_play.py:play" in done.stdout, done.stdout + done.stderr
