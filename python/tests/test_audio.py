"""Sound as an observation."""

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
