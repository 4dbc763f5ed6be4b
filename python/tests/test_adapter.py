"""The swarm in other libraries; tests of libraries that are not installed are skipped by name."""

import importlib
import importlib.util
import warnings

import gbxcule
import gymnasium
import numpy as np
import pytest
from gbxcule.adapter.pool import SwarmPool

SMALL = {"frames_per_step": 4, "release_after_frames": 2}


def test_a_pool_of_batches_plays_what_one_swarm_would():
    pool = SwarmPool(num_envs=6, batch_size=2, obs="gray", **SMALL)
    swarm = gbxcule.make_vec(num_envs=6, obs="gray", **SMALL)
    expected, _ = swarm.reset(seed=5)
    pool.async_reset(seed=5)
    for step in range(6):
        found = np.zeros_like(expected)
        rewards = np.zeros(6, np.float32)
        batches = [pool.recv() for _ in range(3)]
        for obs, reward, _, _, info in batches:
            found[info["env_id"]], rewards[info["env_id"]] = obs, reward
        assert np.array_equal(found, expected)
        actions = (np.arange(6) + step) % 9
        for *_, info in batches:
            pool.send(actions[info["env_id"]], info["env_id"])
        expected, *_ = swarm.step(actions)
    pool.close()


def test_the_caller_of_a_pool_may_use_its_array_again():
    with SwarmPool(num_envs=2, obs="gray", **SMALL) as pool:
        swarm = gbxcule.make_vec(num_envs=2, obs="gray", **SMALL)
        swarm.reset(seed=5)
        pool.async_reset(seed=5)
        pool.recv()
        actions = np.array([0, 0])
        for step in range(6):
            actions[:] = [5, 6]
            pool.send(actions)
            actions[:] = 8
            assert np.array_equal(pool.recv()[0], swarm.step([5, 6])[0]), step


def test_a_pool_refuses_what_it_did_not_hand_out():
    pool = SwarmPool(num_envs=4, batch_size=2, **SMALL)
    with pytest.raises(RuntimeError, match="async_reset or send"):
        pool.recv()
    pool.async_reset(seed=0)
    *_, info = pool.recv()
    with pytest.raises(ValueError, match="whole batch"):
        pool.send([0, 0], info["env_id"] + 1)
    pool.send([0, 0], info["env_id"])
    with pytest.raises(RuntimeError, match="is stepping"):
        pool.send([0, 0], info["env_id"])
    pool.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="the pool is closed"):
        pool.send([0, 0], info["env_id"])
    pool.close()
    with pytest.raises(ValueError, match="batches of 3"):
        SwarmPool(num_envs=4, batch_size=3)


