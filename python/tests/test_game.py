"""Every built-in game is an environment: its row, its start, its score, its program."""

import warnings

import gbxcule
import gymnasium
import numpy as np
import pytest
from conftest import ROOT
from gbxcule import game
from gymnasium.utils.env_checker import check_env

NAMES = [*game.GAMES]
SCORE, GAME_OVER, STATE = (0xC000, 2), (0xC003, 1), (0xC005, 1)


def number(env, one, place):
    return int.from_bytes(env.read_memory(one, place), "little")


def random_play(env, seed, steps, buttons=1):
    """Actions of chance; gives what the reset and each step gave."""
    generator = np.random.default_rng(buttons)
    yield env.reset(seed=seed)
    for _ in range(steps):
        yield env.step(generator.integers(env.single_action_space.n, size=env.num_envs))


@pytest.mark.parametrize("name", NAMES)
def test_a_game_begins_behind_its_title_with_its_score_as_the_reward(name):
    env = gbxcule.make_vec(name, 3, max_episode_steps=150, autoreset_mode="Disabled")
    _, infos = env.reset(seed=1)
    played = game.GAMES[name]
    assert env.action_names == gbxcule.make_vec(name, 1, actions=played.actions).action_names
    assert not played.has_title or all(number(env, one, STATE) == 1 for one in range(3))
    scores = infos["score"].copy()
    over = np.zeros(3, bool)
    generator = np.random.default_rng(1)
    episodes = 0
    while episodes < 6:
        if over.any():
            episodes += over.sum()
            _, infos = env.reset(options={"reset_mask": over})
            assert all(number(env, one, GAME_OVER) == 0 for one in np.flatnonzero(over))
            scores[over] = infos["score"][over]
        _, rewards, terminated, truncated, infos = env.step(generator.integers(env.single_action_space.n, size=3))
        for one in range(3):
            assert infos["score"][one] == number(env, one, SCORE)
            assert rewards[one] == infos["score"][one] - scores[one]
            assert terminated[one] == (number(env, one, GAME_OVER) == 1)
        scores, over = infos["score"].copy(), terminated | truncated


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_episodes_and_another_seed_others(name):
    def memories(seed):
        env = gbxcule.make_vec(name, 2, obs=gbxcule.Ram("C000:C100"), max_episode_steps=60)
        # The same buttons for every seed: what differs is the game's own chance.
        return np.stack([obs for obs, *_ in random_play(env, seed, 130, buttons=0)])

    first = memories(5)
    assert np.array_equal(first, memories(5))
    assert not np.array_equal(first, memories(6))
    assert not np.array_equal(first[:, 0], first[:, 1])


@pytest.mark.parametrize("name", NAMES)
def test_the_program_of_a_game_pays_at_least_the_score_and_sees_numbers(name):
    env = gbxcule.make_vec(name, 2, reward=name, obs=name, max_episode_steps=100)
    pure = gbxcule.make_vec(name, 2, max_episode_steps=100)
    seen = []
    for (obs, *mine), (_, *plain) in zip(random_play(env, 3, 150), random_play(pure, 3, 150), strict=True):
        seen.append(obs.copy())
        if len(mine) == 4:
            rewards, terminated, truncated, _ = mine
            assert (rewards >= plain[0]).all()
            assert np.array_equal(terminated, plain[1]) and np.array_equal(truncated, plain[2])
    seen = np.stack(seen)
    assert np.isfinite(seen).all() and np.abs(seen).max() < 32
    assert (seen.min(0) < seen.max(0)).sum() >= 5, "a step changes some features"


