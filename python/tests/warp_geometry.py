"""Queries of a mesh, a hierarchy and a hash grid, as a program for Warp's Python API (`test_warp_programs.py`).

Arrays called `near` hold numbers that may differ in their last bits; all others are equal.
"""

import numpy as np
import warp as wp

COUNT, RINGS, SPOKES = 3000, 24, 48


@wp.kernel
def points(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), same: wp.array2d(dtype=float), near: wp.array2d(dtype=float)):
    i = wp.tid()
    found = wp.mesh_query_point(mesh, x[i], 1.0)
    if found.result:
        same[i, 0] = found.sign
        near[i, 0] = wp.length(wp.mesh_eval_position(mesh, found.face, found.u, found.v) - x[i])
        near[i, 1] = wp.mesh_eval_velocity(mesh, found.face, found.u, found.v)[1]
    same[i, 1] = wp.mesh_query_point_sign_normal(mesh, x[i], 10.0).sign
    same[i, 2] = wp.mesh_query_point_sign_parity(mesh, x[i], 10.0, n_sample=3).sign
    same[i, 3] = wp.mesh_query_point_sign_winding_number(mesh, x[i], 10.0).sign
    same[i, 4] = float(wp.mesh_query_point_no_sign(mesh, x[i], 0.2).result)
    far = wp.mesh_query_furthest_point_no_sign(mesh, x[i], 0.0)
    near[i, 2] = wp.length(wp.mesh_eval_position(mesh, far.face, far.u, far.v) - x[i])


@wp.kernel
def rays(
    mesh: wp.uint64, x: wp.array(dtype=wp.vec3), d: wp.array(dtype=wp.vec3), same: wp.array2d(dtype=float),
    near: wp.array2d(dtype=float),
):  # fmt: skip
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, x[i], d[i], 5.0)
    if hit.result:
        same[i, 0] = float(hit.face) + hit.normal[0]
        near[i, 0] = hit.t
        near[i, 1] = hit.u
        near[i, 2] = hit.v
    same[i, 1] = float(wp.mesh_query_ray_anyhit(mesh, x[i], d[i], 0.8))
    same[i, 2] = float(wp.mesh_query_ray_count_intersections(mesh, x[i], d[i]))
    for face in wp.mesh_query_aabb(mesh, x[i], x[i] + wp.vec3(0.4, 0.4, 0.4)):
        same[i, 3] += float(face)
    face = int(0)
    box = wp.mesh_query_aabb(mesh, x[i], x[i] + wp.vec3(0.3, 0.3, 0.3))
    while wp.mesh_query_next(box, face):
        same[i, 4] += float(face)
    ball = wp.mesh_query_sphere(mesh, x[i], 0.3)
    while wp.mesh_query_next(ball, face):
        same[i, 5] += float(face)


@wp.kernel
def of_blocks(
    bvh: wp.uint64, mesh: wp.uint64, x: wp.array(dtype=wp.vec3), d: wp.array(dtype=wp.vec3), same: wp.array2d(dtype=int)
):
    i = wp.tid()
    box = wp.tile_bvh_query_aabb(bvh, x[i], x[i] + wp.vec3(0.3, 0.3, 0.3))
    while wp.tile_query_valid(box):
        same[i, 0] += wp.untile(wp.tile_bvh_query_next(box))
    ray = wp.tile_bvh_query_ray(bvh, x[i], d[i])
    while wp.tile_query_valid(ray):
        same[i, 1] += wp.untile(wp.tile_bvh_query_next(ray))
    faces = wp.tile_mesh_query_aabb(mesh, x[i], x[i] + wp.vec3(0.4, 0.4, 0.4))
    while wp.tile_query_valid(faces):
        same[i, 2] += wp.untile(wp.tile_mesh_query_aabb_next(faces))


@wp.kernel
def boxes(bvh: wp.uint64, x: wp.array(dtype=wp.vec3), d: wp.array(dtype=wp.vec3), same: wp.array2d(dtype=int)):
    i = wp.tid()
    k = int(0)
    box = wp.bvh_query_aabb(bvh, x[i], x[i] + wp.vec3(0.3, 0.3, 0.3))
    while wp.bvh_query_next(box, k):
        same[i, 0] += k
    ray = wp.bvh_query_ray(bvh, x[i], d[i])
    while wp.bvh_query_next(ray, k, 0.5):
        same[i, 1] += k
    ball = wp.bvh_query_sphere(bvh, x[i], 0.4)
    while wp.bvh_query_next(ball, k):
        same[i, 2] += k
    capsule = wp.bvh_query_capsule(bvh, x[i], d[i], 0.1)
    while wp.bvh_query_next(capsule, k):
        same[i, 3] += k


@wp.kernel
def groups(
    bvh: wp.uint64, mesh: wp.uint64, one: wp.uint64, x: wp.array(dtype=wp.vec3), d: wp.array(dtype=wp.vec3),
    same: wp.array2d(dtype=int),
):  # fmt: skip
    i = wp.tid()
    # Groups -2 and 7 have one box each; there is no group 10.
    group = 3 * (i % 6) - 5
    k = int(0)
    root = wp.bvh_get_group_root(bvh, group)
    box = wp.bvh_query_aabb(bvh, x[i], x[i] + wp.vec3(0.6, 0.6, 0.6), root)
    while wp.bvh_query_next(box, k):
        same[i, 0] += k
    ray = wp.bvh_query_ray(bvh, x[i], d[i], root)
    while wp.bvh_query_next(ray, k):
        same[i, 1] += k
    ball = wp.bvh_query_sphere(bvh, x[i], 0.4, wp.bvh_get_group_root(bvh, 1))
    while wp.bvh_query_next(ball, k):
        same[i, 2] += k
    same[i, 3] = int(root < 0)
    hit = wp.mesh_query_ray(mesh, x[i], d[i], 5.0, wp.mesh_get_group_root(mesh, i % 3))
    same[i, 4] = hit.face if hit.result else -1
    whole = wp.bvh_query_aabb(one, x[i], x[i] + wp.vec3(0.3, 0.3, 0.3), wp.bvh_get_group_root(one, 0))
    while wp.bvh_query_next(whole, k):
        same[i, 5] += k
    same[i, 6] = int(wp.bvh_get_group_root(one, 1) < 0)


