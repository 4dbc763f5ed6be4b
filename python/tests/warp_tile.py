"""Tiles of random numbers, stacks and transforms, as a program for Warp's Python API (`test_warp_programs.py`)."""

import numpy as np
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


@wp.kernel
def transformed(x: wp.array2d(dtype=wp.vec2), y: wp.array2d(dtype=wp.vec2d), z: wp.array3d(dtype=wp.vec2)):
    i = wp.tid()
    a = wp.tile_load(x, shape=(2, 16), offset=(2 * i, 0))
    wp.tile_fft(a)
    wp.tile_store(x, a, offset=(2 * i, 0))
    b = wp.tile_load(y, shape=(1, 12), offset=(i, 0))
    wp.tile_ifft(b)
    wp.tile_store(y, b, offset=(i, 0))
    c = wp.tile_load(z, shape=(1, 2, 14), offset=(i, 0, 0))
    wp.tile_fft(c)
    wp.tile_ifft(c)
    wp.tile_store(z, c, offset=(i, 0, 0))


@wp.kernel
def spectrum(x: wp.array2d(dtype=wp.vec2), y: wp.array2d(dtype=wp.vec2)):
    a = wp.tile_load(x, shape=(2, 8))
    wp.tile_fft(a)
    wp.tile_store(y, a)


@wp.kernel
def weighed(y: wp.array2d(dtype=wp.vec2), weights: wp.array2d(dtype=wp.vec2), total: wp.array(dtype=float)):
    i, k = wp.tid()
    wp.atomic_add(total, 0, wp.dot(y[i, k], weights[i, k]))


class Example:
    def __init__(self):
        draw = np.random.default_rng(5)
        single = draw.standard_normal((BLOCKS, 1 << 8)).astype(np.float32)
        self.near_single = wp.array(single[:, :64].reshape(-1, 16, 2), dtype=wp.vec2)
        self.near_double = wp.array(single[:, :24].reshape(-1, 12, 2).astype(np.float64), dtype=wp.vec2d)
        self.near_whole = wp.array(0.25 * single[:, :56].reshape(-1, 2, 14, 2), dtype=wp.vec2)
        x, weights = (single[at : at + 1, :32].reshape(2, 8, 2) for at in (3, 4))
        self.x = wp.array(x, dtype=wp.vec2, requires_grad=True)
        self.near_spectrum = wp.zeros((2, 8), dtype=wp.vec2, requires_grad=True)
        self.weights, self.near_total = wp.array(weights, dtype=wp.vec2), wp.zeros(1, requires_grad=True)
        self.whole, self.few = wp.zeros((BLOCKS, 24), dtype=int), wp.zeros(BLOCKS * 8, dtype=int)
        self.units = wp.zeros((BLOCKS, 3, 5))
        self.order, self.counts = wp.zeros((BLOCKS, 24), dtype=int), wp.zeros((BLOCKS, 4), dtype=int)

    def step(self):
        wp.launch_tiled(drawn, dim=BLOCKS, inputs=[42, self.whole, self.few, self.units], block_dim=32)
        wp.launch_tiled(stacked, dim=BLOCKS, inputs=[self.whole, self.order, self.counts], block_dim=32)
        arrays = [self.near_single, self.near_double, self.near_whole]
        wp.launch_tiled(transformed, dim=BLOCKS, inputs=arrays, block_dim=1)
        with wp.Tape() as tape:
            wp.launch_tiled(spectrum, dim=1, inputs=[self.x, self.near_spectrum], block_dim=1)
            wp.launch(weighed, (2, 8), [self.near_spectrum, self.weights, self.near_total])
        tape.backward(self.near_total)
        self.near_gradient = wp.clone(self.x.grad)
