# A box of a tree, half a cache line: a walk that does not enter it goes on at the node `skip`.
# `item` is the item of a leaf, -1 of other nodes.
@wp.struct
class BvhNode:
    lower: wp.vec3
    skip: int
    upper: wp.vec3
    item: int


# Four boxes of a tree, two cache lines. `children` are nodes, or -1 minus an item; bits of `slots`
# say which there are.
@wp.struct
class BvhWideNode:
    low_x: wp.vec4
    low_y: wp.vec4
    low_z: wp.vec4
    high_x: wp.vec4
    high_y: wp.vec4
    high_z: wp.vec4
    children: wp.vec4i
    parent: int
    slots: int
    a: int
    b: int


# A tree of boxes, depth first: the first child of a node is the next node, and the second child is
# the `skip` of the first. Each of the `groups`, in ascending order, has all its boxes below one of
# the nodes `group_roots`. `wide` is a tree of the same boxes with four children a node; its first
# node has no boxes, and the tree's top as first child.
@wp.struct
class Bvh:
    nodes: wp.array(dtype=BvhNode)
    wide: wp.array(dtype=BvhWideNode)
    groups: wp.array(dtype=int)
    group_roots: wp.array(dtype=int)


# Boxes from `node` up to `end` that meet a box (`a` to `b`), a ray (from `a`, with 1 over its
# direction in `b`, as wide as `radius`), or a ball (around `a`).
@wp.struct
class BvhQuery:
    nodes: wp.array(dtype=BvhNode)
    kind: int
    a: wp.vec3
    b: wp.vec3
    radius: float
    node: int
    end: int


_BOX = wp.constant(0)
_RAY = wp.constant(1)
_CAPSULE = wp.constant(2)
_BALL = wp.constant(3)


@wp.func
def _boxes_meet(lower: wp.vec3, upper: wp.vec3, low: wp.vec3, high: wp.vec3):
    for axis in range(3):
        if low[axis] > upper[axis] or high[axis] < lower[axis]:
            return False
    return True


# How far a ray goes to enter a box: below 0 if it begins inside, infinitely if it misses the box.
@wp.func
def _enters_box(start: wp.vec3, per_direction: wp.vec3, lower: wp.vec3, upper: wp.vec3):
    one = wp.cw_mul(lower - start, per_direction)
    other = wp.cw_mul(upper - start, per_direction)
    first = wp.min(one[0], other[0])
    last = wp.max(one[0], other[0])
    for axis in range(1, 3):
        first = wp.max(wp.min(one[axis], other[axis]), first)
        last = wp.min(wp.max(one[axis], other[axis]), last)
    if last >= 0.0 and last >= first:
        return first
    return wp.inf


# How far a ray goes to enter a box, if a ray along a side of the box counts as inside.
@wp.func
def _enters_closed_box(start: wp.vec3, per_direction: wp.vec3, lower: wp.vec3, upper: wp.vec3):
    first = float(-wp.inf)
    last = float(wp.inf)
    for axis in range(3):
        if wp.isinf(per_direction[axis]):
            if start[axis] < lower[axis] or start[axis] > upper[axis]:
                return wp.inf
        else:
            one = (lower[axis] - start[axis]) * per_direction[axis]
            other = (upper[axis] - start[axis]) * per_direction[axis]
            first = wp.max(wp.min(one, other), first)
            last = wp.min(wp.max(one, other), last)
    if last >= 0.0 and last >= first:
        return first
    return wp.inf


@wp.func
def _per(direction: wp.vec3):
    return wp.vec3(1.0 / direction[0], 1.0 / direction[1], 1.0 / direction[2])


@wp.func
def _bvh_query(id: wp.uint64, kind: int, a: wp.vec3, b: wp.vec3, radius: float, root: int):
    bvhs = wp.table_of(Bvh)
    query = BvhQuery()
    query.nodes = bvhs[id].nodes
    query.kind = kind
    query.a = a
    query.b = b
    query.radius = wp.max(radius, 0.0)
    query.end = query.nodes.shape[0]
    if root > 0:
        query.node = root
        query.end = query.nodes[root].skip
    return query


# The node over a group, by halving; -1 if there is no such group.
@wp.func
def bvh_get_group_root(id: wp.uint64, group: int):
    bvhs = wp.table_of(Bvh)
    count = bvhs[id].groups.shape[0]
    first = int(0)
    last = int(count)
    while first < last:
        middle = (first + last) // 2
        if bvhs[id].groups[middle] < group:
            first = middle + 1
        else:
            last = middle
    if first < count and bvhs[id].groups[first] == group:
        return bvhs[id].group_roots[first]
    return -1


@wp.func
def bvh_query_aabb(id: wp.uint64, low: wp.vec3, high: wp.vec3, root: int = -1):
    return _bvh_query(id, _BOX, low, high, 0.0, root)


@wp.func
def bvh_query_ray(id: wp.uint64, start: wp.vec3, dir: wp.vec3, root: int = -1):
    return _bvh_query(id, _RAY, start, _per(dir), 0.0, root)


