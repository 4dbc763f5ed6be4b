"""States and checkpoints: a restored swarm continues bit for bit, and damaged bytes are refused."""

import copy
import json
import os
import pathlib
import pickle
import random

import gbxcule
import gymnasium
import numpy as np
import pytest
from gbxcule._native import env_seeds
from gbxcule.checkpoint import env_of, note_of
from gbxcule.rank import Rank

TASK = pathlib.Path(__file__).with_name("test_begin.py").read_text().split("'''")[1]


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    return path


def made(task, **options):
    return gbxcule.make_vec(num_envs=3, obs={"own": task, "screen": "mean"}, reward=task, max_episode_steps=7,
                            **options)


def played(env, first, last):
    rng = np.random.default_rng(first)
    outcomes = []
    for _ in range(first, last):
        if env.autoreset_mode.value == "Disabled" and env._over.any():
            outcomes.append(env.reset(options={"reset_mask": env._over.copy()}))
        outcomes.append(env.step(rng.integers(9, size=env.num_envs)))
    outcomes.append([env.save_state(one) for one in range(env.num_envs)])
    outcomes.append([env.action_space.sample(), env.np_random.integers(2**40)])
    return outcomes


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return same(list(one), list(other))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_checkpoint_goes_on_bit_for_bit(task, tmp_path, mode):
    env = made(task, autoreset_mode=mode)
    env.reset(seed=5)
    env.action_space.seed(3)
    # In the middle of episodes, and after some have ended.
    for first, last in ((0, 3), (3, 7)):
        played(env, first, last)
        env.checkpoint(tmp_path / "swarm.ckpt")
        other = gbxcule.restore(tmp_path / "swarm.ckpt")
        third = pickle.loads(pickle.dumps(env))
        assert env._swarm.episode(1) == other._swarm.episode(1) == third._swarm.episode(1)
        expected = played(copy.deepcopy(env), last, last + 20)
        assert same(played(other, last, last + 20), expected)
        assert same(played(third, last, last + 20), expected)
    assert os.listdir(tmp_path) and not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize(
    "actions",
    [[["A", "RIGHT"], gbxcule.Press("A", frames=3), []], gbxcule.Choices(["A", "B"], ["UP", []]), gbxcule.Buttons("A", "UP")],
)
def test_a_checkpoint_has_actions_of_ones_own_the_battery_and_the_grays(tmp_path, actions):
    battery = tmp_path / "game.sav"
    battery.write_bytes(bytes(range(256)) * 128)
    env = gbxcule.make_vec("MBC1_RAM", 2, actions=actions, grays="pyboy", obs="gray", start_battery=battery)
    env.reset(seed=1)
    battery.unlink()
    env.checkpoint(tmp_path / "swarm.ckpt")
    other = gbxcule.restore(tmp_path / "swarm.ckpt")
    assert other.codec == env.codec and other.action_space == env.action_space
    env.action_space.seed(2)
    for _ in range(5):
        pressed = env.action_space.sample()
        assert same(other.step(pressed), env.step(pressed))
    assert same(other.reset(seed=4), env.reset(seed=4))
    assert other.save_battery(1) == env.save_battery(1)
    assert np.array_equal(other.screens(), env.screens())


def test_a_battery_is_in_the_cartridge_of_every_start(tmp_path):
    file = bytes(range(256)) * 128
    states = []
    for steps in (0, 3):
        env = gbxcule.make_vec("MBC1_RAM", start_steps=steps)
        states.append(env.save_state(0))
    env = gbxcule.make_vec("MBC1_RAM", 8, starts=states, start_battery=file, start_steps=0)
    env.reset(seed=0)
    assert {env.save_battery(one) for one in range(8)} == {file}
    assert len({env.save_state(one) for one in range(8)}) > 1


def test_a_single_environment_is_pickled_too(task):
    env = gbxcule.make(obs=task, reward=task, max_episode_steps=9)
    env.reset(seed=4)
    env.step(3)
    other = pickle.loads(pickle.dumps(env))
    for action in range(6):
        assert same(env.step(action), other.step(action))


