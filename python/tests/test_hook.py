"""Hooks, steps that end by a predicate, masks of actions, and programs' arrays in infos."""

import io

import gbxcule
import numpy as np
import pytest
from gbxcule import _native

TASK = '''import gbxcule as gb
import warp as wp

SCRATCH = 2
OBS_DIM = 1
ACTIONS = 9


@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] += 1.0
    scratch[1] = wp.float32(gb.pc(machine))


@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    return gb.step_frames(machine) == 5 + gb.env(machine)


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return wp.float32(gb.step_frames(machine))


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[0]


@wp.func
def action_mask(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), mask: wp.array(dtype=wp.float32)):
    mask[wp.int32(scratch[0]) % 9] = 0.0
'''
LABELS = ("ReadButtons", "NextRandom", "Steer", "MoveThing", "Spawn", "Catch", "Multiplier")


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    return path


def test_hooks_count_what_pyboys_count(tmp_path):
    pyboy = pytest.importorskip("pyboy", reason="pyboy is not installed")
    path = tmp_path / "game.gb"
    path.write_bytes(_native.built_in_rom("PEARL_DRIFT"))
    boy = pyboy.PyBoy(str(path), window="null", sound_emulated=False, log_level="CRITICAL")
    boy.set_emulation_speed(0)
    boy.tick(300, False)
    state = io.BytesIO()
    boy.save_state(state)
    hooks = {label: label for label in LABELS}
    # A game from a file has no chance of its own.
    symbols = gbxcule.make_vec("PEARL_DRIFT").symbols
    env = gbxcule.make_vec(str(path), hooks=hooks, symbols=symbols, start_state=state.getvalue(), start_steps=0)
    env.reset(seed=0)
    counted = dict.fromkeys(LABELS, 0)

    def count(label):
        counted[label] += 1

    for label in LABELS:
        boy.hook_register(0, env.symbols[label], count, label)
    rng = np.random.default_rng(4)
    for step in range(120):
        action = 2 if step < 3 else int(rng.integers(9))
        before = dict(counted)
        name = env.action_names[action].lower()
        if name != "noop":
            boy.button_press(name)
        boy.tick(8, False)
        if name != "noop":
            boy.button_release(name)
        boy.tick(16, False)
        *_, infos = env.step(np.array([action]))
        for label in LABELS:
            assert infos[label][0] == counted[label] - before[label], (step, label)
    boy.stop(save=False)
    assert all(counted.values()), counted
    assert {label: env.hook_counts(label)[0] for label in LABELS} == counted


def test_a_program_is_called_at_a_hook_and_ends_steps_and_masks_actions(task):
    env = gbxcule.make_vec(
        num_envs=3,
        reward=task,
        obs=task,
        hooks={"caught": gbxcule.Hook("NextRandom", calls="caught"), "wrapped": "00:0150"},
        info={"kept": gbxcule.Cell(1), "of_obs": gbxcule.Cell(0, of="obs"), "score": gbxcule.Number("Score", 2)},
        autoreset_mode="SameStep",
        max_episode_steps=30,
    )
    obs, infos = env.reset(seed=1)
    assert infos["caught"].tolist() == [0, 0, 0] and infos["kept"].tolist() == [0, 0, 0]
    assert infos["action_mask"].dtype == np.int8 and infos["action_mask"].shape == (3, 9)
    assert not infos["action_mask"][:, 0].any() and infos["action_mask"][:, 1:].all()
    total = np.zeros(3)
    for step in range(30):
        actions = np.array([env.single_action_space.sample(mask=mask) for mask in infos["action_mask"]])
        actions = np.full(3, 2) if step < 20 else actions
        obs, rewards, _, truncated, infos = env.step(actions)
        assert rewards.tolist() == [5, 6, 7], "frames of a step that settles"
        if not truncated.any():
            total += infos["caught"]
            assert (obs[:, 0] == total).all() and (infos["of_obs"] == total).all()
            assert env.hook_counts("caught").tolist() == total.tolist()
            assert (infos["action_mask"].argmin(axis=1) == total % 9).all()
    final = infos["final_info"]
    assert (final["kept"] == env.symbols["NextRandom"]).all() and (total > 0).all()
    assert (final["of_obs"] == total + final["caught"]).all()
    assert env.hook_counts("caught").tolist() == [0, 0, 0] == infos["caught"].tolist()
    with pytest.raises(ValueError, match="no hook `other`; there are caught, wrapped"):
        env.hook_counts("other")


def test_a_hook_ends_the_step_with_its_frame():
    options = {"num_envs": 2, "obs": "gray", "frames_per_step": 60}
    env = gbxcule.make_vec(hooks={"read": gbxcule.Hook("ReadButtons", ends_step=True)}, **options)
    theirs = gbxcule.make_vec(**options | {"frames_per_step": 1, "release_after_frames": 1})
    env.reset(seed=0)
    theirs.reset(seed=0)
    for source in (0, 1):
        theirs.load_state(source, env.save_state(source))
    for step in range(20):
        actions = np.array([step % 9, 8])
        obs, *_, infos = env.step(actions)
        # The game reads its buttons once in each frame.
        assert infos["read"].tolist() == [1, 1]
        assert np.array_equal(obs, theirs.step(actions)[0])


