"""A user's actions: tables, combinations, several choices at once, frames held."""

import gbxcule
import numpy as np
import pytest
from gymnasium import spaces

RIGHT, LEFT, UP, DOWN, A, B, SELECT, START = (1 << bit for bit in range(8))
SMALL = {"frames_per_step": 4, "release_after_frames": 2}

PROGRAM = """
import gbxcule as gb
import warp as wp

OBS_DIM = 2

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return wp.float32(gb.buttons(machine))

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.buttons(machine))
    obs[1] = wp.float32(gb.action(machine))
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "pressed.py"
    path.write_text(PROGRAM)
    return path


def pressed(env, actions):
    _, rewards, *_ = env.step(np.array(actions))
    return rewards.astype(int).tolist()


def test_a_table_of_ones_own_presses_what_it_says(program):
    table = [["A", "RIGHT"], [], "B", "UP+LEFT", gbxcule.Press("A", "RIGHT", frames=3), "NOOP:2"]
    env = gbxcule.make_vec(num_envs=6, actions=table, reward=program, **SMALL)
    env.reset(seed=0)
    assert env.single_action_space == spaces.Discrete(6)
    assert env.action_names == ["A+RIGHT", "NOOP", "B", "UP+LEFT", "A+RIGHT:3", "NOOP:2"]
    assert env.codec == "A+RIGHT,NOOP,B,UP+LEFT,A+RIGHT:3,NOOP:2"
    assert pressed(env, range(6)) == [A | RIGHT, 0, B, UP | LEFT, A | RIGHT, 0]
    again = gbxcule.make_vec(num_envs=6, actions=env.codec, **SMALL)
    assert again.action_names == env.action_names


def test_buttons_are_a_multi_binary_space_and_the_cross_has_no_two_sides(program):
    env = gbxcule.make_vec(num_envs=3, actions=gbxcule.Buttons("A", "LEFT", "RIGHT"), reward=program, **SMALL)
    env.reset(seed=0)
    assert env.single_action_space == spaces.MultiBinary(3)
    assert pressed(env, [[0, 0, 0], [1, 1, 0], [1, 1, 1]]) == [0, A | LEFT, A]
    env.step(env.action_space.sample())
    env.step(np.array([[True, False, True]] * 3))
    # Samples of a Bernoulli distribution.
    assert pressed(env, np.array([[1.0, 0.0, 1.0]] * 3, np.float32)) == [A | RIGHT] * 3
    for wrong in (0.5, float("nan"), 2.0):
        with pytest.raises(ValueError, match=f"actions in column 0 are 0 to 1, found {wrong} for env 2"):
            env.step([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [wrong, 0.0, 0.0]])
    everything = gbxcule.make_vec(num_envs=2, actions="buttons_v1", reward=program, **SMALL)
    everything.reset(seed=0)
    assert everything.single_action_space == spaces.MultiBinary(8)
    # A, B, SELECT, START, UP, DOWN, LEFT, RIGHT
    actions = [[1, 0, 0, 1, 0, 0, 0, 1], [0, 1, 1, 0, 1, 1, 0, 0]]
    assert pressed(everything, actions) == [A | START | RIGHT, B | SELECT]
    assert everything.action_choices[7] == ["NOOP", "RIGHT"]


def test_choices_are_a_multi_discrete_space(program):
    choices = gbxcule.Choices([[], "LEFT", "RIGHT"], ["NOOP", "A", "B", ["A", "B"]])
    env = gbxcule.make_vec(num_envs=4, actions=choices, reward=program, **SMALL)
    env.reset(seed=0)
    assert env.single_action_space == spaces.MultiDiscrete([3, 4])
    assert pressed(env, [[0, 0], [2, 0], [0, 3], [1, 2]]) == [0, RIGHT, A | B, LEFT | B]
    for _ in range(5):
        env.step(env.action_space.sample())
    pad = gbxcule.make_vec(num_envs=1, actions="pad_v1", reward=program, **SMALL)
    pad.reset(seed=0)
    assert pad.single_action_space == spaces.MultiDiscrete([9, 4])
    assert pressed(pad, [[8, 3]]) == [DOWN | RIGHT | A | B]


def test_a_single_machine_takes_them_too(program):
    env = gbxcule.make(actions=gbxcule.Buttons("A", "B"), reward=program, **SMALL)
    env.reset(seed=0)
    assert env.step(env.action_space.sample() * 0 + 1)[1] == A | B
    env = gbxcule.make(actions=["START", []], reward=program, **SMALL)
    env.reset(seed=0)
    assert env.step(0)[1] == START


@pytest.mark.parametrize("frames", [1, 3, 4, 9])
def test_frames_held_are_those_of_the_action(frames):
    own = gbxcule.make_vec(actions=[gbxcule.Press("RIGHT", "A", frames=frames), "B"], frames_per_step=4)
    other = gbxcule.make_vec(actions=["A+RIGHT", "B:2"], frames_per_step=4, release_after_frames=frames)
    own.reset(seed=3)
    other.reset(seed=3)
    for step in range(40):
        own.step(np.array([int(step % 3 == 1)]))
        other.step(np.array([int(step % 3 == 1)]))
    assert own.save_state(0) == other.save_state(0)


def test_waiting_at_the_start_presses_nothing_whatever_the_table(program):
    starts = []
    for actions in (["A", "RIGHT"], "full_v1", gbxcule.Buttons("START")):
        env = gbxcule.make_vec(actions=actions, start_steps=60)
        env.reset(seed=1)
        starts.append(env.save_state(0))
    assert starts[0] == starts[1] == starts[2]


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ("dance", ValueError, "no action codec `dance`; there are full_v1, .* tables of your own"),
        (["A", "JUMP"], ValueError, "no button `JUMP`"),
        ([["A", "JUMP"]], ValueError, "no button `JUMP` in the action `A[+]JUMP`; there are A, B, SELECT"),
        ([], ValueError, "a table of actions needs at least one"),
        (["A", ""], ValueError, "an action that presses nothing is"),
        (["A", "A"], ValueError, "the action `A` stands twice"),
        ([["LEFT", "RIGHT"]], ValueError, "LEFT and RIGHT, or UP and DOWN, at once"),
        (["A", 3], TypeError, "an action is a button, a list of buttons, or a gbxcule.Press, found 3"),
        ([["A", 3]], ValueError, "a button is A, B, .* found 3"),
        ([["A,B"]], ValueError, "a button is A, B, .* found 'A,B'"),
        (7, TypeError, "actions are the name of a codec, a list of actions"),
        ({"A": 1}, TypeError, "actions are the name of a codec"),
        (gbxcule.Buttons(), ValueError, "at least one button"),
        (gbxcule.Buttons("A", "Q"), ValueError, "no button `Q`"),
        (gbxcule.Choices(), ValueError, "at least one table"),
        (gbxcule.Choices("A", ["B"]), TypeError, "found 'A'"),
        (gbxcule.Choices(*[["A", "B", "UP", "DOWN"]] * 5), ValueError, "1024 combinations of actions"),
    ],
)
def test_wrong_actions_are_refused_with_what_is_allowed(actions, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec(actions=actions)


@pytest.mark.parametrize("frames", [0, -1, 1.5, "4", True])
def test_wrong_frames_are_refused(frames):
    with pytest.raises((TypeError, ValueError), match="frames is"):
        gbxcule.Press("A", frames=frames)


@pytest.mark.parametrize("wrong", [[[3, 0]] * 2, [[0, -1]] * 2, [0, 0], [[0, 0]], [[0.0, 0.0]] * 2])
def test_choices_outside_their_tables_are_refused(wrong):
    env = gbxcule.make_vec(num_envs=2, actions=gbxcule.Choices(["NOOP", "LEFT", "UP"], ["NOOP", "A"]))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="expected 2 whole numbers|actions in column"):
        env.step(np.array(wrong))