def test_a_checkpoint_needs_no_file_that_the_environment_was_made_of(task, tmp_path):
    rom = tmp_path / "game.gb"
    rom.write_bytes(gbxcule._native.built_in_rom("PEARL_DRIFT"))
    env = gbxcule.make_vec(rom, 2, obs=task, reward=task, info={"score": gbxcule.Number(0xC000, 2)},
                           chance=gbxcule.Number(0xC010, 2), done=gbxcule.Number(0xC003), start_steps=5)
    env.reset(seed=2)
    played(env, 0, 4)
    env.checkpoint(tmp_path / "swarm.ckpt")
    rom.unlink()
    task.unlink()
    other = gbxcule.restore(tmp_path / "swarm.ckpt", threads=1)
    assert same(played(other, 4, 12), played(env, 4, 12))


def test_rewards_of_memory_and_dictionaries_come_back(tmp_path):
    env = gbxcule.make_vec(num_envs=2, obs={"ram": gbxcule.Ram("Score", ("C000", 4)), "flags": gbxcule.Flags(0xC003)},
                           reward=[gbxcule.Change("Score", 2), gbxcule.Change("Hulls", scale=3.0)], frames_per_step=8)
    env.reset(seed=2)
    played(env, 0, 5)
    env.checkpoint(tmp_path / "a")
    assert same(played(gbxcule.restore(tmp_path / "a"), 5, 30), played(env, 5, 30))


def test_a_state_carries_what_programs_keep_and_its_seed(task):
    env = gbxcule.make_vec(num_envs=2, obs=task, reward=task, max_episode_steps=6)
    env.reset(seed=5)
    played(env, 0, 4)
    state = env.save_state(0)
    env.load_state(1, state)
    obs, rewards, *_ = env.step([3, 3])
    assert np.array_equal(obs[0], obs[1]) and rewards[0] == rewards[1]
    assert env._swarm.episode(1)[:2] == (env_seeds(5, 1, 1)[0], 1)
    env.load_state(1, state, with_seed=True)
    assert env._swarm.episode(1)[:2] == (5, 1)


