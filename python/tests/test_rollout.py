"""Steps whose actions lie on the device equal steps of the host, without a copy or a wait; on the stand-ins for
NVIDIA's driver and NVRTC (crates/testing/testkit/src/stand_in), in a child process."""

import pathlib

import gbxcule
import numpy as np
import pytest

CHILD = '''
import os
import sys

import gbxcule
import numpy as np
from gbxcule import kernel

PROGRAM = sys.argv[1]
LOG = os.environ["HOST_GPU_LOG"]
COMMON = {"num_envs": 4, "frames_per_step": 4, "release_after_frames": 2}
OPTIONS = [
    {"obs": "PEARL_DRIFT", "max_episode_steps": 5},
    {"obs": "PEARL_DRIFT", "reward": "PEARL_DRIFT", "max_episode_steps": 7, "autoreset_mode": "SameStep"},
    {"obs": "packed", "done": gbxcule.Number("Random", 2, signed=True), "autoreset_mode": "SameStep"},
    {"obs": PROGRAM, "reward": PROGRAM, "max_episode_steps": 3, "actions": gbxcule.Choices(["NOOP", "LEFT", "RIGHT"], ["A", "NOOP"])},
    {"obs": "gray", "frame_stack": 3, "resize": (84, 84), "max_pool": True, "sticky": 0.5, "noop_max": 5, "max_episode_steps": 9,
     "episodic_life": gbxcule.Number("Random")},
    {"obs": "PEARL_DRIFT", "reward": "PEARL_DRIFT", "sticky": 0.3, "noop_max": 2, "autoreset_mode": "SameStep",
     "episodic_life": gbxcule.Number("Random", 2), "max_episode_steps": 6},
    {"rom": "PEARL_HEIST", "obs": "PEARL_HEIST", "reward": "PEARL_HEIST", "link": "pairs", "max_episode_steps": 4},
]


def waits():
    return sum(line in ("wait\\n", "copy\\n") for line in open(LOG)) if os.path.exists(LOG) else 0


def equal(one, other):
    return np.asarray(one).dtype == np.asarray(other).dtype and np.array_equal(one, other, equal_nan=True)


def actions_of(env, random, dtype):
    counts = env._numbering.counts
    drawn = random.integers(0, counts, (4, len(counts)))
    return (drawn[:, 0] if drawn.shape[1] == 1 else drawn).astype(dtype)


for case, options in enumerate(OPTIONS):
    made = [gbxcule.make_vec(device=device, **COMMON, **options) for device in ("cpu", "cuda", "cuda")]
    host, ours, host_on_cuda = made
    if case == 1:
        states = []
        host.reset(seed=1)
        for _ in range(3):
            host.step(np.array([1, 2, 3, 4]))
            states.append(host.save_state(1))
        for env in made:
            env.set_starts(states, weights=[1, 3, 2])
    for env in made:
        env.reset(seed=11 + case)
        env.device_arrays
    random = np.random.default_rng(case)
    given = []
    for step in range(24):
        dtype = ["int32", "int64", "uint8"][step % 3]
        actions = actions_of(host, random, dtype)
        on_device = kernel.array(actions, dtype, device="cuda")
        before = waits()
        found = ours.step(on_device)
        ours.ready_on()
        assert step == 0 or waits() == before, (case, step, open(LOG).read()[-300:])
        del on_device
        expected = host.step(actions)
        host_on_cuda.step(actions)
        assert found[1] is ours.device_arrays["rewards"] and found[3] is ours.device_arrays["truncated"]
        for place in (1, 2, 3):
            assert equal(found[place].numpy(), expected[place]), (case, step, place, found[place].numpy(), expected[place])
        arrays, twin = ours.device_arrays, host.device_arrays
        assert arrays.keys() == twin.keys(), (arrays.keys(), twin.keys())
        for name in arrays:
            mine, his = arrays[name].numpy(), twin[name]
            if name == "final_observations":
                over = expected[2] | expected[3]
                mine, his = mine[over], his[over]
                for row, env in enumerate(np.flatnonzero(over)):
                    assert equal(his[row], expected[4]["final_obs"][env])
            assert equal(mine, his), (case, step, name, mine, his)
        if step == 13:
            # Back to the host, and on the device again.
            assert ours.save_state(2) == host.save_state(2), case
            actions = actions_of(host, random, dtype)
            one, other = ours.step(actions), host.step(actions)
            host_on_cuda.step(actions)
            for place in (0, 1, 2, 3):
                assert equal(one[place], other[place]), (case, place)
    for env in range(4):
        assert ours.save_state(env) == host.save_state(env) == host_on_cuda.save_state(env), (case, env)
    one, other = ours.reset(seed=3)[0], host.reset(seed=3)[0]
    assert equal(one, other), case

# A number that the codec lacks: the env presses nothing, and the others do not notice.
env, twin = (gbxcule.make_vec(device=device, **COMMON, obs="PEARL_DRIFT") for device in ("cuda", "cpu"))
for each in (env, twin):
    each.reset(seed=1)
for bad, dtype in ((9, "uint8"), (-1, "int32"), (2**40, "int64")):
    env.step(kernel.array(np.array([1, bad, 2, 3], dtype), dtype, device="cuda"))
    env.step(kernel.array(np.array([4, 4, 4, 4], dtype), dtype, device="cuda"))
    twin.step(np.array([1, 8, 2, 3]))
    twin.step(np.array([4, 4, 4, 4]))
    try:
        env.save_state(0)
    except ValueError as error:
        assert f"action {bad} of env 1 " in str(error) and "0 to 8" in str(error), error
    else:
        raise AssertionError("nobody said it")
    env.step(kernel.array(np.array([1, bad, 2, 3], dtype), dtype, device="cuda"))
    try:
        env.device_arrays["lengths"].numpy()
    except ValueError as error:
        assert f"action {bad} of env 1 is not" in str(error), error
    else:
        raise AssertionError("nobody said it")
    twin.step(np.array([1, 8, 2, 3]))
    for each in range(4):
        assert env.save_state(each) == twin.save_state(each), (bad, each)


def refused(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def on_device(shape, dtype="int64"):
    return kernel.zeros(shape, dtype, device="cuda")


refused(TypeError, "int32, int64 or uint8, found float32", lambda: env.step(on_device(4, "float32")))
refused(ValueError, "for each of the 4 machines, found", lambda: env.step(on_device(5)))
refused(ValueError, "[num_envs], found [4, 1]", lambda: env.step(on_device((4, 1))))
refused(ValueError, "the machines on the CPU", lambda: twin.step(on_device(4)))
late = gbxcule.make_vec(device="cuda", **COMMON, obs="PEARL_DRIFT")
refused(ValueError, "call reset before", lambda: late.step(on_device(4)))
other = gbxcule.make_vec(device="cuda", **COMMON, obs="PEARL_DRIFT", autoreset_mode="Disabled")
other.reset(seed=0)
refused(ValueError, "NextStep or SameStep", lambda: other.step(on_device(4)))
other = gbxcule.make_vec(device="cuda", **COMMON, obs="PEARL_DRIFT", done=gbxcule.Number(0xFF80))
other.reset(seed=0)
refused(ValueError, "FF80 is outside of C000 to DFFF", lambda: other.step(on_device(4)))
other = gbxcule.make_vec(device="cuda", **COMMON, obs=gbxcule.Ram(0xC000))
other.reset(seed=0)
refused(ValueError, "an observation that stays there", lambda: other.step(on_device(4)))
print("equal")
'''


