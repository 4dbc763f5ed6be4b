"""PEARL_HEIST as a duel: the rewards of both players sum to 0, and the scripted players have their documented strengths."""

import subprocess
import sys

import gbxcule
import gymnasium
import numpy as np
import pytest
from gbxcule.duel import SCRIPTED, DuelVectorEnv, drawn_again, elo, played


def test_the_rewards_of_a_duel_add_up_to_nothing():
    options = {"obs": {"features": "PEARL_HEIST", "bytes": gbxcule.Ram("Score:GameOver")}, "autoreset_mode": "SameStep"}
    env = DuelVectorEnv(4, opponent=lambda seen: np.full(len(seen["bytes"]), 4), **options)
    obs, _ = env.reset(seed=2)
    assert env.observation_space.contains(obs)
    rng = np.random.default_rng(3)
    total, scores = np.zeros(4), np.zeros((2, 4), int)
    while True:
        obs, rewards, terminated, truncated, infos = env.step(rng.integers(7, size=4))
        total += rewards
        if (terminated | truncated).any():
            break
        assert env.observation_space.contains(obs)
        scores[0] = infos["score"]
        scores[1] = [int.from_bytes(env.swarm.read_memory(2 * duel + 1, ("Score", 2)), "little") for duel in range(4)]
        assert np.array_equal(total, scores[0] - scores[1])
    ended = np.flatnonzero(terminated)
    assert ended.size and set(infos["final_obs"][ended[0]]) == {"features", "bytes"}
    assert infos["final_info"]["score"].shape == (4,)


@pytest.mark.parametrize(
    ("opponent", "actions", "message"),
    [
        ("guard", [0] * 3, "the agent: expected one whole number for each of the 4 duels, found int64 [(]3,[)]"),
        ("guard", [0.0] * 4, "the agent: expected one whole number for each of the 4 duels, found float64"),
        ("guard", [0, 0, 7, 0], "the agent: actions are 0 to 6, found .0, 0, 7, 0."),
        (lambda seen: [0], [0] * 4, "the opponent: expected one whole number for each of the 4 duels"),
        (lambda seen: [-1] * 4, [0] * 4, "the opponent: actions are 0 to 6"),
    ],
)
def test_wrong_actions_are_refused_by_the_players_name(opponent, actions, message):
    env = DuelVectorEnv(4, opponent=opponent)
    # On the title, too, where the environment presses in place of the players.
    env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(actions)


def test_what_a_duel_decides_itself_is_refused():
    with pytest.raises(TypeError, match="`actions` can't be chosen here: both players press the game's own"):
        DuelVectorEnv(4, actions="full_v1")
    with pytest.raises(ValueError, match="games is at least 1"):
        played(SCRIPTED["thief"], SCRIPTED["guard"], 0)


def test_a_duel_has_the_same_games_again():
    def games(seed):
        env = DuelVectorEnv(3, opponent="guard", obs=gbxcule.Ram("C000:C020"))
        env.reset(seed=seed)
        return np.array([env.step(np.full(3, step % 7))[0] for step in range(90)])

    assert np.array_equal(games(1), games(1))
    assert not np.array_equal(games(1), games(2))


@pytest.mark.parametrize(("better", "worse"), [("thief", "gatherer"), ("guard", "thief"), ("guard", "gatherer")])
def test_scripted_players_differ_in_strength(better, worse):
    results = played(SCRIPTED[better], SCRIPTED[worse], 12)
    assert results.mean() > 0.6, results


def test_elo_numbers_are_those_of_the_games():
    # One of ten games lost: 400 * log10(9) = 382 apart, a little less by the drawn games added.
    results = {("strong", "weak"): np.array([1.0] * 900 + [0.0] * 100)}
    numbers = elo(results, "weak")
    assert numbers["weak"] == 1000 and abs(numbers["strong"] - 1382) < 5
    assert elo({("a", "b"): np.ones(10)}, "b")["a"] < 2500


def test_a_player_who_won_all_games_has_an_interval_with_width():
    rng = np.random.default_rng(0)
    for games in (np.ones(16), np.array([1.0] * 15 + [0.5])):
        results = {("a", "b"): games}
        numbers = elo(results, "b")
        low, high = np.percentile([elo(drawn_again(results, numbers, rng), "b")["a"] for _ in range(100)], [2.5, 97.5])
        assert low + 50 < numbers["a"] <= high


def test_the_command_prints_a_table(tmp_path):
    (tmp_path / "mine.py").write_text("def idle(seen):\n    return [0] * len(seen)\n")
    command = [sys.executable, "-m", "gbxcule.duel", "--games", "4", "--player", f"{tmp_path}/mine.py:idle"]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert table.splitlines()[0].startswith("| player | Elo |") and len(table.splitlines()) == 6
    assert table.splitlines()[-1].startswith(f"| {tmp_path}/mine.py:idle |")


def test_gymnasium_makes_duels_by_their_id():
    env = gymnasium.make_vec("gbxcule:gbxcule/PearlHeist-duel-v1", num_envs=3, opponent="guard", obs="PEARL_HEIST")
    obs, _ = env.reset(seed=1)
    assert obs.shape == (3, 17)
    assert env.step(env.action_space.sample())[1].shape == (3,)


def test_gymnasium_refuses_a_single_duel():
    with pytest.raises(TypeError, match="duels are a vector environment: call gymnasium.make_vec with this id"):
        gymnasium.make("gbxcule:gbxcule/PearlHeist-duel-v1")


def test_wrong_opponents_and_options_are_named():
    with pytest.raises(ValueError, match="no opponent 'pirate'; there are gatherer, thief, guard"):
        DuelVectorEnv(opponent="pirate")
    with pytest.raises(TypeError, match="a duel has its own cable"):
        DuelVectorEnv(link="open")
