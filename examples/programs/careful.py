"""PEARL_DRIFT with a mask and a hook: no LEFT at the left edge; a function counts what the submarine catches."""

import gbxcule as gb
import warp as wp

SCORE = 0xC000
SUB_X = 0xC006
LEFTMOST = 16

# Actions of the codec `full_v1`: START, LEFT, SELECT.
ACTIONS = 9
START = 2
LEFT = 5
SELECT = 7

# The score after the last step, and the number of catches in the episode.
EARNED = 0
CAUGHT = 1
SCRATCH = 2

OBS_DIM = 2


@wp.func
def action_mask(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), mask: wp.array(dtype=wp.float32)):
    mask[START] = 0.0
    mask[SELECT] = 0.0
    if int(gb.read(machine, SUB_X)) <= LEFTMOST:
        mask[LEFT] = 0.0


# A hook at the game's label `Catch` calls this function.
@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[CAUGHT] += 1.0


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, SCORE))
    gain = score - scratch[EARNED]
    scratch[EARNED] = score
    return gain


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, SUB_X)) / 160.0
    obs[1] = scratch[CAUGHT]
