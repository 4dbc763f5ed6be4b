# Ways of sampling a volume.
class Volume:
    CLOSEST = 0
    LINEAR = 1


# A NanoVDB grid. Places and sizes are counted in words of 32 bits.
@wp.struct
class _VolumeGrid:
    words: wp.array(dtype=wp.uint32)
    # NanoVDB's number of the type of its values.
    kind: int
    root: int
    tiles: int
    tile_count: int
    tile_size: int
    # From a tile to its value, from an inner node or leaf to its table; the size of a table's
    # entry.
    tile_value: int
    upper_table: int
    lower_table: int
    leaf_table: int
    entry_size: int
    value_size: int
    leaves: int
    leaf_size: int
    voxel_count: int


# Place of the child whose distance in bytes from its parent stands at `at`.
@wp.func
def _volume_child(words: wp.array(dtype=wp.uint32), parent: int, at: int):
    return parent + int((words[at] >> wp.uint32(2)) | (words[at + 1] << wp.uint32(30)))


@wp.func
def _volume_bit(words: wp.array(dtype=wp.uint32), mask: int, bit: int):
    return (words[mask + (bit >> 5)] >> wp.uint32(bit & 31)) & wp.uint32(1)


# Place of the node of 16**3 leaves around a voxel. Where there is no such node, one value holds for
# all of it: if the value stands at `v`, the result is `-1 - v`.
@wp.func
def _volume_lower(id: wp.uint64, i: int, j: int, k: int):
    grids = wp.table_of(_VolumeGrid)
    words = grids[id].words
    x = wp.uint32(i) >> wp.uint32(12)
    y = wp.uint32(j) >> wp.uint32(12)
    z = wp.uint32(k) >> wp.uint32(12)
    low = z | (y << wp.uint32(21))
    high = (x << wp.uint32(10)) | (y >> wp.uint32(11))
    root = grids[id].root
    size = grids[id].tile_size
    tile = int(grids[id].tiles)
    end = tile + grids[id].tile_count * size
    upper = int(-1)
    while upper < 0 and tile < end:
        if words[tile] == low and words[tile + 1] == high:
            upper = _volume_child(words, root, tile + 2)
        else:
            tile += size
    if upper < 0:
        # The background stands behind the number of tiles, aligned to its scalars.
        return -1 - (root + 7 + grids[id].tile_value - 5)
    if upper == root:
        return -1 - (tile + grids[id].tile_value)
    bit = (((i >> 7) & 31) << 10) | (((j >> 7) & 31) << 5) | ((k >> 7) & 31)
    entry = upper + grids[id].upper_table + bit * grids[id].entry_size
    if _volume_bit(words, upper + 1032, bit) == wp.uint32(0):
        return -1 - entry
    return _volume_child(words, upper, entry)


# Place of the leaf around a voxel of a node, or `-1 - v` for a value at `v`.
@wp.func
def _volume_leaf_in(id: wp.uint64, lower: int, i: int, j: int, k: int):
    grids = wp.table_of(_VolumeGrid)
    words = grids[id].words
    bit = (((i >> 3) & 15) << 8) | (((j >> 3) & 15) << 4) | ((k >> 3) & 15)
    entry = lower + grids[id].lower_table + bit * grids[id].entry_size
    if _volume_bit(words, lower + 136, bit) == wp.uint32(0):
        return -1 - entry
    return _volume_child(words, lower, entry)


@wp.func
def _volume_leaf(id: wp.uint64, i: int, j: int, k: int):
    lower = _volume_lower(id, i, j, k)
    if lower < 0:
        return lower
    return _volume_leaf_in(id, lower, i, j, k)


@wp.func
def _volume_place(id: wp.uint64, leaf: int, i: int, j: int, k: int):
    grids = wp.table_of(_VolumeGrid)
    if leaf < 0:
        return -1 - leaf
    return leaf + grids[id].leaf_table + (((i & 7) << 6) | ((j & 7) << 3) | (k & 7)) * grids[id].value_size


@wp.func
def _volume_kind(like: float):
    return int(1)


@wp.func
def _volume_kind(like: wp.float64):
    return int(2)


@wp.func
def _volume_kind(like: int):
    return int(4)


@wp.func
def _volume_kind(like: wp.int64):
    return int(5)


@wp.func
def _volume_kind(like: wp.vec3):
    return int(6)


