"""LAST_BEACON: rewards points, and new cells a little; observes the hero, the hero's things and the room."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
HIT_POINTS = 0xC002
GAME_OVER = 0xC003
ROOM = 0xC004
STATE = 0xC005
COLUMN = 0xC006
ROW = 0xC007
THINGS = 0xC008
COINS = 0xC010
MOST_HITS = 0xC014
LEVEL = 0xC015
FLASKS = 0xC016
SPARKS = 0xC017
FACING = 0xC01B
CURSOR = 0xC01C
FOE = 0xC01D
FOE_HITS = 0xC01E
FOE_MOST = 0xC01F
# The cells of the room: ten rows of sixteen bytes each.
CELLS = 0xC100

ROOMS = 22
COLUMNS = 10
ROWS = 8
FOES = 10
# The score after the last step, then all cells of all rooms.
SCRATCH = 1 + ROOMS * COLUMNS * ROWS
OBS_DIM = 14 + FOES + ROOMS + 2 + 4 + 4 + 6 + COLUMNS * ROWS


@wp.func
def cell(machine: gb.Machine) -> int:
    row = wp.min(int(gb.read(machine, ROW)), ROWS - 1)
    column = wp.min(int(gb.read(machine, COLUMN)), COLUMNS - 1)
    return (wp.min(int(gb.read(machine, ROOM)), ROOMS - 1) * ROWS + row) * COLUMNS + column


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))
    scratch[1 + cell(machine)] = 1.0


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    gained = wp.max(score - scratch[0], 0.0)
    scratch[0] = score
    here = 1 + cell(machine)
    if scratch[here] == 0.0:
        scratch[here] = 1.0
        gained += 0.1
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def share(part: wp.uint8, whole: wp.uint8) -> wp.float32:
    return wp.float32(part) / wp.max(wp.float32(whole), 1.0)


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = share(gb.read(machine, HIT_POINTS), gb.read(machine, MOST_HITS))
    obs[1] = wp.float32(gb.read(machine, LEVEL)) / 9.0
    obs[2] = wp.float32(gb.read16(machine, COINS)) / 999.0
    obs[3] = wp.float32(gb.read(machine, FLASKS)) / 9.0
    obs[4] = wp.float32(gb.read(machine, SPARKS)) / 6.0
    for thing in range(8):
        obs[5 + thing] = wp.float32(gb.bit(machine, THINGS, thing))
    at = int(14)
    foe = int(gb.read(machine, FOE))
    if foe >= 1 and foe <= FOES:
        # After a flight the hits are 255.
        obs[13] = wp.min(share(gb.read(machine, FOE_HITS), gb.read(machine, FOE_MOST)), 1.0)
        obs[at + foe - 1] = 1.0
    at += FOES
    obs[at + wp.min(int(gb.read(machine, ROOM)), ROOMS - 1)] = 1.0
    at += ROOMS
    obs[at] = wp.float32(gb.read(machine, COLUMN)) / 9.0
    obs[at + 1] = wp.float32(gb.read(machine, ROW)) / 7.0
    obs[at + 2 + (int(gb.read(machine, FACING)) & 3)] = 1.0
    at += 6
    # A text, a menu, a battle; else the hero may walk.
    state = int(gb.read(machine, STATE))
    if state >= 2 and state <= 5:
        obs[at + state - 2] = 1.0
    at += 4
    obs[at + wp.min(int(gb.read(machine, CURSOR)), 5)] = 1.0
    at += 6
    for row in range(ROWS):
        for column in range(COLUMNS):
            obs[at + row * COLUMNS + column] = wp.float32(gb.read(machine, CELLS + row * 16 + column)) / 31.0
