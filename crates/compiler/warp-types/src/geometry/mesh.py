# Triangles: three `indices` of `points` each. The items of the tree `bvh` are faces.
@wp.struct
class Mesh:
    points: wp.array(dtype=wp.vec3)
    velocities: wp.array(dtype=wp.vec3)
    indices: wp.array(dtype=int)
    bvh: wp.uint64
    average_edge_length: float
    has_winding_number: bool


@wp.struct
class MeshQueryPoint:
    result: bool
    sign: float
    face: int
    u: float
    v: float


@wp.struct
class MeshQueryRay:
    result: bool
    sign: float
    face: int
    t: float
    u: float
    v: float
    normal: wp.vec3


@wp.struct
class MeshQueryAABB:
    boxes: BvhQuery


# Faces whose nearest point to `center` is not further away than the square root of `reach`.
@wp.struct
class _MeshQuerySphere:
    boxes: BvhQuery
    mesh: wp.uint64
    center: wp.vec3
    reach: float
    face: int


@wp.func
def mesh_get(id: wp.uint64):
    return wp.table_of(Mesh)[id]


@wp.func
def mesh_get_bvh(id: wp.uint64):
    return wp.table_of(Mesh)[id].bvh


@wp.func
def mesh_get_group_root(id: wp.uint64, group: int):
    return bvh_get_group_root(wp.table_of(Mesh)[id].bvh, group)


@wp.func
def mesh_get_index(id: wp.uint64, index: int):
    return wp.table_of(Mesh)[id].indices[index]


@wp.func
def mesh_get_point(id: wp.uint64, index: int):
    meshes = wp.table_of(Mesh)
    return meshes[id].points[meshes[id].indices[index]]


@wp.func
def mesh_get_velocity(id: wp.uint64, index: int):
    meshes = wp.table_of(Mesh)
    if not meshes[id].velocities:
        return wp.vec3()
    return meshes[id].velocities[meshes[id].indices[index]]


@wp.func
def _corner(id: wp.uint64, face: int, corner: int):
    meshes = wp.table_of(Mesh)
    return meshes[id].points[meshes[id].indices[face * 3 + corner]]


@wp.func
def mesh_eval_position(id: wp.uint64, face: int, bary_u: float, bary_v: float):
    return _corner(id, face, 0) * bary_u + _corner(id, face, 1) * bary_v + _corner(id, face, 2) * (1.0 - bary_u - bary_v)


@wp.func
def mesh_eval_velocity(id: wp.uint64, face: int, bary_u: float, bary_v: float):
    meshes = wp.table_of(Mesh)
    if not meshes[id].velocities:
        return wp.vec3()
    a = meshes[id].velocities[meshes[id].indices[face * 3]]
    b = meshes[id].velocities[meshes[id].indices[face * 3 + 1]]
    c = meshes[id].velocities[meshes[id].indices[face * 3 + 2]]
    return a * bary_u + b * bary_v + c * (1.0 - bary_u - bary_v)


@wp.func
def mesh_eval_face_normal(id: wp.uint64, face: int):
    a = _corner(id, face, 0)
    return wp.normalize(wp.cross(_corner(id, face, 1) - a, _corner(id, face, 2) - a))


