"""The replay of games from seeds and buttons: `gbxcule judge` gives what this package's environments gave."""

import hashlib
import json
import re
import subprocess
import sys

import gbxcule
import numpy as np
import pytest
from gbxcule import _native
from gbxcule.game import GAMES

BUTTONS = {"NOOP": 0, "RIGHT": 0x01, "LEFT": 0x02, "UP": 0x04, "DOWN": 0x08, "A": 0x10, "B": 0x20, "SELECT": 0x40, "START": 0x80}
FULL_V1 = "A,B,START,UP,DOWN,LEFT,RIGHT,SELECT,NOOP"


def judged(path, *options):
    return subprocess.run(
        [sys.executable, "-m", "gbxcule", "judge", str(path), *options], capture_output=True, text=True, check=False
    )


def played(game, seeds, steps):
    """Random games: a file's lines, and the scores that the environment gave."""
    row = GAMES[game]
    env = gbxcule.make_vec(game, len(seeds), max_episode_steps=steps, autoreset_mode="Disabled")
    env.reset(seed=seeds)
    names = FULL_V1 if row.actions == "full_v1" else row.actions
    bytes_of = [sum(BUTTONS[name] for name in action.split("+")) for action in names.split(",")]
    rng = np.random.default_rng(5)
    pressed, scores, goes_on = [[] for _ in seeds], [0] * len(seeds), np.ones(len(seeds), bool)
    while goes_on.any():
        actions = rng.integers(len(bytes_of), size=len(seeds))
        _, _, terminated, truncated, infos = env.step(actions)
        for number in np.flatnonzero(goes_on):
            pressed[number].append(f"{bytes_of[actions[number]]:02x}")
            scores[number] = int(infos["score"][number])
        over = terminated | truncated
        goes_on &= ~over
        if over.any():
            env.reset(options={"reset_mask": over})
    header = {"format": "gbxcule games", "version": 1, "game": game}
    header["rom_sha256"] = hashlib.sha256(_native.built_in_rom(game)).hexdigest()
    header |= {"frames_per_step": row.frames_per_step, "release_after_frames": row.release_after_frames}
    return [header, *({"seed": seed, "buttons": " ".join(each)} for seed, each in zip(seeds, pressed, strict=True))], scores


@pytest.mark.parametrize("game", [name for name, row in GAMES.items() if not row.has_rival])
def test_a_replay_earns_what_the_environment_gave(game, tmp_path):
    lines, scores = played(game, [0, 7, 2**63 + 1, 12345], 1500)
    path, sealed = tmp_path / "games.jsonl", tmp_path / "sealed.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    run = judged(path, "--each", "--seal", str(sealed))
    assert run.returncode == 0, run.stderr
    print(game, scores)
    assert [int(score) for score in re.findall(r"^ *(\d+)  (?:over|limit|stopped)", run.stdout, re.M)] == scores
    assert judged(sealed).returncode == 0
    text = sealed.read_text()
    assert f'"score":{scores[1]},' in text
    sealed.write_text(text.replace(f'"score":{scores[1]},', f'"score":{scores[1] + 1},'))
    run = judged(sealed)
    assert run.returncode == 1 and f"claims the score {scores[1] + 1}, replaying gives {scores[1]}" in run.stdout


def test_a_file_of_another_rom_is_refused(tmp_path):
    lines, _ = played("EMBER_LEAP", [1], 3)
    lines[0]["rom_sha256"] = "0" * 64
    (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run = judged(tmp_path / "games.jsonl")
    assert run.returncode == 2 and "another EMBER_LEAP than this gbxcule has" in run.stderr
