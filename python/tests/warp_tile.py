"""Tiles of random numbers and stacks, as a program for Warp's Python API (`test_warp_programs.py`)."""

import warp as wp

BLOCKS = 40


@wp.kernel
def drawn(seed: int, whole: wp.array2d(dtype=int), few: wp.array(dtype=int), near: wp.array3d(dtype=float)):
    i = wp.tid()
    rng = wp.rand_init(seed, i)
    wp.tile_store(whole, wp.tile_randi(shape=(1, 24), rng=rng), offset=(i, 0))
    wp.tile_store(few, wp.tile_randi(8, rng, min=-5, max=12), offset=i * 8)
    wp.tile_store(near, wp.tile_randf(shape=(1, 3, 5), rng=rng, min=-2.5, max=4.0), offset=(i, 0, 0))
    near[i, 2, 4] = wp.tile_sum(wp.tile_randf(shape=16, rng=rng))[0] + wp.randf(rng)


@wp.kernel
def stacked(x: wp.array2d(dtype=int), order: wp.array2d(dtype=int), counts: wp.array2d(dtype=int)):
    i = wp.tid()
    s = wp.tile_stack(capacity=6, dtype=wp.vec2i)
    for k in range(x.shape[1]):
        slot = wp.tile_stack_push(s, wp.vec2i(x[i, k], k), x[i, k] % 3 != 0)
        order[i, k] = slot
        if x[i, k] % 5 == 0:
            value, taken = wp.tile_stack_pop(s)
            counts[i, 1] += value[0] * (taken + 2)
    counts[i, 0] = wp.tile_stack_count(s)
    while wp.tile_stack_count(s) > 0:
        value, taken = wp.tile_stack_pop(s)
        if taken >= 0:
            order[i, taken] += 100 * value[1]
    value, taken = wp.tile_stack_pop(s)
    counts[i, 2] = taken + value[0]
    wp.tile_stack_push(s, wp.vec2i(1, 2), True)
    wp.tile_stack_clear(s)
    counts[i, 3] = wp.tile_stack_count(s) + wp.tile_stack_push(s, wp.vec2i(3, 4), True)


class Example:
    def __init__(self):
        self.whole, self.few = wp.zeros((BLOCKS, 24), dtype=int), wp.zeros(BLOCKS * 8, dtype=int)
        self.units = wp.zeros((BLOCKS, 3, 5))
        self.order, self.counts = wp.zeros((BLOCKS, 24), dtype=int), wp.zeros((BLOCKS, 4), dtype=int)

    def step(self):
        wp.launch_tiled(drawn, dim=BLOCKS, inputs=[42, self.whole, self.few, self.units], block_dim=32)
        wp.launch_tiled(stacked, dim=BLOCKS, inputs=[self.whole, self.order, self.counts], block_dim=32)
