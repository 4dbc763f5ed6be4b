"""Wrong types and values: every error names the argument, the value found and the values allowed."""

import math
import os
import subprocess
import sys

import gbxcule
import numpy as np
import pytest
from gbxcule import _native
from gbxcule.adapter.pool import SwarmPool
from gbxcule.kernel import func, kernel, struct, wp
from gbxcule.rank import Rank


@kernel
def fill(a: wp.array(dtype=wp.float32)):
    a[wp.tid()] = 1.0


NAN = math.nan
TEXT = "import gbxcule as gb\n" * 99


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rom": 3}, TypeError, "a ROM is a path, its bytes, or the name"),
        ({"rom": ["a.gb"]}, TypeError, "a ROM is a path, its bytes, or the name"),
        ({"num_envs": True}, TypeError, "num_envs is a whole number, found True"),
        ({"num_envs": "4"}, TypeError, "num_envs is a whole number, found '4'"),
        ({"device": 0}, TypeError, 'a device is "cpu", "cuda" or "cuda:N", found 0'),
        ({"frames_per_step": 2.0}, TypeError, "frames_per_step is a whole number, found 2.0"),
        ({"obs": 3}, ValueError, "no observation `3`"),
        ({"obs": ["mean", "gray"]}, ValueError, "dictionaries of these"),
        ({"obs": {1: "mean"}}, TypeError, "the keys of a dictionary of observations are names, found 1"),
        ({"obs": np.zeros(3)}, ValueError, "no observation"),
        ({"grays": "sepia"}, ValueError, r"no grays `sepia`; there are even \(255, 170, 85, 0\), pyboy"),
        ({"reward": [gbxcule.Number("Score")]}, TypeError, "a reward is a gbxcule.Change"),
        ({"reward": gbxcule.Change(1.5)}, TypeError, "an address is a whole number, a label .* found 1.5"),
        ({"done": "task.py", "reward": "other.py"}, ValueError, "`done` names the program `task.py` and `reward` `other.py`: give the same"),
        ({"reward": gbxcule.task}, TypeError, "`reward` takes the path of a program, found the module gbxcule.task; give reward='.*task.py'"),
        ({"done": [gbxcule.Number(0xC000), gbxcule.task]}, TypeError, "`done` takes the path of a program, found the module gbxcule.task"),
        ({"reward": lambda machine: 0.0}, TypeError, r"`reward` takes a program's text, found the function <lambda>: write it with `def`"),
        ({"done": [TEXT.splitlines]}, TypeError, r"the function splitlines: .* and give done=gbxcule.program_text\(\.\.\)"),
        ({"obs": {"task": gbxcule.make_vec}}, TypeError, r"found the function make_vec: .* give obs=gbxcule.program_text\(\.\.\)"),
        ({"resize": "84x84"}, ValueError, r"`resize` is \(lines, columns\), or one number for both, found '84x84'"),
        ({"reward": TEXT}, ValueError, r"no reward `import gbxcule as gb\.\.` \(99 lines"),
        ({"obs": TEXT}, ValueError, r"no observation `import gbxcule as gb\.\.` \(99 lines"),
        ({"rom": TEXT}, ValueError, r"a ROM is a path, found text of several lines, `import gbxcule as gb\.\.` \(99 lines"),
        ({"max_episode_steps": True}, TypeError, "max_episode_steps is a whole number, or False for no limit, found True"),
        ({"max_episode_steps": -2}, ValueError, "max_episode_steps is at least 1"),
        ({"done": 0xC000}, TypeError, "`done` takes a gbxcule.Number"),
        ({"info": [gbxcule.Number("Score")]}, TypeError, "`info` takes a dictionary of names and gbxcule.Number"),
        ({"info": {"score": "Score"}}, TypeError, "takes a gbxcule.Number or a gbxcule.Cell, found 'Score'"),
        ({"info": {1: gbxcule.Number("Score")}}, TypeError, "the names in `info` are strings, found 1"),
        ({"info": {"final_obs": gbxcule.Number("Score")}}, ValueError, "can't have a number named `final_obs`"),
        ({"info": {"_score": gbxcule.Number("Score")}}, ValueError, "names that begin with _"),
        ({"chance": "Random"}, TypeError, "`chance` takes a gbxcule.Number, found 'Random'"),
        ({"symbols": 3}, TypeError, "symbols are the path of a .sym file or a dictionary"),
        ({"symbols": {"wScore": "C000"}}, TypeError, "symbols are addresses by label, found 'wScore': 'C000'"),
        ({"start_state": 3}, TypeError, "start_state is bytes, or the path of a file, found 3"),
        ({"obs": gbxcule.Ram("02:D100")}, ValueError, "address D100 has 2 banks, from 0 on, found bank 2"),
        ({"info": {"x": gbxcule.Number("07:D100")}}, ValueError, "address D100 has 2 banks"),
        ({"starts": {"town": b""}}, TypeError, "starts takes several states, bytes or paths, as in a list"),
        ({"start_state": "nowhere.state"}, FileNotFoundError, "nowhere.state"),
        ({"start_battery": [1]}, TypeError, "start_battery is bytes, or the path of a file"),
        ({"start_battery": bytes(8192)}, ValueError, "^the battery file .* has 8192 bytes, the cartridge has no RAM"),
        ({"autoreset_mode": "always"}, ValueError, "no autoreset mode `always`; there are NextStep, SameStep, Disabled"),
        ({"autoreset_mode": 1}, ValueError, "no autoreset mode `1`"),
        ({"render_mode": 3}, ValueError, "no render mode `3`"),
        ({"copy": "no"}, TypeError, "copy is True or False, found 'no'"),
        ({"threads": 1.5}, TypeError, "threads is a whole number"),
        ({"frames_per_stp": 4}, TypeError, "unexpected keyword argument 'frames_per_stp': did you mean `frames_per_step`"),
        ({"frame_skip": 4}, TypeError, "unexpected keyword argument 'frame_skip': it is `frames_per_step` here"),
        ({"seed": 4}, TypeError, r"make_vec\(\) got an unexpected keyword argument 'seed': pass it to `reset`"),
        ({"xyz": 4}, TypeError, "unexpected keyword argument 'xyz': there are device, frames_per_step"),
        ({"n_envs": 4}, TypeError, "unexpected keyword argument 'n_envs': it is `num_envs` here"),
        ({"headless": True}, TypeError, "unexpected keyword argument 'headless': no window is opened"),
        ({"obs": gbxcule.Ram("score")}, ValueError, "no symbol `score` among the .* known; did you mean `Score`"),
        ({"obs": gbxcule.Ram("qqq")}, ValueError, "no symbol `qqq` among the .* known; expected one of them or a hexadecimal address"),
        ({"rom": "AMBER_ROAD", "model": "dmg"}, ValueError, 'AMBER_ROAD is a Color game, found model="dmg": leave `model` out'),
        ({"rom": "AMBER_ROAD", "model": "sgb2"}, ValueError, "AMBER_ROAD is a Color game"),
        ({"variant": "easy", "difficulty": "easy"}, ValueError, "are the same: leave one of them out"),
        ({"rom": "ALU_LOOP", "obs": "features"}, ValueError, 'obs="features" is the program of a built-in game .*, and ALU_LOOP has none'),
        ({"rom": "ALU_LOOP", "reward": "features"}, ValueError, 'reward="features" is the program of a built-in game'),
        ({"rom": "ALU_LOOP", "done": ["features"]}, ValueError, 'done="features" is the program of a built-in game'),
        ({"rom": "heist"}, FileNotFoundError, "did you mean PEARL_HEIST?"),
        ({"rom": "lantern wing"}, FileNotFoundError, "did you mean LANTERN_WING?"),
        ({"rom": "tetris"}, FileNotFoundError, r"`gbxcule roms`\)$"),
    ],
)
def test_options_that_cant_be_are_named(options, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec(**options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: gbxcule.Ram(1.5), TypeError, r"gbxcule.Ram takes addresses, .* found 1.5"),
        (lambda: gbxcule.Ram(None), TypeError, "found None"),
        (lambda: gbxcule.Ram(["C000"]), TypeError, r"found \['C000'\]"),
        (lambda: gbxcule.Ram(), ValueError, "gbxcule.Ram needs at least one place"),
        (lambda: gbxcule.Flags(b"C000"), TypeError, "gbxcule.Flags takes addresses"),
        (lambda: gbxcule.Flags(), ValueError, "gbxcule.Flags needs at least one place"),
        (lambda: gbxcule.make_vec(obs=gbxcule.Ram(("C000", 1.5))), TypeError, "a count of bytes is a whole number"),
        (lambda: gbxcule.make_vec(obs=gbxcule.Ram(("C000",))), ValueError, "an address and a count of bytes"),
        (lambda: gbxcule.make_vec(obs=gbxcule.Ram((1.5, 2))), TypeError, "an address is a whole number"),
        (lambda: gbxcule.Number("Score", 0), ValueError, "width_bytes is at least 1"),
        (lambda: gbxcule.Number("Score", 8), ValueError, "a number has 1 to 7 bytes, found 8"),
        (lambda: gbxcule.Number("Score", "2"), TypeError, "width_bytes is a whole number, found '2'"),
        (lambda: gbxcule.Change("Score", scale=NAN), ValueError, "a reward's scale is a finite number, found nan"),
        (lambda: gbxcule.Change("Score", scale="5"), ValueError, "a reward's scale is a finite number, found '5'"),
        (lambda: gbxcule.make(seed=4), TypeError, r"make\(\) got an unexpected keyword argument 'seed': pass it to `reset`"),
        (lambda: gbxcule.make(num_envs=4), TypeError, "gbxcule.make makes one machine, gbxcule.make_vec makes many"),
        (lambda: gbxcule.make(autoreset_mode="SameStep"), TypeError, "`autoreset_mode` can't be chosen here"),
        (lambda: gbxcule.make(render_mode="rgb_array_each"), ValueError, "no render mode `rgb_array_each` for one machine"),
        (lambda: gbxcule.make_vec_for_rank(num_envs="4", rank=Rank(0, 1)), TypeError, "num_envs is a whole number"),
        (lambda: gbxcule.make_vec_for_rank(num_envs=4, rank=0), TypeError, "rank is a gbxcule.rank.Rank, found 0"),
        (lambda: Rank("0", 1), TypeError, "rank is a whole number, found '0'"),
        (lambda: SwarmPool(num_envs=4, batch_size=2.5), TypeError, "batch_size is a whole number"),
        (lambda: SwarmPool(num_envs=4).async_reset("7"), TypeError, "a seed is a whole number"),
    ],
)
def test_descriptions_that_cant_be_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_labels_need_symbols():
    with pytest.raises(ValueError, match='no symbol `wScore`: none is known without a .sym file; pass symbols="game.sym"'):
        gbxcule.make_vec(_native.built_in_rom("PEARL_DRIFT"), obs=gbxcule.Ram("wScore"))


