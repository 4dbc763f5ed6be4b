"""The benchmark of the games: statistics, levels, interrupted runs that continue, scripted players, learners."""

import gzip
import json
import subprocess
import sys

import gbxcule
import numpy as np
import pytest
from conftest import ROOT
from gbxcule import _native, action_log
from gbxcule.benchmark import __main__ as command
from gbxcule.benchmark import protocol, report, results
from gbxcule.benchmark.statistic import interquartile_mean, interval
from gbxcule.game import EPISODE_STEPS, GAMES

SINGLES = [name for name, row in GAMES.items() if not row.has_rival]


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end():
    assert interquartile_mean([100, 1, 2, 3, 4, 5, 6, -50]) == 3.5
    assert interquartile_mean([1, 2, 6]) == 3
    assert np.array_equal(interquartile_mean([[0, 9], [2, 1], [4, 5], [1000, 3]], 0), [3, 4])


def test_intervals_are_those_that_counting_gives():
    # A resample of two scores has the mean 0 or 1, each in a quarter of all cases, or the mean 0.5.
    assert interval([[0, 1]]) == (0, 1)
    # A resample of ten games with one score each has the same scores.
    assert interval([[float(game)] for game in range(10)]) == (4.5, 4.5)
    # Strata are not mixed: each resample has three of each.
    assert interval([[0, 0, 0], [8, 8, 8]]) == (4, 4)
    # The mean of 64 numbers with deviation 1 has the deviation 1/8; without the outer numbers it
    # has a little more.
    scores = np.random.default_rng(1).normal(size=64).tolist()
    low, high = interval([scores[place : place + 16] for place in range(0, 64, 16)])
    assert low < float(interquartile_mean(scores)) < high and 0.4 < high - low < 0.7


def test_five_seeds_play_each_held_out_level_once():
    played = [level for seed in range(5) for level in protocol.held_out_levels(seed)]
    assert played == list(protocol.HELD_OUT_LEVELS)
    assert not set(played) & set(protocol.TRAINING_LEVELS)
    assert protocol.held_out_levels(5) == protocol.held_out_levels(0)


def quick(folder, *options):
    return command.main(["--out", str(folder), "--frames", "0", "--games", "PEARL_DRIFT", *options])


