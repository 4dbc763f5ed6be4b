"""The kernels of one_thread.rs, which reads them as text, and the peer's side of it: reads kernels' names, answers with
seconds of the processor for one launch."""

import sys
import time

import numpy as np
import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def heat(now: wp.array2d(dtype=float), after: wp.array2d(dtype=float), rate: float):
    i, j = wp.tid()
    rows = now.shape[0]
    columns = now.shape[1]
    if i == 0 or j == 0 or i == rows - 1 or j == columns - 1:
        after[i, j] = now[i, j]
        return
    around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
    after[i, j] = now[i, j] + rate * (around - 4.0 * now[i, j])


@wp.kernel
def bodies(x: wp.array(dtype=wp.vec3), pull: wp.array(dtype=wp.vec3), count: int):
    i = wp.tid()
    own = x[i]
    sum = wp.vec3()
    for j in range(count):
        d = x[j] - own
        near = wp.dot(d, d) + 0.01
        sum += d / (near * wp.sqrt(near))
    pull[i] = sum


wp.config.quiet = True
wp.init()
size = int(sys.argv[1])
side, count = 1 << 11, 1 << 12


def ramp(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 1009 / 1009


launches = {
    "saxpy": (saxpy, size, [ramp(size), ramp(size), 0.5]),
    "heat": (heat, (side, side), [ramp(side, side), ramp(side, side), 0.1]),
    "bodies": (bodies, count, [ramp(count, 3), ramp(count, 3), count]),
}
types = {"bodies": wp.vec3}
for name, (_, _, inputs) in launches.items():
    inputs[:2] = [wp.array(part, dtype=types.get(name, float), device="cpu") for part in inputs[:2]]

for name in sys.stdin:
    kernel, dim, inputs = launches[name.strip()]
    begin = time.process_time()
    wp.launch(kernel, dim=dim, inputs=inputs, device="cpu", record_tape=False)
    print("seconds", time.process_time() - begin, flush=True)
