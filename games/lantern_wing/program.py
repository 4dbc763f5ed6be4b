"""LANTERN_WING: rewards points; observes the glider, the queen, enemies and shots relative to the glider."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
LIVES = 0xC002
GAME_OVER = 0xC003
SECTOR = 0xC004
STATE = 0xC005
GLIDER_X = 0xC006
GLIDER_Y = 0xC007
FLARES = 0xC00E
BRIGHTNESS = 0xC010
SAFE = 0xC011
HIT = 0xC012
QUEEN = 0xC013
QUEEN_X = 0xC014
QUEEN_Y = 0xC015
# Ten enemies of sixteen bytes: kind, strength, then x and y in bytes 3 and 5.
FLYING = 0xC100
# Twelve shots, of eight bytes: 1 or 0, then x and y in bytes 2 and 4.
SHOTS = 0xC200

KINDS = 6
# The score after the last step.
SCRATCH = 1
OBS_DIM = 12 + 10 * (2 + KINDS) + 12 * 3


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
def from_glider(machine: gb.Machine, place: int, own: int) -> wp.float32:
    at = int(gb.read(machine, place))
    # Places beyond the left edge count down from 255.
    if at >= 224:
        at -= 256
    return wp.float32(at - int(gb.read(machine, own))) / 128.0


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, GLIDER_X)) / 128.0
    obs[1] = wp.float32(gb.read(machine, GLIDER_Y)) / 128.0
    obs[2] = wp.float32(gb.read(machine, LIVES)) / 9.0
    obs[3] = wp.float32(gb.read(machine, SECTOR)) / 9.0
    obs[4] = wp.float32(gb.read(machine, STATE) == 1)
    obs[5] = wp.float32(gb.read(machine, FLARES)) / 9.0
    obs[6] = wp.float32(gb.read(machine, BRIGHTNESS)) / 3.0
    obs[7] = wp.float32(gb.read(machine, SAFE)) / 120.0
    obs[8] = wp.float32(gb.read(machine, HIT)) / 120.0
    if gb.read(machine, QUEEN) != 0:
        obs[9] = wp.float32(gb.read(machine, QUEEN)) / 128.0
        obs[10] = from_glider(machine, QUEEN_X, GLIDER_X)
        obs[11] = from_glider(machine, QUEEN_Y, GLIDER_Y)
    for number in range(10):
        flying = FLYING + 16 * number
        kind = int(gb.read(machine, flying))
        if kind >= 1 and kind <= KINDS:
            at = 12 + number * (2 + KINDS)
            obs[at] = from_glider(machine, flying + 3, GLIDER_X)
            obs[at + 1] = from_glider(machine, flying + 5, GLIDER_Y)
            obs[at + 1 + kind] = 1.0
    for number in range(12):
        shot = SHOTS + 8 * number
        if gb.read(machine, shot) != 0:
            at = 12 + 10 * (2 + KINDS) + 3 * number
            obs[at] = 1.0
            obs[at + 1] = from_glider(machine, shot + 2, GLIDER_X)
            obs[at + 2] = from_glider(machine, shot + 4, GLIDER_Y)
