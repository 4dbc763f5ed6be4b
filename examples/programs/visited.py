"""A reward for PEARL_DRIFT: pearls, and a little for each place that the submarine reaches for the first time."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
GAME_OVER = 0xC003
SUB_X = 0xC006
SUB_Y = 0xC007

# The screen in tiles of 8 by 8 pixels.
COLUMNS = 20
ROWS = 18
# The score after the last step, then the map.
SCRATCH = 1 + COLUMNS * ROWS


@wp.func
def tile(machine: gb.Machine) -> int:
    column = wp.clamp(int(gb.read(machine, SUB_X)) / 8 - 1, 0, COLUMNS - 1)
    row = wp.clamp(int(gb.read(machine, SUB_Y)) / 8 - 2, 0, ROWS - 1)
    return row * COLUMNS + column


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    # An episode begins without a reward; the tile under the submarine counts as visited.
    scratch[0] = wp.float32(gb.read16(machine, SCORE))
    scratch[1 + tile(machine)] = 1.0


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    gained = wp.max(score - scratch[0], 0.0)
    scratch[0] = score
    here = 1 + tile(machine)
    if scratch[here] == 0.0:
        scratch[here] = 1.0
        gained += 0.01
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1
