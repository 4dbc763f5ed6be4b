"""Episodes with programs equal a replay of the same actions from the first observation on, in every autoreset mode."""

import gbxcule
import numpy as np
import pytest
from gbxcule._native import env_seeds

TASK = '''import gbxcule as gb
import warp as wp

SCRATCH = 2
OBS_DIM = 4


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, 0xC000))


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gain = score - scratch[0]
    scratch[0] = score
    scratch[1] += 1.0
    return gain


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, 0xC003) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[1]
    obs[1] = wp.float32(gb.read(machine, 0xC006))
    obs[2] = wp.float32(gb.read(machine, 0xC007))
    obs[3] = wp.float32(gb.read16(machine, 0xC000))
'''

STEPS = 70
ENVS = 3


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    return path


def made(task, **options):
    env = gbxcule.make_vec(obs=task, reward=task, max_episode_steps=11, start_steps=3, **options)
    env.reset(seed=1)
    # The score is not 0 where episodes begin.
    env.write_memory(0, "Score", b"\x07\x00")
    env.set_start(0)
    return env


def actions():
    return np.random.default_rng(0).integers(9, size=(STEPS, ENVS))


def replay(task, env):
    """Plays one env alone, reset by hand, with these actions: observation, reward and end of each step."""
    single = made(task, num_envs=1, autoreset_mode="Disabled")
    obs, _ = single.reset(seed=env_seeds(9, env, 1))
    while True:
        reward, over = 0.0, False
        while not over:
            action = yield obs[0], reward, over
            obs, rewards, terminated, truncated, _ = single.step(np.array([action]))
            reward, over = float(rewards[0]), bool(terminated[0] or truncated[0])
        yield obs[0], reward, over
        obs, _ = single.reset(options={"reset_mask": np.array([True])})


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_programs_see_each_episode_as_a_replay_does(task, mode):
    env = made(task, num_envs=ENVS, autoreset_mode=mode)
    obs, _ = env.reset(seed=9)
    oracles = [replay(task, one) for one in range(ENVS)]
    expected = [next(oracle) for oracle in oracles]
    late = np.zeros(ENVS, bool)
    for one in range(ENVS):
        assert np.array_equal(obs[one], expected[one][0])
        assert obs[one][0] == 0 and obs[one][3] == 7
    earned = ended = 0
    for step, pressed in enumerate(actions()):
        if mode == "Disabled" and late.any():
            obs, _ = env.reset(options={"reset_mask": late})
            for one in np.flatnonzero(late):
                expected[one] = next(oracles[one])
                assert np.array_equal(obs[one], expected[one][0]), (step, one)
            late[:] = False
        obs, rewards, terminated, truncated, infos = env.step(pressed)
        over = terminated | truncated
        for one in range(ENVS):
            if mode == "NextStep" and late[one]:
                expected[one] = next(oracles[one])
                assert rewards[one] == 0 and not over[one], (step, one)
                assert np.array_equal(obs[one], expected[one][0]), (step, one)
                continue
            expected[one] = oracles[one].send(pressed[one])
            seen = infos["final_obs"][one] if mode == "SameStep" and over[one] else obs[one]
            assert np.array_equal(seen, expected[one][0]), (step, one)
            assert (rewards[one], over[one]) == expected[one][1:], (step, one)
            earned, ended = earned + abs(rewards[one]), ended + over[one]
            if mode == "SameStep" and over[one]:
                expected[one] = next(oracles[one])
                assert np.array_equal(obs[one], expected[one][0]), (step, one)
        late = over.copy()
    assert ended > 10 and earned > 0


def test_a_new_start_is_the_programs_too(task):
    env = made(task, num_envs=2)
    env.reset(seed=1)
    env.write_memory(1, "Score", b"\x2a\x00")
    env.set_start(1)
    obs, _ = env.reset(seed=1)
    assert obs[:, 3].tolist() == [42, 42] and obs[:, 0].tolist() == [0, 0]
    _, rewards, *_ = env.step([8, 8])
    assert (rewards < 42).all(), "the score at the start is no reward"


