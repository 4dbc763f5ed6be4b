"""The peer's side of launch_speed.rs: reads kernels' names, answers with seconds of one launch; or `compile` and
a file, answers with seconds until its kernels can be launched."""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def sines(x: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    for _step in range(100):
        v = wp.sin(v) + 0.5
    x[i] = v


@wp.kernel
def empty(x: wp.array(dtype=float)):
    pass




def compile_file(path: str) -> None:
    name = "sample_" + Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    wp.load_module(wp.get_module(name), device="cpu")


wp.config.quiet = True
wp.config.kernel_cache_dir = tempfile.mkdtemp()
wp.config.enable_backward = False
wp.init()
size = int(sys.argv[1])
x = wp.zeros(size, dtype=float, device="cpu")
y = wp.zeros(size, dtype=float, device="cpu")
launches = {
    "saxpy": lambda: wp.launch(saxpy, dim=size, inputs=[x, y, 0.5], device="cpu"),
    "sines": lambda: wp.launch(sines, dim=size, inputs=[x], device="cpu"),
    "empty": lambda: wp.launch(empty, dim=1, inputs=[x], device="cpu"),
}
for launch in launches.values():
    launch()
for line in sys.stdin:
    command, *path = line.strip().split(" ", 1)
    begin = time.perf_counter()
    compile_file(*path) if path else launches[command]()
    print("seconds", time.perf_counter() - begin, flush=True)
