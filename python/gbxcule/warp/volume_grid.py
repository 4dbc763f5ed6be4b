"""NanoVDB grids as bytes: where their parts lie, and grids made of points.

The format is that of NanoVDB 32: a header of 672 bytes, the tree's 64 bytes, the root with its tiles, upper nodes of
32**3 children, lower nodes of 16**3, and leaves of 8**3 voxels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp.composite import composite
from gbxcule.warp.scalar import BY_NAME

Bytes = npt.NDArray[np.uint8]

# NanoVDB's names of types, by its numbers.
NAMES = (
    "?", "float", "double", "int16", "int32", "int64", "Vec3f", "Vec3d", "Mask", "Half", "uint32", "bool", "RGBA8",
    "Float4", "Float8", "Float16", "FloatN", "Vec4f", "Vec4d", "Index", "OnIndex", "IndexMask", "OnIndexMask",
    "PointIndex", "Vec3u8", "Vec3u16", "uint8",
)  # fmt: skip
_OF = {
    "float": ("float32", 1), "double": ("float64", 1), "int16": ("int16", 1), "int32": ("int32", 1),
    "int64": ("int64", 1), "Vec3f": ("float32", 3), "Vec3d": ("float64", 3), "Half": ("float16", 1),
    "uint32": ("uint32", 1), "bool": ("bool", 1), "Vec4f": ("float32", 4), "Vec4d": ("float64", 4),
    "Vec3u8": ("uint8", 3), "Vec3u16": ("uint16", 3), "uint8": ("uint8", 1),
}  # fmt: skip
DTYPES = {
    name: composite("vector", (count,), BY_NAME[scalar]) if count > 1 else BY_NAME[scalar]
    for name, (scalar, count) in _OF.items()
}
INDEX, ON_INDEX, ON_INDEX_MASK = 19, 20, 22
INDEX_KINDS = range(INDEX, ON_INDEX_MASK + 1)
# Kinds of values that kernels read, and of which grids are made.
VALUE_KINDS = tuple(NAMES.index(name) for name in ("int32", "uint32", "int64", "float", "double", "Vec3f", "Vec3d", "Vec4f", "Vec4d"))

# Places of numbers in the header, whose map begins with the matrix.
HEADER = np.dtype({
    "names": ["magic", "checksum", "version", "flags", "grid_index", "grid_count", "size", "name", "matrix", "inverse",
              "translation", "taper", "matrix_d", "inverse_d", "translation_d", "taper_d", "world_box", "voxel_size",
              "grid_class", "kind", "blind_offset", "blind_count", "values"],
    "formats": ["u8", "u8", "u4", "u4", "u4", "u4", "u8", "S256", "9f4", "9f4", "3f4", "f4", "9f8", "9f8", "3f8", "f8",
                "6f8", "3f8", "u4", "u4", "i8", "u4", "u8"],
    "offsets": [0, 8, 16, 20, 24, 28, 32, 40, 296, 332, 368, 380, 384, 456, 528, 552, 560, 608, 632, 636, 640, 648, 656],
    "itemsize": 672,
})  # fmt: skip
TREE = np.dtype([
    ("leaf", "u8"), ("lower", "u8"), ("upper", "u8"), ("root", "u8"), ("leaf_count", "u4"), ("lower_count", "u4"),
    ("upper_count", "u4"), ("tile_counts", "3u4"), ("voxel_count", "u8"),
])  # fmt: skip
BLIND = np.dtype([
    ("offset", "i8"), ("count", "u8"), ("size", "u4"), ("semantic", "u4"), ("class", "u4"), ("kind", "u4"), ("name", "S256"),
])  # fmt: skip
MAGIC_FILE, MAGIC_GRID = 0x304244566F6E614E, 0x314244566F6E614E


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to


@dataclass(frozen=True)
class Layout:
    """Places and sizes in bytes, for one kind of values."""

    background: int
    root_size: int
    tile_value: int
    tile_size: int
    upper_table: int
    lower_table: int
    leaf_table: int
    leaf_size: int
    entry_size: int
    value_size: int

    @classmethod
    def of(cls, kind: int) -> "Layout":
        """Compute the layout: nodes hold the least, the greatest, the mean and the spread of their values."""
        is_index = kind in INDEX_KINDS
        scalar, count = ("float64", 1) if is_index else _OF[NAMES[kind]]
        step = max(BY_NAME[scalar].numpy.itemsize, 4)
        value = step * count
        extremes = 2 * value + 2 * step
        background, tile_value, entry = _aligned(28, step), _aligned(20, step), _aligned(value, 8)
        leaf = 80 if is_index else _aligned(80 + extremes, 32)
        leaf_size = (160 if kind > ON_INDEX else 96) if is_index else leaf + 512 * value
        return cls(
            background, _aligned(background + value + extremes, 32), tile_value, _aligned(tile_value + value, 32),
            _aligned(8224 + extremes, 32), _aligned(1056 + extremes, 32), leaf, leaf_size, entry, 0 if is_index else value,
        )  # fmt: skip

    @property
    def upper_size(self) -> int:
        return self.upper_table + 32**3 * self.entry_size

    @property
    def lower_size(self) -> int:
        return self.lower_table + 16**3 * self.entry_size


def header(grid: Bytes) -> Any:
    """Return the header, whose fields can be set."""
    return grid[: HEADER.itemsize].view(HEADER)[0]


def tree(grid: Bytes) -> Any:
    """Return the tree's places, counted from the tree on, and its counts."""
    return grid[HEADER.itemsize : HEADER.itemsize + TREE.itemsize].view(TREE)[0]