@pytest.mark.parametrize(
    ("actions", "action", "message"),
    [
        ("full_v1", [3], r"an action is one whole number, found \[3\]"),
        ("full_v1", 1.0, "an action is one whole number, found 1.0"),
        ("full_v1", None, "an action is one whole number, found None"),
        ("full_v1", 9, "actions are 0 to 8, found 9"),
        ("pad_v1", 3, "an action is 2 whole numbers, found 3"),
        ("pad_v1", [[1], [1, 2]], "an action is 2 whole numbers"),
        (gbxcule.Buttons("A", "B"), [True], r"an action is 2 whole numbers, found \[True\]"),
    ],
)
def test_one_machine_takes_one_action(actions, action, message):
    env = gbxcule.make(actions=actions)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    env.step(env.action_space.sample())


@pytest.fixture(scope="module")
def env():
    return gbxcule.make_vec(num_envs=2)


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (1.5, TypeError, "a seed is a whole number, or one or None for each env, found 1.5"),
        ("7", TypeError, "found '7'"),
        (True, TypeError, "found True"),
        (-1, ValueError, "a seed is not negative, found -1"),
        ([1, -2], ValueError, "a seed is not negative, found -2"),
        ([1, 2.5], TypeError, "found 2.5"),
        ([1, "2"], TypeError, "found '2'"),
        (np.array([1.0, 2.0]), TypeError, "a seed is a whole number"),
        ([1, 2, 3], ValueError, "expected one seed for each of the 2 envs, found 3"),
        ({1, 2}, TypeError, "a seed is a whole number"),
    ],
)
def test_seeds_that_cant_be_are_named(env, seed, error, message):
    with pytest.raises(error, match=message):
        env.reset(seed=seed)


