"""The screen at half its size as an observation: 72 rows of 80 numbers, 0 for white to 1 for black."""

import gbxcule as gb
import warp as wp

ROWS = 72
COLUMNS = 80
OBS_DIM = ROWS * COLUMNS


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for y in range(ROWS):
        for x in range(COLUMNS):
            # The mean of two by two pixels, each of four shades.
            shades = int(gb.pixel(machine, 2 * x, 2 * y)) + int(gb.pixel(machine, 2 * x + 1, 2 * y))
            shades += int(gb.pixel(machine, 2 * x, 2 * y + 1)) + int(gb.pixel(machine, 2 * x + 1, 2 * y + 1))
            obs[y * COLUMNS + x] = wp.float32(shades) / 12.0
