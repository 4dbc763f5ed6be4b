@wp.kernel
def stick_actions(
    counters: wp.array2d(dtype=wp.uint64),
    scratch: wp.array2d(dtype=wp.float32),
    cell: int,
    manual_buttons: wp.array(dtype=wp.int16),
    seeds: wp.array(dtype=wp.uint64),
    counts: wp.array(dtype=wp.uint64),
    threshold: wp.uint64,
    begins: int,
    actions: wp.array(dtype=wp.uint8),
):
    """Repeats the last action of an env that does not rest, where chance says so."""
    env = wp.tid()
    if manual_buttons[env] == wp.int16(-2):
        return
    last = scratch[env, cell]
    repeats = begins == 0
    if begins != 0:
        place = (counters[env, 0] + wp.uint64(1)) * GOLDEN
        drawn = splitmix64(bits_of(seeds[env], counts[env]) + place)
        repeats = (drawn >> wp.uint64(32)) < threshold
    if repeats and last >= 1.0:
        actions[env] = wp.uint8(int(last) - 1)
    scratch[env, cell] = float(actions[env]) + 1.0