@wp.func
def _volume_kind(like: wp.vec3d):
    return int(7)


@wp.func
def _volume_kind(like: wp.uint32):
    return int(10)


@wp.func
def _volume_kind(like: wp.vec4):
    return int(17)


@wp.func
def _volume_kind(like: wp.vec4d):
    return int(18)


@wp.func
def _volume_long(words: wp.array(dtype=wp.uint32), at: int):
    return wp.uint64(words[at]) | (wp.uint64(words[at + 1]) << wp.uint64(32))


# The value at a place, of the type of `like`.
@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: float):
    return wp.cast(words[at], float)


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: int):
    return wp.cast(words[at], int)


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: wp.uint32):
    return words[at]


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: wp.float64):
    return wp.cast(_volume_long(words, at), wp.float64)


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: wp.int64):
    return wp.cast(_volume_long(words, at), wp.int64)


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: wp.types.vector(length=Any, dtype=float)):
    value = type(like)()
    for component in range(len(like)):
        value[component] = wp.cast(words[at + component], float)
    return value


@wp.func
def _volume_read(words: wp.array(dtype=wp.uint32), at: int, like: wp.types.vector(length=Any, dtype=wp.float64)):
    value = type(like)()
    for component in range(len(like)):
        value[component] = wp.cast(_volume_long(words, at + 2 * component), wp.float64)
    return value


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: float):
    words[at] = wp.cast(value, wp.uint32)


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: int):
    words[at] = wp.cast(value, wp.uint32)


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.uint32):
    words[at] = value


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.uint64):
    words[at] = wp.uint32(value)
    words[at + 1] = wp.uint32(value >> wp.uint64(32))


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.float64):
    _volume_write(words, at, wp.cast(value, wp.uint64))


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.int64):
    _volume_write(words, at, wp.cast(value, wp.uint64))


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.types.vector(length=Any, dtype=float)):
    for component in range(len(value)):
        _volume_write(words, at + component, value[component])


@wp.func
def _volume_write(words: wp.array(dtype=wp.uint32), at: int, value: wp.types.vector(length=Any, dtype=wp.float64)):
    for component in range(len(value)):
        _volume_write(words, at + 2 * component, value[component])


@wp.func
def _volume_lookup(id: wp.uint64, i: int, j: int, k: int, like: Any):
    grids = wp.table_of(_VolumeGrid)
    if grids[id].kind != _volume_kind(like):
        return type(like)()
    return _volume_read(grids[id].words, _volume_place(id, _volume_leaf(id, i, j, k), i, j, k), like)


@wp.func
def volume_lookup(id: wp.uint64, i: int, j: int, k: int, dtype: Any):
    return _volume_lookup(id, i, j, k, dtype())


@wp.func
def volume_lookup_f(id: wp.uint64, i: int, j: int, k: int):
    return _volume_lookup(id, i, j, k, float())


@wp.func
def volume_lookup_i(id: wp.uint64, i: int, j: int, k: int):
    return _volume_lookup(id, i, j, k, int())


@wp.func
def volume_lookup_v(id: wp.uint64, i: int, j: int, k: int):
    return _volume_lookup(id, i, j, k, wp.vec3())


@wp.func
def volume_store(id: wp.uint64, i: int, j: int, k: int, value: Any):
    grids = wp.table_of(_VolumeGrid)
    if grids[id].kind == _volume_kind(value):
        leaf = _volume_leaf(id, i, j, k)
        if leaf >= 0:
            _volume_write(grids[id].words, _volume_place(id, leaf, i, j, k), value)


@wp.func
def volume_store_f(id: wp.uint64, i: int, j: int, k: int, value: float):
    volume_store(id, i, j, k, value)


@wp.func
def volume_store_i(id: wp.uint64, i: int, j: int, k: int, value: int):
    volume_store(id, i, j, k, value)


@wp.func
def volume_store_v(id: wp.uint64, i: int, j: int, k: int, value: wp.vec3):
    volume_store(id, i, j, k, value)


@wp.func
def volume_voxel_count(id: wp.uint64):
    return wp.table_of(_VolumeGrid)[id].voxel_count


