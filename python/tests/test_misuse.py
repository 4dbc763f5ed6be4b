"""Wrong arguments of every kind: the error names the remedy, and nothing has changed."""

import pickle

import gbxcule
import gymnasium
import numpy as np
import pytest
from gbxcule import _native
from gbxcule.adapter.pool import SwarmPool
from gbxcule.kernel import array, from_file, from_text, kernel, struct, synchronize, wp
from gbxcule.rank import Rank


@struct
class Line:
    x: wp.float32
    to: wp.vec3


@kernel
def draw(line: Line, a: wp.array(dtype=wp.float32)):
    a[wp.tid()] = line.x + line.to[0]


TASK = """import gbxcule as gb
import warp as wp

SCRATCH = 1


@wp.func
def fill(machine: gb.Machine):
    for place in range(65):
        gb.write(machine, 0xC0F0 + place, 1)


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    {begin}


@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    {caught}


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return scratch[0]
"""


def task(folder, begin="pass", caught="pass"):
    path = folder / "task.py"
    path.write_text(TASK.format(begin=begin, caught=caught))
    return path


@pytest.fixture(scope="module")
def env():
    return gbxcule.make_vec(num_envs=2)


@pytest.mark.parametrize(
    ("place", "bytes_written", "message"),
    [
        (("Score", 2), 3, r"`\('Score', 2\)` has 2 bytes, found 3 to write; write 2 bytes, or give only the first address"),
        (("Score", 2), 1, "has 2 bytes, found 1 to write"),
        ("C0F0:C100", 40, "`C0F0:C100` has 16 bytes, found 40"),
        (("01:D000", 2), 3, "has 2 bytes, found 3"),
        (0xFFFF, 2, "addresses 0xffff to 0x10001 are not inside 0x0000 to 0x10000"),
        ("01:DFFF", 2, "2 bytes from 01:DFFF on leave the bank, whose last address here is DFFF: name fewer bytes"),
        ("00:9FF0", 17, "17 bytes from 00:9FF0 on leave the bank, whose last address here is 9FFF"),
        (0x150, 1, "`0150` is in ROM, which can't be written; writable memory begins at 8000"),
        (("01:D000", 2, 3), 2, "a place is an address and a count of bytes"),
    ],
)
def test_bytes_that_do_not_fit_their_place_are_not_written(env, place, bytes_written, message):
    env.reset(seed=0)
    before = [env.save_state(0), env.save_state(1)]
    with pytest.raises(ValueError, match=message):
        env.write_memory(1, place, bytes(range(1, bytes_written + 1)))
    with pytest.raises(ValueError, match=message):
        env.write_memories([True, True], place, np.full((2, bytes_written), 7, np.uint8))
    assert [env.save_state(0), env.save_state(1)] == before


