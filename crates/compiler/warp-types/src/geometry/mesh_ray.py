

# A vector with permuted axes: the third is the one along which a ray goes furthest, and the first
# two are swapped if the ray goes down along the third.
@wp.func
def _turned(v: wp.vec3, axis: int, goes_down: bool):
    turned = v
    if axis == 0:
        turned = wp.vec3(v[1], v[2], v[0])
    elif axis == 1:
        turned = wp.vec3(v[2], v[0], v[1])
    if goes_down:
        turned = wp.vec3(turned[1], turned[0], turned[2])
    return turned


# Where a ray hits a triangle: t, the shares of `a` and `b`, and the sign's number; t is -1 if it
# does not. See Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection", JCGT 2 (1), 2013.
@wp.func
def _hit(start: wp.vec3, direction: wp.vec3, a: wp.vec3, b: wp.vec3, c: wp.vec3):
    size = wp.abs(direction)
    axis = int(2)
    goes_down = direction[2] < 0.0
    if size[0] > size[1] and size[0] > size[2]:
        axis = int(0)
        goes_down = direction[0] < 0.0
    elif size[1] > size[2] and not (size[0] > size[1]):
        axis = int(1)
        goes_down = direction[1] < 0.0
    along = _turned(direction, axis, goes_down)
    shear_x = along[0] / along[2]
    shear_y = along[1] / along[2]
    scale = 1.0 / along[2]
    to_a = _turned(a - start, axis, goes_down)
    to_b = _turned(b - start, axis, goes_down)
    to_c = _turned(c - start, axis, goes_down)
    ax = to_a[0] - shear_x * to_a[2]
    ay = to_a[1] - shear_y * to_a[2]
    bx = to_b[0] - shear_x * to_b[2]
    by = to_b[1] - shear_y * to_b[2]
    cx = to_c[0] - shear_x * to_c[2]
    cy = to_c[1] - shear_y * to_c[2]
    of_a = _cross(cx, by, cy, bx)
    of_b = _cross(ax, cy, ay, cx)
    of_c = _cross(bx, ay, by, ax)
    missed = wp.vec4(-1.0, 0.0, 0.0, 0.0)
    if wp.min(wp.min(of_a, of_b), of_c) < 0.0 and wp.max(wp.max(of_a, of_b), of_c) > 0.0:
        return missed
    whole = of_a + of_b + of_c
    if whole == 0.0:
        return missed
    depth = of_a * (scale * to_a[2]) + of_b * (scale * to_b[2]) + of_c * (scale * to_c[2])
    if depth != 0.0 and (depth < 0.0) != (whole < 0.0):
        return missed
    per_whole = 1.0 / whole
    return wp.vec4(depth * per_whole, of_a * per_whole, of_b * per_whole, whole)


# a b - c d, rounded once.
@wp.func
def _cross(a: float, b: float, c: float, d: float):
    return float(wp.float64(a) * wp.float64(b) - wp.float64(c) * wp.float64(d))


@wp.func
def _hit_triangle(
    points: wp.array(dtype=wp.vec3), indices: wp.array(dtype=int), face: int, start: wp.vec3, direction: wp.vec3
):
    corner = wp.uint32(face) * wp.uint32(3)
    a = points[wp.uint32(indices[corner])]
    b = points[wp.uint32(indices[corner + wp.uint32(1)])]
    c = points[wp.uint32(indices[corner + wp.uint32(2)])]
    return _hit(start, direction, a, b, c)


@wp.func
def _hit_face(id: wp.uint64, face: int, start: wp.vec3, direction: wp.vec3):
    mesh = wp.table_of(Mesh)[id]
    return _hit_triangle(mesh.points, mesh.indices, face, start, direction)


# The first leaf from `node` on whose box a ray enters before `first`, or a node not before `end`.
@wp.func
def _next_entered_leaf(
    nodes: wp.array(dtype=BvhNode), start: wp.vec3, per_direction: wp.vec3, first: float, node: wp.uint32, end: wp.uint32
):
    at = wp.uint32(node)
    while at < end:
        box = nodes[at]
        if _enters_closed_box(start, per_direction, box.lower, box.upper) < first:
            if box.item >= 0:
                return at
            at = at + wp.uint32(1)
        else:
            at = wp.uint32(box.skip)
    return at


# A ray for tests of four boxes at once. Along an axis to which it is at right angles it begins a
# little inside of both sides of a box, so that each box around `start` counts as entered.
@wp.struct
class _WideRay:
    from_low: wp.vec3
    from_high: wp.vec3
    per_direction: wp.vec3


@wp.func
def _wide_ray(start: wp.vec3, direction: wp.vec3):
    ray = _WideRay()
    ray.from_low = start
    ray.from_high = start
    ray.per_direction = _per(direction)
    for axis in range(3):
        if not wp.isfinite(ray.per_direction[axis]):
            near = 1.0e-6 * wp.abs(start[axis]) + 1.0e-30
            ray.from_low[axis] = start[axis] + near
            ray.from_high[axis] = start[axis] - near
            ray.per_direction[axis] = 1.0e38
    return ray


