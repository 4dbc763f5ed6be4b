

# True if a ray that is parallel to no axis enters a box before `first`.
@wp.func
def _enters_obliquely(start: wp.vec3, per_direction: wp.vec3, lower: wp.vec3, upper: wp.vec3, first: float):
    one = wp.cw_mul(lower - start, per_direction)
    other = wp.cw_mul(upper - start, per_direction)
    enters = _least(one[0], other[0])
    leaves = _most(one[0], other[0])
    for axis in range(1, 3):
        enters = _most(enters, _least(one[axis], other[axis]))
        leaves = _least(leaves, _most(one[axis], other[axis]))
    return enters < first and leaves >= _most(enters, 0.0)


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


# The same for a ray that is parallel to no axis.
@wp.func
def _next_leaf_obliquely(
    nodes: wp.array(dtype=BvhNode), start: wp.vec3, per_direction: wp.vec3, first: float, node: wp.uint32, end: wp.uint32
):
    at = wp.uint32(node)
    while at < end:
        box = nodes[at]
        if _enters_obliquely(start, per_direction, box.lower, box.upper, first):
            if box.item >= 0:
                return at
            at = at + wp.uint32(1)
        else:
            at = wp.uint32(box.skip)
    return at


# The first face that a ray hits before `max_t`, or -1.
@wp.func
def _first_face(id: wp.uint64, start: wp.vec3, direction: wp.vec3, max_t: float, root: int, any: bool):
    mesh = wp.table_of(Mesh)[id]
    nodes = wp.table_of(Bvh)[mesh.bvh].nodes
    per_direction = _per(direction)
    is_oblique = wp.isfinite(per_direction[0]) and wp.isfinite(per_direction[1]) and wp.isfinite(per_direction[2])
    first = float(max_t)
    found = int(-1)
    node = wp.uint32(0)
    end = wp.uint32(nodes.shape[0])
    if root > 0:
        node = wp.uint32(root)
        end = wp.uint32(nodes[root].skip)
    while node < end:
        if is_oblique:
            node = _next_leaf_obliquely(nodes, start, per_direction, first, node, end)
        else:
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