def test_a_place_that_is_filled_is_written(env):
    env.reset(seed=0)
    for place in (("C0F0", 3), "C0F0:C0F3", 0xC0F0, "C0F0"):
        env.write_memory(0, place, b"\1\2\3")
        assert env.read_memory(0, ("C0F0", 3)) == b"\1\2\3"
        env.write_memory(0, ("C0F0", 3), bytes(3))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("01:DFFF", 2), "2 bytes from 01:DFFF on leave the bank"),
        (("01:7FFF", 2), "whose last address here is 7FFF"),
        (("FFFF", 2), "not a range inside"),
        ("C010:C00F", "the range `C010:C00F` ends at 0xc00f, before it begins at 0xc010: name its lower end first"),
    ],
)
def test_places_that_leave_their_bank_are_not_read(env, place, message):
    with pytest.raises(ValueError, match=message):
        env.read_memory(0, place)
    with pytest.raises(ValueError, match=message):
        gbxcule.make_vec(obs=gbxcule.Ram(place))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env, path: gbxcule.restore(path, threads=0), ValueError, "threads is at least 1 and below"),
        (lambda env, path: gbxcule.restore(path, threads="a"), TypeError, "threads is a whole number, found 'a'"),
        (lambda env, path: gbxcule.restore(path, threads=True), TypeError, "threads is a whole number, found True"),
        (lambda env, path: gbxcule.restore(path, device=3), TypeError, 'a device is "cpu", "cuda" or "cuda:N", found 3'),
        (lambda env, path: gbxcule.restore(3), TypeError, "restore takes the path of a checkpoint, or a list of the paths of all parts of a job, found 3"),
        (lambda env, path: gbxcule.restore(path.read_bytes()), TypeError, "restore takes the path of a checkpoint, .* found bytes of"),
        (lambda env, path: gbxcule.restore([]), ValueError, "restore takes the paths of all parts of a job, found an empty list"),
        (lambda env, path: gbxcule.restore(""), ValueError, "a checkpoint is a path, found an empty string"),
        (lambda env, path: env.checkpoint(None), TypeError, "a checkpoint is a path, .* found None"),
        (lambda env, path: env._film(3, b"", b""), TypeError, "a film is a path, .* found 3"),
        (lambda env, path: env._film("a.png", b"", b"\0"), ValueError, "name a file that ends in one of them"),
        (lambda env, path: env._film("a.gif", 3, b"\0"), TypeError, "a state is bytes, or the path of a file, found 3"),
        (lambda env, path: env._film("a.gif", env.save_state(0), [0, 1]), TypeError, "bytes, one for each step, found"),
        (lambda env, path: env._film("a.gif", env.save_state(0), np.zeros(2, np.uint8)), TypeError, "one for each step"),
        (lambda env, path: env._film("a.gif", env.save_state(0), b""), ValueError, "an episode has at least one step"),
        (lambda env, path: env.write_observations_to(np.zeros((2, 72, 80))), ValueError, r"np.empty\(\(2, 72, 80\), np.uint8"),
        (
            lambda env, path: env.write_observations_to(np.zeros((2, 72, 160), np.uint8)[:, :, ::2]),
            ValueError,
            "in C order without gaps .* np.ascontiguousarray",
        ),
        (lambda env, path: gbxcule.RecordBest(env, path), NotADirectoryError, "a.ckpt is a file: name another folder"),
        (lambda env, path: gbxcule.RecordBest(env, path / "films"), NotADirectoryError, "a.ckpt is a file"),
        (lambda env, path: gbxcule.RecordBest(env, 3), TypeError, "the folder of films is a path, .* found 3"),
        (lambda env, path: env.save_state(0, format=[1]), ValueError, r"no state format `\[1\]`; there are gbxcule, bess"),
        (lambda env, path: env.load_state(0, env.save_state(0), with_seed="a"), TypeError, "with_seed is True or False"),
        (lambda env, path: env.load_state(0, ""), ValueError, "a state is a path, found an empty string"),
        (lambda env, path: env.hook_counts([1]), ValueError, "no hook"),
        (lambda env, path: env.copy_state(0, [[True], [True, False]]), ValueError, "mask is 2 booleans"),
        (lambda env, path: env.write_memories([True, True], "C0F0", [[1], [2, 3]]), ValueError, "all of one length"),
        (lambda env, path: env.reset(options={"reset_mask": [True, False]}), ValueError, r"np.array\(mask, bool\) makes one"),
    ],
)
def test_a_wrong_call_says_what_to_do(env, tmp_path, call, error, message):
    env.reset(seed=0)
    path = tmp_path / "a.ckpt"
    env.checkpoint(path)
    with pytest.raises(error, match=message):
        call(env, path)


