# Samples of volumes between voxels. Gradients by the position follow from the weights; what a voxel
# holds has a gradient only if it stands in an array of the program (`_index`).


# The weight of a corner of the cell, which is 0 or 1 along each axis.
@wp.func
def _corner_weight(at: wp.vec3, x: int, y: int, z: int):
    return wp.where(x == 1, at[0], 1.0 - at[0]) * wp.where(y == 1, at[1], 1.0 - at[1]) * wp.where(z == 1, at[2], 1.0 - at[2])


@wp.func
def _corner_slope(at: wp.vec3, x: int, y: int, z: int):
    a = wp.where(x == 1, at[0], 1.0 - at[0])
    b = wp.where(y == 1, at[1], 1.0 - at[1])
    c = wp.where(z == 1, at[2], 1.0 - at[2])
    return wp.vec3(float(2 * x - 1) * b * c, float(2 * y - 1) * a * c, float(2 * z - 1) * a * b)


@wp.func
def _weighted(weight: float, value: Any):
    return type(value)(weight) * value


@wp.func
def _weighted(weight: float, value: wp.types.vector(length=Any, dtype=Any)):
    return type(value[0])(weight) * value


@wp.func
def _sloped(slope: wp.vec3, value: float):
    return slope * value


@wp.func
def _sloped(slope: wp.vec3, value: wp.float64):
    return wp.vec3d(slope) * value


@wp.func
def _sloped(slope: wp.vec3, value: wp.types.vector(length=Any, dtype=float)):
    return wp.outer(value, slope)


@wp.func
def _sloped(slope: wp.vec3, value: wp.types.vector(length=Any, dtype=wp.float64)):
    return wp.outer(value, wp.vec3d(slope))


# The node around the first corner, if it is also around all others, else -1.
@wp.func
def _node_of_corners(id: wp.uint64, i: int, j: int, k: int):
    if (i & 127) == 127 or (j & 127) == 127 or (k & 127) == 127:
        return int(-1)
    return _volume_lower(id, i, j, k)


@wp.func
def _leaf_of_corner(id: wp.uint64, node: int, i: int, j: int, k: int):
    if node < 0:
        return _volume_leaf(id, i, j, k)
    return _volume_leaf_in(id, node, i, j, k)


# The place of the first corner's value, if all corners lie in one leaf, else -1.
@wp.func
def _volume_first(id: wp.uint64, node: int, i: int, j: int, k: int):
    if node < 0 or (i & 7) == 7 or (j & 7) == 7 or (k & 7) == 7:
        return int(-1)
    leaf = _volume_leaf_in(id, node, i, j, k)
    if leaf < 0:
        return int(-1)
    return _volume_place(id, leaf, i, j, k)


@wp.func
def _volume_corner(id: wp.uint64, node: int, i: int, j: int, k: int):
    return _volume_place(id, _leaf_of_corner(id, node, i, j, k), i, j, k)


@wp.func
def _volume_sample(id: wp.uint64, uvw: wp.vec3, sampling_mode: int, like: Any):
    value = type(like)()
    grids = wp.table_of(_VolumeGrid)
    if grids[id].kind != _volume_kind(like):
        return value
    if sampling_mode == 0:
        i = int(wp.round(uvw[0]))
        j = int(wp.round(uvw[1]))
        k = int(wp.round(uvw[2]))
        return _volume_read(grids[id].words, _volume_place(id, _volume_leaf(id, i, j, k), i, j, k), like)
    if sampling_mode == 1:
        base = wp.vec3(wp.floor(uvw[0]), wp.floor(uvw[1]), wp.floor(uvw[2]))
        at = wp.vec3i(int(base[0]), int(base[1]), int(base[2]))
        node = _node_of_corners(id, at[0], at[1], at[2])
        first = _volume_first(id, node, at[0], at[1], at[2])
        step = grids[id].value_size
        words = grids[id].words
        for x in range(2):
            for y in range(2):
                for z in range(2):
                    place = first + (64 * x + 8 * y + z) * step
                    if first < 0:
                        place = _volume_corner(id, node, at[0] + x, at[1] + y, at[2] + z)
                    value += _weighted(_corner_weight(uvw - base, x, y, z), _volume_read(words, place, like))
    return value


@wp.func
def volume_sample(id: wp.uint64, uvw: wp.vec3, sampling_mode: int, dtype: Any):
    return _volume_sample(id, uvw, sampling_mode, dtype())


@wp.func
def volume_sample_f(id: wp.uint64, uvw: wp.vec3, sampling_mode: int):
    return _volume_sample(id, uvw, sampling_mode, float())


