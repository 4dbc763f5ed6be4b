"""A program with indexed arrays, for Warp and `gbxcule.warp`."""

from typing import Any

import numpy as np
import warp as wp

# Warp's compiler refuses the C++ of Warp's reverse of such kernels.
wp.set_module_options({"enable_backward": False})


@wp.func
def total(a: wp.indexedarray(dtype=Any), count: int):
    found = a.dtype(0)
    for i in range(count):
        found += a[i]
    return found


@wp.kernel
def one(a: wp.indexedarray(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i] * 2.0 + float(a.shape[0])
    a[i] += 1.0
    wp.atomic_add(a, i, 0.5)
    if i == 0:
        out[a.shape[0]] = total(a, a.shape[0])


@wp.kernel
def two(a: wp.indexedarray2d(dtype=wp.vec3), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    row = a[i]
    out[i, j] = row[j][1] * 10.0 + a[i, j][0] + float(a.shape[0] * 10 + a.shape[1])
    a[i, j] = wp.vec3(out[i, j], 2.0, float(j))


@wp.kernel
def three(a: wp.indexedarray(dtype=int, ndim=3), out: wp.array(dtype=int)):
    i, j, k = wp.tid()
    plane = a[i]
    wp.atomic_add(out, i, plane[j, k] + a[i, j, k])


@wp.kernel
def move(source: wp.indexedarray(dtype=Any), target: wp.indexedarray(dtype=Any)):
    i = wp.tid()
    target[i] = source[i]


class Example:
    def __init__(self):
        rng = np.random.default_rng(5)
        self.x = wp.array(rng.random(20), dtype=float, device="cpu")
        self.v = wp.array(rng.random((5, 6, 3)), dtype=wp.vec3, device="cpu")
        self.n = wp.array(np.arange(60).reshape(3, 4, 5), dtype=int, device="cpu")
        self.out = wp.zeros(8, dtype=float, device="cpu")
        self.out_two = wp.zeros((5, 6), dtype=float, device="cpu")
        self.out_three = wp.zeros(3, dtype=int, device="cpu")
        self.moved = wp.zeros(20, dtype=float, device="cpu")
        self.copied = wp.zeros(4, dtype=float, device="cpu")

    def step(self):
        def listed(*numbers):
            return wp.array(numbers, dtype=int, device="cpu")

        a = wp.indexedarray(self.x, [listed(3, 19, 0, 7, 8, 2, 5)])
        wp.launch(one, dim=7, inputs=[a, self.out], device="cpu")
        for lists in ([listed(4, 0), None], [None, listed(5, 1, 2)], [listed(1, 2, 3), listed(0, 5)]):
            b = wp.indexedarray(self.v, lists)
            wp.launch(two, dim=b.shape, inputs=[b, self.out_two], device="cpu")
        c = wp.indexedarray(self.n, [listed(2, 0), None, listed(4, 1, 1)])
        wp.launch(three, dim=c.shape, inputs=[c, self.out_three], device="cpu")
        d = wp.indexedarray(self.moved, listed(1, 4, 9, 16, 0, 2, 19))
        wp.launch(move, dim=7, inputs=[a, d], device="cpu")
        wp.copy(self.copied, self.x[listed(8, 6, 4, 2)])
        d.assign(a)
        wp.indexedarray(self.moved, listed(11, 12)).fill_(7.0)