def test_an_interrupted_command_goes_on_where_it_was(tmp_path, monkeypatch):
    agents = ["--agents", "random", "scripted"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    quick(whole, *agents, "--seeds", "2")
    runs = iter([command.run, command.run])

    def interrupted(*row):
        if (each := next(runs, None)) is None:
            raise KeyboardInterrupt
        return each(*row)

    with monkeypatch.context() as once:
        once.setattr(command, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick(parts, *agents, "--seeds", "2")
    assert len(json.loads((parts / "results.json").read_text())["runs"]) == 2
    quick(parts, *agents, "--seeds", "2")
    assert json.loads((parts / "results.json").read_text()) == json.loads((whole / "results.json").read_text())
    assert (parts / "table.md").read_text() == (whole / "table.md").read_text()
    with pytest.raises(SystemExit, match="frames 0, and this command 10"):
        command.main(["--out", str(whole), "--frames", "10"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--frames", "1m", "give a whole number, such as 1e6"),
        ("--seeds", "0", "from 1 on, found 0"),
        ("--seeds", "-1", "give a whole number"),
        ("--threads", "0", "from 1 on, found 0"),
    ],
)
def test_numbers_that_mean_no_run_are_refused(tmp_path, capsys, option, value, message):
    with pytest.raises(SystemExit):
        quick(tmp_path / "none", option, value)
    assert message in capsys.readouterr().err and not (tmp_path / "none").exists()


@pytest.mark.parametrize("held", ["no JSON", "{}", "[]"])
def test_a_folder_of_others_is_refused(tmp_path, held):
    path = tmp_path / "results.json"
    path.write_text(held)
    for out, message in [(tmp_path, "does not hold results of this command"), (path, "--out is a folder, found")]:
        with pytest.raises(SystemExit, match=message):
            quick(out)
    assert path.read_text() == held


def test_results_say_what_made_each_run(tmp_path, monkeypatch):
    quick(tmp_path, "--agents", "random", "--seeds", "1")
    kept = json.loads((tmp_path / "results.json").read_text())
    first = kept["made_with"][0]["commit"]
    assert kept["rom_sha256"].keys() == set(SINGLES) and kept["protocol"] == 1
    assert kept["made_with"][0]["versions"]["numpy"] == np.__version__
    (run,) = kept["runs"]
    assert run["levels"] == list(range(200, 240)) and len(run["scores"]) == 40
    # The recorded games are kept, and a replay earns the same scores.
    log = action_log.read(tmp_path / "games" / "PEARL_DRIFT-random-0.jsonl.gz")
    earned = [game.rewards.sum() for game in action_log.transitions(log, obs="PEARL_DRIFT")]
    assert earned == run["scores"]
    # A later commit continues in the same folder, and its runs name it.
    monkeypatch.setattr(results, "commit", lambda: "of a later day")
    quick(tmp_path, "--agents", "random", "--seeds", "2")
    kept = json.loads((tmp_path / "results.json").read_text())
    assert [run["made_with"] for run in kept["runs"]] == [0, 1]
    assert kept["made_with"] == [{**kept["made_with"][0], "commit": made_by} for made_by in (first, "of a later day")]


def test_the_table_has_means_intervals_and_what_is_normalised():
    rows = {"random": [10, 10], "scripted": [110], "PPO": [60, 60]}
    runs = [
        {"task": task, "agent": agent, "seed": seed, "scores": [score]}
        for task in SINGLES
        for agent, scores in rows.items()
        for seed, score in enumerate(scores)
    ]
    table = report.table({"runs": runs}, [])
    assert "| EMBER_LEAP | 10 (10-10) | 110 | 60 (60-60) |" in table
    assert "| PPO | all | 50.0 (50.0-50.0) |" in table and "No human has played" in table
    people = [{"task": "EMBER_LEAP", "agent": "human", "seed": "a.jsonl", "scores": [900.0]}]
    table = report.table({"runs": runs}, people)
    assert "| EMBER_LEAP | 10 (10-10) | 110 | 60 (60-60) | 900 |" in table and "No human" not in table


@pytest.mark.parametrize("results_file", sorted((ROOT / "docs/benchmark").rglob("results.json")), ids=lambda path: path.parent.name)
def test_the_page_has_the_tables_of_its_results(results_file):
    page = (ROOT / "docs/benchmark.md").read_text()
    table = report.table(json.loads(results_file.read_text()), [])
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert not [row for row in rows if row not in page], "copy table.md into the page"


def test_games_of_people_count_as_the_judge_says(tmp_path):
    path, sealed = tmp_path / "games.jsonl", tmp_path / "sealed.jsonl"
    game = action_log.LoggedGame(b"\0" * EPISODE_STEPS, seed=7)
    action_log.ActionLog("TARN_MASON", 8, 4, games=[game]).write(path)
    judge = [sys.executable, "-m", "gbxcule", "judge", path, "--seal", sealed]
    subprocess.run(judge, check=True, capture_output=True)
    claimed = json.loads(sealed.read_text().splitlines()[1])["claim"]["score"]
    assert results.of_people([sealed]) == [{"task": "TARN_MASON", "agent": "human", "seed": "sealed.jsonl", "scores": [claimed]}]
    sealed.write_text(sealed.read_text().replace(f'"score":{claimed},', f'"score":{claimed + 1},'))
    with pytest.raises(SystemExit, match=f"claims the score {claimed + 1}"):
        results.of_people([sealed])


def test_games_of_people_count_for_their_own_task(tmp_path):
    path, sealed, packed = tmp_path / "games.jsonl", tmp_path / "sealed.jsonl", tmp_path / "sealed.jsonl.gz"
    game = action_log.LoggedGame(b"\0" * EPISODE_STEPS, seed=7)
    found = {}
    for difficulty, variant in (("normal", None), ("easy", None), ("normal", "easy"), ("normal", "fast")):
        action_log.ActionLog("TARN_MASON", 8, 4, difficulty, [game], variant).write(path)
        subprocess.run([sys.executable, "-m", "gbxcule", "judge", path, "--seal", sealed], check=True, capture_output=True)
        packed.write_bytes(gzip.compress(sealed.read_bytes()))
        try:
            found[difficulty, variant] = [run["task"] for run in results.of_people([packed])]
        except SystemExit as refusal:
            found[difficulty, variant] = str(refusal)
    assert "games of the variant fast, which is no task" in found.pop(("normal", "fast"))
    assert found == {("normal", None): ["TARN_MASON"], ("easy", None): ["TARN_MASON-easy"], ("normal", "easy"): ["TARN_MASON-easy"]}


@pytest.mark.parametrize("game", SINGLES)
def test_an_environment_plays_a_scripted_game_again(game):
    steps = 700
    score, _, buttons = _native.scripted_game(game, 201, steps)
    assert len(buttons) <= steps
    log = action_log.ActionLog(game, 1, 1, games=[action_log.LoggedGame(buttons, level=201)])
    (played,) = action_log.transitions(log, obs=gbxcule.Ram("C000:C002"))
    scores = played.observations.astype(int) @ [1, 256]
    assert scores[-1] == score and played.rewards.sum() == score - scores[0]


@pytest.mark.parametrize("obs", protocol.OBSERVATIONS)
@pytest.mark.parametrize("agent", command.AGENTS[2:])
def test_a_learner_gives_the_same_scores_for_the_same_seed(agent, obs, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    found = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        command.main(
            ["--out", str(folder), "--frames", "5e4", "--obs", obs, "--games", "PEARL_DRIFT", "--agents", agent, "--seeds", "1"]
        )
        (run,) = json.loads((folder / "results.json").read_text())["runs"]
        found.append((run["scores"], run["curve"], run["frames"]))
    assert found[0] == found[1] and found[0][2] >= 50_000


def test_episodes_of_the_training_are_cut_one_after_the_other():
    envs, longest = 4, 12
    env = protocol.Played(protocol.machines(protocol.Task("PEARL_DRIFT"), "features", [0, 1, 2], envs, 1), longest)
    seen, _ = env.reset(seed=1)
    ended = np.zeros((30, envs), np.bool_)
    for step in range(30):
        before = seen
        seen, _, terminated, truncated, _ = env.step(np.zeros(envs, int))
        ended[step] = truncated
        assert not terminated.any()
        # An observation holds the step before, but not across the end of an episode.
        assert np.array_equal(seen[:, 0], np.where(truncated[:, None], seen[:, 1], before[:, 1]))
    # Steps are counted from 0.
    assert [np.flatnonzero(column).tolist() for column in ended.T] == [[2, 14, 26], [5, 17, 29], [8, 20], [11, 23]]
    assert len(env.scores) == ended.sum()
    env.close()


def test_the_features_of_the_keep_show_what_lies_around_the_hero():
    env = gbxcule.make_vec("KEEP_OF_KEYS", 8, obs="KEEP_OF_KEYS", reward="KEEP_OF_KEYS", levels=range(8))
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    blocked = things = new = 0
    for step in range(960):
        each = step % 8
        if each == 0:
            obs, *_ = env.step(rng.integers(6, size=8))
        around = obs[each, 77:320].reshape(9, 9, 3)
        x, y, room = (env.read_memory(each, address)[0] for address in (0xC006, 0xC007, 0xC013))
        places = np.frombuffer(env.read_memory(each, f"C100:{0xC100 + 80 * 12:X}"), np.uint8).reshape(12, 8, 10)[room]
        places = np.pad(places, 4, constant_values=8)
        column, row = (x + 8) // 16, (y + 8) // 16
        places = places[row : row + 9, column : column + 9]
        assert np.array_equal(around[..., 0], (places >= 8) & (places < 13))
        assert np.array_equal(around[..., 1] == 1, ((places >= 2) & (places < 7)) | (places == 13) | (places == 14))
        # The hero's present place counts as visited.
        assert around[4, 4, 2] == 0
        blocked, things, new = blocked + around[..., 0].sum(), things + around[..., 1].sum(), new + around[..., 2].sum()
    env.close()
    assert min(blocked, things, new) > 100


def test_ppo_learns():
    pytest.importorskip("torch", reason="torch is not installed")
    from gbxcule.benchmark.play import Settings, run
    from gbxcule.benchmark.protocol import Task

    row, _ = run("PPO", Task("PEARL_DRIFT"), 0, Settings(2_500_000, "features", 2))
    # Random play gets 21.
    assert np.mean(row["scores"]) > 60, row
