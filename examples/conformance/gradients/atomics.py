"""Sums and extremes of several threads."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)


@wp.kernel
def atomic_sum(x: Reals, o: Reals, n: int, m: int):
    """a sum of all threads"""
    t = wp.tid()
    wp.atomic_add(o, 0, x[t] * x[t + 1])


@wp.kernel
def atomic_sum_in_loop(x: Reals, o: Reals, n: int, m: int):
    """a sum of all threads in a dynamic loop"""
    t = wp.tid()
    for i in range(n):
        wp.atomic_add(o, i % 4, x[i] * x[t])


@wp.kernel
def atomic_difference(x: Reals, o: Reals, n: int, m: int):
    """`atomic_sub` in a branch"""
    t = wp.tid()
    if x[t] > Real(0.0):
        wp.atomic_sub(o, 1, x[t] * x[t])


@wp.kernel
def atomic_min(x: Reals, o: Reals, n: int, m: int):
    """`atomic_min`"""
    t = wp.tid()
    wp.atomic_min(o, 2, x[t] * x[t + 1])


@wp.kernel
def atomic_max_of_many(x: Reals, o: Reals, n: int, m: int):
    """`atomic_max` in a dynamic loop"""
    t = wp.tid()
    for i in range(n):
        wp.atomic_max(o, 3, x[i] * x[t] + x[i])


@wp.kernel
def atomic_max_that_loses(x: Reals, o: Reals, n: int, m: int):
    """`atomic_max` where the old value stays"""
    t = wp.tid()
    wp.atomic_max(o, 2, x[t] * Real(0.1))


@wp.kernel
def atomic_add_and_store(x: Reals, o: Reals, n: int, m: int):
    """a sum beside a store"""
    t = wp.tid()
    wp.atomic_add(o, 2, x[t])
    o[t] = x[t] * x[t + 2]


@wp.kernel
def atomic_scatter(x: Reals, o: Reals, n: int, m: int):
    """a sum to an index that comes from data"""
    t = wp.tid()
    k = int(x[2]) + t
    wp.atomic_add(o, k, wp.sin(x[t]))


@wp.kernel
def atomic_histogram(x: Reals, o: Reals, n: int, m: int):
    """weights spread over two cells"""
    t = wp.tid()
    k = int(x[2])
    w = x[t] - wp.floor(x[t])
    wp.atomic_add(o, k, w)
    wp.atomic_add(o, k + 1, Real(1.0) - w * w)


@wp.kernel
def atomic_ticket(x: Reals, o: Reals, n: int, m: int):
    """a place taken by a counter of integers"""
    t = wp.tid()
    w = x[t] * x[t]
    wp.atomic_add(o, 0, w)
    wp.atomic_add(o, 0, w * w)


@wp.kernel
def atomic_of_what_was_stored(x: Reals, o: Reals, n: int, m: int):
    """a sum of what the thread just stored"""
    t = wp.tid()
    o[t] = x[t] * x[t]
    wp.atomic_add(o, 3, o[t] * x[t])


@wp.kernel
def atomic_of_vector(x: Reals, o: Reals, n: int, m: int):
    """a sum of components"""
    t = wp.tid()
    v = wp.vec3d(x[t], x[1], x[2])
    wp.atomic_add(o, 0, wp.dot(v, v))
    wp.atomic_sub(o, 1, v[0] * v[1])
