"""PEARL_DRIFT: rewards points; observes the submarine, and the ten things in the sea relative to it."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
HULLS = 0xC002
GAME_OVER = 0xC003
LEVEL = 0xC004
IN_A_ROW = 0xC005
SUB_X = 0xC006
SUB_Y = 0xC007
SAFE = 0xC00E
# Ten things: kind, x and y in bytes 0, 2 and 5 of eight.
THINGS = 0xC020

KINDS = 6
# The score after the last step.
SCRATCH = 1
OBS_DIM = 6 + 10 * (2 + KINDS)


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
    x = int(gb.read(machine, SUB_X))
    y = int(gb.read(machine, SUB_Y))
    obs[0] = wp.float32(x) / 160.0
    obs[1] = wp.float32(y) / 128.0
    obs[2] = wp.float32(gb.read(machine, HULLS)) / 4.0
    obs[3] = wp.float32(gb.read(machine, LEVEL)) / 9.0
    obs[4] = wp.min(wp.float32(gb.read(machine, IN_A_ROW)) / 24.0, 1.0)
    obs[5] = wp.float32(gb.read(machine, SAFE)) / 96.0
    for thing in range(10):
        at = THINGS + 8 * thing
        kind = int(gb.read(machine, at))
        if kind >= 1 and kind <= KINDS:
            first = 6 + thing * (2 + KINDS)
            obs[first] = wp.float32(int(gb.read(machine, at + 2)) - x) / 160.0
            obs[first + 1] = wp.float32(int(gb.read(machine, at + 5)) - y) / 128.0
            obs[first + 1 + kind] = 1.0
