"""reward_v0 and obs_v0: what a machine's registers and the first bytes of its work RAM make of themselves."""

import gbxcule as gb
import warp as wp

OBS_DIM = 32
FEATURES = 0xC000


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    mixed = int(gb.read(machine, FEATURES)) + 3 * int(gb.read(machine, FEATURES + 1))
    return wp.float32((int(gb.a(machine)) ^ mixed) & 0xFF) / 255.0


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    # A F B C D E H L, SP, PC
    obs[0] = wp.float32(gb.a(machine)) / 255.0
    obs[1] = wp.float32(gb.f(machine)) / 255.0
    obs[2] = wp.float32(gb.b(machine)) / 255.0
    obs[3] = wp.float32(gb.c(machine)) / 255.0
    obs[4] = wp.float32(gb.d(machine)) / 255.0
    obs[5] = wp.float32(gb.e(machine)) / 255.0
    obs[6] = wp.float32(gb.h(machine)) / 255.0
    obs[7] = wp.float32(gb.l(machine)) / 255.0
    obs[8] = wp.float32(gb.sp(machine)) / 65535.0
    obs[9] = wp.float32(gb.pc(machine)) / 65535.0
    # The flags Z N H C
    flags = int(gb.f(machine))
    for bit in range(4):
        obs[10 + bit] = wp.float32((flags >> (7 - bit)) & 1)
    # C000 to C00F, the low byte of their sum, and the reward
    total = int(0)
    for at in range(16):
        byte = gb.read(machine, FEATURES + at)
        obs[14 + at] = wp.float32(byte) / 255.0
        total += int(byte)
    obs[30] = wp.float32(total & 0xFF) / 255.0
    obs[31] = reward(machine, scratch)