def test_seeds_may_be_an_array(env):
    first, _ = env.reset(seed=[3, 8])
    second, _ = env.reset(seed=np.array([3, 8]))
    third, _ = env.reset(seed=(np.int64(3), None))
    fourth, _ = env.reset(seed=np.array(3))
    assert np.array_equal(first, second)
    assert np.array_equal(first[0], third[0])
    assert np.array_equal(first[0], fourth[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: env.reset(options={"mask": [True]}), ValueError, "no reset option `mask` here; expected reset_mask or"),
        (lambda env: env.reset(seed=3, options={"state": b""}), ValueError, "it is neither a state of this program"),
        (lambda env: env.reset(options={"state": [b""] * 3}), ValueError, "one for each of the 2 marked machines, found 3"),
        (lambda env: env.reset(options={"state": 3}), TypeError, "takes several states, bytes or paths, .* found 3"),
        (lambda env: env.load_states([0, 1], b""), ValueError, r"mask is 2 booleans, one for each env, found int64"),
        (lambda env: env.load_states([True, True], [3]), TypeError, "bytes, or the path of a file, found 3"),
        (lambda env: env.set_starts(b""), TypeError, "starts takes several states, bytes or paths"),
        (lambda env: env.set_starts(env.save_state(0)), TypeError, r"found bytes of \d+ bytes$"),
        (lambda env: env.step([None] * 500), ValueError, r"None, .*\.\.\. \(list\)$"),
        (lambda env: env.set_starts([]), ValueError, "episodes begin in one state at least"),
        (lambda env: env.reset(options=[1]), TypeError, "reset options are a dictionary, found"),
        (lambda env: env.read_memory(-1, "Score"), ValueError, "env -1 does not exist; this swarm has the envs 0 to 1"),
        (lambda env: env.read_memory(2, "Score"), ValueError, "env 2 does not exist"),
        (lambda env: env.read_memory("Score", 0), TypeError, "an env is a whole number, found 'Score'"),
        (lambda env: env.read_memory(0, 1.5), TypeError, "an address is a whole number"),
        (lambda env: env.read_memory(0, None), TypeError, "an address is a whole number"),
        (lambda env: env.write_memory(0, "Score", [7]), TypeError, r"memory takes bytes, found \[7\]"),
        (lambda env: env.write_memory(0, "Score", 7), TypeError, r"as bytes\(\[7\]\)"),
        (lambda env: env.write_memory(0, "Score", "7"), TypeError, "memory takes bytes, found '7'"),
        (lambda env: env.write_memory(-1, "Score", b"7"), ValueError, "env -1 does not exist"),
        (lambda env: env.write_observations_to([0]), TypeError, r"written to a NumPy array, found \[0\]"),
        (lambda env: env.save_state(0.5), TypeError, "an env is a whole number"),
        (lambda env: env.save_state(True), TypeError, "an env is a whole number, found True"),
        (lambda env: env.save_state(0, format=3), ValueError, "no state format `3`"),
        (lambda env: env.load_state(0, 3), TypeError, "a state is bytes, or the path of a file, found 3"),
        (lambda env: env.load_state(9, b""), ValueError, "env 9 does not exist"),
        (lambda env: env.load_battery(0, None), TypeError, "a battery is bytes, or the path of a file"),
        (lambda env: env.save_battery(-2), ValueError, "env -2 does not exist"),
        (lambda env: env.copy_state(0, [0, 1]), ValueError, r"mask is 2 booleans, one for each env, found int64 \(2,\)"),
        (lambda env: env.copy_state(0, [True]), ValueError, "mask is 2 booleans"),
        (lambda env: env.copy_state(-1, [True, True]), ValueError, "env -1 does not exist"),
        (lambda env: env.set_start(None), TypeError, "an env is a whole number, found None"),
        (lambda env: env.cpu_state(-1), ValueError, "env -1 does not exist"),
        (lambda env: env.step("AB"), ValueError, "expected one whole number for each of the 2 envs"),
        (lambda env: env.step(None), ValueError, "expected one whole number for each of the 2 envs, found None"),
        (lambda env: env.step([[1], [2, 3]]), ValueError, r"for each of the 2 envs, found \[\[1\], \[2, 3\]\]"),
        (lambda env: env.step([0, 9]), ValueError, "actions are 0 to 8, found 9 for env 1"),
        (lambda env: env.step([-1, 0]), ValueError, "actions are 0 to 8, found -1 for env 0"),
        (lambda env: env.step([0.0, 1.0]), ValueError, "expected one whole number for .*, found float64"),
        (lambda env: env.checkpoint("nowhere/swarm.ckpt"), FileNotFoundError, "nowhere/swarm.ckpt: there is no folder nowhere, make it first"),
        (lambda env: env.checkpoint("/tmp"), IsADirectoryError, "cannot write /tmp: a folder is in its place"),
    ],
)
def test_calls_that_cant_be_are_named_and_change_nothing(env, call, error, message):
    env.reset(seed=0)
    before = [env.save_state(0), env.save_state(1)]
    with pytest.raises(error, match=message):
        call(env)
    assert [env.save_state(0), env.save_state(1)] == before


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: kernel(3), TypeError, "`@kernel` is for functions, found 3"),
        (lambda: func(None), TypeError, "`@func` is for functions, found None"),
        (lambda: struct("Line"), TypeError, "`@struct` is for classes, found 'Line'"),
        (lambda: fill.launch("4", np.zeros(4, np.float32)), TypeError, "extents are one to four whole numbers"),
        (lambda: fill.launch(-1, np.zeros(4, np.float32)), ValueError, "extents are not negative"),
        (lambda: fill.launch(4, np.zeros(4, np.float32), stream="x"), TypeError, "a stream is a handle, .* found 'x'"),
        (lambda: fill.launch(4, [0.0] * 4), TypeError, "`a`"),
        (lambda: fill.backward(4, np.zeros(4, np.float32), grads=[1]), TypeError, "`grads` takes a dictionary"),
    ],
)
def test_wrong_arguments_of_kernels_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_single_machine_is_reset_to_a_state_and_refuses_other_options():
    env = gbxcule.make(obs="gray")
    begun, _ = env.reset(seed=0, options={})
    state = env.swarm.save_state(0)
    for _ in range(5):
        moved, *_ = env.step(0)
    assert not np.array_equal(moved, begun)
    again, _ = env.reset(options={"state": state})
    assert np.array_equal(again, begun)
    with pytest.raises(ValueError, match="no reset option `reset_mask` here; expected state"):
        env.reset(options={"reset_mask": np.array([True])})