def test_a_reset_to_a_state_is_seen_there(task):
    env = made(task, num_envs=3)
    first, _ = env.reset(seed=1)
    for step in range(3):
        seen, *_ = env.step([step, step + 1, step + 2])
    state = env.save_state(1)
    for fresh in (env, made(task, num_envs=3)):
        obs, _ = fresh.reset(seed=4, options={"state": state})
        # A state does not hold the pressed buttons.
        assert obs[:, 3].tolist() == [fresh.read_memory(one, "Score")[0] for one in range(3)]
        assert not np.array_equal(obs[0], first[0])
        assert all(np.array_equal(obs[0], one) for one in obs)


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_a_state_that_is_loaded_when_an_episode_is_over_begins_the_next_one(mode):
    env = gbxcule.make_vec(num_envs=2, obs=gbxcule.Ram("C000:C010"), max_episode_steps=2, autoreset_mode=mode)
    env.reset(seed=1)
    env.step([1, 2])
    state = env.save_state(0)
    *_, truncated, _ = env.step([3, 4])
    assert truncated.all()
    env.load_states([True, True], state)
    oracle = gbxcule.make_vec(num_envs=2, obs=gbxcule.Ram("C000:C010"))
    oracle.reset(options={"state": state})
    for ends in (False, True):
        obs, _, _, truncated, _ = env.step([5, 6])
        assert np.array_equal(obs, oracle.step([5, 6])[0])
        assert truncated.tolist() == [ends, ends]


def test_a_state_of_others_begins_what_programs_keep(task):
    env = made(task, num_envs=2)
    env.reset(seed=1)
    env.step([0, 1])
    env.write_memory(0, "Score", b"\x50\x00")
    env.load_state(1, env.save_state(0, format="bess"))
    _, rewards, *_ = env.step([8, 8])
    assert rewards[1] < 0x50, "what was loaded is not earned"


def test_episodes_begin_in_one_of_several_states(task, tmp_path):
    first = gbxcule.make_vec(num_envs=1)
    first.reset(seed=0)
    states = []
    for mark in (1, 2, 3):
        first.write_memory(0, "Score", bytes([mark, 0]))
        states.append(first.save_state(0))

    def seen(num_envs, seed):
        env = gbxcule.make_vec(num_envs=num_envs, obs=task, starts=states, autoreset_mode="Disabled")
        scores = [env.reset(seed=seed)[0][:, 3]]
        return env, np.array(scores + [env.reset()[0][:, 3] for _ in range(19)])

    env, scores = seen(4, 11)
    assert set(scores.ravel()) == {1, 2, 3}
    assert np.array_equal(seen(1, env_seeds(11, 2, 1))[1][:, 0], scores[:, 2])
    # A curriculum, and a start by hand.
    env.set_starts(states[1:2])
    assert env.read_memory(1, "Score")[0] == scores[-1, 1], "envs go on as they are"
    assert (env.reset()[0][:, 3] == 2).all()
    env.set_starts(states, weights=[1, 0, 3])
    drawn = np.array([env.reset()[0][:, 3] for _ in range(50)])
    assert set(drawn.ravel()) == {1, 3} and (drawn == 3).mean() > 0.6
    env.weigh_starts([0, 1, 0])
    env.checkpoint(tmp_path / "swarm.ckpt")
    for each in (env, gbxcule.restore(tmp_path / "swarm.ckpt")):
        assert all((each.reset()[0][:, 3] == 2).all() for _ in range(5))
    with pytest.raises(ValueError, match="expected a weight for each of the 3 starts, found 2"):
        env.weigh_starts([1, 2])
    with pytest.raises(ValueError, match="expected a weight for each of the 1 starts, found 2"):
        env.set_starts(states[:1], weights=[1, 2])
    with pytest.raises(ValueError, match="give at least one weight above 0"):
        env.weigh_starts([0, 0, 0])
    assert (env.reset(options={"state": states[2]})[0][:, 3] == 3).all()
    mask = np.array([True, False, False, True])
    obs, _ = env.reset(options={"reset_mask": mask, "state": [states[0], states[1]]})
    assert obs[:, 3].tolist() == [1, 3, 3, 2]
    with pytest.raises(ValueError, match="one state, or one for each of the 2 marked"):
        env.reset(options={"reset_mask": mask, "state": states})
    with pytest.raises(TypeError, match="starts takes several states, bytes or paths"):
        gbxcule.make_vec(starts="a.state")
    with pytest.raises(ValueError, match="give one of both"):
        gbxcule.make_vec(starts=states, start_state=states[0])
