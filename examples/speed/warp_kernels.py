"""Kernels on one thread by gbxcule.warp and by NVIDIA Warp, in turns: nanoseconds of the processor a thread.

    python examples/speed/warp_kernels.py

Each of the two runs the same text in a process of its own, three times in turn; the fastest launch counts. It needs
`warp-lang` and the package `gbxcule`.
"""

import json
import os
import subprocess
import sys
import time

ROUNDS, LAUNCHES = 3, 15
RAYS, MATRICES, NUMBERS, SIDE = 20_000, 50_000, 1 << 20, 256

if sys.argv[1:] == ["gbxcule"]:
    import gbxcule.warp

    gbxcule.warp.stand_in()

if sys.argv[1:]:
    import numpy as np
    import warp as wp

    @wp.kernel
    def ray_cast(mesh: wp.uint64, start: wp.array(dtype=wp.vec3), to: wp.array(dtype=wp.vec3), t: wp.array(dtype=float)):
        i = wp.tid()
        hit = wp.mesh_query_ray(mesh, start[i], to[i], 10.0)
        if hit.result:
            t[i] = hit.t

    @wp.kernel
    def nearest_point(mesh: wp.uint64, start: wp.array(dtype=wp.vec3), face: wp.array(dtype=int)):
        i = wp.tid()
        near = wp.mesh_query_point_no_sign(mesh, start[i] * 0.5, 10.0)
        if near.result:
            face[i] = near.face

    @wp.kernel
    def neighbours(grid: wp.uint64, points: wp.array(dtype=wp.vec3), sums: wp.array(dtype=float)):
        i = wp.tid()
        total = float(0.0)
        for j in wp.hash_grid_query(grid, points[i], 0.5):
            distance = wp.length(points[i] - points[j])
            if distance < 0.5:
                total += distance
        sums[i] = total

    @wp.kernel
    def sum_by_atomics(x: wp.array(dtype=float), total: wp.array(dtype=float)):
        wp.atomic_add(total, 0, x[wp.tid()])

    @wp.kernel
    def products_and_inverses(a: wp.array(dtype=wp.mat44), b: wp.array(dtype=wp.mat44), c: wp.array(dtype=wp.mat44)):
        i = wp.tid()
        c[i] = wp.inverse(a[i] * b[i]) * a[i]

    @wp.kernel
    def noise_and_sine(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        at = wp.vec3(x[i] * 10.0, float(i) * 0.01, x[i])
        y[i] = wp.noise(wp.rand_init(42), at) + wp.sin(x[i] * 20.0)

    @wp.kernel
    def tile_product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
        i, j = wp.tid()
        total = wp.tile_zeros(shape=(32, 32), dtype=float)
        for k in range(8):
            x = wp.tile_load(a, shape=(32, 32), offset=(i * 32, k * 32))
            y = wp.tile_load(b, shape=(32, 32), offset=(k * 32, j * 32))
            wp.tile_matmul(x, y, total)
        wp.tile_store(c, total, offset=(i * 32, j * 32))


def landscape(side: int) -> "tuple[np.ndarray, np.ndarray]":
    """The points and the triangles of a hilly square."""
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side), indexing="ij")
    points = np.stack([x, y, 0.2 * np.sin(5 * x) * np.cos(4 * y)], -1).reshape(-1, 3).astype(np.float32)
    corner = np.arange(side * side).reshape(side, side)[:-1, :-1].ravel()
    lower = np.stack([corner, corner + 1, corner + side], -1)
    upper = np.stack([corner + 1, corner + side + 1, corner + side], -1)
    return points, np.stack([lower, upper], 1).ravel().astype(np.int32)


def measured() -> dict:
    """Nanoseconds a thread of each kernel."""
    wp.config.quiet = True
    draw = np.random.default_rng(0)
    points, triangles = landscape(100)
    mesh = wp.Mesh(wp.array(points, dtype=wp.vec3), wp.array(triangles, dtype=int))
    start = draw.uniform(-1, 1, (RAYS, 3)).astype(np.float32)
    start[:, 2] = 2.0
    to = draw.uniform(-0.3, 0.3, (RAYS, 3)).astype(np.float32)
    to[:, 2] = -1.0
    start, to = [wp.array(array, dtype=wp.vec3) for array in (start, to)]
    cloud = wp.array(draw.uniform(0, 10, (RAYS, 3)).astype(np.float32), dtype=wp.vec3)
    grid = wp.HashGrid(64, 64, 64, device="cpu")
    grid.build(cloud, 0.5)
    matrices = (draw.random((2, MATRICES, 4, 4)) + 4 * np.eye(4)).astype(np.float32)
    a, b = [wp.array(part, dtype=wp.mat44) for part in matrices]
    x = wp.array(draw.random(NUMBERS).astype(np.float32))
    left, right = [wp.array(draw.random((SIDE, SIDE)).astype(np.float32)) for _ in range(2)]
    launches = {
        ray_cast: (RAYS, [mesh.id, start, to, wp.zeros(RAYS)]),
        nearest_point: (RAYS, [mesh.id, start, wp.zeros(RAYS, dtype=int)]),
        neighbours: (RAYS, [grid.id, cloud, wp.zeros(RAYS)]),
        sum_by_atomics: (NUMBERS, [x, wp.zeros(1)]),
        products_and_inverses: (MATRICES, [a, b, wp.zeros(MATRICES, dtype=wp.mat44)]),
        noise_and_sine: (NUMBERS, [x, wp.zeros(NUMBERS)]),
        tile_product: (SIDE * SIDE, [left, right, wp.zeros((SIDE, SIDE))]),
    }
    fastest = {}
    for kernel, (count, arguments) in launches.items():
        seconds = []
        for _ in range(LAUNCHES):
            begun = time.process_time()
            if kernel is tile_product:
                wp.launch_tiled(kernel, dim=(SIDE // 32, SIDE // 32), inputs=arguments, block_dim=32)
            else:
                wp.launch(kernel, count, arguments)
            seconds.append(time.process_time() - begun)
        fastest[kernel.key] = 1e9 * min(seconds) / count
    return fastest


def main() -> None:
    if sys.argv[1:]:
        print(json.dumps(measured()))
        return
    environment = os.environ | {"GBXCULE_THREADS": "1"}
    rounds = {"gbxcule": [], "warp": []}
    for _ in range(ROUNDS):
        for name, results in rounds.items():
            words = [sys.executable, __file__, name]
            ran = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
            results.append(json.loads(ran.stdout.splitlines()[-1]))
    print("| kernel | ours | Warp | our speed in parts of Warp's |\n|---|---:|---:|---:|")
    for kernel in rounds["warp"][0]:
        ours, its = [min(result[kernel] for result in results) for results in rounds.values()]
        print(f"| {kernel.replace('_', ' ')} | {ours:.1f} | {its:.1f} | {its / ours:.2f} |")


if __name__ == "__main__":
    main()