def nodes(grid: Bytes, place: int, count: int, size: int) -> Bytes:
    """Return nodes as rows of bytes."""
    return grid[place : place + count * size].reshape(count, size)


def leaves(grid: Bytes) -> Bytes:
    """Return the leaves, one in a row."""
    of = tree(grid)
    return nodes(grid, HEADER.itemsize + int(of["leaf"]), int(of["leaf_count"]), Layout.of(int(header(grid)["kind"])).leaf_size)


def check(data: Bytes) -> None:
    """Raise an error unless bytes are grids, one behind the other, whose parts lie inside them."""
    at = 0
    while at < len(data) or at == 0:
        size = _checked_size(data[at:])
        at += size
    if at != len(data):
        raise ValueError("Invalid NanoVDB grid structure")


def _checked_size(data: Bytes) -> int:
    start = HEADER.itemsize + TREE.itemsize
    if len(data) < start or int(header(data)["magic"]) not in (MAGIC_FILE, MAGIC_GRID):
        raise ValueError("NanoVDB signature not found on grid!")
    head, of = header(data), tree(data)
    kind, size = int(head["kind"]), int(head["size"])
    if not start <= size <= len(data) or size % 32 or not 0 < kind < len(NAMES):
        raise ValueError("Invalid NanoVDB grid structure")
    if not int(head["flags"]) & 32:
        raise ValueError("Unsupported NanoVDB tree layout")
    if kind in (*VALUE_KINDS, *INDEX_KINDS):
        layout = Layout.of(kind)
        for level, bytes_each in (("leaf", layout.leaf_size), ("lower", layout.lower_size), ("upper", layout.upper_size)):
            end = HEADER.itemsize + int(of[level]) + int(of[f"{level}_count"]) * bytes_each
            if int(of[f"{level}_count"]) and not start <= end <= size:
                raise ValueError("Invalid NanoVDB grid structure")
    return size


def row(grid: Bytes, words: Any) -> dict[str, Any]:
    """Return the fields of the dialect's struct, which counts in words."""
    head, of, start = header(grid), tree(grid), HEADER.itemsize
    kind = int(head["kind"])
    layout = Layout.of(kind if kind in (*VALUE_KINDS, *INDEX_KINDS) else VALUE_KINDS[0])
    root = start + int(of["root"])
    sizes = {name: getattr(layout, name) // 4 for name in (
        "tile_size", "tile_value", "upper_table", "lower_table", "leaf_table", "entry_size", "value_size", "leaf_size",
    )}  # fmt: skip
    count = int(grid[root + 24 : root + 28].view(np.uint32)[0])
    return {
        "words": words, "kind": kind, "root": root // 4, "tiles": (root + layout.root_size) // 4, "tile_count": count,
        "leaves": (start + int(of["leaf"])) // 4, "voxel_count": min(voxel_count(grid), 2**31 - 1), **sizes,
    }  # fmt: skip