def test_a_checkpoint_and_a_single_env_have_them_too(task, tmp_path):
    options = {"reward": task, "obs": task, "hooks": {"caught": gbxcule.Hook("NextRandom", calls="caught")}}
    env = gbxcule.make_vec(num_envs=2, info={"kept": gbxcule.Cell(0)}, **options)
    env.reset(seed=2)
    for _ in range(25):
        env.step(np.array([2, 0]))
    env.checkpoint(tmp_path / "swarm.ckpt")
    again = gbxcule.restore(tmp_path / "swarm.ckpt")
    assert again.hook_counts("caught").tolist() == env.hook_counts("caught").tolist()
    assert again.symbols["NextRandom"].bank == env.symbols["NextRandom"].bank
    for actions in np.random.default_rng(0).integers(9, size=(10, 2)):
        ours, theirs = env.step(actions), again.step(actions)
        assert np.array_equal(ours[0], theirs[0])
        assert all(np.array_equal(ours[4][name], theirs[4][name]) for name in ("caught", "kept", "action_mask"))
    one = gbxcule.make(**options)
    _, info = one.reset(seed=0)
    assert info["caught"] == 0 and info["action_mask"].shape == (9,)
    one.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hooks": ["Catch"]}, "`hooks` takes a dictionary"),
        ({"hooks": {"a": "Nowhere"}}, "no symbol `Nowhere`"),
        ({"hooks": {"a": "zz:0150"}}, "a label or bank:address"),
        ({"hooks": {"a": "05:4150"}}, "there is no bank 5 for a hook at 4150: the ROM has the banks 0 to"),
        ({"hooks": {"a": "01:0150"}}, "no hook can be at 01:0150: this cartridge has bank 0 below 4000"),
        ({"hooks": {"a": gbxcule.Hook("Catch", calls="caught")}}, "calls a function of a program, and no program is given"),
        ({"hooks": {"a": gbxcule.Hook("Catch", calls="caught")}, "reward": "reward_v0"}, "`reward_v0` defines no `caught`"),
        ({"hooks": {"action_mask": "Catch"}}, "`hooks` can't have a number named `action_mask`"),
        ({"hooks": {"score": "Catch"}, "info": {"score": gbxcule.Number("Score")}}, "both have `score`"),
        ({"info": {"kept": gbxcule.Cell(3)}}, "is a cell of a program, and no program is given"),
        ({"info": {"kept": gbxcule.Cell(3)}, "reward": "reward_v0"}, "no cell 3 in its scratch"),
        ({"info": {"kept": gbxcule.Cell(0, array="byte_scratch")}, "reward": "reward_v0"}, "BYTE_SCRATCH = 0"),
    ],
)
def test_wrong_hooks_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        gbxcule.make_vec(**options)


def test_all_of_a_small_rom_may_be_called_bank_0(tmp_path):
    rom = bytearray(gbxcule._native.built_in_rom("ALU_LOOP"))
    rom[0x100:0x104] = b"\x00\xc3\x00\x40"
    rom[0x4000:0x4004] = b"\x3c\xc3\x00\x40"
    (tmp_path / "loop.sym").write_text("00:4000 Loop\n")
    hooks = {"label": "Loop", "bank_0": "00:4001", "bank_1": "01:4001"}
    for left_out in ("bank_0", "bank_1"):
        kept = {name: place for name, place in hooks.items() if name != left_out}
        env = gbxcule.make_vec(bytes(rom), 1, symbols=tmp_path / "loop.sym", hooks=kept)
        env.reset(seed=0)
        *_, infos = env.step([0])
        assert all(infos[name][0] > 1000 for name in kept)


def test_a_mask_of_another_codec_is_refused(task):
    with pytest.raises(ValueError, match="says `ACTIONS = 9`, the codec pokemonred_puffer_v1 has 7 actions"):
        gbxcule.make_vec(reward=task, actions="pokemonred_puffer_v1")


def test_two_names_may_stand_for_one_place(task):
    main = gbxcule.make_vec(num_envs=1).symbols["Main"]
    place = f"{main.bank:02x}:{main:04x}"
    hooks = {"loop": "Main", "again": gbxcule.Hook(place, ends_step=True), "over": "Main.over"}
    env = gbxcule.make_vec(num_envs=2, hooks=hooks)
    alone = gbxcule.make_vec(num_envs=2, hooks={"loop": gbxcule.Hook("Main", ends_step=True)})
    env.reset(seed=0), alone.reset(seed=0)
    for _ in range(5):
        info, expected = env.step([3, 4])[-1], alone.step([3, 4])[-1]
        assert info["loop"].tolist() == info["again"].tolist() == expected["loop"].tolist()
    assert (env.hook_counts("again") == alone.hook_counts("loop")).all() and env.hook_counts("loop").all()
    two = {"a": gbxcule.Hook("Main", calls="caught"), "b": gbxcule.Hook("Main", calls="met")}
    with pytest.raises(ValueError, match=f"the hooks `a` and `b` are both at {place} and call two functions, `caught` and"):
        gbxcule.make_vec(hooks=two, reward=task)
