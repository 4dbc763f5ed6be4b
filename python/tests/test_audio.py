"""Sound as an observation."""

import pickle

import gbxcule
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env


def test_the_sound_of_a_step_is_an_observation():
    env = gbxcule.make_vec(num_envs=3, audio=True, frames_per_step=4, obs="mean")
    first, _ = env.reset(seed=1)
    assert not first["audio"].any()
    unheard = gbxcule.make_vec(num_envs=3, frames_per_step=4, obs="mean")
    unheard.reset(seed=1)
    heard = 0
    for step in range(60):
        actions = (np.arange(3) + step) % 9
        seen, reward, *_ = env.step(actions)
        alone, same, *_ = unheard.step(actions)
        assert np.array_equal(seen["obs"], alone) and np.array_equal(reward, same)
        assert seen["audio"].shape == (3, 4 * 798, 2) and seen["audio"].dtype == np.int16
        heard = max(heard, int(np.abs(seen["audio"]).max()))
    assert heard > 500, "the game has sounds"
    assert seen in env.observation_space


def test_a_color_can_be_heard():
    make = {"num_envs": 2, "model": "cgb", "frames_per_step": 4, "obs": "mean"}
    env, unheard = gbxcule.make_vec(audio=True, **make), gbxcule.make_vec(**make)
    env.reset(seed=1)
    unheard.reset(seed=1)
    heard = 0
    for step in range(60):
        actions = (np.arange(2) + step) % 9
        seen, reward, *_ = env.step(actions)
        alone, same, *_ = unheard.step(actions)
        assert np.array_equal(seen["obs"], alone) and np.array_equal(reward, same)
        assert seen["audio"].shape == (2, 4 * 798, 2)
        heard = max(heard, int(np.abs(seen["audio"]).max()))
    assert heard > 500, "the game has sounds"


def test_sound_beside_others_and_alone():
    env = gbxcule.make_vec(num_envs=2, obs={"ear": "audio", "score": gbxcule.Ram("Score")})
    seen, _ = env.reset()
    assert seen["ear"].shape == (2, 24 * 798, 2)
    check_env(gbxcule.make(obs="audio"), skip_render_check=True)
    with pytest.raises(ValueError, match="has an `audio` already"):
        gbxcule.make_vec(num_envs=1, obs={"audio": "audio"}, audio=True)
    with pytest.raises(TypeError, match="audio is True or False, found 'yes'"):
        gbxcule.make_vec(num_envs=1, audio="yes")


def test_only_marked_envs_are_reset_to_silence():
    env = gbxcule.make_vec(num_envs=2, obs="audio", autoreset_mode="Disabled")
    env.reset(seed=2)
    for step in range(6):
        before, *_ = env.step(np.array([step % 9, 3]))
    after, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert not after[0].any()
    assert np.array_equal(after[1], before[1])


@pytest.mark.parametrize("rom", ["PEARL_DRIFT", "AMBER_ROAD"])
def test_sound_depends_on_the_seed_and_the_actions_alone(rom):
    def heard(env, steps=8):
        env.action_space.seed(3)
        return [env.step(env.action_space.sample())[0] for _ in range(steps)]

    env, other = gbxcule.make_vec(rom, 2, obs="audio"), gbxcule.make_vec(rom, 2, obs="audio")
    env.reset(seed=9)
    heard(env)
    env.reset(seed=4)
    other.reset(seed=4)
    first = heard(env)
    assert np.array_equal(first, heard(other))
    assert np.abs(first).max() > 500, "the game has sounds"
    restored = pickle.loads(pickle.dumps(env))
    other.reset(seed=1)
    for each in range(2):
        other.load_state(each, env.save_state(each))
    rest = heard(env)
    assert np.array_equal(rest, heard(restored)) and np.array_equal(rest, heard(other))
    env.copy_state(0, np.array([False, True]))
    for action in (4, 0, 2):
        both, *_ = env.step([action, action])
        assert np.array_equal(both[0], both[1])