def test_unaligned_arrays_and_dictionaries_are_refused_for_observations():
    unaligned = np.frombuffer(bytearray(32 * 4 + 1), np.uint8)[1:].view(np.float32).reshape(1, 32)
    with pytest.raises(ValueError, match="that is aligned"):
        gbxcule.make_vec(obs="obs_v0").write_observations_to(unaligned)
    with pytest.raises(ValueError, match="ask make_vec for one observation, or use copy=False"):
        gbxcule.make_vec(obs={"a": "mean"}).write_observations_to(np.zeros((1, 72, 80), np.uint8))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"chance": gbxcule.Number("Random", 3)}, ValueError, "a number that chance draws has 1 or 2 bytes, found 3"),
        ({"chance": gbxcule.Number("Random", 2, bcd=True)}, ValueError, "leave out bcd=True"),
        ({"chance": gbxcule.Number(0x4000)}, ValueError, "chance can't be drawn at 4000: ROM stays as it is"),
        ({"symbols": {"wScore": True}}, TypeError, "symbols are addresses by label, found 'wScore': True"),
        ({"render_mode": np.array(["rgb_array"])}, ValueError, "no render mode"),
        ({"reward": b"task.py"}, TypeError, "the name of a program, or False for no reward, found b'task.py'"),
        ({"reward": "LAST_BEACON"}, ValueError, 'reads the memory of LAST_BEACON, and this is PEARL_DRIFT: give "PEARL_DRIFT"'),
        ({"rom": "EMBER_LEAP", "obs": {"f": "TARN_MASON"}}, ValueError, "and this is EMBER_LEAP"),
        ({"done": True}, TypeError, "or False if nothing ends an episode, found True"),
        ({"actions": gbxcule.Buttons("A", "A")}, ValueError, "the button A stands twice in gbxcule.Buttons"),
    ],
)
def test_more_options_that_cant_be_are_named(options, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec(**options)


def test_a_pool_refuses_the_mode_in_which_single_envs_are_reset():
    with pytest.raises(ValueError, match="SwarmPool resets all envs or none: autoreset_mode is NextStep or SameStep"):
        SwarmPool(num_envs=2, autoreset_mode="Disabled")


@pytest.mark.parametrize("scale", [True, 1j, np.complex64(1), 10**400, 1e300, np.float32("nan"), None, np.array(1.0)])
def test_a_scale_is_a_finite_number(scale):
    with pytest.raises(ValueError, match="a reward's scale is a finite number"):
        gbxcule.Change("Score", scale=scale)


def test_changes_that_are_too_large_are_no_reward():
    env = gbxcule.make_vec(num_envs=2, reward=gbxcule.Change("C0F0", scale=3e38))
    env.reset(seed=0)
    hidden = env._swarm
    hidden.write_memory(1, 0xC0F0, b"\x09")
    with pytest.raises(FloatingPointError, match="too large for a float32: give them smaller scales"):
        env.step([8, 8])


@pytest.mark.parametrize("where", ["begin", "caught"])
def test_a_function_that_writes_too_much_is_named_where_it_is_defined(tmp_path, where):
    path = task(tmp_path, **{where: "fill(machine)"})
    line = 1 + path.read_text().splitlines().index(
        f"def {where}(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):"
    )
    env = gbxcule.make_vec(num_envs=2, reward=path, hooks={"steer": gbxcule.Hook("Steer", calls="caught")})
    with pytest.raises(ValueError, match="a function writes at most 64 bytes before it returns") as raised:
        env.reset(seed=0)
        for _ in range(30):
            env.step([4, 4])
    assert f"--> {path}:{line}:5" in str(raised.value), raised.value


def test_a_hook_calls_a_function_of_its_own(tmp_path):
    path = task(tmp_path)
    for name in ("reward", "done", "observe", "settled", "action_mask"):
        with pytest.raises(ValueError, match=f"a hook can't call `{name}`, which runs after .*: give the hook a function"):
            gbxcule.make_vec(reward=path, hooks={"steer": gbxcule.Hook("Steer", calls=name)})


def test_seeds_of_a_rank_are_checked_before_they_are_shifted():
    env = gbxcule.make_vec_for_rank(num_envs=4, rank=Rank(1, 2))
    with pytest.raises(TypeError, match="a seed is a whole number"):
        env.reset(seed=True)
    with pytest.raises(ValueError, match="a seed is not negative, found -1"):
        env.reset(seed=-1)
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=np.array(3))
    alone, _ = gbxcule.make_vec(num_envs=2).reset(seed=5)
    assert np.array_equal(first, again) and np.array_equal(first, alone)
    with pytest.raises(TypeError, match=r"make_vec_for_rank\(\) got an unexpected keyword argument 'frame_skip': it is"):
        gbxcule.make_vec_for_rank(frame_skip=4)