@wp.func
def bvh_query_capsule(id: wp.uint64, start: wp.vec3, dir: wp.vec3, radius: float, root: int = -1):
    return _bvh_query(id, _CAPSULE, start, _per(dir), radius, root)


@wp.func
def bvh_query_sphere(id: wp.uint64, center: wp.vec3, radius: float, root: int = -1):
    return _bvh_query(id, _BALL, center, center, radius, root)


@wp.func
def _meets(query: BvhQuery, lower: wp.vec3, upper: wp.vec3, max_dist: float):
    if query.kind == _BOX:
        return _boxes_meet(lower, upper, query.a, query.b)
    if query.kind == _RAY:
        return _enters_box(query.a, query.b, lower, upper) < max_dist
    width = wp.vec3(query.radius, query.radius, query.radius)
    if query.kind == _CAPSULE:
        t = _enters_closed_box(query.a, query.b, lower - width, upper + width)
        return t < wp.inf and t <= max_dist
    away = wp.max(wp.max(lower - query.a, query.a - upper), wp.vec3(0.0, 0.0, 0.0))
    return wp.dot(away, away) <= query.radius * query.radius


@wp.func
def bvh_query_next(query: wp.ref[BvhQuery], index: wp.ref[wp.int32], max_dist: float = wp.inf):
    asked = query
    node = wp.uint32(asked.node)
    end = wp.uint32(asked.end)
    while node < end:
        box = asked.nodes[node]
        if _meets(asked, box.lower, box.upper, max_dist):
            node = node + wp.uint32(1)
            if box.item >= 0:
                query.node = int(node)
                index = box.item
                return True
        else:
            node = wp.uint32(box.skip)
    query.node = int(node)
    return False


# A query by a block, which has one thread: a tile has one item, which is -1 after the last one.
@wp.struct
class BvhQueryTiled:
    boxes: BvhQuery
    item: int
    is_over: bool


@wp.func
def tile_bvh_query_aabb(id: wp.uint64, low: wp.vec3, high: wp.vec3):
    query = BvhQueryTiled()
    query.boxes = bvh_query_aabb(id, low, high)
    return query


@wp.func
def tile_bvh_query_ray(id: wp.uint64, start: wp.vec3, dir: wp.vec3):
    query = BvhQueryTiled()
    query.boxes = bvh_query_ray(id, start, dir)
    return query


@wp.func
def tile_bvh_query_next(query: wp.ref[BvhQueryTiled]):
    query.item = -1
    query.is_over = not bvh_query_next(query.boxes, query.item)
    return wp.tile(query.item)


@wp.func
def tile_query_valid(query: BvhQueryTiled):
    return not query.is_over


# The lesser and the greater of two numbers, by one instruction each. `wp.min` and `wp.max` take
# more, because they return the other number if one is NaN.
@wp.func
def _least(a: float, b: float):
    return b if b < a else a


@wp.func
def _most(a: float, b: float):
    return b if a < b else a


@wp.func
def _least(a: wp.vec4, b: wp.vec4):
    return wp.vec4(_least(a[0], b[0]), _least(a[1], b[1]), _least(a[2], b[2]), _least(a[3], b[3]))


@wp.func
def _most(a: wp.vec4, b: wp.vec4):
    return wp.vec4(_most(a[0], b[0]), _most(a[1], b[1]), _most(a[2], b[2]), _most(a[3], b[3]))


@wp.func
def _four(x: float):
    return wp.vec4(x, x, x, x)


# A bit for each of four numbers that is not above 0.
@wp.func
def _bits(of: wp.vec4):
    return int(of[0] <= 0.0) + 2 * int(of[1] <= 0.0) + 4 * int(of[2] <= 0.0) + 8 * int(of[3] <= 0.0)


@wp.func
def _box_distance_sq(point: wp.vec3, lower: wp.vec3, upper: wp.vec3):
    x = _least(upper[0], _most(lower[0], point[0])) - point[0]
    y = _least(upper[1], _most(lower[1], point[1])) - point[1]
    z = _least(upper[2], _most(lower[2], point[2])) - point[2]
    return x * x + y * y + z * z


@wp.func
def _node_distance_sq(bvh: wp.uint64, node: int, point: wp.vec3):
    bvhs = wp.table_of(Bvh)
    return _box_distance_sq(point, bvhs[bvh].nodes[node].lower, bvhs[bvh].nodes[node].upper)


# The names before Warp 1.18.
@wp.func
def bvh_query_aabb_tiled(id: wp.uint64, low: wp.vec3, high: wp.vec3):
    return tile_bvh_query_aabb(id, low, high)


@wp.func
def bvh_query_ray_tiled(id: wp.uint64, start: wp.vec3, dir: wp.vec3):
    return tile_bvh_query_ray(id, start, dir)


@wp.func
def bvh_query_next_tiled(query: wp.ref[BvhQueryTiled]):
    return tile_bvh_query_next(query)