def test_actions_on_a_device_do_what_those_of_the_host_do(on_stand_ins, tmp_path, monkeypatch):
    program = pathlib.Path(__file__).with_name("test_begin.py").read_text().split("'''")[1]
    (tmp_path / "task.py").write_text(program)
    (tmp_path / "child.py").write_text(CHILD)
    monkeypatch.setenv("HOST_GPU_LOG", str(tmp_path / "log"))
    run = on_stand_ins(tmp_path / "child.py", tmp_path / "task.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip() == "equal"


ORDER = '''
import ctypes

import gbxcule
import numpy as np
from gbxcule import kernel

driver = ctypes.CDLL("libcuda.so")
# A context of this thread's own, as every library has one: gbxcule leaves it to the thread.
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0


class Foreign:
    """Actions of a library that leaves the order of streams to its user."""

    def __init__(self, own):
        self.own = own

    def __dlpack_device__(self):
        return self.own.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.own.__dlpack__(stream=-1)


class Stream:
    def __init__(self):
        self.made = ctypes.c_void_p()
        assert driver.cuStreamCreate(ctypes.byref(self.made), 1) == 0

    @property
    def cuda_stream(self):
        return self.made.value


class Protocol:
    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.cuda_stream


def filled(array, value, stream):
    """Asks for a fill in another library's stream."""
    address = ctypes.c_uint64(address_of(array))
    assert driver.cuMemsetD8Async(address, ctypes.c_ubyte(value), ctypes.c_size_t(4), stream.made) == 0


def address_of(array):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = array.__dlpack__(stream=-1)
    return ctypes.c_uint64.from_address(pointer(capsule, b"dltensor")).value


def run(order):
    """Return a state after actions that a stream writes late, and the lengths that it reads early."""
    env = gbxcule.make_vec(num_envs=4, device="cuda", obs="PEARL_DRIFT", frames_per_step=4, release_after_frames=4)
    env.reset(seed=2)
    lengths = env.device_arrays["lengths"]
    assert lengths.numpy().tolist() == [0] * 4
    stream = Stream()
    actions = kernel.array(np.zeros(4, np.uint8), device="cuda")
    kernel.synchronize("cuda")
    filled(actions, 5, stream)
    if order:
        env.wait_for(Protocol(stream) if order == "protocol" else stream)
    env.step(Foreign(actions))
    state = env.save_state(1)
    env.step(Foreign(actions))
    if order:
        env.ready_on(stream.cuda_stream)
    host, source = ctypes.c_void_p(), ctypes.c_uint64(address_of(lengths))
    assert driver.cuMemAllocHost_v2(ctypes.byref(host), ctypes.c_size_t(16)) == 0
    assert driver.cuMemcpyDtoHAsync_v2(host, source, ctypes.c_size_t(16), stream.made) == 0
    assert driver.cuStreamSynchronize(stream.made) == 0
    return state, np.ctypeslib.as_array(ctypes.cast(host, ctypes.POINTER(ctypes.c_int32)), (4,)).tolist()


twin = gbxcule.make_vec(num_envs=4, obs="PEARL_DRIFT", frames_per_step=4, release_after_frames=4)
states = []
for action in (5, 0):
    twin.reset(seed=2)
    twin.step(np.full(4, action))
    states.append(twin.save_state(1))
assert states[0] != states[1]
for order in ("attribute", "protocol"):
    assert run(order) == (states[0], [2] * 4), order
# The stand-in runs a stream only when somebody waits for it: what is out of order shows.
assert run(None) == (states[1], [1] * 4)
print("ordered")
'''


def test_streams_of_others_are_put_in_order(on_stand_ins, tmp_path, monkeypatch):
    (tmp_path / "child.py").write_text(ORDER)
    monkeypatch.setenv("HOST_GPU_LEAKS", "allow")
    run = on_stand_ins(tmp_path / "child.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip() == "ordered"


def test_the_cpu_has_the_same_calls():
    env = gbxcule.make_vec(num_envs=2, obs="PEARL_DRIFT", max_episode_steps=2)
    env.reset(seed=0)
    arrays = env.device_arrays
    assert arrays.keys() == {"rewards", "observations", "terminated", "truncated", "returns", "lengths"}
    for length in (1, 2, 0, 1):
        env.wait_for()
        observations, rewards, terminated, truncated, _ = env.step(np.array([0, 1]))
        env.ready_on(None)
        assert np.array_equal(arrays["observations"], observations) and np.array_equal(arrays["rewards"], rewards)
        assert np.array_equal(arrays["truncated"], truncated) and np.array_equal(arrays["terminated"], terminated)
        assert arrays["lengths"].tolist() == [length] * 2
        assert np.from_dlpack(arrays["rewards"]).ctypes.data == arrays["rewards"].ctypes.data


@pytest.mark.parametrize("wrong", [-1, 2.5, "default", True, object()])
def test_objects_that_are_no_streams_are_refused(wrong):
    env = gbxcule.make_vec(num_envs=1)
    for call in (env.wait_for, env.ready_on):
        with pytest.raises(TypeError, match="a CUDA stream is its handle"):
            call(wrong)