@wp.func
def _bits_set(bits: wp.uint32):
    pairs = bits - ((bits >> wp.uint32(1)) & wp.uint32(0x55555555))
    fours = (pairs & wp.uint32(0x33333333)) + ((pairs >> wp.uint32(2)) & wp.uint32(0x33333333))
    eights = (fours + (fours >> wp.uint32(4))) & wp.uint32(0x0F0F0F0F)
    return int((eights * wp.uint32(0x01010101)) >> wp.uint32(24))


# The number of a voxel of a leaf. A grid of values counts all voxels of leaves, one of the kinds 19
# and 21 from the number in the leaf on, one of the kinds 20 and 22 only those of the leaf's mask.
@wp.func
def _volume_index(id: wp.uint64, leaf: int, i: int, j: int, k: int):
    grids = wp.table_of(_VolumeGrid)
    if leaf < 0:
        return int(-1)
    voxel = ((i & 7) << 6) | ((j & 7) << 3) | (k & 7)
    if grids[id].kind < 19 or grids[id].kind > 22:
        return (leaf - grids[id].leaves) // grids[id].leaf_size * 512 + voxel
    words = grids[id].words
    first = int(words[leaf + grids[id].leaf_table]) - 1
    if grids[id].kind == 19 or grids[id].kind == 21:
        return first + voxel
    mask = leaf + 4
    if _volume_bit(words, mask, voxel) == wp.uint32(0):
        return int(-1)
    # Sums of bits before each word of 64 bits but the first, nine bits each.
    pair = voxel >> 6
    if pair > 0:
        sums = _volume_long(words, leaf + grids[id].leaf_table + 2)
        first += int((sums >> wp.uint64(9 * (pair - 1))) & wp.uint64(511))
    if (voxel & 32) != 0:
        first += _bits_set(words[mask + 2 * pair])
    below = (wp.uint32(1) << wp.uint32(voxel & 31)) - wp.uint32(1)
    return first + _bits_set(words[mask + (voxel >> 5)] & below)


@wp.func
def volume_lookup_index(id: wp.uint64, i: int, j: int, k: int):
    grids = wp.table_of(_VolumeGrid)
    return _volume_index(id, _volume_leaf(id, i, j, k), i, j, k)


# A position times the matrix at a place; its numbers are `step` words apart.
@wp.func
def _volume_map(words: wp.array(dtype=wp.uint32), at: int, step: int, by: wp.types.vector(length=3, dtype=Any)):
    mapped = type(by)()
    for row in range(3):
        of_row = at + 3 * step * row
        mapped[row] = (
            by[0] * _volume_read(words, of_row, by[0])
            + by[1] * _volume_read(words, of_row + step, by[0])
            + by[2] * _volume_read(words, of_row + 2 * step, by[0])
        )
    return mapped


@wp.func
def volume_index_to_world(id: wp.uint64, uvw: wp.vec3):
    words = wp.table_of(_VolumeGrid)[id].words
    return _volume_map(words, 74, 1, uvw) + _volume_read(words, 92, uvw)


@wp.func
def volume_index_to_world(id: wp.uint64, uvw: wp.vec3d):
    words = wp.table_of(_VolumeGrid)[id].words
    return _volume_map(words, 96, 2, uvw) + _volume_read(words, 132, uvw)


@wp.func
def volume_world_to_index(id: wp.uint64, xyz: wp.vec3):
    words = wp.table_of(_VolumeGrid)[id].words
    return _volume_map(words, 83, 1, xyz - _volume_read(words, 92, xyz))


@wp.func
def volume_world_to_index(id: wp.uint64, xyz: wp.vec3d):
    words = wp.table_of(_VolumeGrid)[id].words
    return _volume_map(words, 114, 2, xyz - _volume_read(words, 132, xyz))


@wp.func
def volume_index_to_world_dir(id: wp.uint64, uvw: wp.vec3):
    return _volume_map(wp.table_of(_VolumeGrid)[id].words, 74, 1, uvw)


@wp.func
def volume_index_to_world_dir(id: wp.uint64, uvw: wp.vec3d):
    return _volume_map(wp.table_of(_VolumeGrid)[id].words, 96, 2, uvw)


@wp.func
def volume_world_to_index_dir(id: wp.uint64, xyz: wp.vec3):
    return _volume_map(wp.table_of(_VolumeGrid)[id].words, 83, 1, xyz)


@wp.func
def volume_world_to_index_dir(id: wp.uint64, xyz: wp.vec3d):
    return _volume_map(wp.table_of(_VolumeGrid)[id].words, 114, 2, xyz)
