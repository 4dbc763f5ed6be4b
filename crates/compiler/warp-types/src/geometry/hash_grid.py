import warp as wp


# Points in cells of a grid that repeats without end. `points` are sorted by cell, those of one
# cell by number: `points[k]` for k from `starts[cell]` up to `ends[cell]`.
@wp.struct
class HashGrid:
    extents: wp.vec3i
    cells_per_unit: float
    starts: wp.array(dtype=int)
    ends: wp.array(dtype=int)
    points: wp.array(dtype=int)


# The cells from `first` to `last` that are left, x running fastest; `next` to `end` are left of
# this one.
@wp.struct
class HashGridQuery:
    grid: wp.uint64
    first: wp.vec3i
    last: wp.vec3i
    at: wp.vec3i
    next: int
    end: int


@wp.func
def _grid_cell(extents: wp.vec3i, at: wp.vec3i):
    x = at[0] % extents[0]
    y = at[1] % extents[1]
    z = at[2] % extents[2]
    if x < 0:
        x += extents[0]
    if y < 0:
        y += extents[1]
    if z < 0:
        z += extents[2]
    return (z * extents[1] + y) * extents[0] + x


# A cell's coordinate; what no `int` holds becomes the nearest one.
@wp.func
def _grid_coordinate(x: float, cells_per_unit: float):
    cell = wp.floor(x * cells_per_unit)
    if cell >= 2147483648.0:
        return int(2147483646)
    if cell < -2147483648.0:
        return int(-2147483648)
    return int(cell)


@wp.func
def _grid_last(first: int, last: int, extent: int):
    if wp.int64(last) - wp.int64(first) >= wp.int64(extent):
        return first + extent - 1
    return last


@wp.func
def hash_grid_query(id: wp.uint64, point: wp.vec3, max_dist: float):
    grid = wp.table_of(HashGrid)[id]
    query = HashGridQuery()
    query.grid = id
    for axis in range(3):
        first = _grid_coordinate(point[axis] - max_dist, grid.cells_per_unit)
        last = _grid_coordinate(point[axis] + max_dist, grid.cells_per_unit)
        query.first[axis] = first
        query.last[axis] = _grid_last(first, last, grid.extents[axis])
    query.at = query.first
    if grid.points:
        cell = _grid_cell(grid.extents, query.at)
        query.next = grid.starts[cell]
        query.end = grid.ends[cell]
    return query


@wp.func
def hash_grid_query_next(query: wp.ref[HashGridQuery], index: wp.ref[wp.int32]):
    grids = wp.table_of(HashGrid)
    id = query.grid
    if not grids[id].points:
        return False
    next = query.next
    while next >= query.end:
        at = query.at
        at[0] = at[0] + 1
        if at[0] > query.last[0]:
            at[0] = query.first[0]
            at[1] = at[1] + 1
        if at[1] > query.last[1]:
            at[1] = query.first[1]
            at[2] = at[2] + 1
        query.at = at
        if at[2] > query.last[2]:
            return False
        cell = _grid_cell(grids[id].extents, at)
        next = grids[id].starts[cell]
        query.end = grids[id].ends[cell]
    index = grids[id].points[next]
    query.next = next + 1
    return True


@wp.func
def hash_grid_point_id(id: wp.uint64, index: int):
    grid = wp.table_of(HashGrid)[id]
    if not grid.points:
        return int(-1)
    return grid.points[index]
