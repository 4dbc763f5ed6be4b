"""Heat in a rod: one step, and the rod's distance from a wanted temperature."""

import warp as wp


@wp.kernel
def diffuse(old: wp.array(dtype=float), new: wp.array(dtype=float), rate: float):
    i = wp.tid()
    last = old.shape[0] - 1
    left = old[wp.max(i - 1, 0)]
    right = old[wp.min(i + 1, last)]
    new[i] = old[i] + rate * (left - 2.0 * old[i] + right)


@wp.kernel
def distance(rod: wp.array(dtype=float), wanted: float, loss: wp.array(dtype=float)):
    i = wp.tid()
    d = rod[i] - wanted
    wp.atomic_add(loss, 0, d * d)
