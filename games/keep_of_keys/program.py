"""KEEP_OF_KEYS: rewards points, and new rooms and places a little; observes the things around the hero."""

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
ROOMS_IN_A_ROW = 0xC014
LOOKS = 0xC015
DAZZLED = 0xC017
SPIKES = 0xC018
# Eight creatures: kind, x, y, direction and more.
CREATURES = 0xC020
# The rooms of the floor, eighty places each.
PLACES = 0xC100

COLUMNS = 10
ROWS = 8
ROOM_PLACES = COLUMNS * ROWS
# Kinds of things in a room, from the key on; doors and gates.
FIRST_KIND = 2
KINDS = 5
DOOR = 13
GATE = 14
WALL = 8
# Number of observed places on each side of the hero.
SIGHT = 4
WIDTH = 2 * SIGHT + 1
# The score and the number of rooms seen after the last step.
SCRATCH = 2
# Visited places of all rooms of a floor; the last byte is the floor.
BYTE_SCRATCH = 12 * ROOM_PLACES + 1
NEAREST = 16 + 8 * 5
WINDOW = NEAREST + 3 * (KINDS + 2)
WAYS = WINDOW + 3 * WIDTH * WIDTH
OBS_DIM = WAYS + 4


@wp.func
def rooms_seen(machine: gb.Machine) -> wp.float32:
    # Each earlier floor counts as twelve rooms.
    seen = 12 * int(gb.read(machine, FLOOR))
    for room in range(16):
        seen += int(gb.bit(machine, SEEN + room / 8, room % 8))
    return wp.float32(seen)


@wp.func
def room(machine: gb.Machine) -> int:
    return wp.min(int(gb.read(machine, ROOM)), 11)


@wp.func
def hero_column(machine: gb.Machine) -> int:
    return wp.min((int(gb.read(machine, HERO_X)) + 8) / 16, COLUMNS - 1)


@wp.func
def hero_row(machine: gb.Machine) -> int:
    return wp.min((int(gb.read(machine, HERO_Y)) + 8) / 16, ROWS - 1)


@wp.func
def hero_place(machine: gb.Machine) -> int:
    return ROOM_PLACES * room(machine) + COLUMNS * hero_row(machine) + hero_column(machine)


@wp.func
def begin(
    machine: gb.Machine, scratch: wp.array(dtype=wp.float32), byte_scratch: wp.array(dtype=wp.uint8)
):
    scratch[0] = wp.float32(gb.read16(machine, SCORE))
    scratch[1] = rooms_seen(machine)
    byte_scratch[12 * ROOM_PLACES] = gb.read(machine, FLOOR)
    byte_scratch[hero_place(machine)] = wp.uint8(1)


@wp.func
def reward(
    machine: gb.Machine, scratch: wp.array(dtype=wp.float32), byte_scratch: wp.array(dtype=wp.uint8)
) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    seen = rooms_seen(machine)
    gained = wp.max(score - scratch[0], 0.0) + 2.0 * wp.max(seen - scratch[1], 0.0)
    scratch[0] = score
    scratch[1] = wp.max(seen, scratch[1])
    if byte_scratch[12 * ROOM_PLACES] != gb.read(machine, FLOOR):
        for place in range(12 * ROOM_PLACES):
            byte_scratch[place] = wp.uint8(0)
        byte_scratch[12 * ROOM_PLACES] = gb.read(machine, FLOOR)
    here = hero_place(machine)
    if byte_scratch[here] == wp.uint8(0):
        byte_scratch[here] = wp.uint8(1)
        gained += 0.2
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def observe(
    machine: gb.Machine,
    scratch: wp.array(dtype=wp.float32),
    obs: wp.array(dtype=wp.float32),
    byte_scratch: wp.array(dtype=wp.uint8),
):
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
            # The place, relative to the hero.
            obs[17 + 5 * creature] = (
                wp.float32(int(gb.read(machine, at + 1)) - int(gb.read(machine, HERO_X))) / 144.0
            )
            obs[18 + 5 * creature] = (
                wp.float32(int(gb.read(machine, at + 2)) - int(gb.read(machine, HERO_Y))) / 112.0
            )
            obs[19 + 5 * creature] = wp.float32(int(gb.read(machine, at + 3)) & 1)
            obs[20 + 5 * creature] = wp.float32((int(gb.read(machine, at + 3)) >> 1) & 1)
    column = hero_column(machine)
    row = hero_row(machine)
    first = ROOM_PLACES * room(machine)
    # The nearest thing of each kind: 1 if it exists, and its place relative to the hero.
    for kind in range(KINDS + 2):
        nearest = int(100)
        wanted = FIRST_KIND + kind
        if kind >= KINDS:
            wanted = DOOR + kind - KINDS
        for place in range(ROOM_PLACES):
            if int(gb.read(machine, PLACES + first + place)) == wanted:
                right = place % COLUMNS - column
                down = place / COLUMNS - row
                far = wp.abs(right) + wp.abs(down)
                if far < nearest:
                    nearest = far
                    obs[NEAREST + 3 * kind] = 1.0
                    obs[NEAREST + 3 * kind + 1] = wp.float32(right) / 9.0
                    obs[NEAREST + 3 * kind + 2] = wp.float32(down) / 7.0
    # Places around the hero: walls; things to take or open; unvisited places.
    for square in range(WIDTH * WIDTH):
        at = WINDOW + 3 * square
        x = column + square % WIDTH - SIGHT
        y = row + square / WIDTH - SIGHT
        if x < 0 or y < 0 or x >= COLUMNS or y >= ROWS:
            obs[at] = 1.0
        else:
            place = first + COLUMNS * y + x
            kind = int(gb.read(machine, PLACES + place))
            if kind >= WALL and kind < DOOR:
                obs[at] = 1.0
            elif kind == 1:
                obs[at + 1] = -0.5
            else:
                if (kind >= FIRST_KIND and kind < FIRST_KIND + KINDS) or kind == DOOR or kind == GATE:
                    obs[at + 1] = 1.0
                if byte_scratch[place] == wp.uint8(0):
                    obs[at + 2] = 1.0
    # Unvisited rooms to the right, left, above and below.
    in_a_row = wp.max(int(gb.read(machine, ROOMS_IN_A_ROW)), 1)
    here = room(machine)
    for way in range(4):
        other = here + 1 - 2 * (way & 1)
        outside = other < 0 or other / in_a_row != here / in_a_row
        if way >= 2:
            other = here + in_a_row * (2 * (way & 1) - 1)
            outside = other < 0 or other >= 16
        if not outside and not gb.bit(machine, SEEN + other / 8, other % 8):
            obs[WAYS + way] = 1.0
