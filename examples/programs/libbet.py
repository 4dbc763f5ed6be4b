"""Libbet and the Magic Floor (pinobatch/libbet): points, floors, and a little for each tile that is new.

Addresses are those of its `libbet.sym`; `examples/libbet.py` compares them.
"""

import gbxcule as gb
import warp as wp

FLOOR_MAP = 0xC4A8
CURSOR_X = 0xC4EA
CURSOR_Y = 0xC4EB
CUR_SCORE = 0xC4ED
EXIT_OPEN = 0xC4EF
CUR_FLOOR = 0xC57F

# A floor has 8 by 8 tiles at most.
SIDE = 8
TILES = SIDE * SIDE

# Points of the episode, the floor and its score after the last step, then visited tiles.
EARNED = 0
FLOOR = 1
SCORE = 2
VISITED = 3
SCRATCH = 3 + TILES

# For each tile its kind, whether it was visited, and whether Libbet is on it; then the open exit.
OBS_DIM = 3 * TILES + 1


@wp.func
def tile(machine: gb.Machine) -> int:
    # The place is beyond the edge while Libbet leaves by the exit.
    column = wp.min(int(gb.read(machine, CURSOR_X)), SIDE - 1)
    row = wp.min(int(gb.read(machine, CURSOR_Y)), SIDE - 1)
    return row * SIDE + column


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[FLOOR] = wp.float32(gb.read(machine, CUR_FLOOR))
    scratch[SCORE] = wp.float32(gb.read(machine, CUR_SCORE))
    scratch[VISITED + tile(machine)] = 1.0


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    floor = wp.float32(gb.read(machine, CUR_FLOOR))
    score = wp.float32(gb.read(machine, CUR_SCORE))
    gained = wp.max(score - scratch[SCORE], 0.0)
    if floor != scratch[FLOOR]:
        # The old floor's score stays for a while.
        gained = 5.0
        for at in range(TILES):
            scratch[VISITED + at] = 0.0
    scratch[FLOOR] = floor
    scratch[SCORE] = score
    scratch[EARNED] += gained
    here = VISITED + tile(machine)
    if scratch[here] == 0.0:
        scratch[here] = 1.0
        gained += 0.1
    return gained


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for at in range(TILES):
        obs[at] = wp.float32(gb.read(machine, FLOOR_MAP + at)) / 16.0
        obs[TILES + at] = scratch[VISITED + at]
        obs[2 * TILES + at] = 0.0
    obs[2 * TILES + tile(machine)] = 1.0
    obs[3 * TILES] = wp.float32(gb.read(machine, EXIT_OPEN) != 0)
