from typing import Any

import warp as wp


# Points in cells of a grid that repeats without end. `points` are sorted by cell, those of one
# cell by number: `points[k]` for k from `starts[cell]` up to `starts[cell + 1]`.
@wp.struct
class HashGrid:
    extents: wp.vec3i
    cells_per_unit: wp.float64
    starts: wp.array(dtype=int)
    points: wp.array(dtype=int)


# A walk over the cells `first` to `last`, x fastest; `at` is the next cell. Neighbours along x have
# their points side by side: `next` to `end` are the points that remain of the current run of cells.
@wp.struct
class HashGridQuery:
    grid: HashGrid
    first: wp.vec3i
    last: wp.vec3i
    at: wp.vec3i
    next: int
    end: int


@wp.func
def _grid_wrapped(at: int, extent: int):
    wrapped = at % extent
    if wrapped < 0:
        wrapped += extent
    return wrapped


# A cell's coordinate, limited to -2**31 .. 2**31 - 2, so that a walk can add 1 to it.
@wp.func
def _grid_coordinate(x: float, cells_per_unit: float):
    cell = wp.floor(x * cells_per_unit)
    if cell >= 2147483648.0:
        return int(2147483646)
    if cell < -2147483648.0:
        return int(-2147483648)
    return int(cell)


@wp.func
def _grid_coordinate(x: wp.float64, cells_per_unit: wp.float64):
    cell = wp.floor(x * cells_per_unit)
    if cell >= wp.float64(2147483647.0):
        return int(2147483646)
    if cell < wp.float64(-2147483648.0):
        return int(-2147483648)
    return int(cell)


@wp.func
def _grid_last(first: int, last: int, extent: int):
    if wp.int64(last) - wp.int64(first) >= wp.int64(extent):
        return first + extent - 1
    return wp.max(first, last)


@wp.func
def hash_grid_query(id: wp.uint64, point: wp.vec3, max_dist: float):
    grid = wp.table_of(HashGrid)[id]
    cells_per_unit = float(grid.cells_per_unit)
    query = HashGridQuery()
    query.grid = grid
    for axis in range(3):
        first = _grid_coordinate(point[axis] - max_dist, cells_per_unit)
        last = _grid_coordinate(point[axis] + max_dist, cells_per_unit)
        query.first[axis] = first
        query.last[axis] = _grid_last(first, last, grid.extents[axis])
    query.at = query.first
    return query


@wp.func
def hash_grid_query(id: wp.uint64, point: wp.vec3d, max_dist: wp.float64):
    grid = wp.table_of(HashGrid)[id]
    query = HashGridQuery()
    query.grid = grid
    for axis in range(3):
        first = _grid_coordinate(point[axis] - max_dist, grid.cells_per_unit)
        last = _grid_coordinate(point[axis] + max_dist, grid.cells_per_unit)
        query.first[axis] = first
        query.last[axis] = _grid_last(first, last, grid.extents[axis])
    query.at = query.first
    return query


# Goes on to the next run of cells that has points. It is a function of its own, so that the
# caller's loop over points keeps its values in registers.
@wp.func
def _next_run(query: wp.ref[HashGridQuery]):
    grid = query.grid
    if not grid.points:
        return False
    first = query.first
    last = query.last
    at = query.at
    next = int(0)
    end = int(0)
    while next >= end:
        if at[0] > last[0]:
            at[0] = first[0]
            at[1] = at[1] + 1
        if at[1] > last[1]:
            at[1] = first[1]
            at[2] = at[2] + 1
        if at[2] > last[2]:
            return False
        x = _grid_wrapped(at[0], grid.extents[0])
        y = _grid_wrapped(at[1], grid.extents[1])
        z = _grid_wrapped(at[2], grid.extents[2])
        cell = (z * grid.extents[1] + y) * grid.extents[0] + x
        more = wp.min(last[0] - at[0], grid.extents[0] - 1 - x)
        next = grid.starts[wp.uint32(cell)]
        end = grid.starts[wp.uint32(cell + more + 1)]
        at[0] = at[0] + more + 1
    query.at = at
    query.next = next
    query.end = end
    return True


@wp.func
def hash_grid_query_next(query: wp.ref[HashGridQuery], index: wp.ref[wp.int32]):
    if query.next >= query.end:
        if not _next_run(query):
            return False
    next = query.next
    index = query.grid.points[wp.uint32(next)]
    query.next = next + 1
    return True


@wp.func
def hash_grid_point_id(id: wp.uint64, index: int):
    grid = wp.table_of(HashGrid)[id]
    if not grid.points:
        return int(-1)
    return grid.points[index]
