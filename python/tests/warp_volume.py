"""Volumes read, sampled, made and stored, as a program for Warp's Python API (`test_warp_programs.py`).

Arrays called `near` hold gradients, which may differ in their last bits; all others are equal.
"""

import functools
import hashlib
import os
from typing import Any

import numpy as np
import warp as wp

ASSETS = os.environ["GBXCULE_WARP_ASSETS"]
FILES = ("test_grid", "test_vec_grid", "test_int32_grid", "test_index_grid", "torus")
COUNT = 2000
VALUES = (wp.int32, wp.uint32, wp.int64, wp.float32, wp.float64, wp.vec3f, wp.vec3d, wp.vec4f, wp.vec4d)


@wp.kernel
def by_letter(
    f: wp.uint64, v: wp.uint64, n: wp.uint64, p: wp.array[wp.vec3], same: wp.array2d[float], rows: wp.array[wp.vec3]
):
    i = wp.tid()
    x, y, z = int(p[i][0]), int(p[i][1]), int(p[i][2])
    same[i, 0] = wp.volume_lookup_f(f, x, y, z)
    same[i, 1] = wp.volume_sample_f(f, p[i], wp.Volume.CLOSEST)
    same[i, 2] = wp.volume_sample_f(f, p[i], wp.Volume.LINEAR)
    same[i, 3] = float(wp.volume_lookup_i(n, x, y, z) + wp.volume_sample_i(n, p[i]))
    # The grid has values of another type.
    same[i, 4] = wp.volume_sample_f(v, p[i], wp.Volume.LINEAR) + float(wp.volume_lookup_i(f, x, y, z))
    slope = wp.vec3()
    same[i, 5] = wp.volume_sample_grad_f(f, p[i], wp.Volume.LINEAR, slope) + wp.length(slope)
    same[i, 6] = wp.volume_sample_grad_f(f, p[i], wp.Volume.CLOSEST, slope) + wp.length(slope)
    same[i, 7] = wp.volume_sample_f(f, p[i], 2)
    rows[i] = wp.volume_lookup_v(v, x, y, z) + wp.volume_sample_v(v, p[i], wp.Volume.CLOSEST)
    rows[i] += wp.volume_sample_v(v, p[i], wp.Volume.LINEAR)


@wp.kernel
def indices(grid: wp.uint64, p: wp.array[wp.vec3], same: wp.array2d[int]):
    i = wp.tid()
    same[i, 0] = wp.volume_lookup_index(grid, int(p[i][0]), int(p[i][1]), int(p[i][2]))
    same[i, 1] = wp.volume_voxel_count(grid)


@wp.kernel
def places(grid: wp.uint64, p: wp.array[wp.vec3], same: wp.array2d[wp.vec3], same_64: wp.array2d[wp.vec3d]):
    i = wp.tid()
    same[i, 0] = wp.volume_index_to_world(grid, p[i])
    same[i, 1] = wp.volume_world_to_index(grid, p[i])
    same[i, 2] = wp.volume_index_to_world_dir(grid, p[i])
    same[i, 3] = wp.volume_world_to_index_dir(grid, p[i])
    q = wp.vec3d(p[i])
    same_64[i, 0] = wp.volume_index_to_world(grid, q)
    same_64[i, 1] = wp.volume_world_to_index(grid, q)
    same_64[i, 2] = wp.volume_index_to_world_dir(grid, q)
    same_64[i, 3] = wp.volume_world_to_index_dir(grid, q)


@wp.kernel
def store(grid: wp.uint64, at: wp.array2d[int], values: wp.array[Any]):
    i = wp.tid()
    wp.volume_store(grid, at[i, 0], at[i, 1], at[i, 2], values[i])


@wp.kernel
def read(grid: wp.uint64, p: wp.array[wp.vec3], same: wp.array2d[Any]):
    i = wp.tid()
    same[i, 0] = wp.volume_lookup(grid, int(p[i][0]), int(p[i][1]), int(p[i][2]), dtype=same.dtype)
    same[i, 1] = wp.volume_sample(grid, p[i], wp.Volume.CLOSEST, dtype=same.dtype)
    same[i, 2] = wp.volume_sample(grid, p[i], wp.Volume.LINEAR, dtype=same.dtype)


