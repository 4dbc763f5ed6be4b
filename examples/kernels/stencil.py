"""A step of the heat equation, and a blur, on grids that end in walls."""

import border
import warp as wp
from border import cell as value

RATE = wp.constant(0.2)
RADIUS = 2


@wp.kernel
def heat(now: wp.array2d(dtype=float), then: wp.array2d(dtype=float)):
    i, j = wp.tid()
    around = value(now, i - 1, j) + value(now, i + 1, j) + value(now, i, j - 1) + value(now, i, j + 1)
    then[i, j] = now[i, j] + RATE * (around - 4.0 * now[i, j])


@wp.kernel
def blur(picture: wp.array2d(dtype=float), blurred: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(-RADIUS, RADIUS + 1):
        total += border.cell(picture, i, j + k)
    blurred[i, j] = total / float(2 * RADIUS + 1)
