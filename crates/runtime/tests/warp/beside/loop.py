"""Loops that share the name of their index."""

import warp as wp


@wp.kernel
def shared_index(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for k in range(n):
        total += wp.sin(x[i] + float(k))
    for k in range(3):
        total = total * 0.5 + x[i] * float(k)
    for k in range(i, 0, -1):
        total -= 0.25 * float(k)
    out[i] = total
