"""Tiles: a block loads, computes together and stores."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
Table = wp.array(dtype=wp.float64, ndim=2)


@wp.func
def cubed(a: wp.float64):
    return a * a * a


@wp.kernel
def sum_of_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_store(o, wp.tile_sum(a * a))


@wp.kernel
def mapped_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_store(o, wp.tile_map(cubed, a))


@wp.kernel
def builtin_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_store(o, wp.tile_map(wp.sin, a))


@wp.kernel
def product_tile(x: Table, o: Table):
    a = wp.tile_load(x, shape=(2, 2))
    wp.tile_store(o, wp.tile_matmul(a, a))


@wp.kernel
def added_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    b = wp.tile_load(x, shape=4, offset=2)
    wp.tile_store(o, a + b * Real(2.0) - a * b)


@wp.kernel
def atomic_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_atomic_add(o, a * a)


@wp.kernel
def transposed_tile(x: Table, o: Table):
    a = wp.tile_load(x, shape=(2, 2))
    wp.tile_store(o, wp.tile_transpose(a * a))


@wp.kernel
def largest_of_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_store(o, wp.tile_max(a * a))


@wp.kernel
def reduced_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    wp.tile_store(o, wp.tile_reduce(wp.add, a * a))


@wp.kernel
def broadcast_tile(x: Table, o: Table):
    a = wp.tile_load(x, shape=(1, 2))
    wp.tile_store(o, wp.tile_map(cubed, wp.tile_broadcast(a, shape=(2, 2))))


@wp.kernel
def element_of_tile(x: Reals, o: Reals):
    a = wp.tile_load(x, shape=4)
    o[0] = a[1] * a[2]


@wp.kernel
def solved_tile(x: Table, o: Reals):
    a = wp.tile_load(x, shape=(2, 2))
    spd = wp.tile_matmul(a, wp.tile_transpose(a))
    wp.tile_store(o, wp.tile_cholesky_solve(wp.tile_cholesky(spd), wp.tile_load(o, shape=2)))


def flat(kernel):
    return lambda x, o: wp.launch_tiled(kernel, dim=1, inputs=[x, o], block_dim=32)


def square(kernel):
    return lambda x, o: wp.launch_tiled(
        kernel, dim=1, inputs=[x[0:4].reshape((2, 2)), o.reshape((2, 2))], block_dim=32
    )


def tile_sum(x, o):
    """`tile_sum`"""
    flat(sum_of_tile)(x, o)


def tile_map_function(x, o):
    """`tile_map` of a function"""
    flat(mapped_tile)(x, o)


def tile_map_builtin(x, o):
    """`tile_map` of a builtin"""
    flat(builtin_tile)(x, o)


def tile_matmul(x, o):
    """`tile_matmul` of a tile by itself"""
    square(product_tile)(x, o)


def tile_operators(x, o):
    """sums, differences and products of tiles"""
    flat(added_tile)(x, o)


def tile_atomic(x, o):
    """`tile_atomic_add`"""
    flat(atomic_tile)(x, o)


def tile_transpose(x, o):
    """`tile_transpose`"""
    square(transposed_tile)(x, o)


def tile_max(x, o):
    """`tile_max`"""
    flat(largest_of_tile)(x, o)


def tile_reduce(x, o):
    """`tile_reduce`"""
    flat(reduced_tile)(x, o)


def tile_broadcast(x, o):
    """`tile_broadcast`"""
    square(broadcast_tile)(x, o)


def tile_element(x, o):
    """elements of a tile"""
    flat(element_of_tile)(x, o)


def tile_cholesky(x, o):
    """`tile_cholesky` and its solution"""
    wp.launch_tiled(solved_tile, dim=1, inputs=[x[0:4].reshape((2, 2)), o[0:2]], block_dim=32)