@wp.kernel
def neighbours(grid: wp.uint64, x: wp.array(dtype=wp.vec3), same: wp.array2d(dtype=float)):
    i = wp.hash_grid_point_id(grid, wp.tid())
    for index in wp.hash_grid_query(grid, x[i], 0.3):
        same[i, 0] += wp.length(x[index] - x[i])


@wp.kernel
def neighbours_64(grid: wp.uint64, x: wp.array(dtype=wp.vec3d), same: wp.array2d(dtype=wp.float64)):
    i = wp.hash_grid_point_id(grid, wp.tid())
    query = wp.hash_grid_query(grid, x[i], wp.float64(0.3))
    index = int(0)
    while wp.hash_grid_query_next(query, index):
        same[i, 0] += wp.length(x[index] - x[i])
        same[i, 1] += wp.float64(1.0)


def bumpy_ball():
    """Points and faces of a closed surface around the origin."""
    at = [(0.0, 0.0, 1.0)]
    for tilt in np.linspace(0.0, np.pi, RINGS)[1:-1]:
        for turn in np.linspace(0.0, 2.0 * np.pi, SPOKES, endpoint=False):
            r = 1.0 + 0.15 * np.sin(5.0 * turn) * np.sin(4.0 * tilt)
            at.append((r * np.sin(tilt) * np.cos(turn), r * np.sin(tilt) * np.sin(turn), r * np.cos(tilt)))
    at.append((0.0, 0.0, -1.0))
    last = RINGS - 3
    faces = []
    for b in range(SPOKES):
        c = (b + 1) % SPOKES
        faces += [(0, 1 + b, 1 + c), (len(at) - 1, 1 + last * SPOKES + c, 1 + last * SPOKES + b)]
        for ring in range(last):
            p, q, r, s = (1 + a * SPOKES + e for a in (ring, ring + 1) for e in (b, c))
            faces += [(p, r, s), (p, s, q)]
    return np.array(at, np.float32), np.array(faces, np.int32)


class Example:
    def __init__(self):
        rng = np.random.default_rng(5)
        x = rng.uniform(-1.5, 1.5, (COUNT, 3)).astype(np.float32)
        d = rng.normal(size=(COUNT, 3)).astype(np.float32)
        d[:50, 0], d[50:80, 1], d[80:100, :2] = 0.0, 0.0, 0.0
        vectors = [wp.array(each, dtype=wp.vec3) for each in (x, d, x - 0.05, x + 0.05)]
        self.x, self.d = vectors[:2]
        at, faces = bumpy_ball()
        mesh = wp.array(at, dtype=wp.vec3), wp.array(faces.ravel(), dtype=int), wp.array(at[::-1].copy(), dtype=wp.vec3)
        self.mesh = wp.Mesh(*mesh, support_winding_number=True)
        self.bvh = wp.Bvh(*vectors[2:])
        of_boxes = rng.choice([-5, 1, 4, 5], COUNT).astype(np.int32)
        of_boxes[17], of_boxes[1234] = -2, 7
        of_faces = np.arange(len(faces), dtype=np.int32) % 3
        self.grouped = wp.Bvh(*vectors[2:], groups=wp.array(of_boxes, dtype=wp.int32))
        self.grouped_mesh = wp.Mesh(*mesh[:2], groups=wp.array(of_faces, dtype=wp.int32))
        self.grid = wp.HashGrid(7, 8, 9)
        self.grid.build(self.x, 0.25)
        self.x_64 = wp.array(self.x.numpy().astype(np.float64) * 1.1, dtype=wp.vec3d)
        self.grid_64 = wp.HashGrid(7, 8, 9, dtype=wp.float64)
        self.grid_64.build(self.x_64, 0.25)
        self.of_neighbours_64 = wp.zeros((COUNT, 2), dtype=wp.float64)
        self.of_points, self.near_points = wp.zeros((COUNT, 5)), wp.zeros((COUNT, 3))
        self.of_rays, self.near_rays = wp.zeros((COUNT, 6)), wp.zeros((COUNT, 3))
        self.of_boxes, self.of_neighbours = wp.zeros((COUNT, 4), dtype=int), wp.zeros((COUNT, 1))
        self.of_groups, self.of_blocks = wp.zeros((COUNT, 7), dtype=int), wp.zeros((COUNT, 3), dtype=int)

    def step(self):
        wp.launch(points, COUNT, [self.mesh.id, self.x, self.of_points, self.near_points])
        wp.launch(rays, COUNT, [self.mesh.id, self.x, self.d, self.of_rays, self.near_rays])
        wp.launch(boxes, COUNT, [self.bvh.id, self.x, self.d, self.of_boxes])
        tiled = [self.bvh.id, self.mesh.id, self.x, self.d, self.of_blocks]
        wp.launch_tiled(of_blocks, dim=COUNT, inputs=tiled, block_dim=1)
        grouped = [self.grouped.id, self.grouped_mesh.id, self.bvh.id]
        wp.launch(groups, COUNT, [*grouped, self.x, self.d, self.of_groups])
        wp.launch(neighbours, COUNT, [self.grid.id, self.x, self.of_neighbours])
        wp.launch(neighbours_64, COUNT, [self.grid_64.id, self.x_64, self.of_neighbours_64])