@pytest.mark.parametrize("name", game.GAMES)
def test_what_a_program_sees_depends_on_its_env_s_state_alone(name):
    env = gbxcule.make_vec(name, 4, reward=name, obs=name, max_episode_steps=200)
    other = gbxcule.make_vec(name, 4, reward=name, obs=name, autoreset_mode="Disabled")
    for step, (obs, *_) in enumerate(random_play(env, 4, 300)):
        if step % 20 == 7:
            states = [env.save_state(one) for one in range(4)]
            assert np.array_equal(obs, other.reset(options={"state": states})[0])


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_makes_and_checks_every_game(name):
    gbxcule.register()
    env = gymnasium.make(f"gbxcule/{game.GAMES[name].title}-v1", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_env(env.unwrapped)


def test_the_page_lists_the_games_as_they_are():
    page = (ROOT / "docs/games.md").read_text()
    for name, played in game.GAMES.items():
        assert f"`gbxcule/{played.title}-v1`" in page
        row = f"| {name} | `{played.actions}` | {played.frames_per_step}, {played.release_after_frames} |"
        assert row in page


def test_the_starts_behind_a_title_differ_in_chance_and_not_in_score():
    env = gbxcule.make_vec("LAST_BEACON", 1)
    found = set()
    for state in game.starts("LAST_BEACON"):
        env.load_state(0, state)
        assert (number(env, 0, SCORE), number(env, 0, STATE)) == (5, 1)
        found.add(env.read_memory(0, (0xC00C, 2)))
    assert len(found) == game.STARTS


@pytest.mark.parametrize("name", ["EMBER_LEAP", "AMBER_ROAD"])
def test_a_start_is_that_of_a_machine_that_pressed_start_then(name):
    env = gbxcule.make_vec(name, 1, actions="NOOP,START", frames_per_step=4, release_after_frames=4, starts=[],
                           start_steps=0)
    env.reset(seed=0)
    later = 5
    for step in range(200):
        env.step([int(step == 30 + later)])
        if number(env, 0, STATE) == 1:
            break
    twin = gbxcule.make_vec(name, 1)
    twin.load_state(0, game.starts(name)[later])
    assert twin.read_memory(0, "8000:E000") == env.read_memory(0, "8000:E000")
    assert twin.cpu_state(0) == env.cpu_state(0)


def test_a_game_with_a_title_runs_on_the_other_model():
    env = gbxcule.make_vec("KEEP_OF_KEYS", 2, model="cgb", power_on="pattern")
    env.reset(seed=0)
    assert number(env, 0, STATE) == 1


@pytest.mark.parametrize("reward", [None, "EMBER_LEAP"])
def test_without_an_end_an_episode_goes_on_over_the_end_of_its_game(reward):
    env = gbxcule.make_vec("EMBER_LEAP", 2, reward=reward, done=False, autoreset_mode="Disabled")
    env.reset(seed=0)
    env.write_memories(np.ones(2, bool), "C003", np.ones((2, 1), np.uint8))
    assert not env.step([0, 0])[2].any()


class Tensor:
    """Stands for an array of another library."""

    def __array__(self, dtype=None, copy=None):
        return np.array([True, False])


def test_a_reset_mask_may_be_a_tensor():
    env = gbxcule.make_vec("EMBER_LEAP", 2)
    env.reset(seed=0)
    assert env.reset(options={"reset_mask": Tensor()})[0].shape[0] == 2


def test_what_is_given_goes_before_the_game_s_own():
    state = game.starts("LAST_BEACON")[3]
    env = gbxcule.make_vec(
        "LAST_BEACON",
        1,
        frames_per_step=4,
        release_after_frames=4,
        actions=["A", "B"],
        reward=gbxcule.Change("Coins", 2),
        info={"steps": gbxcule.Number("Steps", 2)},
        start_state=state,
    )
    _, infos = env.reset(seed=0)
    assert env.action_names == ["A", "B"]
    assert infos.keys() == {"steps", "_steps"}
    assert env.metadata["render_fps"] == 15


def test_a_checkpoint_of_a_game_goes_on_as_that_game(tmp_path):
    env = gbxcule.make_vec("LAST_BEACON", 2)
    env.reset(seed=4)
    env.step([3, 4])
    env.checkpoint(tmp_path / "swarm")
    other = gbxcule.restore(tmp_path / "swarm")
    for step in range(20):
        actions = [step % 7, step % 5]
        one, two = env.step(actions), other.step(actions)
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
        assert one[4].keys() == two[4].keys() and np.array_equal(one[4]["score"], two[4]["score"])


def test_other_roms_have_no_defaults_of_a_game():
    env = gbxcule.make_vec("ALU_LOOP", 1)
    _, infos = env.reset(seed=0)
    assert len(env.action_names) == 9 and not infos
