"""Elements of arrays that are written, and read again."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)


@wp.kernel
def store_copied(x: Reals, o: Reals, n: int, m: int):
    """an element copied"""
    t = wp.tid()
    o[t] = x[t + 3]


@wp.kernel
def store_constant(x: Reals, o: Reals, n: int, m: int):
    """an element set to a constant"""
    t = wp.tid()
    o[t] = Real(2.0)


@wp.kernel
def store_added(x: Reals, o: Reals, n: int, m: int):
    """`o[i] += x`"""
    t = wp.tid()
    o[t] += x[t] * x[t + 1]


@wp.kernel
def store_subtracted(x: Reals, o: Reals, n: int, m: int):
    """`o[i] -= x`"""
    t = wp.tid()
    o[t] -= x[t] * x[t + 1]


@wp.kernel
def store_added_twice(x: Reals, o: Reals, n: int, m: int):
    """`o[i] += x` twice"""
    t = wp.tid()
    o[t] += x[t] * x[t + 1]
    o[t] += wp.sin(x[t])


@wp.kernel
def store_added_in_loop(x: Reals, o: Reals, n: int, m: int):
    """`o[i] += x` in a dynamic loop"""
    t = wp.tid()
    for i in range(n):
        o[t] += x[i] * x[t]


@wp.kernel
def store_added_then_read(x: Reals, o: Reals, n: int, m: int):
    """`o[i] += x`, then read"""
    t = wp.tid()
    o[t] += x[t] * x[t + 1]
    o[t + 2] = o[t] * x[t]


@wp.kernel
def store_added_then_squared(x: Reals, o: Reals, n: int, m: int):
    """`o[i] += x`, read and squared into another element"""
    t = wp.tid()
    o[t] += x[t]
    o[t + 2] = o[t] * o[t]


@wp.kernel
def store_multiplied(x: Reals, o: Reals, n: int, m: int):
    """`o[i] *= x`"""
    t = wp.tid()
    o[t] *= x[t]


@wp.kernel
def store_multiplied_by_constant(x: Reals, o: Reals, n: int, m: int):
    """`o[i] *= 3.0`"""
    t = wp.tid()
    o[t] *= Real(3.0)


@wp.kernel
def store_divided(x: Reals, o: Reals, n: int, m: int):
    """`o[i] /= x`"""
    t = wp.tid()
    o[t] /= x[t] * x[t] + Real(0.5)


@wp.kernel
def store_squared_in_place(x: Reals, o: Reals, n: int, m: int):
    """an element squared in place"""
    t = wp.tid()
    o[t] = o[t] * o[t]


@wp.kernel
def store_negated_in_place(x: Reals, o: Reals, n: int, m: int):
    """an element negated in place"""
    t = wp.tid()
    o[t] = -o[t]


@wp.kernel
def store_sine_in_place(x: Reals, o: Reals, n: int, m: int):
    """`x[i] = sin(x[i])`"""
    t = wp.tid()
    x[t] = wp.sin(x[t])


@wp.kernel
def store_swapped(x: Reals, o: Reals, n: int, m: int):
    """two elements exchanged (NVIDIA/warp#947)"""
    t = wp.tid()
    if t == 0:
        kept = o[0]
        o[0] = o[1]
        o[1] = kept


@wp.kernel
def store_swapped_and_scaled(x: Reals, o: Reals, n: int, m: int):
    """two elements exchanged and multiplied"""
    t = wp.tid()
    if t == 0:
        a = o[0]
        b = o[1]
        o[0] = b * x[0]
        o[1] = a * x[1]


@wp.kernel
def store_overwritten_after_use(x: Reals, o: Reals, n: int, m: int):
    """an element used, then increased (NVIDIA/warp#947)"""
    t = wp.tid()
    if t == 0:
        o[2] = x[1] * o[0]
        o[0] += Real(100.0)


@wp.kernel
def store_two_stores(x: Reals, o: Reals, n: int, m: int):
    """an element stored twice"""
    t = wp.tid()
    o[t] = x[t] * x[t]
    o[t] = wp.exp(x[t + 2])


@wp.kernel
def store_store_then_load(x: Reals, o: Reals, n: int, m: int):
    """a stored element read again"""
    t = wp.tid()
    o[t] = x[t] * x[t + 1]
    y = o[t]
    o[t + 2] = y * y * x[t]


@wp.kernel
def store_three_versions(x: Reals, o: Reals, n: int, m: int):
    """an element stored, read and stored three times"""
    t = wp.tid()
    o[t] = x[t] * x[t]
    o[t] = o[t] * x[t + 1]
    o[t] = wp.sin(o[t]) + o[t]


@wp.kernel
def store_shifted(x: Reals, o: Reals, n: int, m: int):
    """each thread reads what no thread writes"""
    t = wp.tid()
    o[t] = x[t + 1] - x[t + 3]


@wp.kernel
def store_to_input(x: Reals, o: Reals, n: int, m: int):
    """an input overwritten by a constant after use"""
    t = wp.tid()
    o[t] = x[t] * Real(2.0)
    x[t] = Real(0.0)


@wp.kernel
def store_to_input_needed(x: Reals, o: Reals, n: int, m: int):
    """an input overwritten after a product that needs it"""
    t = wp.tid()
    o[t] = x[t] * x[t]
    x[t] = Real(0.0)


@wp.kernel
def store_in_place_relaxation(x: Reals, o: Reals, n: int, m: int):
    """an average of neighbours in place, by one thread"""
    t = wp.tid()
    if t == 0:
        for i in range(1, m):
            o[i] = Real(0.5) * (o[i - 1] + o[i + 1])


@wp.kernel
def store_in_place_linear(x: Reals, o: Reals, n: int, m: int):
    """`x[i] = a * x[i] + b` in a dynamic loop"""
    t = wp.tid()
    for i in range(m):
        o[t] = Real(0.5) * o[t] + x[i] * x[t]


@wp.kernel
def store_running_sum(x: Reals, o: Reals, n: int, m: int):
    """a running sum in place"""
    t = wp.tid()
    if t == 0:
        for i in range(1, m + 1):
            o[i] = o[i] + o[i - 1]


@wp.kernel
def store_running_product_out(x: Reals, o: Reals, n: int, m: int):
    """a running product into another array"""
    t = wp.tid()
    if t == 0:
        p = Real(1.0)
        for i in range(m + 1):
            p = p * x[i]
            o[i] = p


@wp.kernel
def store_by_index_from_data(x: Reals, o: Reals, n: int, m: int):
    """an element whose index comes from data"""
    t = wp.tid()
    k = int(x[2])
    o[k + t] = x[t] * x[t + 2]


@wp.kernel
def store_max_in_place(x: Reals, o: Reals, n: int, m: int):
    """`o[i] = max(o[i], x)`"""
    t = wp.tid()
    o[t] = wp.max(o[t], x[t] * x[t])


@wp.kernel
def store_clamp_in_place(x: Reals, o: Reals, n: int, m: int):
    """`o[i] = clamp(o[i], ..)`"""
    t = wp.tid()
    o[t] = wp.clamp(o[t], Real(-0.1), Real(0.6))


@wp.kernel
def store_only_one_thread(x: Reals, o: Reals, n: int, m: int):
    """one thread writes for all"""
    t = wp.tid()
    if t == 1:
        for i in range(m):
            o[i] = x[i] * x[i + 1]


@wp.kernel
def store_local_array(x: Reals, o: Reals, n: int, m: int):
    """an array made in the kernel"""
    t = wp.tid()
    a = wp.zeros(shape=(5,), dtype=wp.float64)
    for i in range(5):
        a[i] = x[i] * x[i]
    o[t] = a[0] * a[4] + a[2]
