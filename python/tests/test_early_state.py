"""States of early PyBoys: a small writer writes their formats, and the states are read back."""

import struct

import gbxcule
import numpy as np
import pytest

# Version, PyBoy: 7 is 1.4.1, 8 is 1.5.0, 9 is 1.5.6, 10 is 2.0.0, 11 is 2.2.2, 12 is 2.4.0.
VERSIONS = range(7, 13)
LINES, PIXELS = 144, 160 * 144


def early_state(env, index, version, banks=(1, 0), ram=b"", mbc1=b""):
    """An env as an early PyBoy would have saved it, at the beginning of line 0."""
    cpu = env.cpu_state(index)

    def memory(low, high):
        return env.read_memory(index, f"{low:04X}:{high:04X}")

    io = memory(0xFF00, 0xFF4C)
    place = struct.pack("<QQ", 4, 80)
    clocks = [struct.pack("<Q", cycles) for cycles in (1000, 996)] if version >= 12 else [b"", b""]
    lines = bytes(LINES * 5)
    parts = [bytes([version, 0])]
    if version >= 8:
        parts.append(bytes(3))
    parts.append(bytes(cpu[name] for name in "afbcde"))
    parts.append(struct.pack("<HHH", cpu["h"] << 8 | cpu["l"], cpu["sp"], cpu["pc"]))
    # Interrupts are enabled in the games' main loop; it neither halts nor stops.
    parts.append(bytes([1, 0, 0]) + memory(0xFFFF, 0x10000))
    if version >= 8:
        parts.append(bytes([0, io[0x0F] & 0x1F]) + clocks[0])
    parts.append(memory(0x8000, 0xA000) + memory(0xFE00, 0xFEA0))
    # LCDC, BGP, OBP0, OBP1, STAT in mode 2, LY, LYC, SCY, SCX, WY, WX.
    parts.append(bytes([io[0x40], *io[0x47:0x4A], io[0x41] & 0x7C | 2, 0, io[0x45], *io[0x42:0x44], *io[0x4A:0x4C]]))
    parts.append(lines if version >= 11 else b"")
    if version >= 8:
        parts.append(bytes(2) + clocks[1] + place + b"\3")
    parts.append(lines if version < 11 else b"")
    parts.append(bytes(PIXELS * (5 if version >= 10 else 4)))
    parts.append(memory(0xC000, 0xE000) + bytes(0x60) + io + memory(0xFF80, 0xFFFF) + bytes(0x34))
    parts.append(struct.pack("<BBHHBB", io[4], io[5], 0, 0, io[6], io[7] & 7) + clocks[1])
    parts.append(bytes([*banks, bool(ram), bool(mbc1)]) + (ram or bytes(0x2000)) + mbc1)
    # The buttons, which the next step sets.
    return b"".join([*parts, bytes(2)])


def settled(name, steps=20, **options):
    env = gbxcule.make_vec(name, num_envs=2, frames_per_step=4, obs="packed", **options)
    env.reset(seed=3)
    for _ in range(steps):
        env.step([8, 8])
    return env


@pytest.mark.parametrize("version", VERSIONS)
def test_a_game_goes_on_from_an_early_state(version):
    env = settled("EMBER_LEAP")
    env.load_state(1, early_state(env, 0, version))
    same = 0
    for action in (5, 6, 0, 6, 6, 3, 6, 0):
        obs, *_ = env.step([action, action])
        same += np.array_equal(obs[0], obs[1])
    # The last frame of a step may show the hero at the place of the other machine's next frame.
    assert same >= 6, same
    ours, theirs = (np.frombuffer(env.read_memory(at, "C000:DD00"), np.uint8) for at in (0, 1))
    assert (ours != theirs).sum() < 24


@pytest.mark.parametrize("version", VERSIONS)
def test_memory_and_banks_are_where_they_were(version):
    env = settled("MBC1_RAM")
    ram = np.random.default_rng(version).bytes(4 * 0x2000)
    state = early_state(env, 0, version, banks=(1, 0), ram=ram, mbc1=bytes([2, 1]))
    env.load_state(1, state)
    assert env.save_battery(1) == ram[: len(env.save_battery(1))]
    assert env.read_memory(1, "C000:E000") == env.read_memory(0, "C000:E000")
    # The second register of the MBC1 selects RAM bank 1.
    assert len(env.save_battery(1)) == len(ram) and env.read_memory(1, "A000:C000") == ram[0x2000:0x4000]
    for cut in (116_000, len(state) - 40):
        with pytest.raises(ValueError, match="cut off"):
            env.load_state(1, state[:cut])


def test_states_of_a_color_machine_and_of_other_versions_are_refused():
    env = settled("PEARL_DRIFT", steps=1)
    good = early_state(env, 0, 9)
    for state, message in [
        (good[:4] + b"\1" + good[5:], "cgb=False"),
        (bytes([9, 1]) + good[2:], "boot ROM"),
        (bytes([17]) + good[1:], r"version 17; this program reads versions 7 to 12, 14, 15 and 29"),
        (bytes([6]) + good[1:], "version 6"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.load_state(1, state)