def test_stable_baselines3_trains():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv
    from gymnasium.wrappers import TimeLimit
    from stable_baselines3 import PPO
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    env = SwarmVecEnv(num_envs=4, obs="mean", max_episode_steps=20)
    assert env.reset().shape == (4, 72, 80, 1)
    model = PPO("CnnPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(256)
    assert any(not old.equal(new) for old, new in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) == 4 * (64 // 20)
    assert {episode["l"] for episode in model.ep_info_buffer} == {20}
    assert env.env_is_wrapped(Monitor) == [True] * 4
    assert env.env_is_wrapped(TimeLimit, indices=[1]) == [False]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        returns, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert lengths == [20] * 4 and len(returns) == 4
    env.close()


def test_stable_baselines3_sees_the_observation_that_ended_an_episode():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv

    env = SwarmVecEnv(num_envs=2, obs={"screen": "gray", "ram": gbxcule.Ram("C000:C010")}, max_episode_steps=3, **SMALL)
    env.seed(1)
    env.reset()
    for step in range(3):
        obs, _, done, infos = env.step(np.array([4, 5]))
        assert done.tolist() == [step == 2] * 2
    last = infos[0]["terminal_observation"]
    assert infos[0]["TimeLimit.truncated"]
    assert last["screen"].shape == (144, 160, 1) and obs["screen"].shape == (2, 144, 160, 1)
    assert not np.array_equal(last["screen"], obs["screen"][0])
    assert env.observation_space.contains(last)
    assert env.env_method("read_memory", "GameOver", indices=[1]) == [b"\x00"]
    with pytest.raises(TypeError, match=r"`weigh_starts` is for all envs at once, .* call swarm.weigh_starts\(..\)"):
        env.env_method("weigh_starts", [1])


def test_pufferlib_steps_in_its_own_buffers():
    pytest.importorskip("pufferlib", reason="pufferlib is not installed")
    import pufferlib.vector
    from gbxcule.adapter.puffer import SwarmPufferEnv

    kwargs = {"num_envs": 3, "obs": "stride", "max_episode_steps": 5, **SMALL}
    native = pufferlib.vector.make(SwarmPufferEnv, env_kwargs=kwargs)
    twin = gbxcule.make_vec(autoreset_mode="SameStep", **kwargs)
    native.async_reset(7)
    expected, _ = twin.reset(seed=7)
    reports = []
    for step in range(12):
        obs, rewards, terminals, truncations, infos, ids, masks = native.recv()
        assert obs is native.observations and np.array_equal(obs, expected)
        reports += infos
        actions = (np.arange(3) + step) % 9
        native.send(actions)
        expected, *_ = twin.step(actions)
    assert [report["episode_length"] for report in reports] == [5] * 6
    native.close()
    if pufferlib.__version__ == "2.0.2":
        return  # PufferLib runs several native environments only in separate processes.
    serial = pufferlib.vector.make(
        SwarmPufferEnv, env_kwargs=kwargs, backend=pufferlib.vector.Serial, num_envs=2
    )
    obs, _ = serial.reset(seed=1)
    assert obs.shape == (6, 72, 80) and obs[3:].any()
    serial.close()


@pytest.mark.parametrize(
    ("module", "package"),
    [("gbxcule.adapter.sb3", "stable_baselines3"), ("gbxcule.adapter.puffer", "pufferlib"), ("gbxcule.ray", "ray")],
)
def test_an_adapter_without_its_library_says_how_to_get_it(module, package):
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed")
    with pytest.raises(ModuleNotFoundError, match=f"{module} needs .*`pip install"):
        importlib.import_module(module)


def test_stable_baselines3_takes_pictures_in_color_and_sound():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv

    env = SwarmVecEnv(num_envs=2, obs={"rgb": "rgb", "gray": "stride", "audio": "audio"}, max_episode_steps=2, **SMALL)
    twin = gbxcule.make_vec(num_envs=2, obs={"rgb": "rgb", "gray": "stride", "audio": "audio"}, max_episode_steps=2,
                            autoreset_mode="SameStep", **SMALL)
    env.seed(3)
    found, (expected, _) = env.reset(), twin.reset(seed=[3, 4])
    for _ in range(3):
        assert {name: part.shape[1:] for name, part in found.items()} == {
            name: space.shape for name, space in env.observation_space.spaces.items()
        }
        assert all(np.array_equal(found[name].ravel(), part.ravel()) for name, part in expected.items())
        (found, *_, infos), (expected, *_) = env.step(np.array([1, 2])), twin.step([1, 2])
    assert env.observation_space["gray"].shape == (72, 80, 1) and env.observation_space["audio"].dtype == np.int16
    assert env.observation_space.contains({name: part[0] for name, part in found.items()})


def test_stable_baselines3_begins_where_options_say():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv

    env = SwarmVecEnv(num_envs=3, obs="gray", **SMALL)
    env.seed(1)
    begun = env.reset()
    for action in (3, 4, 3):
        env.step(np.full(3, action))
    there, state = env.swarm.screens(), env.swarm.save_state(1)
    env.seed(1)
    env.set_options([{}, {"state": state}, {}])
    mixed = env.reset()
    assert np.array_equal(mixed[[0, 2]], begun[[0, 2]]) and np.array_equal(mixed[1, ..., 0], there[1])
    assert [info.keys() for info in env.reset_infos] == [{"score", "hulls", "level"}] * 3
    # Options are for one reset.
    env.seed(1)
    assert np.array_equal(env.reset(), begun)
    env.set_options({"mask": 1})
    with pytest.raises(ValueError, match="no reset option `mask` here; expected state"):
        env.reset()


def test_stable_baselines3_presses_any_buttons():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv
    from stable_baselines3 import PPO

    env = SwarmVecEnv(num_envs=2, actions="buttons_v1", obs="obs_v0", **SMALL)
    PPO("MlpPolicy", env, n_steps=4, batch_size=8, n_epochs=1, seed=0).learn(8)


def test_maskable_learners_find_the_mask(tmp_path):
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from gbxcule.adapter.sb3 import SwarmVecEnv

    path = tmp_path / "mask.py"
    path.write_text(
        "import gbxcule as gb\nimport warp as wp\nACTIONS = 9\n\n\n@wp.func\n"
        "def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n    return 0.0\n\n\n@wp.func\n"
        "def action_mask(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), mask: wp.array(dtype=wp.float32)):\n"
        "    mask[wp.int32(gb.action(machine))] = 0.0\n"
    )
    env = SwarmVecEnv(num_envs=2, reward=path, **SMALL)
    env.reset()
    env.step(np.array([3, 4]))
    masks = np.stack(env.env_method("action_masks"))
    assert masks.dtype == np.bool_ and masks.argmin(axis=1).tolist() == [3, 4] and masks.sum() == 16
    assert env.has_attr("action_masks") and not SwarmVecEnv(num_envs=1).has_attr("action_masks")
