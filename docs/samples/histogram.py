import warp as wp


@wp.kernel
def histogram(values: wp.array(dtype=wp.uint8), counts: wp.array(dtype=int), longest: wp.array(dtype=int)):
    row = wp.tid()
    run = int(0)
    best = int(0)
    for column in range(64):
        value = values[row * 64 + column]
        wp.atomic_add(counts, int(value), 1)
        if value == wp.uint8(0):
            run = 0
        else:
            run += 1
            best = wp.max(best, run)
    wp.atomic_max(longest, 0, best)
