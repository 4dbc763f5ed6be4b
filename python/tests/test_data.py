"""Games as data: files of players are made, played again, and accepted by `gbxcule judge`."""

import subprocess
import sys

import pytest
from gbxcule import _native, action_log
from gbxcule.benchmark import data
from gbxcule.benchmark.play import RANDOM, SCRIPTED, Settings, episodes, random_policy
from gbxcule.benchmark.protocol import Task

GAMES = ["PEARL_DRIFT", "TARN_MASON"]


def make(folder, steps, *options):
    assert data.main(["make", str(folder), "--steps", str(steps), "--games", *GAMES, "--players", RANDOM, SCRIPTED, *options]) == 0
    return sorted(folder.glob("*.jsonl.gz"))


def test_files_are_the_same_each_time_and_the_judge_accepts_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(data, "LEVELS_TOGETHER", 20)
    files = make(tmp_path / "first", 1000)
    assert [path.name for path in files] == [f"{game}-{player}.jsonl.gz" for game in GAMES for player in (RANDOM, SCRIPTED)]
    assert [path.read_bytes() for path in make(tmp_path / "second", 1000)] == [path.read_bytes() for path in files]
    capsys.readouterr()
    for _ in range(2):
        assert data.main(["replay", *map(str, files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == lines[4:] and len({line.split()[0] for line in lines}) == 4
    for path in files:
        log = action_log.read(path)
        levels = [game.level for game in log.games]
        assert log.steps >= 1000 and levels == list(range(len(levels)))
        run = subprocess.run([sys.executable, "-m", "gbxcule", "judge", path], capture_output=True, text=True, check=False)
        assert run.returncode == 0 and f" {len(levels)} games, mean score" in run.stdout, run.stdout + run.stderr
        assert "stopped before their end" not in run.stdout
        if SCRIPTED in path.name:
            score = _native.scripted_game(log.game, 0, 10**6)[0]
            each = subprocess.run([sys.executable, "-m", "gbxcule", "judge", path, "--each"], capture_output=True, text=True, check=True)
            assert int(each.stdout.split()[0]) == score


def test_each_level_is_played_to_its_end_by_a_policy_that_sees_it():
    task = Task("PEARL_DRIFT")

    def policy(obs, begins):
        # The first row of an episode is its own previous row.
        assert all((row[0] == row[1]).all() for row in obs[begins])
        return (obs[:, 1].astype(int).sum(1) + obs[:, 0].astype(int).sum(1)) % 3

    games = sorted(data.played(task, "features", policy, 5, 4000, 1), key=lambda game: game.level)
    levels = [game.level for game in games]
    assert levels == list(range(len(levels))) and len(levels) > 5
    # The games are the evaluation's, which plays all levels at once.
    assert episodes(task, "features", levels, policy, 1)[1].games == games


def test_more_steps_than_the_levels_have_are_refused(monkeypatch):
    monkeypatch.setattr(data, "LEVELS", 3)
    for player in (RANDOM, SCRIPTED):
        with pytest.raises(SystemExit, match="its 3 levels have .* steps, and --steps asks for 1,000,000: ask for less"):
            data.made(player, Task("PEARL_DRIFT"), 1_000_000, Settings(0, "features", 1))


def test_what_is_no_file_of_games_is_told_in_a_line(tmp_path):
    (tmp_path / "text.gz").write_text("text")
    (path,) = [path for path in make(tmp_path / "cut", 1) if path.name == "PEARL_DRIFT-random.jsonl.gz"]
    path.write_bytes(path.read_bytes()[:-20])
    for file, found in ((tmp_path / "text.gz", "is not packed by gzip"), (path, "is cut off"), (tmp_path / "none", "No such file")):
        with pytest.raises(SystemExit, match=found):
            data.main(["replay", str(file)])