# The share of the corners `b` and `c` in the point of a triangle that is nearest to `p`: see
# Ericson, "Real-Time Collision Detection", 5.1.5.
@wp.func
def _shares(a: wp.vec3, b: wp.vec3, c: wp.vec3, p: wp.vec3):
    ab = b - a
    ac = c - a
    b_from_a = wp.dot(ab, p - a)
    c_from_a = wp.dot(ac, p - a)
    if b_from_a <= 0.0 and c_from_a <= 0.0:
        return wp.vec2(0.0, 0.0)
    b_from_b = wp.dot(ab, p - b)
    c_from_b = wp.dot(ac, p - b)
    if b_from_b >= 0.0 and c_from_b <= b_from_b:
        return wp.vec2(1.0, 0.0)
    area_c = b_from_a * c_from_b - b_from_b * c_from_a
    if area_c <= 0.0 and b_from_a >= 0.0 and b_from_b <= 0.0:
        return wp.vec2(b_from_a / (b_from_a - b_from_b), 0.0)
    b_from_c = wp.dot(ab, p - c)
    c_from_c = wp.dot(ac, p - c)
    if c_from_c >= 0.0 and b_from_c <= c_from_c:
        return wp.vec2(0.0, 1.0)
    area_b = b_from_c * c_from_a - b_from_a * c_from_c
    if area_b <= 0.0 and c_from_a >= 0.0 and c_from_c <= 0.0:
        return wp.vec2(0.0, c_from_a / (c_from_a - c_from_c))
    area_a = b_from_b * c_from_c - b_from_c * c_from_b
    towards_c = c_from_b - b_from_b
    towards_b = b_from_c - c_from_c
    if area_a <= 0.0 and towards_c >= 0.0 and towards_b >= 0.0:
        share = towards_c / (towards_c + towards_b)
        return wp.vec2(1.0 - share, share)
    whole = 1.0 / (area_a + area_b + area_c)
    return wp.vec2(area_b * whole, area_c * whole)


# The shares of all three corners, as sums of rounded numbers that other compilers agree on.
@wp.func
def _barycentric(a: wp.vec3, b: wp.vec3, c: wp.vec3, p: wp.vec3):
    shares = _shares(a, b, c, p)
    u = 1.0 - shares[0] - shares[1]
    v = shares[0]
    return wp.vec3(u, v, 1.0 - u - v)


@wp.func
def _is_sliver(a: wp.vec3, b: wp.vec3, c: wp.vec3):
    ab = b - a
    ac = c - a
    bc = c - b
    normal = wp.cross(ab, ac)
    sides = wp.dot(ab, ab) + wp.dot(ac, ac) + wp.dot(bc, bc)
    # Most triangles are clearly no slivers: this test needs no root and no quotient.
    if wp.dot(normal, normal) > 4.0e-12 * sides * sides:
        return False
    return wp.length(normal) / sides < 1.0e-6


@wp.func
def _distance_sq(points: wp.array(dtype=wp.vec3), indices: wp.array(dtype=int), face: int, point: wp.vec3):
    corner = wp.uint32(face) * wp.uint32(3)
    a = points[wp.uint32(indices[corner])]
    b = points[wp.uint32(indices[corner + wp.uint32(1)])]
    c = points[wp.uint32(indices[corner + wp.uint32(2)])]
    if _is_sliver(a, b, c):
        return wp.inf
    shares = _barycentric(a, b, c, point)
    away = shares[0] * a + shares[1] * b + shares[2] * c - point
    return wp.length_sq(away)


@wp.func
def _face_distance_sq(id: wp.uint64, face: int, point: wp.vec3):
    mesh = wp.table_of(Mesh)[id]
    return _distance_sq(mesh.points, mesh.indices, face, point)


# Returns a face near a point, or -1 for an empty mesh: descends into the nearer child of each node.
@wp.func
def _near_face(nodes: wp.array(dtype=BvhNode), point: wp.vec3):
    if nodes.shape[0] == 0:
        return int(-1)
    node = wp.uint32(0)
    item = nodes[node].item
    while item < 0:
        one = nodes[node + wp.uint32(1)]
        skip = wp.uint32(one.skip)
        other = nodes[skip]
        if _box_distance_sq(point, other.lower, other.upper) < _box_distance_sq(point, one.lower, one.upper):
            node = skip
            item = other.item
        else:
            node = node + wp.uint32(1)
            item = one.item
    return item


