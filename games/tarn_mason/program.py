"""TARN_MASON: rewards points; observes the load, the heaps, and the water that the heaps would hold."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
CARTS = 0xC002
GAME_OVER = 0xC003
LEVEL = 0xC004
STATE = 0xC005
LOAD_COLUMN = 0xC006
LOAD_Y = 0xC007
RAIN_IN = 0xC00E
SHAPE = 0xC010
TURN = 0xC011
NEXT = 0xC012
WOULD_BRING = 0xC013
HEIGHTS = 0xC020
WATER = 0xC030
DEPTHS = 0xC040

COLUMNS = 12
SHAPES = 7
# The score after the last step.
SCRATCH = 1
OBS_DIM = 6 + 7 + 4 + 2 * SHAPES + 3 * COLUMNS


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    gained = wp.max(score - scratch[0], 0.0)
    scratch[0] = score
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, CARTS)) / 3.0
    obs[1] = wp.float32(gb.read(machine, LEVEL)) / 9.0
    obs[2] = wp.float32(gb.read(machine, LOAD_COLUMN)) / 11.0
    obs[3] = wp.float32(gb.read(machine, LOAD_Y)) / 144.0
    obs[4] = wp.float32(gb.read(machine, RAIN_IN)) / 16.0
    obs[5] = wp.float32(gb.read16(machine, WOULD_BRING)) / 100.0
    obs[6 + wp.min(int(gb.read(machine, STATE)), 6)] = 1.0
    obs[13 + (int(gb.read(machine, TURN)) & 3)] = 1.0
    obs[17 + wp.min(int(gb.read(machine, SHAPE)), SHAPES - 1)] = 1.0
    obs[17 + SHAPES + wp.min(int(gb.read(machine, NEXT)), SHAPES - 1)] = 1.0
    at = 17 + 2 * SHAPES
    for column in range(COLUMNS):
        obs[at + column] = wp.float32(gb.read(machine, HEIGHTS + column)) / 16.0
        obs[at + COLUMNS + column] = wp.float32(gb.read(machine, WATER + column)) / 16.0
        obs[at + 2 * COLUMNS + column] = wp.float32(gb.read(machine, DEPTHS + column)) / 16.0
