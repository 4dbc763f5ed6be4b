"""One environment on the CPU and on a CUDA device, without a GPU: a child process with the stand-ins for NVIDIA's driver and NVRTC
(crates/testing/testkit/src/stand_in), which run the CUDA text on the host."""

import pathlib

import gbxcule
import pytest
from test_program import WEIGHTED

CHILD = '''
import ctypes
import pathlib
import sys

import gbxcule
import numpy as np

PROGRAM, WEIGHTED = sys.argv[1:]
FOLDER = pathlib.Path(PROGRAM).parent
TILES = gbxcule.tile_program(5, 7, around=(0xC006, 0xC007), objects=6)
OPTIONS = [
    {"frames_per_step": 4, "release_after_frames": 2, "obs": {"screen": "mean", "ram": gbxcule.Ram(("C000", 16))}},
    {"frames_per_step": 4, "release_after_frames": 2, "obs": PROGRAM, "reward": PROGRAM},
    {"obs": WEIGHTED, "reward": WEIGHTED, "weights": {"explore": 2.0, "score": 5.0}},
    {"obs": TILES, "frames_per_step": 4},
    {"obs": {"screen": "gray"}, "frames_per_step": 4, "frame_stack": 3, "resize": (84, 84), "max_pool": True, "sticky": 0.5,
     "noop_max": 5, "episodic_life": gbxcule.Number("Random")},
    {"rom": "AMBER_ROAD", "actions": "full_v1", "obs": "rgb", "frames_per_step": 4, "frame_stack": 2, "crop": (7, 9, 60, 100), "resize": 40},
    {"rom": "AMBER_ROAD", "actions": "full_v1", "frames_per_step": 4, "release_after_frames": 2, "obs": "rgb555"},
]


def run(device, options):
    env = gbxcule.make_vec(num_envs=3, device=device, max_episode_steps=5, render_mode="rgb_array", **options)
    outcomes = [env.reset(seed=4)]
    for step in range(8):
        if "weights" in options:
            env.set_weights(explore=0.5 * step)
        outcomes.append(env.step(np.array([step % 9, 3, (step * 5) % 9])))
        if device != "cpu" and options.get("reward") == PROGRAM:
            # Also in the step that begins the next episode, whose reward is 0.
            assert np.array_equal(env.device_arrays["rewards"].numpy(), outcomes[-1][1]), step
    env.copy_state(1, [True, False, False])
    outcomes += [env.screens(), env.read_memory(0, ("C000", 32)), env.save_state(2), env.cpu_state(0)]
    return env, outcomes


def go_on(env):
    outcomes = [env.step(np.array([step % 9, 3, (step * 5) % 9])) for step in range(8, 13)]
    return outcomes + [env.save_state(one) for one in range(3)]


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


driver = ctypes.CDLL("libcuda.so")
# A context of this thread's own, as every library has one: gbxcule leaves it to the thread.
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0


def taken(array):
    """Return what another library finds, by a copy in a stream of its own."""
    stream = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = array.__dlpack__(stream=stream.value)
    tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[: tensor.ndim])
    assert list(tensor.device) == [2, 0] and tensor.lanes == 1, list(tensor.device)
    assert tensor.strides[tensor.ndim - 1] == 1 and shape == array.shape
    found = np.zeros(shape, {(2, 32): "float32", (1, 8): "uint8", (0, 32): "int32", (6, 8): "bool"}[tensor.kind, tensor.bits])
    # A named output is some columns of a larger array.
    for number, row in enumerate(found):
        source = ctypes.c_uint64(tensor.data + tensor.byte_offset + number * tensor.strides[0] * found.itemsize)
        target = ctypes.c_void_p(found.ctypes.data + number * row.nbytes)
        assert driver.cuMemcpyDtoHAsync_v2(target, source, ctypes.c_size_t(row.nbytes), stream) == 0
    assert driver.cuStreamSynchronize(stream) == 0
    return found


for options in OPTIONS:
    on_cpu, expected = run("cpu", options)
    on_cuda, found = run("cuda", options)
    for place, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert same(one, other), (options, place, one, other)
    arrays = on_cuda.device_arrays
    frame_bytes = 46080 if "rom" in options else 5760
    computed = {"dones", "observations"} if options.get("reward") in (PROGRAM, WEIGHTED) else set()
    computed |= {"pictures"} if "frame_stack" in options else set()
    computed |= {"observations", "observations.tiles", "observations.objects"} if options.get("obs") == TILES else set()
    computed |= {"rewards", "frames", "terminated", "truncated", "returns", "lengths"}
    assert arrays.keys() == on_cpu.device_arrays.keys() == computed, options
    assert arrays["frames"].shape == (3, frame_bytes)
    for name, array in arrays.items():
        assert array.__dlpack_device__() == (2, 0), name
        assert np.array_equal(taken(array), array.numpy()), name
    on_cpu.checkpoint(FOLDER / "cpu.ckpt")
    on_cuda.checkpoint(FOLDER / "cuda.ckpt")
    crossed = gbxcule.restore(FOLDER / "cuda.ckpt", device="cpu"), gbxcule.restore(FOLDER / "cpu.ckpt", device="cuda")
    copied = gbxcule.restore(FOLDER / "cuda.ckpt")
    assert [env._swarm.device for env in (*crossed, copied)] == ["cpu", "cuda:0", "cuda:0"]
    expected = go_on(on_cpu)
    for env in (on_cuda, copied, *crossed):
        assert same(go_on(env), expected), options
    del on_cuda, crossed, copied, env
    assert np.array_equal(taken(arrays["frames"]), arrays["frames"].numpy()), "arrays outlive their environment"
# Nothing looks at pixels: frames stay white, and are not among the arrays.
undrawn = gbxcule.make_vec(num_envs=3, device="cuda", **OPTIONS[1])
assert "frames" not in undrawn.device_arrays and "observations" in undrawn.device_arrays
print("equal")
'''


def test_an_environment_on_a_device_is_the_one_on_the_cpu(on_stand_ins, tmp_path):
    program = pathlib.Path(__file__).with_name("test_begin.py").read_text().split("'''")[1]
    (tmp_path / "task.py").write_text(program)
    (tmp_path / "weighted.py").write_text(WEIGHTED)
    (tmp_path / "child.py").write_text(CHILD)
    run = on_stand_ins(tmp_path / "child.py", tmp_path / "task.py", tmp_path / "weighted.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip() == "equal"


def test_a_device_that_is_not_there_is_never_replaced():
    with pytest.raises(RuntimeError, match=r"cuda|CUDA|driver"):
        gbxcule.make_vec(num_envs=2, device="cuda:99")
    with pytest.raises(ValueError, match="`cpu`, `cuda` or `cuda:N`"):
        gbxcule.make_vec(num_envs=2, device="gpu")
