"""The kernels of gradient_speed.rs, which reads them as text, and the peer's side of it: reads kernels' names,
answers with seconds of one launch forward and one back."""

import sys
import time

import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def sines(x: wp.array(dtype=float), y: wp.array(dtype=float), steps: int):
    i = wp.tid()
    v = x[i]
    for _step in range(steps):
        v = wp.sin(v) + 0.5
    y[i] = v


wp.config.quiet = True
wp.init()
size = int(sys.argv[1])
x = wp.zeros(size, dtype=float, device="cpu", requires_grad=True)
y = wp.zeros(size, dtype=float, device="cpu", requires_grad=True)
launches = {"saxpy": (saxpy, size, [x, y, 0.5]), "sines": (sines, size // 16, [x, y, 100])}


def seconds(kernel, dim, inputs, **more):
    begin = time.perf_counter()
    wp.launch(kernel, dim=dim, inputs=inputs, device="cpu", **more)
    return time.perf_counter() - begin


for name in sys.stdin:
    kernel, dim, inputs = launches[name.strip()]
    back = {"adjoint": True, "adj_inputs": [None] * 3, "adj_outputs": [], "outputs": []}
    print("seconds", seconds(kernel, dim, inputs), seconds(kernel, dim, inputs, **back), flush=True)