# A bit for each box of a node that is not further away than `nearest`.
@wp.func
def _near_boxes(nodes: wp.array(dtype=BvhWideNode), at: wp.uint32, point: wp.vec3, nearest: float):
    x = _four(point[0])
    y = _four(point[1])
    z = _four(point[2])
    x = _least(nodes[at].high_x, _most(nodes[at].low_x, x)) - x
    y = _least(nodes[at].high_y, _most(nodes[at].low_y, y)) - y
    z = _least(nodes[at].high_z, _most(nodes[at].low_z, z)) - z
    apart = wp.cw_mul(x, x) + wp.cw_mul(y, y) + wp.cw_mul(z, z) - _four(nearest)
    return wp.uint64(_bits(apart) & nodes[at].slots)


# The next item whose box is nearer than `nearest`, or -1. The loop is apart from the faces'
# arithmetic, so that all it needs fits in registers.
@wp.func
def _next_near_item(
    nodes: wp.array(dtype=BvhWideNode), point: wp.vec3, nearest: float, node: wp.ref[wp.uint32], pending: wp.ref[wp.uint64]
):
    at = node
    left = pending
    while left != wp.uint64(0):
        bits = int(left) & 15
        if bits == 0:
            left = left >> wp.uint64(4)
            at = wp.uint32(nodes[at].parent)
        else:
            bit = bits & -bits
            left = left ^ wp.uint64(bit)
            child = nodes[at].children[wp.uint32((bit >> 1) - (bit >> 3))]
            if child < 0:
                node = at
                pending = left
                return -1 - child
            at = wp.uint32(child)
            left = (left << wp.uint64(4)) | _near_boxes(nodes, at, point, nearest)
    return -1


# The nearest face that is nearer than `max_dist`, or -1.
@wp.func
def _nearest_face(id: wp.uint64, point: wp.vec3, max_dist: float):
    mesh = wp.table_of(Mesh)[id]
    nodes = wp.table_of(Bvh)[mesh.bvh].wide
    nearest = float(max_dist * max_dist)
    found = int(-1)
    item = _near_face(wp.table_of(Bvh)[mesh.bvh].nodes, point)
    node = wp.uint32(0)
    pending = wp.uint64(1)
    while item >= 0:
        distance = _distance_sq(mesh.points, mesh.indices, item, point)
        if distance < nearest:
            nearest = distance
            found = item
        item = _next_near_item(nodes, point, nearest, node, pending)
    return found


@wp.func
def _furthest_face(id: wp.uint64, point: wp.vec3, min_dist: float):
    bvhs = wp.table_of(Bvh)
    bvh = wp.table_of(Mesh)[id].bvh
    furthest = float(min_dist * min_dist)
    found = int(-1)
    node = int(0)
    while node < bvhs[bvh].nodes.shape[0]:
        reach = wp.max(wp.abs(point - bvhs[bvh].nodes[node].lower), wp.abs(point - bvhs[bvh].nodes[node].upper))
        if reach[0] * reach[0] + reach[1] * reach[1] + reach[2] * reach[2] < furthest:
            node = bvhs[bvh].nodes[node].skip
        else:
            item = bvhs[bvh].nodes[node].item
            if item >= 0:
                a = _corner(id, item, 0)
                b = _corner(id, item, 1)
                c = _corner(id, item, 2)
                if not _is_sliver(a, b, c):
                    distance = wp.max(wp.max(wp.length_sq(a - point), wp.length_sq(b - point)), wp.length_sq(c - point))
                    if distance > furthest:
                        furthest = distance
                        found = item
            node = node + 1
    return found


# The result of a query: the position on the nearest face, computed from a point with gradients.
@wp.func
def _found_point(id: wp.uint64, point: wp.vec3, face: int):
    query = MeshQueryPoint()
    if face >= 0:
        shares = _barycentric(_corner(id, face, 0), _corner(id, face, 1), _corner(id, face, 2), point)
        query.result = True
        query.face = face
        query.u = 1.0 - shares[1] - shares[2]
        query.v = shares[1]
    return query


@wp.func
def mesh_query_point_no_sign(id: wp.uint64, point: wp.vec3, max_dist: float):
    return _found_point(id, point, _nearest_face(id, point, max_dist))