def voxel_count(grid: Bytes) -> int:
    """Return how many voxels have a number."""
    of = tree(grid)
    is_counted = int(header(grid)["kind"]) in (ON_INDEX, ON_INDEX_MASK)
    return int(of["voxel_count"]) if is_counted else 512 * int(of["leaf_count"])


def node_counts(grid: Bytes) -> tuple[int, int, int]:
    """Return how many leaves, lower nodes and upper nodes there are."""
    of = tree(grid)
    return int(of["leaf_count"]), int(of["lower_count"]), int(of["upper_count"])


def tiles(grid: Bytes) -> npt.NDArray[np.int32]:
    """Return the first corner of each leaf."""
    corners: npt.NDArray[np.int32] = leaves(grid)[:, :12].copy().view(np.int32) & ~np.int32(7)
    return corners


_IN_LEAF = np.stack(np.unravel_index(np.arange(512), (8, 8, 8)), axis=1).astype(np.int32)


def voxels(grid: Bytes) -> npt.NDArray[np.int32]:
    """Return the coordinates of all voxels with a number, in the order of numbers."""
    every = tiles(grid)[:, None] + _IN_LEAF
    if int(header(grid)["kind"]) in (ON_INDEX, ON_INDEX_MASK):
        every = every[_masks(grid)]
    return every.reshape(-1, 3)


def _masks(grid: Bytes) -> npt.NDArray[np.bool_]:
    masks = np.unpackbits(leaves(grid)[:, 16:80], axis=1, bitorder="little")
    return masks.astype(np.bool_)