def test_a_reward_that_is_no_number_names_its_env(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(
        "import gbxcule as gb\nimport warp as wp\n\n\n@wp.func\n"
        "def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n"
        "    return wp.sqrt(0.5 - wp.float32(gb.env(machine)))\n"
    )
    env = gbxcule.make_vec(num_envs=3, reward=path, frames_per_step=1)
    env.reset(seed=0)
    with pytest.raises(FloatingPointError, match="computed for env 1 is nan"):
        env.step([0, 0, 0])


def test_states_and_symbols_may_be_files(tmp_path):
    env = gbxcule.make_vec(num_envs=2)
    env.reset(seed=0)
    env.step([3, 4])
    path = tmp_path / "there.state"
    path.write_bytes(env.save_state(1))
    env.load_state(0, path, with_seed=True)
    assert env.save_state(0) == env.save_state(1)
    late = gbxcule.make_vec(num_envs=2, start_state=str(path), start_steps=0)
    late.reset(seed=0)
    assert late.read_memory(1, "Frames:C00A") == env.read_memory(1, "Frames:C00A")


@pytest.mark.parametrize(("frames_per_step", "expected"), [(1, 60), (4, 15), (24, 2), (1000, 1)])
def test_pictures_are_shown_as_fast_as_the_machine_runs(frames_per_step, expected):
    for env in (gbxcule.make(frames_per_step=frames_per_step), gbxcule.make_vec(frames_per_step=frames_per_step)):
        assert env.metadata["render_fps"] == expected
    assert gbxcule.SwarmEnv.metadata["render_fps"] == 2


ENDLESS = """
import os, signal, threading
import gbxcule
{make}
# Shells let what they run in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("make", "call"),
    [
        ("env = gbxcule.make_vec(num_envs=64, start_steps=0, frames_per_step=2**20); env.reset()", "env.step([0] * 64)"),
        ("", "gbxcule.make_vec(frames_per_step=2**20, start_steps=1000)"),
    ],
)
def test_a_long_step_can_be_interrupted(make, call):
    # Hours of frames: a step that doesn't fail at once runs into the limit.
    command = [sys.executable, "-c", ENDLESS.format(make=make, call=call)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grays": None}, "grays is the name of a choice, found None"),
        ({"power_on": 1}, "power_on is the name of a choice, found 1"),
        ({"actions": [["X"]]}, "no button `X`; there are A, B, SELECT"),
    ],
)
def test_choices_have_names(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gbxcule.make_vec(**options)


def test_weights_and_starts_of_other_types_are_named():
    env = gbxcule.make_vec(num_envs=2)
    env.reset(seed=0)
    for weights in (None, 3, "ab"):
        with pytest.raises(TypeError, match="weights are whole numbers, one for each start"):
            env.weigh_starts(weights)
    with pytest.raises(TypeError, match="weights are whole numbers"):
        env.set_starts([env.save_state(0)], weights=3)
    with pytest.raises(TypeError, match=r'options\["state"\] takes several states'):
        env.reset(options={"state": 5})


def test_a_bank_of_cartridge_ram_goes_out_and_in():
    env = gbxcule.make_vec("MBC1_RAM", num_envs=2)
    env.reset(seed=0)
    whole = env.save_battery(0)
    assert len(whole) % 0x2000 == 0
    last = len(whole) // 0x2000 - 1
    assert env.save_battery(0, bank=last) == whole[last * 0x2000 :]
    data = bytes(range(256)) * 32
    env.load_battery(1, data, bank=last)
    assert env.save_battery(1) == whole[: last * 0x2000] + data
    with pytest.raises(ValueError, match=f"no bank {last + 1} of cartridge RAM; this cartridge has {last + 1}"):
        env.save_battery(0, bank=last + 1)
    with pytest.raises(ValueError, match="has 8192 bytes, found 3"):
        env.load_battery(0, b"abc", bank=0)
    with pytest.raises(ValueError, match="this cartridge has 0"):
        gbxcule.make_vec().save_battery(0, bank=0)


def test_a_reward_that_counts_for_nobody_may_be_no_number(tmp_path):
    # The step after an episode's end is the reset: its reward is 0, even if a program pays in a
    # game that is over.
    path = tmp_path / "task.py"
    path.write_text(
        "import gbxcule as gb\nimport warp as wp\n\n\n@wp.func\n"
        "def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n"
        "    return wp.sqrt(2.5 - wp.float32(gb.frames(machine)))\n"
    )
    env = gbxcule.make_vec(num_envs=2, reward=path, frames_per_step=1, max_episode_steps=2)
    env.reset(seed=0)
    for _ in range(7):
        _, rewards, *_ = env.step([0, 0])
        assert np.isfinite(rewards).all()


def test_a_with_statement_closes_an_environment():
    with gbxcule.make_vec(num_envs=2) as env:
        env.reset(seed=0)
    assert env.closed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_only_files_of_a_sensible_size_are_read(tmp_path):
    pipe, large, empty = tmp_path / "pipe", tmp_path / "large", tmp_path / "empty"
    os.mkfifo(pipe)
    empty.touch()
    with large.open("wb") as file:
        file.truncate(1 << 36)
    # Reading any of these files would never end, or take more memory than the computer has.
    for path in (pipe, large, "/dev/zero", tmp_path):
        for read in (
            lambda path: gbxcule.make_vec(path),
            lambda path: gbxcule.make_vec(start_state=path),
            lambda path: gbxcule.make_vec(start_battery=path),
            lambda path: gbxcule.make_vec(starts=[path]),
            lambda path: gbxcule.make_vec(symbols=path),
            lambda path: gbxcule.restore(path),
        ):
            with pytest.raises((ValueError, OSError), match="not a file|are read|not a checkpoint"):
                read(path)
    with pytest.raises(ValueError, match="not a checkpoint of this program"):
        gbxcule.restore(empty)
