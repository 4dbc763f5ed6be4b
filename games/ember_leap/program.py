"""EMBER_LEAP: rewards points, and each new pixel with a tenth of a point; observes Ember, creatures, the ground ahead."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
LIVES = 0xC002
GAME_OVER = 0xC003
LEVEL = 0xC004
STATE = 0xC005
EMBER_Y = 0xC007
FARTHEST = 0xC008
ON_GROUND = 0xC00E
COALS = 0xC010
TIME = 0xC011
EMBER_X = 0xC015
SPEED_RIGHT = 0xC018
SPEED_DOWN = 0xC01A
LOOKS = 0xC01C
# Eight creatures: kind in byte 0, x in bytes 2 and 3, y in byte 4, direction in byte 5.
CREATURES = 0xC020
# The places of the level, eight rows of 128.
PLACES = 0xC100

KINDS = 6
ROWS = 8
# Number of observed columns: two behind Ember, nine ahead.
COLUMNS = 12
# The score and the farthest x after the last step.
SCRATCH = 2
OBS_DIM = 9 + 8 * (3 + KINDS) + 2 * ROWS * COLUMNS
FIRST_SOLID = 11


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))
    scratch[1] = wp.float32(gb.read16(machine, FARTHEST))


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    farthest = wp.float32(gb.read16(machine, FARTHEST))
    # A new level begins at its left end, without a penalty.
    gained = wp.max(score - scratch[0], 0.0) + 0.1 * wp.max(farthest - scratch[1], 0.0)
    scratch[0] = score
    scratch[1] = farthest
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def speed(machine: gb.Machine, place: int) -> wp.float32:
    word = int(gb.read16(machine, place))
    if word >= 32768:
        word -= 65536
    return wp.float32(word) / 1024.0


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    x = int(gb.read16(machine, EMBER_X))
    y = int(gb.read(machine, EMBER_Y))
    obs[0] = wp.float32(x % 16) / 16.0
    obs[1] = wp.float32(y) / 128.0
    obs[2] = speed(machine, SPEED_RIGHT)
    obs[3] = speed(machine, SPEED_DOWN)
    obs[4] = wp.float32(gb.read(machine, ON_GROUND))
    obs[5] = wp.float32(gb.read(machine, LOOKS))
    obs[6] = wp.float32(gb.read(machine, LEVEL)) / 5.0
    obs[7] = wp.float32(gb.read16(machine, TIME)) / 250.0
    obs[8] = wp.float32(gb.read(machine, STATE) == 1)
    for number in range(8):
        creature = CREATURES + 8 * number
        kind = int(gb.read(machine, creature))
        if kind >= 1 and kind <= KINDS:
            at = 9 + number * (3 + KINDS)
            obs[at] = wp.clamp(wp.float32(int(gb.read16(machine, creature + 2)) - x) / 160.0, -2.0, 2.0)
            obs[at + 1] = wp.float32(int(gb.read(machine, creature + 4)) - y) / 128.0
            obs[at + 2] = wp.float32(gb.read(machine, creature + 5))
            obs[at + 2 + kind] = 1.0
    # For each place: whether Ember can stand on it, and its kind.
    first = 9 + 8 * (3 + KINDS)
    for row in range(ROWS):
        for column in range(COLUMNS):
            place = wp.clamp(x / 16 - 2 + column, 0, 127)
            kind = int(gb.read(machine, PLACES + 128 * row + place))
            at = first + 2 * (row * COLUMNS + column)
            obs[at] = wp.float32(kind >= FIRST_SOLID)
            obs[at + 1] = wp.float32(kind) / 20.0
