"""Named outputs of programs, and tables in their texts: entries of a dictionary on the host, columns on a device."""

import gbxcule
import numpy as np
import pytest
from gbxcule.output import outputs_of
from gymnasium import spaces

TASK = """
import gbxcule as gb
import warp as wp

OBS_DIM = 9
OUTPUTS = {
    "hero": ("uint8", 2, 0, 200),
    "speed": ("float32", ()),
    "near": ("int16", (2, 2), -5, 5),
    "rank": ("int32", 2),
}

bytes16 = wp.types.vector(length=16, dtype=wp.int32)
RANK = bytes16(7, 0, 1, 15, 14, 3, 9, 8, 2, 6, 11, 10, 4, 5, 13, 12)

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, "SubX"))
    obs[1] = wp.float32(gb.read(machine, "SubY")) * 2.0 + 0.75
    obs[2] = wp.float32(gb.frames(machine)) / 4.0
    for place in range(4):
        obs[3 + place] = wp.float32(gb.read(machine, 0xC006 + place)) - 99.5 * wp.float32(place)
    obs[7] = wp.float32(RANK[wp.int32(gb.read(machine, "SubX")) & 15])
    obs[8] = wp.float32(RANK[wp.int32(gb.read(machine, "SubY")) & 15]) * 1000.0
"""
RANK = np.array([7, 0, 1, 15, 14, 3, 9, 8, 2, 6, 11, 10, 4, 5, 13, 12])


def test_each_output_is_an_entry_of_its_shape_type_and_bounds():
    env = gbxcule.make_vec("PEARL_DRIFT", 3, obs=TASK, frames_per_step=4)
    space = env.single_observation_space
    assert isinstance(space, spaces.Dict) and set(space) == {"hero", "speed", "near", "rank"}
    assert space["near"] == spaces.Box(-5, 5, (2, 2), np.int16) and space["speed"].shape == ()
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    for step in range(30):
        obs, *_ = env.step(rng.integers(9, size=3))
        assert env.observation_space.contains(obs)
        memory = np.array([list(env.read_memory(at, "C006:C00A")) for at in range(3)])
        x, y = memory[:, 0], memory[:, 1]
        assert np.array_equal(obs["hero"], np.clip(np.stack([x, 2 * y], 1), 0, 200))
        frames = (step + 1) * 4
        assert obs["speed"].tolist() == [frames / 4] * 3
        near = np.clip(np.trunc(memory - 99.5 * np.arange(4)), -5, 5).reshape(3, 2, 2)
        assert np.array_equal(obs["near"], near)
        assert np.array_equal(obs["rank"], np.stack([RANK[x & 15], RANK[y & 15] * 1000], 1))


def test_outputs_stand_beside_other_observations_and_outlive_a_checkpoint(tmp_path):
    env = gbxcule.make_vec("PEARL_DRIFT", 2, obs={"task": TASK, "ram": gbxcule.Ram("C000:C010")}, max_episode_steps=5)
    env.reset(seed=1)
    env.step([4, 5])
    path = tmp_path / "swarm.ckpt"
    env.checkpoint(path)
    other = gbxcule.restore(path)
    assert set(other.single_observation_space) == {"hero", "speed", "near", "rank", "ram"}
    for _ in range(8):
        one, two = env.step([4, 5])[0], other.step([4, 5])[0]
        assert all(np.array_equal(one[name], two[name]) for name in one)
    with pytest.raises(ValueError, match="two entries `hero`"):
        gbxcule.make_vec("PEARL_DRIFT", obs={"hero": gbxcule.Ram("C000"), "task": TASK})


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"a": ("uint8", 3)}', "have 3 numbers together, and its `OBS_DIM` is 4"),
        ('{"a": ("uint9", 4)}', "there are float32, int8"),
        ('{"a": ("uint8", 0)}', "from 1 on, found 0"),
        ('{"a": ("uint8", 4, 0, 256)}', "bounds from 0 to 255, the lower one first, found 0 and 256"),
        ('{"a": ("int8", 4, 3, 2)}', "found 3 and 2"),
        ('{"a": ("int8", 4, "b", 2)}', "two numbers as bounds"),
        ('{"a": 4}', "is written as"),
        ("{}", "is written as"),
        ("{x: 4}", "with numbers that stand there, found '{x: 4}'"),
        ('{1: ("int8", 4)}', "an output's name is a text, found 1"),
    ],
)
def test_outputs_that_cant_be_say_why(written, message):
    with pytest.raises(ValueError) as refused:
        outputs_of(f"OUTPUTS = {written}\n", 4)
    assert message in str(refused.value)


