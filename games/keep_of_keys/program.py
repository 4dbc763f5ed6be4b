"""KEEP_OF_KEYS: points, and some for every room that is seen first; the hero, what he carries, creatures, the room."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
HEARTS = 0xC002
GAME_OVER = 0xC003
FLOOR = 0xC004
HERO_X = 0xC006
HERO_Y = 0xC007
SEEN = 0xC008
SAFE = 0xC00E
KEYS = 0xC010
GREAT_KEY = 0xC011
OIL = 0xC012
ROOM = 0xC013
LOOKS = 0xC015
DAZZLED = 0xC017
SPIKES = 0xC018
# Eight creatures: kind, x, y, direction and more.
CREATURES = 0xC020
# The rooms of the floor, eighty places each.
PLACES = 0xC100

COLUMNS = 10
ROWS = 8
# The score and the number of rooms seen after the last step.
SCRATCH = 2
OBS_DIM = 12 + 4 + 8 * 5 + COLUMNS * ROWS


@wp.func
def rooms_seen(machine: gb.Machine) -> wp.float32:
    # Those of the floors before count as twelve each.
    seen = 12 * int(gb.read(machine, FLOOR))
    for room in range(16):
        seen += int(gb.bit(machine, SEEN + room / 8, room % 8))
    return wp.float32(seen)


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))
    scratch[1] = rooms_seen(machine)


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    seen = rooms_seen(machine)
    gained = wp.max(score - scratch[0], 0.0) + 2.0 * wp.max(seen - scratch[1], 0.0)
    scratch[0] = score
    scratch[1] = wp.max(seen, scratch[1])
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, HEARTS)) / 4.0
    obs[1] = wp.float32(gb.read(machine, FLOOR)) / 3.0
    obs[2] = wp.float32(gb.read(machine, HERO_X)) / 144.0
    obs[3] = wp.float32(gb.read(machine, HERO_Y)) / 112.0
    obs[4] = wp.float32(gb.read(machine, SAFE)) / 90.0
    obs[5] = wp.float32(gb.read(machine, KEYS)) / 4.0
    obs[6] = wp.float32(gb.read(machine, GREAT_KEY))
    obs[7] = wp.float32(gb.read(machine, OIL)) / 4.0
    obs[8] = wp.float32(gb.read(machine, ROOM)) / 11.0
    obs[9] = wp.float32(gb.read(machine, DAZZLED)) / 180.0
    obs[10] = wp.float32(gb.read(machine, SPIKES)) / 2.0
    obs[11] = rooms_seen(machine) / 48.0
    obs[12 + (int(gb.read(machine, LOOKS)) & 3)] = 1.0
    for creature in range(8):
        at = CREATURES + 8 * creature
        kind = int(gb.read(machine, at))
        if kind != 0:
            obs[16 + 5 * creature] = wp.float32(kind) / 20.0
            # Where it is, seen from the hero.
            obs[17 + 5 * creature] = (
                wp.float32(int(gb.read(machine, at + 1)) - int(gb.read(machine, HERO_X))) / 144.0
            )
            obs[18 + 5 * creature] = (
                wp.float32(int(gb.read(machine, at + 2)) - int(gb.read(machine, HERO_Y))) / 112.0
            )
            obs[19 + 5 * creature] = wp.float32(int(gb.read(machine, at + 3)) & 1)
            obs[20 + 5 * creature] = wp.float32((int(gb.read(machine, at + 3)) >> 1) & 1)
    room = PLACES + COLUMNS * ROWS * wp.min(int(gb.read(machine, ROOM)), 11)
    for place in range(COLUMNS * ROWS):
        obs[56 + place] = wp.float32(gb.read(machine, room + place)) / 20.0