@wp.func
def mesh_query_furthest_point_no_sign(id: wp.uint64, point: wp.vec3, min_dist: float):
    face = _furthest_face(id, point, min_dist)
    query = MeshQueryPoint()
    if face >= 0:
        query.result = True
        query.face = face
        a = wp.length_sq(point - _corner(id, face, 0))
        b = wp.length_sq(point - _corner(id, face, 1))
        c = wp.length_sq(point - _corner(id, face, 2))
        if a > b and a > c:
            query.u = 1.0
        elif b > c:
            query.v = 1.0
    return query


# Two of three rays along the axes decide: -1 inside, 1 outside.
@wp.func
def _sign_by_rays(id: wp.uint64, point: wp.vec3):
    inside = int(0)
    for axis in range(3):
        direction = wp.vec3(0.0, 0.0, 0.0)
        direction[axis] = 1.0
        face = _first_face(id, point, direction, wp.inf, -1, False)
        if face >= 0:
            if _hit_face(id, face, point, direction)[3] < 0.0:
                inside = inside + 1
    if inside >= 2:
        return -1.0
    return 1.0


@wp.func
def mesh_query_point(id: wp.uint64, point: wp.vec3, max_dist: float):
    query = mesh_query_point_no_sign(id, point, max_dist)
    if query.result:
        query.sign = _sign_by_rays(id, point)
    return query


@wp.func
def mesh_query_point_sign_parity(
    id: wp.uint64, point: wp.vec3, max_dist: float, n_sample: int = 1, perturbation_scale: float = 0.1
):
    query = mesh_query_point_no_sign(id, point, max_dist)
    if query.result:
        state = wp.rand_init(42)
        inside = int(0)
        for _sample in range(n_sample):
            direction = wp.vec3(0.0, 0.0, 0.0)
            while wp.length_sq(direction) < 1.0e-8:
                x = wp.randf(state, -perturbation_scale, perturbation_scale)
                y = wp.randf(state, -perturbation_scale, perturbation_scale)
                z = wp.randf(state, -perturbation_scale, perturbation_scale)
                direction = wp.vec3(1.0, 1.0, 1.0) + wp.vec3(x, y, z)
            inside = inside + mesh_query_ray_count_intersections(id, point, direction) % 2
        query.sign = 1.0
        if inside * 2 >= n_sample:
            query.sign = -1.0
    return query


# The angle under which a point sees a triangle; below 0 from behind.
@wp.func
def _solid_angle(a: wp.vec3, b: wp.vec3, c: wp.vec3, point: wp.vec3):
    to_a = a - point
    to_b = b - point
    to_c = c - point
    if wp.length(to_a) == 0.0 or wp.length(to_b) == 0.0 or wp.length(to_c) == 0.0:
        return 0.0
    to_a = to_a / wp.length(to_a)
    to_b = to_b / wp.length(to_b)
    to_c = to_c / wp.length(to_c)
    volume = wp.dot(to_a, wp.cross(to_b - to_a, to_c - to_a))
    if volume == 0.0:
        return 0.0
    return 2.0 * wp.atan2(volume, 1.0 + wp.dot(to_a, to_b) + wp.dot(to_a, to_c) + wp.dot(to_b, to_c))


