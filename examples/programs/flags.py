"""Bits of memory as an observation: games keep events in bytes of eight flags each."""

import gbxcule as gb
import warp as wp

# PEARL_DRIFT: ten things in the sea, eight bytes each.
FIRST = 0xC020
BYTES = 80
OBS_DIM = 8 * BYTES


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for at in range(BYTES):
        for number in range(8):
            obs[8 * at + number] = wp.float32(gb.bit(machine, FIRST + at, number))
