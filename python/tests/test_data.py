"""Games as data: files of players are made, played again, and accepted by `gbxcule judge`."""

import hashlib
import json
import subprocess
import sys

import gbxcule
import numpy as np
import pytest
from gbxcule import _native, action_log
from gbxcule.action_log import ActionLog, LoggedGame
from gbxcule.benchmark import data
from gbxcule.benchmark.play import RANDOM, SCRIPTED, Settings, episodes, random_policy
from gbxcule.benchmark.protocol import Task

GAMES = ["PEARL_DRIFT", "TARN_MASON"]


def make(folder, steps, *options):
    assert data.main(["make", str(folder), "--steps", str(steps), "--games", *GAMES, "--players", RANDOM, SCRIPTED, *options]) == 0
    return sorted(folder.glob("*.jsonl.gz"))


def test_files_are_the_same_each_time_and_the_judge_accepts_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(data, "LEVELS_TOGETHER", 20)
    files = make(tmp_path / "first", 400)
    assert [path.name for path in files] == [f"{game}-{player}.jsonl.gz" for game in GAMES for player in (RANDOM, SCRIPTED)]
    assert [path.read_bytes() for path in make(tmp_path / "second", 400)] == [path.read_bytes() for path in files]
    capsys.readouterr()
    for _ in range(2):
        assert data.main(["replay", *map(str, files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == lines[4:] and len({line.split()[0] for line in lines}) == 4
    for path in files:
        log = action_log.read(path)
        levels = [game.level for game in log.games]
        assert log.steps >= 400 and levels == list(range(len(levels)))
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


# A game of PEARL_DRIFT: 60 steps in which the pad turns.
TURNING = bytes([0x01, 0x04, 0x02, 0x18] * 15)
STARTS = {
    "level": [LoggedGame(TURNING, level=9), LoggedGame(TURNING[1:], level=3)],
    "seed": [LoggedGame(TURNING, seed=2**60, episode=2), LoggedGame(TURNING, seed=5)],
    "power-on": [LoggedGame(TURNING[:40]), LoggedGame(TURNING)],
}


@pytest.mark.parametrize(
    ("variant", "difficulty", "kind"),
    [(None, "normal", kind) for kind in STARTS] + [("fast", difficulty, kind) for difficulty in ("normal", "easy") for kind in ("level", "seed")],
)
def test_transitions_end_in_the_memory_that_the_judge_finds(variant, difficulty, kind, tmp_path):
    path, sealed = tmp_path / "games.jsonl", tmp_path / "sealed.jsonl"
    ActionLog("PEARL_DRIFT", 8, 4, difficulty, STARTS[kind], variant).write(path)
    judge = [sys.executable, "-m", "gbxcule", "judge", path, "--seal", sealed]
    subprocess.run(judge, check=True, capture_output=True)
    claims = [json.loads(line)["claim"] for line in sealed.read_text().splitlines()[1:]]
    games = action_log.transitions(action_log.read(sealed), obs={"ram": gbxcule.Ram("C000:E000"), "screen": "mean"})
    for game, claim in zip(games, claims, strict=True):
        seen = game.observations["ram"]
        assert hashlib.sha256(seen[-1].tobytes()).hexdigest() == claim["memory_sha256"]
        assert len(seen) == len(game.observations["screen"]) == len(game.rewards) + 1
        assert game.rewards.sum() == claim["score"] - int.from_bytes(seen[0][:2].tobytes(), "little")
        assert claim["end"] == ("over" if game.terminated[-1] else "stopped")


def test_a_log_that_no_environment_can_play_is_refused():
    (game,) = action_log.transitions(ActionLog("PEARL_DRIFT", 24, 8, games=[LoggedGame(bytes(20), level=0)]), max_episode_steps=20)
    assert game.truncated.tolist() == [False] * 19 + [True]
    for buttons, options, found in (
        (bytes(20), {"max_episode_steps": 12}, "game 1 of the log has 8 steps after its end, which came with step 12"),
        (b"\x01\x13", {}, "step 2 of game 1 of the log has the buttons 13, LEFT and RIGHT"),
        (b"\x0c", {}, "UP and DOWN at once"),
        (b"", {}, "game 1 of the log has no steps"),
        (b"\0", {"sticky": 0.25}, "`sticky` can't be chosen here: it would change the games"),
        (b"\0", {"variant": "fast"}, "`variant` can't be chosen here: the file of games says it"),
    ):
        log = ActionLog("PEARL_DRIFT", 24, 8, games=[LoggedGame(b"\0", level=0), LoggedGame(buttons, level=1)])
        with pytest.raises((TypeError, ValueError), match=found):
            list(action_log.transitions(log, **options))
    with pytest.raises(ValueError, match="power-on is no variant: give each game of the log a seed or a level"):
        list(action_log.transitions(ActionLog("PEARL_DRIFT", 24, 8, games=[LoggedGame(b"\0")], variant="fast")))


@pytest.mark.parametrize("obs", ["features", "gray", "tiles_v1", gbxcule.Numbers(gbxcule.Number("Score", 2))])
def test_minari_gets_every_form_of_observation(obs, tmp_path, monkeypatch):
    pytest.importorskip("minari", reason="Minari is not installed")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    log = ActionLog("PEARL_DRIFT", 24, 8, games=[LoggedGame(TURNING[:30], level=0), LoggedGame(TURNING[:9], level=1)])
    dataset = data.exported(log, "pearl-drift/test-v0", obs=obs)
    for episode, game in zip(dataset.iterate_episodes(), action_log.transitions(log, obs=obs), strict=True):
        kept = episode.observations if isinstance(episode.observations, dict) else {"": episode.observations}
        seen = game.observations if isinstance(game.observations, dict) else {"": game.observations}
        assert kept.keys() == seen.keys() and all(np.array_equal(kept[name], seen[name]) for name in seen)


def test_files_without_games_are_refused_in_a_line(tmp_path):
    (tmp_path / "text.gz").write_text("text")
    (path,) = [path for path in make(tmp_path / "cut", 1) if path.name == "PEARL_DRIFT-random.jsonl.gz"]
    path.write_bytes(path.read_bytes()[:-20])
    for file, found in ((tmp_path / "text.gz", "is not packed by gzip"), (path, "is cut off"), (tmp_path / "none", "No such file")):
        with pytest.raises(SystemExit, match=found):
            data.main(["replay", str(file)])