def test_a_pool_refuses_what_it_cannot_send():
    pool = SwarmPool(num_envs=4, batch_size=2)
    with pytest.raises(ValueError, match="send needs the env_id that recv gave, because the pool has several batches"):
        pool.send([0, 0])
    for env_id in ([], "x", [0, 2], np.array([9, 10])):
        with pytest.raises(ValueError, match="send the env_id that recv gave"):
            pool.send([0, 0], env_id)
    # An error of `send`, not of a `recv` that is called later.
    with pytest.raises(ValueError, match="actions are 0 to 8, found 9 for env 1"):
        pool.send([0, 9], [0, 1])
    with pytest.raises(TypeError, match="a pool has threads, which can't be pickled"):
        pickle.dumps(pool)
    pool.close()
    pool.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="the pool is closed"):
        pool.recv()
    with pytest.raises(TypeError, match=r"SwarmPool\(\) got an unexpected keyword argument 'foo'"):
        SwarmPool(foo=3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: draw(a), TypeError, r"kernel `draw` is launched, not called: draw.launch\(threads, arguments"),
        (lambda a: draw.launch(True, {"x": 1.0, "to": (1, 2, 3)}, a), TypeError, "extents are one to four whole numbers, found True"),
        (lambda a: draw.launch(3, {"x": 1.0, "to": (1, 2, 3), "too": 1}, a), TypeError, "no field `too`; it has x, to"),
        (lambda a: draw.launch(3, 3, a), TypeError, "a struct is a dictionary, or an object, with x, to"),
        (lambda a: draw.launch(3, {"x": 1.0, "to": (1, 2, 3)}, a, device=3), TypeError, 'a device is "cpu", "cuda"'),
        (lambda a: draw.launch(3, {"x": 1.0, "to": (1, 2, 3)}, a, stream=-1), TypeError, "a stream is a handle"),
        (lambda a: array([1.0], device=3), TypeError, 'a device is "cpu", "cuda" or "cuda:N", found 3'),
        (lambda a: synchronize(3), TypeError, 'a device is "cpu", "cuda" or "cuda:N", found 3'),
        (lambda a: from_text(3), TypeError, "a text of kernels is a string, found 3; to compile a file call from_file"),
        (lambda a: from_text(b"x"), TypeError, "a text of kernels is a string"),
        (lambda a: from_file(3), TypeError, "a file of kernels is a path, .* found 3"),
        (lambda a: from_file("nowhere.py"), FileNotFoundError, "no file `nowhere.py`"),
    ],
)
def test_a_kernel_says_what_it_takes(call, error, message):
    untouched = np.zeros(3, np.float32)
    with pytest.raises(error, match=message):
        call(untouched)
    assert not untouched.any()


def test_gymnasiums_names_refuse_unknown_options():
    with pytest.raises(TypeError, match="unexpected keyword argument 'frame_skip': it is `frames_per_step` here"):
        gymnasium.make_vec("gbxcule/PearlDrift-v1", num_envs=2, frame_skip=4)
    env = gymnasium.make_vec("gbxcule/PearlDrift-v1", num_envs=2)
    assert isinstance(env.unwrapped, gbxcule.SwarmVectorEnv)


def test_natives_that_nobody_should_call_refuse_what_they_cannot_do():
    rom = _native.built_in_rom("PEARL_DRIFT")
    silent, loud = (_native.Swarm(rom, 2, sound=sound) for sound in (False, True))
    with pytest.raises(ValueError, match="makes no sound"):
        silent.sound_into(np.zeros((2, 8, 2), np.int16))
    for count in (1, 3):
        with pytest.raises(ValueError, match="a sample of each env has 8"):
            loud.sound_into(np.zeros((count, 2), np.int16))
    corners = np.zeros((2, 3), np.float32).tobytes()
    skips, items = _native.build_box_tree(corners, corners)
    _low, _high, wide = _native.bound_box_tree(skips, items, corners, corners)
    assert len(wide) == 2 * 128
    for wrong in ([7, 8], [-1, 0, 1, -1], [0, 1, -1]):
        with pytest.raises(ValueError, match="skips and items"):
            _native.bound_box_tree(skips, np.array(wrong, np.int32).tobytes(), corners, corners)
    with pytest.raises(ValueError, match="too many cells"):
        _native.sort_into_cells(corners, [2**31 - 1] * 3, 1.0, False)
