"""Rewards, ends and observations written in the Warp dialect, behind the step."""

import pathlib

import gbxcule
import numpy as np
import pytest
from gbxcule._native import env_seeds

TASK = '''import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 3


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gain = score - scratch[0]
    scratch[0] = score
    return gain


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, 0xC003) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, 0xC006))
    obs[1] = wp.float32(gb.read(machine, 0xC007))
    obs[2] = wp.float32(gb.read16(machine, 0xC008))
'''


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    return path


def test_a_program_rewards_ends_and_observes_as_memory_does(task):
    options = {"num_envs": 4, "autoreset_mode": "SameStep", "max_episode_steps": 40}
    ours = gbxcule.make_vec(obs={"own": task, "screen": "mean"}, reward=task, done=[gbxcule.Number(0xC0FF), task], **options)
    theirs = gbxcule.make_vec(obs=gbxcule.Ram(0xC006, 0xC007, 0xC008, 0xC009), **options)
    first, _ = ours.reset(seed=3)
    expected, _ = theirs.reset(seed=3)
    assert ours.observation_space.contains(first)
    rng = np.random.default_rng(0)
    earned = 0
    for step in range(60):
        assert np.array_equal(first["own"], numbers(expected)), step
        actions = rng.integers(9, size=4)
        if step == 20:
            # START would begin a new game at once.
            actions[2] = 8
            for env in (ours, theirs):
                env.write_memory(2, "GameOver", b"\x01")
        first, rewards, terminated, truncated, _ = ours.step(actions)
        expected, *others, _ = theirs.step(actions)
        assert np.array_equal(rewards, others[0]) and np.array_equal(terminated, others[1])
        assert terminated[2] or step != 20
        earned += rewards.sum()
    assert earned > 0


def numbers(ram):
    wide = ram.astype(np.float32)
    return np.stack([wide[:, 0], wide[:, 1], wide[:, 2] + 256 * wide[:, 3]], 1)


def test_what_is_wrong_with_a_program_is_said_at_its_line(task):
    task.write_text(TASK.replace("gb.read16(machine, 0xC000)", "gb.raed(machine, 0xC000)"))
    with pytest.raises(ValueError, match=r"task.py:10:.*"):
        gbxcule.make_vec(reward=task)


def test_one_program_observes(task, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(TASK)
    with pytest.raises(ValueError, match="one observation can be a program"):
        gbxcule.make_vec(obs={"a": task, "b": other})
    with pytest.raises(ValueError, match="no reward `task`"):
        gbxcule.make_vec(reward="task")


SETTLED = """import gbxcule as gb
import warp as wp


@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    return gb.step_frames(machine) == 5
"""


def test_a_program_may_do_nothing_but_say_when_steps_end(tmp_path):
    path = tmp_path / "steps.py"
    path.write_text(SETTLED)
    env = gbxcule.make_vec(num_envs=2, reward=path, frames_per_step=30, release_after_frames=4)
    short = gbxcule.make_vec(num_envs=2, frames_per_step=5, release_after_frames=4)
    obs, _ = env.reset(seed=0, options={"state": short.save_state(0)})
    short.reset(seed=0, options={"state": short.save_state(0)})
    for actions in ([3, 4], [5, 6], [0, 1]):
        obs, rewards, *_ = env.step(actions)
        expected, *_ = short.step(actions)
        assert np.array_equal(obs, expected) and rewards.tolist() == [0, 0]
    # One that misspells its reward is no such program.
    path.write_text(SETTLED + TASK.partition("OBS_DIM = 3")[2].replace("def reward(", "def rewards("))
    with pytest.raises(ValueError, match="defines no `reward`"):
        gbxcule.make_vec(reward=path)


COUNTED = """import gbxcule as gb
import warp as wp

SCRATCH = 3


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += 1.0
    # The third step of an episode has no cell.
    scratch[int(scratch[0])] = 1.0
    return scratch[0]


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return scratch[0] == 2.0
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("NextStep", [1, 2, 0, 1, 2, 0, 1]), ("SameStep", [1, 2, 1, 2, 1, 2, 1]), ("Disabled", [1, 2, 1, 2, 1, 2, 1])],
)
def test_programs_rest_in_a_step_that_begins_an_episode(tmp_path, mode, expected):
    path = tmp_path / "counted.py"
    path.write_text(COUNTED)
    env = gbxcule.make_vec(num_envs=2, reward=path, autoreset_mode=mode, info={"steps": gbxcule.Cell(0)})
    env.reset(seed=0)
    for step, earned in enumerate(expected):
        _, rewards, terminated, _, infos = env.step([8, 8])
        assert rewards.tolist() == [earned, earned], step
        assert terminated.tolist() == [earned == 2, earned == 2]
        if mode == "Disabled" and terminated.any():
            env.reset(options={"reset_mask": terminated})
        elif mode == "NextStep":
            assert infos["steps"].tolist() == rewards.tolist()


def test_envs_begin_alone_while_others_play(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    options = {"obs": path, "reward": path, "max_episode_steps": 5}
    env, others = gbxcule.make_vec(num_envs=3, **options), [gbxcule.make_vec(**options) for _ in range(3)]
    env.reset(seed=7)
    for number, other in enumerate(others):
        other.reset(seed=env_seeds(7, number, 1))
    rng = np.random.default_rng(1)
    for step in range(40):
        if step == 3:
            env.write_memory(1, "GameOver", b"\1")
            others[1].write_memory(0, "GameOver", b"\1")
        # START would begin a new game at once.
        actions = rng.choice([0, 1, 3, 4, 5, 6, 8], 3)
        found = env.step(actions)[:4]
        for number, other in enumerate(others):
            for all_envs, alone in zip(found, other.step(actions[number : number + 1])[:4], strict=True):
                assert np.array_equal(all_envs[number], alone[0]), (step, number)


def test_a_state_keeps_the_picture_that_a_program_looks_at():
    program = pathlib.Path(__file__).parents[2] / "examples/programs/pixels.py"
    env = gbxcule.make_vec(num_envs=2, obs=program, frames_per_step=7)
    env.reset(seed=0)
    for step in range(12):
        seen, *_ = env.step([step % 9, 5])
    other = gbxcule.make_vec(num_envs=2, obs=program, frames_per_step=7)
    found, _ = other.reset(options={"state": [env.save_state(number) for number in range(2)]})
    assert np.array_equal(found, seen)
