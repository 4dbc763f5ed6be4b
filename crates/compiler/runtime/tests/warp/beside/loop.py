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


@wp.kernel
def index_after_its_loop(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    k = int(0)
    # The loop has a turn for each n: without one Warp 1.19 seems to read a variable never set.
    for k in range(1 + (n & 7)):
        total += x[i]
        for k in range(2, 4 + (n & 1)):
            total += float(k)
        total += 0.5 * float(k)
    out[i] = total + float(k)