def test_nan_is_zero_in_whole_numbers():
    (output,) = outputs_of('OUTPUTS = {"a": ("int8", 4)}', 4)
    buffer = np.full((1, 4), 9, np.int8)
    output.fill(buffer, np.array([[np.nan, np.inf, -np.inf, -1.9]], np.float32))
    assert buffer.tolist() == [[0, 127, -128, -1]]


CHILD = """
import sys

import gbxcule
import numpy as np
from gbxcule import kernel

host, cuda = (gbxcule.make_vec("PEARL_DRIFT", 4, obs=open(sys.argv[1]).read(), frames_per_step=4, device=device)
              for device in ("cpu", "cuda"))
for env in (host, cuda):
    env.reset(seed=2)
for env in (host, cuda):
    env.device_arrays
rng = np.random.default_rng(0)
for step in range(6):
    actions = rng.integers(9, size=4).astype(np.int32)
    host.step(actions)
    seen, *_ = cuda.step(kernel.array(actions, "int32", device="cuda"))
    cuda.ready_on()
    assert list(seen) == ["hero", "speed", "near", "rank"]
    for name in seen:
        ours, theirs = seen[name].numpy(), host.device_arrays[f"observations.{name}"]
        assert ours.shape == theirs.shape and np.array_equal(ours, theirs), (name, ours, theirs)
on_host = gbxcule.make_vec("PEARL_DRIFT", 4, obs=open(sys.argv[1]).read(), frames_per_step=4, device="cuda")
twin = gbxcule.make_vec("PEARL_DRIFT", 4, obs=open(sys.argv[1]).read(), frames_per_step=4)
on_host.reset(seed=2), twin.reset(seed=2)
for step in range(4):
    one, two = on_host.step(np.full(4, step))[0], twin.step(np.full(4, step))[0]
    assert all(np.array_equal(one[name], two[name]) for name in two)
print("equal")
"""


def test_outputs_on_a_device_are_columns_in_place_and_equal_the_hosts(on_stand_ins, tmp_path):
    (tmp_path / "child.py").write_text(CHILD)
    (tmp_path / "task.py").write_text(TASK)
    ran = on_stand_ins(tmp_path / "child.py", tmp_path / "task.py")
    assert ran.stdout == "equal\n", ran.stdout + ran.stderr


def test_a_grid_around_an_object_is_a_part_of_the_screens_tiles():
    whole = gbxcule.make_vec("KEEP_OF_KEYS", 2, obs="tiles_v1")
    grid = gbxcule.tile_program(5, 7, around=0, objects=3)
    near = gbxcule.make_vec("KEEP_OF_KEYS", 2, obs={"near": grid, "ram": gbxcule.Ram(("FE00", 2))})
    assert near.single_observation_space["tiles"].shape == (5, 7) and near.single_observation_space["objects"].shape == (3, 5)
    both = [env.reset(seed=5)[0] for env in (whole, near)]
    for step in range(12):
        screen, part = both
        for env in range(2):
            y, x = (int(byte) for byte in part["ram"][env])
            padded = np.pad(screen["tiles"][env], 40, constant_values=-1)
            line, column = (y - 16 + 4) // 8 + 40, (x - 8 + 4) // 8 + 40
            assert np.array_equal(part["tiles"][env], padded[line - 2 : line + 3, column - 3 : column + 4])
            shown = screen["objects"][env][:3].copy()
            shown[:, 1:3] -= (shown[:, :1] * [x - 8, y - 16]).astype(shown.dtype)
            assert np.array_equal(part["objects"][env], shown)
        both = [env.step([step % 6, 4])[0] for env in (whole, near)]
    assert (screen["tiles"] >= 0).all() and screen["objects"][:, 0, 0].all()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"lines": 40}, ValueError, "lines is at most 32, found 40"),
        ({"around": 40}, ValueError, "around is at most 39, found 40"),
        ({"around": "HeroX"}, TypeError, "two places in memory with x and y on the screen"),
        ({"around": ("a b", 1)}, ValueError, "a label or an address, found 'a b'"),
    ],
)
def test_grids_that_cant_be_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        gbxcule.tile_program(**given)
