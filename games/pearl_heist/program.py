"""PEARL_HEIST: pearls gathered and stolen, less those lost; the diver, the pearls, both eels, the rival as of the last
exchange. With a cable each machine of a pair has its own; without one the rival's numbers stay zero."""

import gbxcule as gb
import warp as wp

PEARLS = 0xC000
RIVALS_PEARLS = 0xC002
GAME_OVER = 0xC003
RESULT = 0xC004
STATE = 0xC005
DIVER_X = 0xC006
DIVER_Y = 0xC007
SECONDS = 0xC008
REST = 0xC00E
HAS_RIVAL = 0xC011
IS_SHUT = 0xC012
OWN_EEL = 0xC013
RIVALS_EEL = 0xC014
# Three pearls: x and y.
ON_THE_REEF = 0xC017

PLAYING = 1
WON = 1
# Reward of a won game: the number of pearls that wins it.
VICTORY = 20.0
# The pearls and the end after the last step.
SCRATCH = 2
OBS_DIM = 11 + 3 * 2


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, PEARLS))
    scratch[1] = wp.float32(gb.read(machine, GAME_OVER))


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    pearls = wp.float32(gb.read16(machine, PEARLS))
    over = wp.float32(gb.read(machine, GAME_OVER))
    gained = pearls - scratch[0]
    if over > scratch[1] and gb.read(machine, RESULT) == WON:
        gained += VICTORY
    scratch[0] = pearls
    scratch[1] = over
    return gained


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, GAME_OVER) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    x = int(gb.read(machine, DIVER_X))
    y = int(gb.read(machine, DIVER_Y))
    obs[0] = wp.float32(gb.read(machine, STATE) == PLAYING)
    obs[1] = wp.float32(x) / 160.0
    obs[2] = wp.float32(y) / 144.0
    obs[3] = wp.float32(gb.read16(machine, PEARLS)) / 20.0
    obs[4] = wp.float32(gb.read(machine, RIVALS_PEARLS)) / 20.0
    obs[5] = wp.float32(gb.read(machine, SECONDS)) / 60.0
    obs[6] = wp.float32(gb.read(machine, REST)) / 120.0
    obs[7] = wp.float32(gb.read(machine, HAS_RIVAL))
    obs[8] = wp.float32(gb.read(machine, IS_SHUT))
    obs[9] = wp.float32(gb.read(machine, OWN_EEL)) / 48.0
    obs[10] = wp.float32(gb.read(machine, RIVALS_EEL)) / 48.0
    for pearl in range(3):
        at = ON_THE_REEF + 2 * pearl
        obs[11 + 2 * pearl] = wp.float32(int(gb.read(machine, at)) - x) / 160.0
        obs[12 + 2 * pearl] = wp.float32(int(gb.read(machine, at + 1)) - y) / 144.0