def test_a_state_of_other_programs_begins_these(task, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(TASK.replace("SCRATCH = 2", "SCRATCH = 5"))
    theirs = gbxcule.make_vec(num_envs=1, obs=other, reward=other)
    theirs.reset(seed=1)
    theirs.step([0])
    ours = gbxcule.make_vec(num_envs=1, obs=task, reward=task)
    ours.reset(seed=1)
    ours.load_state(0, theirs.save_state(0))
    obs, *_ = ours.step([8])
    assert obs[0][0] == 1


def test_many_envs_are_written_to_and_loaded_at_once(task):
    env = gbxcule.make_vec(num_envs=4, obs=task, reward=task)
    env.reset(seed=3)
    played(env, 0, 3)
    states = [env.save_state(one) for one in (0, 1)]
    mask = np.array([False, True, False, True])
    one_by_one = copy.deepcopy(env)
    env.load_states(mask, states)
    env.write_memories(mask, "Score", np.array([[7, 1], [9, 2]], np.uint8))
    for place, one in enumerate((1, 3)):
        one_by_one.load_state(one, states[place])
        one_by_one.write_memory(one, "Score", [b"\x07\x01", b"\x09\x02"][place])
    assert same(played(env, 3, 9), played(one_by_one, 3, 9))
    env.load_states(mask, states[0])
    assert env.read_memory(1, ("C000", 4096)) == env.read_memory(3, ("C000", 4096))
    assert env.save_state(1) != env.save_state(3), "their seeds are their own"
    before = [env.save_state(one) for one in range(4)]
    for wrong in ([states[0]] * 3, [states[0], b"damaged"]):
        with pytest.raises(ValueError):
            env.load_states(mask, wrong)
    with pytest.raises(ValueError, match="a row of uint8 for each of the 2 marked envs"):
        env.write_memories(mask, "Score", np.zeros((3, 2), np.uint8))
    assert before == [env.save_state(one) for one in range(4)]


def test_damage_is_refused(task, tmp_path):
    env = made(task)
    env.reset(seed=1)
    path = tmp_path / "swarm.ckpt"
    env.checkpoint(path)
    whole, state = path.read_bytes(), env.save_state(0)
    rng = random.Random(1)
    for _ in range(60):
        for bytes_, use in ((whole, env_of), (state, lambda bytes_: env.load_state(0, bytes_))):
            cut = rng.randrange(len(bytes_))
            changed = bytearray(bytes_)
            changed[cut] ^= 1 << rng.randrange(8)
            for damaged in (bytes_[:cut], bytes(changed), bytes_ + b"\0"):
                with pytest.raises(ValueError):
                    use(damaged)
    with pytest.raises(ValueError, match="cut off or damaged"):
        env_of(whole[:-1])
    with pytest.raises(ValueError, match="not a checkpoint of this program"):
        env_of(state)
    other = tmp_path / "other.bin"
    other.write_bytes(state)
    with pytest.raises(ValueError, match="other.bin: not a checkpoint of this program"):
        gbxcule.restore(other)
    with pytest.raises(ValueError, match="swarm.ckpt is no part of a job: give it in a list"):
        gbxcule.restore(path, rank=Rank(1, 2))
    with pytest.raises(FileNotFoundError):
        gbxcule.restore(tmp_path / "nowhere")
    with pytest.raises(OSError):
        env.checkpoint(tmp_path / "no folder" / "swarm.ckpt")
    assert path.read_bytes() == whole


def test_a_copy_is_what_its_original_is():
    gbxcule.register()
    made = gymnasium.make_vec("gbxcule/PearlDrift-v1", num_envs=2, vectorization_mode="vector_entry_point")
    part = gbxcule.make_vec_for_rank(num_envs=6, rank=Rank(1, 3))
    for env in (made, part):
        env.reset(seed=3)
        other = pickle.loads(pickle.dumps(env))
        assert (type(other), other.spec) == (type(env), env.spec)
        # `seed` is the seed of the first env of all processes.
        assert np.array_equal(other.reset(seed=5)[0], env.reset(seed=5)[0])


def test_a_checkpoint_names_a_generator_of_random_numbers_and_nothing_else_of_numpy():
    env = gbxcule.make_vec(num_envs=1)
    env.np_random = np.random.Generator(np.random.Philox(7))
    again = env_of(env._swarm.checkpoint(note_of(env)))
    assert again.np_random.integers(2**40) == env.np_random.integers(2**40)
    note = note_of(env).replace(b'"Philox"', b'"default_rng"')
    with pytest.raises(ValueError, match="no generator of random numbers `default_rng`; there are MT19937, PCG64"):
        env_of(env._swarm.checkpoint(note))


def test_a_checkpoint_of_the_first_meaning_has_no_limit_and_both_ends(task):
    env = gbxcule.make_vec(num_envs=2, reward=task, done=[gbxcule.Number("Hulls"), task], max_episode_steps=False)
    env.reset(seed=1)
    note = json.loads(note_of(env))
    rows = dict((key, row) for row, (key, _) in enumerate(note[1]))
    del note[1][rows["meaning"]]
    arguments = next(value for key, value in note[1] if key == "arguments")
    for pair in arguments[1]:
        if pair[0] == "max_episode_steps":
            pair[1] = None
        if pair[0] == "done":
            pair[1] = pair[1][1][0]
    again = env_of(env._swarm.checkpoint(json.dumps(note).encode()))
    assert again.max_episode_steps is None and again._measure.program_ends and len(again._measure.ends) == 1
    assert again.step([8, 8])[2].tolist() == env.step([8, 8])[2].tolist() == [True, True]


ATTACKS = json.loads((pathlib.Path(__file__).parent / "attacks" / "notes.json").read_text())


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda it: "-".join([it["generator"], *it["at"], str(it["value"])[:20]]))
def test_a_hostile_note_is_a_damaged_checkpoint(attack):
    env = gbxcule.make_vec(num_envs=1)
    env.np_random = np.random.Generator(getattr(np.random, attack["generator"])(7))
    note = json.loads(note_of(env))
    changed = attack["value"] if not attack["at"] else note
    part = note
    for place, name in enumerate(attack["at"], 1):
        # A mapping is kept as `["dict", pairs]`.
        pair = next(pair for pair in part[1] if pair[0] == name)
        if place == len(attack["at"]):
            pair[1] = attack["value"]
        part = pair[1]
    with pytest.raises(ValueError, match="damaged"):
        env_of(env._swarm.checkpoint(json.dumps(changed).encode()))


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_every_generator_of_numpy_goes_on_where_it_was(name):
    env = gbxcule.make_vec(num_envs=1)
    env.np_random = np.random.Generator(getattr(np.random, name)(7))
    env.np_random.integers(9, size=3, dtype=np.uint32)
    again = env_of(env._swarm.checkpoint(note_of(env)))
    assert np.array_equal(again.np_random.integers(2**40, size=999), env.np_random.integers(2**40, size=999))