# A bit for each box of a node that a ray enters before `first`.
@wp.func
def _entered(nodes: wp.array(dtype=BvhWideNode), at: wp.uint32, ray: _WideRay, first: float):
    low_x = (nodes[at].low_x - _four(ray.from_low[0])) * ray.per_direction[0]
    low_y = (nodes[at].low_y - _four(ray.from_low[1])) * ray.per_direction[1]
    low_z = (nodes[at].low_z - _four(ray.from_low[2])) * ray.per_direction[2]
    high_x = (nodes[at].high_x - _four(ray.from_high[0])) * ray.per_direction[0]
    high_y = (nodes[at].high_y - _four(ray.from_high[1])) * ray.per_direction[1]
    high_z = (nodes[at].high_z - _four(ray.from_high[2])) * ray.per_direction[2]
    enters = _most(_most(_least(low_x, high_x), _least(low_y, high_y)), _least(low_z, high_z))
    leaves = _least(_least(_most(low_x, high_x), _most(low_y, high_y)), _most(low_z, high_z))
    late = _most(enters, _four(0.0)) - _least(leaves, _four(first))
    return wp.uint64(_bits(late) & nodes[at].slots)


# The next item whose box a ray enters before `first`, or -1. `pending` has four bits for each node
# on the way from the first one to `node`, which has the lowest: boxes that remain.
@wp.func
def _next_item(
    nodes: wp.array(dtype=BvhWideNode), ray: _WideRay, first: float, node: wp.ref[wp.uint32], pending: wp.ref[wp.uint64]
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
            left = (left << wp.uint64(4)) | _entered(nodes, at, ray, first)
    return -1


# The first face that a ray hits before `max_t`, or -1.
@wp.func
def _first_face(id: wp.uint64, start: wp.vec3, direction: wp.vec3, max_t: float, root: int, any: bool):
    mesh = wp.table_of(Mesh)[id]
    nodes = wp.table_of(Bvh)[mesh.bvh].wide
    if root > 0:
        return _first_face_below(id, start, direction, max_t, root, any)
    ray = _wide_ray(start, direction)
    first = float(max_t)
    found = int(-1)
    node = wp.uint32(0)
    pending = wp.uint64(1)
    item = _next_item(nodes, ray, first, node, pending)
    while item >= 0:
        hit = _hit_triangle(mesh.points, mesh.indices, item, start, direction)
        if hit[0] >= 0.0 and hit[0] < first:
            first = hit[0]
            found = item
            if any:
                return found
        item = _next_item(nodes, ray, first, node, pending)
    return found


# The first face below the node `root` that a ray hits before `max_t`, or -1.
@wp.func
def _first_face_below(id: wp.uint64, start: wp.vec3, direction: wp.vec3, max_t: float, root: int, any: bool):
    mesh = wp.table_of(Mesh)[id]
    nodes = wp.table_of(Bvh)[mesh.bvh].nodes
    per_direction = _per(direction)
    first = float(max_t)
    found = int(-1)
    node = wp.uint32(root)
    end = wp.uint32(nodes[root].skip)
    while node < end:
        node = _next_entered_leaf(nodes, start, per_direction, first, node, end)
        if node < end:
            item = nodes[node].item
            node = node + wp.uint32(1)
            hit = _hit_triangle(mesh.points, mesh.indices, item, start, direction)
            if hit[0] >= 0.0 and hit[0] < first:
                first = hit[0]
                found = item
                if any:
                    return found
    return found


@wp.func
def mesh_query_ray(id: wp.uint64, start: wp.vec3, dir: wp.vec3, max_t: float, root: int = -1):
    face = _first_face(id, start, dir, max_t, root, False)
    query = MeshQueryRay()
    if face >= 0:
        hit = _hit_face(id, face, start, dir)
        query.result = True
        query.face = face
        query.t = hit[0]
        query.u = hit[1]
        query.v = hit[2]
        query.sign = hit[3]
        query.normal = mesh_eval_face_normal(id, face)
    return query


@wp.func
def mesh_query_ray_anyhit(id: wp.uint64, start: wp.vec3, dir: wp.vec3, max_t: float, root: int = -1):
    return _first_face(id, start, dir, max_t, root, True) >= 0


@wp.func
def mesh_query_ray_count_intersections(id: wp.uint64, start: wp.vec3, dir: wp.vec3, root: int = -1):
    count = int(0)
    for face in bvh_query_capsule(wp.table_of(Mesh)[id].bvh, start, dir, 0.0, root):
        if _hit_face(id, face, start, dir)[0] >= 0.0:
            count = count + 1
    return count


# The query's older form, which writes its results to arguments.
@wp.func
def mesh_query_ray(
    id: wp.uint64, start: wp.vec3, dir: wp.vec3, max_t: float, t: wp.ref[wp.float32], bary_u: wp.ref[wp.float32],
    bary_v: wp.ref[wp.float32], sign: wp.ref[wp.float32], normal: wp.ref[wp.vec3], face: wp.ref[wp.int32],
):
    query = mesh_query_ray(id, start, dir, max_t)
    if query.result:
        t = query.t
        bary_u = query.u
        bary_v = query.v
        sign = query.sign
        normal = query.normal
        face = query.face
    return query.result