@wp.func
def volume_sample_v(id: wp.uint64, uvw: wp.vec3, sampling_mode: int):
    return _volume_sample(id, uvw, sampling_mode, wp.vec3())


@wp.func
def volume_sample_i(id: wp.uint64, uvw: wp.vec3):
    return _volume_sample(id, uvw, 0, int())


# The value at a position and its gradient: a vector for numbers, and a row for each component of
# vectors.
@wp.func
def _volume_sample_grad(id: wp.uint64, uvw: wp.vec3, sampling_mode: int, grad: wp.ref[Any], like: Any):
    zero = type(grad)()
    grad = zero
    value = type(like)()
    grids = wp.table_of(_VolumeGrid)
    if grids[id].kind != _volume_kind(like):
        return value
    if sampling_mode == 1:
        base = wp.vec3(wp.floor(uvw[0]), wp.floor(uvw[1]), wp.floor(uvw[2]))
        at = wp.vec3i(int(base[0]), int(base[1]), int(base[2]))
        node = _node_of_corners(id, at[0], at[1], at[2])
        first = _volume_first(id, node, at[0], at[1], at[2])
        step = grids[id].value_size
        words = grids[id].words
        for x in range(2):
            for y in range(2):
                for z in range(2):
                    place = first + (64 * x + 8 * y + z) * step
                    if first < 0:
                        place = _volume_corner(id, node, at[0] + x, at[1] + y, at[2] + z)
                    of_corner = _volume_read(words, place, like)
                    value += _weighted(_corner_weight(uvw - base, x, y, z), of_corner)
                    grad += _sloped(_corner_slope(uvw - base, x, y, z), of_corner)
        return value
    return _volume_sample(id, uvw, sampling_mode, like)


@wp.func
def volume_sample_grad(id: wp.uint64, uvw: wp.vec3, sampling_mode: int, grad: wp.ref[Any], dtype: Any):
    return _volume_sample_grad(id, uvw, sampling_mode, grad, dtype())


@wp.func
def volume_sample_grad_f(id: wp.uint64, uvw: wp.vec3, sampling_mode: int, grad: wp.ref[wp.vec3]):
    return _volume_sample_grad(id, uvw, sampling_mode, grad, float())


# The number of a voxel in an array holds the place of its value; other voxels have the background.
@wp.func
def _volume_element(id: wp.uint64, node: int, at: wp.vec3i, voxel_data: wp.array(dtype=Any), background: Any):
    index = _volume_index(id, _leaf_of_corner(id, node, at[0], at[1], at[2]), at[0], at[1], at[2])
    if index < 0:
        return background
    return voxel_data[index]


@wp.func
def volume_sample_index(
    id: wp.uint64, uvw: wp.vec3, sampling_mode: int, voxel_data: wp.array(dtype=Any), background: Any
):
    value = type(background)()
    if sampling_mode == 0:
        at = wp.vec3i(int(wp.round(uvw[0])), int(wp.round(uvw[1])), int(wp.round(uvw[2])))
        return _volume_element(id, -1, at, voxel_data, background)
    if sampling_mode == 1:
        base = wp.vec3(wp.floor(uvw[0]), wp.floor(uvw[1]), wp.floor(uvw[2]))
        first = wp.vec3i(int(base[0]), int(base[1]), int(base[2]))
        node = _node_of_corners(id, first[0], first[1], first[2])
        for x in range(2):
            for y in range(2):
                for z in range(2):
                    of_corner = _volume_element(id, node, first + wp.vec3i(x, y, z), voxel_data, background)
                    value += _weighted(_corner_weight(uvw - base, x, y, z), of_corner)
    return value


@wp.func
def volume_sample_grad_index(
    id: wp.uint64, uvw: wp.vec3, sampling_mode: int, voxel_data: wp.array(dtype=Any), background: Any, grad: wp.ref[Any]
):
    zero = type(grad)()
    grad = zero
    if sampling_mode == 1:
        value = type(background)()
        base = wp.vec3(wp.floor(uvw[0]), wp.floor(uvw[1]), wp.floor(uvw[2]))
        first = wp.vec3i(int(base[0]), int(base[1]), int(base[2]))
        node = _node_of_corners(id, first[0], first[1], first[2])
        for x in range(2):
            for y in range(2):
                for z in range(2):
                    of_corner = _volume_element(id, node, first + wp.vec3i(x, y, z), voxel_data, background)
                    value += _weighted(_corner_weight(uvw - base, x, y, z), of_corner)
                    grad += _sloped(_corner_slope(uvw - base, x, y, z), of_corner)
        return value
    return volume_sample_index(id, uvw, sampling_mode, voxel_data, background)