@wp.kernel
def from_array(
    grid: wp.uint64, p: wp.array[wp.vec3], data: wp.array[Any], background: wp.array[Any], same: wp.array2d[Any],
    slopes: wp.array[Any],
):  # fmt: skip
    i = wp.tid()
    same[i, 0] = wp.volume_sample_index(grid, p[i], wp.Volume.CLOSEST, data, background[0])
    same[i, 1] = wp.volume_sample_index(grid, p[i], wp.Volume.LINEAR, data, background[0])
    slope = slopes.dtype()
    same[i, 2] = wp.volume_sample_grad_index(grid, p[i], wp.Volume.LINEAR, data, background[0], slope)
    slopes[i] = slope


@wp.kernel
def for_gradient(f: wp.uint64, v: wp.uint64, p: wp.array[wp.vec3], out: wp.array[float]):
    i = wp.tid()
    slope = wp.vec3()
    value = wp.volume_sample_grad_f(f, p[i], wp.Volume.LINEAR, slope)
    q = wp.volume_world_to_index(v, wp.volume_index_to_world(v, p[i]) * 1.5)
    out[i] = value * wp.length(slope) + wp.length(wp.volume_sample_v(v, q, wp.Volume.LINEAR))


@functools.cache
def tiles():
    """Corners of tiles near each other, far away and below 0."""
    near = np.stack(np.meshgrid(*[np.arange(-16, 24, 8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    far = np.array([[4096, -4096, 8], [-40000, 40000, 120], [-8, 128, 4088], [2**23 - 8, -(2**23), 0]])
    return wp.array(np.concatenate([near, far, near[:7] + 3]).astype(np.int32), dtype=wp.int32)


def digest(volume):
    """Hash a volume's bytes, which are many."""
    return wp.array(np.frombuffer(hashlib.sha256(volume.array().numpy()).digest(), np.uint8), dtype=wp.uint8)


class Example:
    def __init__(self):
        rng = np.random.default_rng(3)
        p = rng.uniform(-20.0, 20.0, (COUNT, 3)).astype(np.float32)
        p[:300] = np.round(p[:300] * 2.0) / 2.0
        p[300:310] += 5000.0
        p[310:330] = rng.uniform(0.0, 8.0, (20, 3)) + tiles().numpy()[rng.integers(125, 129, 20)]
        self.p = wp.array(p, dtype=wp.vec3)
        self.files = []
        for name in FILES:
            with open(f"{ASSETS}/{name}.nvdb", "rb") as file:
                self.files.append(wp.Volume.load_from_nvdb(file))
        f, v, n, index, torus = self.files
        self.read = [wp.zeros((COUNT, 8)), wp.zeros(COUNT, dtype=wp.vec3)]
        self.of_letters, self.of_rows = self.read
        wp.launch(by_letter, COUNT, [f.id, v.id, n.id, self.p, *self.read])
        turned = wp.Volume.allocate_by_voxels(
            wp.array(p[:310], dtype=wp.vec3), translation=(1.0, 2.0, -3.5), transform=[[0.0, -0.7, 0.1], [1.3, 0.0, 0.2], [0.05, 0.0, 2.1]]
        )
        numbered = wp.Volume.allocate_by_tiles(tiles(), voxel_size=0.3, bg_value=None)
        made = [turned, numbered, wp.Volume.allocate(min=[-11] * 3, max=[11, 7, 9], voxel_size=0.1, bg_value=-123.0)]
        dense = rng.normal(size=(11, 17, 9)).astype(np.float32)
        made.append(wp.Volume.load_from_numpy(dense, (-3.0, 1.0, 2.0), (0.2, 0.3, 0.4), 7.5))
        made.append(wp.Volume.load_from_numpy((dense * 100.0).astype(np.int32), (-3.0, 1.0, 2.0), 0.5, 7))
        made.append(wp.Volume.load_from_numpy(np.stack([dense] * 3, axis=-1), voxel_size=0.5, bg_value=(1.0, 2.0, 3.0)))
        for at, volume in enumerate([*self.files, index.load_next_grid(), *made]):
            self.describe(at, volume)
        self.of_rebuilt = self.rebuilt(tiles())
        for at, dtype in enumerate(VALUES):
            self.of_type(at, dtype, rng)
        for dtype, slope, like in ((float, wp.vec3, wp.float32), (wp.vec4d, wp.types.matrix((4, 3), wp.float64), wp.float64)):
            for at, volume in enumerate((f, turned, numbered)):
                inner = getattr(dtype, "_shape_", ())
                data = wp.array(rng.normal(size=(volume.get_voxel_count(), *inner)), dtype=dtype)
                background = wp.array(rng.normal(size=(1, *inner)), dtype=dtype)
                same, slopes = wp.zeros((COUNT, 3), dtype=dtype), wp.zeros(COUNT, dtype=slope)
                wp.launch(from_array, COUNT, [wp.uint64(volume.id), self.p, data, background, same, slopes])
                setattr(self, f"of_array_{at}_{like.__name__}", same)
                setattr(self, f"slopes_{at}_{like.__name__}", slopes)
        p, out = wp.clone(self.p, requires_grad=True), wp.zeros(COUNT, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(for_gradient, COUNT, [f.id, v.id, p, out])
        out.grad.fill_(1.0)
        tape.backward()
        self.of_gradient = out
        # Between voxels only: at their planes the gradient jumps.
        inside = (np.abs(p.numpy()).max(axis=1) < 6.0) & (np.arange(COUNT) > 300)
        self.near_gradient = wp.array(p.grad.numpy()[inside] / 100.0, dtype=wp.vec3)

    def rebuilt(self, points):
        """Rebuild volumes of one point by others; the capacity of some is exceeded."""
        numbers, status, mask = [], wp.zeros(1, dtype=wp.uint32), wp.array([1, 0] * 70, dtype=wp.int32)
        for make, limit in ((wp.Volume.allocate_by_tiles, "max_tiles"), (wp.Volume.allocate_by_voxels, "max_active_voxels")):
            for options in ({limit: 400}, {limit: 4}, {limit: 400, "max_lower_nodes": 1}, {"rebuildable": True}):
                volume = make(wp.array([[1, 2, 3]], dtype=int), 0.5, status=status, **options)
                numbers += [*volume.get_rebuild_info()[1:], *volume.get_active_stats()]
                for chosen, by in ((points, mask), (points, None), (wp.array([[900, 1, 2]], dtype=int), None)):
                    volume.rebuild(chosen, status, by)
                    numbers += [*volume.get_active_stats(), status.numpy()[0]]
        return wp.array(np.array(numbers), dtype=wp.int64)

    def describe(self, at, volume):
        info = volume.get_grid_info()
        numbers = [info.size_in_bytes, info.grid_index, info.grid_count, *map(ord, info.name + info.type_str)]
        numbers += [volume.get_tile_count(), volume.get_voxel_count(), volume.get_feature_array_count()]
        placed = np.concatenate([*map(np.ravel, (info.translation, info.transform_matrix, volume.get_voxel_size()))])
        of = [wp.zeros((COUNT, 2), dtype=int), wp.zeros((COUNT, 4), dtype=wp.vec3), wp.zeros((COUNT, 4), dtype=wp.vec3d)]
        wp.launch(indices, COUNT, [volume.id, self.p, of[0]])
        wp.launch(places, COUNT, [volume.id, self.p, *of[1:]])
        of += [volume.get_tiles(), volume.get_voxels(), wp.array(numbers, dtype=wp.int64), wp.array(placed, dtype=float)]
        for part, array in enumerate([*of, digest(volume)]):
            setattr(self, f"volume_{at}_{part}", array)

    def of_type(self, at, dtype, rng):
        inner = getattr(dtype, "_shape_", ())
        background = dtype(*range(1, inner[0] + 1)) if inner else dtype(7)
        volume = wp.Volume.allocate_by_tiles(tiles(), voxel_size=(0.5, 0.25, 2.0), bg_value=background)
        grid, voxels = wp.uint64(volume.id), volume.get_voxels()
        values = (rng.normal(size=(len(voxels), *inner)) * 1000.0).astype(np.int64)
        values = values if dtype is not wp.uint32 else np.abs(values)
        wp.launch(store, len(voxels), [grid, voxels, wp.array(values, dtype=dtype)])
        # Where there is no leaf nothing is stored.
        wp.launch(store, 2, [grid, wp.array([[9000, 0, 0], [64, 64, 64]], dtype=int), wp.array(values[:2], dtype=dtype)])
        same = wp.zeros((COUNT, 3), dtype=dtype)
        wp.launch(read, COUNT, [grid, self.p, same])
        setattr(self, f"type_{at}", same)
        setattr(self, f"type_{at}_bytes", digest(volume))

    def step(self):
        pass
