"""AMBER_ROAD: rewards points, and speed a little; observes the sled, the bends, the light and the things ahead."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
PLANKS = 0xC002
GAME_OVER = 0xC003
LEG = 0xC004
STATE = 0xC005
PLACE = 0xC006
SPEED = 0xC007
LIGHT = 0xC00E
BEND = 0xC010
NEXT_BEND = 0xC011
BEND_LEFT = 0xC012
LEG_LEFT = 0xC013
CRASH = 0xC017
SAFE = 0xC018
# Ten things: byte 0 is the kind, 1 the speed, 3 the units ahead, 4 the place, 5 is 1 after a
# meeting.
THINGS = 0xC100

KINDS = 5
FIRST = 11
EACH = 3 + KINDS
# The score after the last step.
SCRATCH = 1
OBS_DIM = FIRST + 10 * EACH


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    gained = score - scratch[0] + 0.0002 * wp.float32(gb.read(machine, SPEED))
    scratch[0] = score
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def signed(machine: gb.Machine, place: int) -> wp.float32:
    byte = int(gb.read(machine, place))
    if byte >= 128:
        byte -= 256
    return wp.float32(byte)


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    place = wp.float32(gb.read(machine, PLACE)) - 128.0
    speed = wp.float32(gb.read(machine, SPEED))
    obs[0] = place / 64.0
    obs[1] = speed / 224.0
    obs[2] = signed(machine, BEND) / 8.0
    obs[3] = signed(machine, NEXT_BEND) / 8.0
    obs[4] = wp.float32(gb.read(machine, BEND_LEFT)) / 256.0
    obs[5] = wp.float32(gb.read16(machine, LEG_LEFT)) / 4096.0
    obs[6] = wp.float32(gb.read(machine, LIGHT)) / 256.0
    obs[7] = wp.float32(gb.read(machine, CRASH)) / 32.0
    obs[8] = wp.float32(gb.read(machine, SAFE)) / 128.0
    obs[9] = wp.float32(gb.read(machine, PLANKS)) / 5.0
    obs[10] = wp.float32(gb.read(machine, LEG)) / 10.0
    for number in range(10):
        thing = THINGS + 8 * number
        kind = int(gb.read(machine, thing))
        if kind >= 1 and kind <= KINDS and gb.read(machine, thing + 5) == 0:
            at = FIRST + number * EACH
            obs[at] = wp.float32(gb.read(machine, thing + 3)) / 256.0
            obs[at + 1] = (signed(machine, thing + 4) - place) / 64.0
            obs[at + 2] = (speed - wp.float32(gb.read(machine, thing + 1))) / 224.0
            obs[at + 2 + kind] = 1.0