@dataclass(frozen=True)
class Map:
    """The transform from indices to the world."""

    matrix: npt.NDArray[np.float32]
    translation: npt.NDArray[np.float32]

    def inverse(self) -> npt.NDArray[np.float64]:
        """Compute the inverse from cofactors, as they are rounded in a transposed matrix."""
        of = self.matrix.astype(np.float64)
        x, y, z = of
        cofactors = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)])
        determinant = x[0] * cofactors[0, 0] + y[0] * cofactors[1, 0] + z[0] * cofactors[2, 0]
        inverse: npt.NDArray[np.float64] = (cofactors * (1.0 / determinant if determinant else 0.0)).T
        return inverse

    def index(self, points: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
        """Return the voxels nearest to points of the world, computed in 32 bits."""
        inverse, moved = self.inverse().astype(np.float32), points - self.translation
        mapped = [sum_of(moved, of_row) for of_row in inverse]
        return np.floor(np.stack(mapped, axis=1) + np.float32(0.5)).astype(np.int32)


def sum_of(points: npt.NDArray[Any], row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the scalar products of points with a row."""
    products = points * row
    total: npt.NDArray[Any] = products[:, 0] + products[:, 1] + products[:, 2]
    return total


def _bits(word_count: int, of: Any, bit: Any, count: int) -> npt.NDArray[np.uint8]:
    """Return masks of 64-bit words, as bytes, with some bits set."""
    masks = np.zeros((count, 64 * word_count), np.uint8)
    masks[of, bit] = 1
    return np.packbits(masks, axis=1, bitorder="little")


def _boxes(rows: Bytes, of: Any, low: Any, high: Any) -> None:
    """Store the boxes around the boxes of children."""
    box = np.empty((len(rows), 6), np.int32)
    box[:, :3], box[:, 3:] = np.iinfo(np.int32).max, np.iinfo(np.int32).min
    np.minimum.at(box[:, :3], of, low)
    np.maximum.at(box[:, 3:], of, high)
    rows[:, :24] = box.view(np.uint8)


def made(points: npt.NDArray[np.int32], kind: int, background: bytes, by: Map) -> Bytes:
    """Make a grid: of all leaves around points, or, for the kind `ON_INDEX`, of the points' voxels alone."""
    layout, wide = Layout.of(kind), points.astype(np.int64) + 2**31
    upper_key = (wide[:, 0] >> 12 << 42) | (wide[:, 1] >> 12 << 21) | wide[:, 2] >> 12
    upper_keys, upper_of = np.unique(upper_key, return_inverse=True)

    def number(shift: int, bits: int) -> npt.NDArray[Any]:
        part = wide >> shift & (1 << bits) - 1
        return (part[:, 0] << 2 * bits) | (part[:, 1] << bits) | part[:, 2]

    key = (upper_of.ravel() << 36) | (number(7, 5) << 21) | (number(3, 4) << 9) | number(0, 3)
    voxel_keys = np.unique(key)
    leaf_keys, lower_keys = np.unique(voxel_keys >> 9), np.unique(voxel_keys >> 21)
    counts = (len(leaf_keys), len(lower_keys), len(upper_keys))
    root = HEADER.itemsize + TREE.itemsize
    upper = root + layout.root_size + counts[2] * layout.tile_size
    lower = upper + counts[2] * layout.upper_size
    leaf = lower + counts[1] * layout.lower_size
    grid = np.zeros(leaf + counts[0] * layout.leaf_size, np.uint8)
    uppers = nodes(grid, upper, counts[2], layout.upper_size)
    lowers = nodes(grid, lower, counts[1], layout.lower_size)
    parts = nodes(grid, leaf, counts[0], layout.leaf_size)
    value = np.frombuffer(background, np.uint8)
    grid[root + layout.background :][: len(value)] = value
    for rows, table in ((uppers, layout.upper_table), (lowers, layout.lower_table)):
        rows[:, table:].reshape(len(rows), -1, layout.entry_size)[:, :, : len(value)] = value

    # Links of each level: the bit and the distance of a child.
    lower_of = np.searchsorted(lower_keys, leaf_keys >> 12)
    _link(uppers, (layout.upper_table, layout.entry_size, 4128, 32**3), lower_keys >> 15, lower_keys & 32767,
          lower + np.arange(counts[1]) * layout.lower_size - upper - (lower_keys >> 15) * layout.upper_size)  # fmt: skip
    _link(lowers, (layout.lower_table, layout.entry_size, 544, 16**3), lower_of, leaf_keys & 4095,
          leaf + np.arange(counts[0]) * layout.leaf_size - lower - lower_of * layout.lower_size)  # fmt: skip
    root_corner = np.stack([(upper_keys >> shift & 2**21 - 1) << 12 for shift in (42, 21, 0)], axis=1) - 2**31
    tile_rows = nodes(grid, root + layout.root_size, counts[2], layout.tile_size)
    part = (root_corner >> 12) & 2**20 - 1
    tile_rows[:, :8] = _in_bytes((part[:, 0] << 42) | (part[:, 1] << 21) | part[:, 2], np.int64)
    tile_rows[:, 8:16] = _in_bytes(upper + np.arange(counts[2]) * layout.upper_size - root, np.int64)
    grid[root + 24 : root + 28].view(np.uint32)[0] = counts[2]

    def corner(of: npt.NDArray[Any], bits: int, shift: int) -> npt.NDArray[Any]:
        return np.stack([(of >> bits * axis & (1 << bits) - 1) << shift for axis in (2, 1, 0)], axis=1)

    lower_corner = root_corner[lower_keys >> 15] + corner(lower_keys & 32767, 5, 7)
    leaf_corner = lower_corner[lower_of] + corner(leaf_keys & 4095, 4, 3)
    low, high, active = _fill_leaves(parts, kind, layout, value, voxel_keys, leaf_keys, leaf_corner)
    _boxes(lowers, lower_of, low, high)
    lower_box = lowers[:, :24].copy().view(np.int32)
    _boxes(uppers, lower_keys >> 15, lower_box[:, :3], lower_box[:, 3:])
    upper_box = uppers[:, :24].copy().view(np.int32)
    _boxes(grid[root : root + 24].reshape(1, 24), np.zeros(counts[2], int), upper_box[:, :3], upper_box[:, 3:])
    places = tuple(place - HEADER.itemsize for place in (leaf, lower, upper, root))
    grid[HEADER.itemsize : root].view(TREE)[0] = (*places, *counts, counts, active)
    _set_header(grid, kind, by, grid[root : root + 24].view(np.int32), active if kind in INDEX_KINDS else None)
    return grid


def empty(kind: int, background: bytes, by: Map) -> Bytes:
    """Make a grid without nodes: that of one point, whose root has no tile."""
    grid = made(np.zeros((1, 3), np.int32), kind, background, by)
    of = tree(grid)
    root = HEADER.itemsize + int(of["root"])
    grid[root + 24 : root + 28] = 0
    for count in ("leaf_count", "lower_count", "upper_count", "tile_counts", "voxel_count"):
        of[count] = 0
    if kind in INDEX_KINDS:
        header(grid)["values"] = 1
    return grid


def _in_bytes(numbers: Any, dtype: Any) -> Bytes:
    of = np.ascontiguousarray(numbers, dtype)
    return of.view(np.uint8).reshape(len(of), -1)


def _link(rows: Bytes, table: tuple[int, int, int, int], parent: Any, bit: Any, distance: Any) -> None:
    at, size, mask, count = table
    rows[:, at:].reshape(len(rows), -1, size)[parent, bit, :8] = _in_bytes(distance, np.int64)
    rows[:, mask : mask + count // 8] = _bits(count // 64, parent, bit, len(rows))


def _fill_leaves(
    rows: Bytes, kind: int, layout: Layout, value: Bytes, voxel_keys: Any, leaf_keys: Any, corner: Any
) -> tuple[Any, Any, int]:
    """Store the leaves; return the corners of their boxes, and how many voxels are active."""
    low, high, count = corner, corner + 7, 512 * len(rows)
    first = 512 * np.arange(len(rows))
    if kind == ON_INDEX:
        of = np.searchsorted(leaf_keys, voxel_keys >> 9)
        rows[:, 16:80] = _bits(8, of, voxel_keys & 511, len(rows))
        inside = corner[of] + _IN_LEAF[voxel_keys & 511]
        starts = np.searchsorted(of, np.arange(len(rows)))
        low, high = np.minimum.reduceat(inside, starts), np.maximum.reduceat(inside, starts)
        first, count = starts, len(voxel_keys)
        sums = np.cumsum(np.unpackbits(rows[:, 16:80], axis=1).reshape(-1, 8, 64).sum(axis=2, dtype=np.uint64), axis=1)
        shifted = sums[:, :7] << (9 * np.arange(7, dtype=np.uint64))
        rows[:, 88:96] = _in_bytes(np.bitwise_or.reduce(shifted, axis=1), np.uint64)
    else:
        rows[:, 16:80] = 255
    if kind in INDEX_KINDS:
        rows[:, 80:88] = _in_bytes(first + 1, np.uint64)
    else:
        rows[:, layout.leaf_table :].reshape(len(rows), 512, layout.value_size)[:] = value
    difference = (high - low) << np.array([0, 8, 16])
    rows[:, :12] = _in_bytes(low, np.int32)
    rows[:, 12:16] = _in_bytes(difference.sum(axis=1) | 2 << 24, np.uint32)
    return low, high, count


def _set_header(grid: Bytes, kind: int, by: Map, box: npt.NDArray[np.int32], counted: int | None) -> None:
    head = header(grid)
    matrix, inverse, translation = by.matrix.astype(np.float64), by.inverse(), by.translation.astype(np.float64)
    low, high = box[:3].astype(np.float64), box[3:] + 1.0
    corners = np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(-1, 3)
    mapped = np.stack([sum_of(corners, of_row) for of_row in matrix], axis=1) + translation
    ones = np.ones((1, 3))
    fields = {
        "magic": MAGIC_GRID, "checksum": 2**64 - 1, "version": 32 << 21 | 8 << 10, "flags": 2 | 32, "grid_count": 1,
        "size": len(grid), "matrix": by.matrix.ravel(), "inverse": inverse.ravel(), "translation": by.translation,
        "taper": 1.0, "matrix_d": matrix.ravel(), "inverse_d": inverse.ravel(), "translation_d": translation,
        "taper_d": 1.0, "world_box": [*mapped.min(axis=0), *mapped.max(axis=0)],
        "voxel_size": (np.array([sum_of(ones, of_row)[0] for of_row in matrix]) + translation) - translation,
        "grid_class": 8 if kind in INDEX_KINDS else 0, "kind": kind, "blind_offset": len(grid),
        "values": 0 if counted is None else counted + 1,
    }  # fmt: skip
    for name, value in fields.items():
        head[name] = value
