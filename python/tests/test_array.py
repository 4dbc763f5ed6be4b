"""Observations are computed in the caller's arrays."""

import threading

import gbxcule
import numpy as np
import pytest
from gbxcule import _native


def swarm(num_envs):
    return _native.Swarm(_native.built_in_rom("PEARL_DRIFT"), num_envs, draw_last=True)


def test_observations_are_written_in_place_and_given_out_without_a_copy():
    env = gbxcule.make_vec(num_envs=3, obs="mean", copy=False)
    first, _ = env.reset(seed=0)
    address = first.__array_interface__["data"][0]
    before = first.copy()
    later, *_ = env.step([0, 1, 2])
    assert later is first
    assert later.__array_interface__["data"][0] == address
    assert not np.array_equal(before, later)
    dlpack = np.from_dlpack(later)
    assert dlpack.__array_interface__["data"][0] == address
    assert memoryview(later).nbytes == 3 * 72 * 80


def test_torch_sees_the_same_memory():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    env = gbxcule.make_vec(num_envs=2, obs="gray", copy=False)
    obs, _ = env.reset(seed=0)
    tensor = torch.from_dlpack(obs)
    assert tensor.data_ptr() == obs.__array_interface__["data"][0]
    env.step([4, 5])
    assert np.array_equal(tensor.numpy(), obs)
    view, out = _native.View.picture("gray"), torch.zeros((2, 144, 160), dtype=torch.uint8)
    env._swarm.show(view, out)
    assert np.array_equal(out.numpy(), obs)


def test_any_part_of_an_array_in_c_order_will_do():
    machines = swarm(2)
    view = _native.View.memory([(0xC000, 0xC010)])
    whole = np.zeros((6, 16), np.uint8)
    machines.step(bytes([8, 8]))
    machines.show(view, whole[2:4])
    assert not whole[:2].any() and not whole[4:].any()
    assert whole[2].tobytes() == machines.read_memory(0, 0xC000, 0xC010)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((2, 32), np.uint8)[:, ::2], ValueError, "C order"),
        (np.zeros((3, 16), np.uint8), ValueError, "48 bytes, the view fills 32"),
        (b"bytes", TypeError, "DLPack"),
        ([0] * 32, TypeError, "DLPack"),
    ],
)
def test_other_arrays_are_refused(out, error, message):
    with pytest.raises(error, match=message):
        swarm(2).show(_native.View.memory([(0xC000, 0xC010)]), out)


def test_an_array_that_may_not_be_written_is_refused():
    out = np.zeros((1, 16), np.uint8)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        swarm(1).show(_native.View.memory([(0xC000, 0xC010)]), out)


def test_a_second_thread_in_one_swarm_is_told_so_and_the_first_goes_on():
    rom = _native.built_in_rom("PEARL_DRIFT")
    shared, alone = (_native.Swarm(rom, 64, frames_per_step=60) for _ in range(2))
    told = []

    def look():
        while not told:
            try:
                shared.read_memory(0, 0xC000, 0xC010)
            except RuntimeError as error:
                told.append(str(error))

    thread = threading.Thread(target=look)
    thread.start()
    while thread.is_alive():
        try:
            shared.step(bytes(64))
        except RuntimeError as error:
            # The step came while the other thread was looking: no machine has moved.
            told.append(str(error))
        else:
            alone.step(bytes(64))
    thread.join()
    assert all("another thread is in a call of this environment" in text for text in told)
    assert shared.counters(63) == alone.counters(63)
    assert shared.save_state(0) == alone.save_state(0)
