"""Value of a cell beyond the edge of a grid: the value of the nearest cell inside."""

import warp as wp


@wp.func
def inside(i: int, extent: int):
    return wp.clamp(i, 0, extent - 1)


@wp.func
def cell(grid: wp.array2d(dtype=float), i: int, j: int):
    return grid[inside(i, grid.shape[0]), inside(j, grid.shape[1])]