@wp.func
def mesh_query_point_sign_winding_number(
    id: wp.uint64, point: wp.vec3, max_dist: float, accuracy: float = 2.0, threshold: float = 0.5
):
    query = mesh_query_point_no_sign(id, point, max_dist)
    if query.result:
        mesh = wp.table_of(Mesh)[id]
        if mesh.has_winding_number:
            angle = float(0.0)
            for face in range(mesh.indices.shape[0] // 3):
                angle += _solid_angle(_corner(id, face, 0), _corner(id, face, 1), _corner(id, face, 2), point)
            query.sign = 1.0
            if angle * 0.07957747154 > threshold:
                query.sign = -1.0
        else:
            query.sign = _sign_by_rays(id, point)
    return query


# The weight of a face in the normal of a feature: its angle at a corner, half a turn at an edge,
# a whole turn within.
@wp.func
def _weight(a: wp.vec3, b: wp.vec3, c: wp.vec3, at: wp.vec3, near_sq: float):
    ab = b - a
    ac = c - a
    bc = c - b
    if wp.length_sq(at - a) < near_sq:
        return wp.acos(wp.dot(wp.normalize(ab), wp.normalize(ac)))
    if wp.length_sq(at - b) < near_sq:
        return wp.acos(wp.dot(wp.normalize(bc), wp.normalize(-ab)))
    if wp.length_sq(at - c) < near_sq:
        return wp.acos(wp.dot(wp.normalize(-ac), wp.normalize(-bc)))
    if _is_near(at - a, ab, near_sq) or _is_near(at - b, bc, near_sq) or _is_near(at - a, ac, near_sq):
        return wp.pi
    return 2.0 * wp.pi


@wp.func
def _is_near(from_corner: wp.vec3, edge: wp.vec3, near_sq: float):
    along = wp.dot(edge, from_corner)
    return wp.length_sq(from_corner) * wp.length_sq(edge) - along * along < near_sq * wp.length_sq(edge)


# 1 on the side of the surface that its normals point to, -1 on the other: the normals of all faces
# that are about as near as the nearest count.
@wp.func
def _sign_by_normals(id: wp.uint64, point: wp.vec3, face: int, epsilon: float):
    bvhs = wp.table_of(Bvh)
    bvh = wp.table_of(Mesh)[id].bvh
    nearest = wp.sqrt(_face_distance_sq(id, face, point))
    near = wp.table_of(Mesh)[id].average_edge_length * epsilon
    normal = wp.vec3(0.0, 0.0, 0.0)
    node = int(0)
    while node < bvhs[bvh].nodes.shape[0]:
        if _node_distance_sq(bvh, node, point) > (nearest + near) * (nearest + near):
            node = bvhs[bvh].nodes[node].skip
        else:
            item = bvhs[bvh].nodes[node].item
            if item >= 0:
                a = _corner(id, item, 0)
                b = _corner(id, item, 1)
                c = _corner(id, item, 2)
                if wp.sqrt(_face_distance_sq(id, item, point)) < nearest + near:
                    shares = _barycentric(a, b, c, point)
                    at = shares[0] * a + shares[1] * b + shares[2] * c
                    normal += _weight(a, b, c, at, near * near) * wp.normalize(wp.cross(b - a, c - a))
            node = node + 1
    found = _found_point(id, point, face)
    if wp.dot(normal, point - mesh_eval_position(id, face, found.u, found.v)) > 0.0:
        return 1.0
    return -1.0


@wp.func
def mesh_query_point_sign_normal(id: wp.uint64, point: wp.vec3, max_dist: float, epsilon: float = 1.0e-3):
    query = mesh_query_point_no_sign(id, point, max_dist)
    if query.result:
        query.sign = _sign_by_normals(id, point, query.face, epsilon)
    return query


@wp.func
def mesh_query_aabb(id: wp.uint64, low: wp.vec3, high: wp.vec3):
    query = MeshQueryAABB()
    query.boxes = bvh_query_aabb(wp.table_of(Mesh)[id].bvh, low, high)
    return query


@wp.func
def mesh_query_aabb_next(query: wp.ref[MeshQueryAABB], index: wp.ref[wp.int32]):
    return bvh_query_next(query.boxes, index)


@wp.func
def mesh_query_next(query: wp.ref[MeshQueryAABB], index: wp.ref[wp.int32]):
    return bvh_query_next(query.boxes, index)


# The point of a segment that is nearest to another point.
@wp.func
def _nearest_on_segment(p: wp.vec3, q: wp.vec3, point: wp.vec3):
    pq = q - p
    length_sq = wp.dot(pq, pq)
    if length_sq > 0.0:
        return p + wp.clamp(wp.dot(point - p, pq) / length_sq, 0.0, 1.0) * pq
    return p


# The point of a triangle nearest to another point; without area a triangle is its longest side.
@wp.func
def _nearest_on_face(a: wp.vec3, b: wp.vec3, c: wp.vec3, point: wp.vec3):
    ab = b - a
    ac = c - a
    bc = c - b
    normal = wp.cross(ab, ac)
    if wp.dot(normal, normal) == 0.0:
        if wp.dot(ab, ab) >= wp.dot(ac, ac) and wp.dot(ab, ab) >= wp.dot(bc, bc):
            return _nearest_on_segment(a, b, point)
        if wp.dot(ac, ac) >= wp.dot(bc, bc):
            return _nearest_on_segment(a, c, point)
        return _nearest_on_segment(b, c, point)
    shares = _barycentric(a, b, c, point)
    return a * shares[0] + b * shares[1] + c * shares[2]


@wp.func
def mesh_query_sphere(id: wp.uint64, center: wp.vec3, radius: float):
    query = _MeshQuerySphere()
    query.boxes = bvh_query_sphere(wp.table_of(Mesh)[id].bvh, center, radius)
    query.mesh = id
    query.center = center
    query.reach = query.boxes.radius * query.boxes.radius
    return query


@wp.func
def mesh_query_next(query: wp.ref[_MeshQuerySphere], index: wp.ref[wp.int32]):
    id = query.mesh
    while bvh_query_next(query.boxes, query.face):
        face = query.face
        near = _nearest_on_face(_corner(id, face, 0), _corner(id, face, 1), _corner(id, face, 2), query.center)
        if wp.length_sq(near - query.center) <= query.reach:
            index = face
            return True
    return False


@wp.func
def mesh_query_aabb_next(query: wp.ref[_MeshQuerySphere], index: wp.ref[wp.int32]):
    return mesh_query_next(query, index)


# Faces whose boxes meet a box, found by the threads of a block.
@wp.struct
class MeshQueryAABBTiled:
    boxes: BvhQueryTiled


@wp.func
def tile_mesh_query_aabb(id: wp.uint64, low: wp.vec3, high: wp.vec3):
    query = MeshQueryAABBTiled()
    query.boxes = tile_bvh_query_aabb(wp.table_of(Mesh)[id].bvh, low, high)
    return query


@wp.func
def tile_mesh_query_aabb_next(query: wp.ref[MeshQueryAABBTiled]):
    return tile_bvh_query_next(query.boxes)


@wp.func
def tile_query_valid(query: MeshQueryAABBTiled):
    return tile_query_valid(query.boxes)


@wp.func
def mesh_query_aabb_tiled(id: wp.uint64, low: wp.vec3, high: wp.vec3):
    return tile_mesh_query_aabb(id, low, high)


@wp.func
def mesh_query_aabb_next_tiled(query: wp.ref[MeshQueryAABBTiled]):
    return tile_mesh_query_aabb_next(query)


# Queries of Warp's older form, which write their results to arguments.
@wp.func
def mesh_query_point_no_sign(
    id: wp.uint64, point: wp.vec3, max_dist: float, face: wp.ref[wp.int32], bary_u: wp.ref[wp.float32],
    bary_v: wp.ref[wp.float32],
):
    query = mesh_query_point_no_sign(id, point, max_dist)
    if query.result:
        face = query.face
        bary_u = query.u
        bary_v = query.v
    return query.result


@wp.func
def mesh_query_point(
    id: wp.uint64, point: wp.vec3, max_dist: float, inside: wp.ref[wp.float32], face: wp.ref[wp.int32],
    bary_u: wp.ref[wp.float32], bary_v: wp.ref[wp.float32],
):
    query = mesh_query_point(id, point, max_dist)
    if query.result:
        inside = query.sign
        face = query.face
        bary_u = query.u
        bary_v = query.v
    return query.result
