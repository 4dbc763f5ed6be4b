"""Volumes: sparse grids of voxels in NanoVDB's format, which kernels read and sample by an id."""

import math
import struct
import zlib
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture
from gbxcule.warp import volume_grid as grids
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import Composite, composite
from gbxcule.warp.device import get_device
from gbxcule.warp.geometry import Geometry, vec3
from gbxcule.warp.scalar import float32, int32, scalar_type, uint8, uint32

mat33 = composite("matrix", (3, 3), float32)
vec3i = composite("vector", (3,), int32)
_FILE_META = struct.Struct("<4Q2I6d6I3dI4I3I2HI")
_CODECS = {"none": 0, "zip": 1, "blosc": 2}


class Volume(Geometry):
    """A grid in memory; `data` has the bytes of a grid, and of those behind it."""

    CLOSEST, LINEAR = 0, 1
    _table = "volumes"

    class GridInfo(NamedTuple):
        """Grid metadata."""

        name: str
        size_in_bytes: int
        grid_index: int
        grid_count: int
        type_str: str
        translation: Any
        transform_matrix: Any

    class FeatureArrayInfo(NamedTuple):
        """Metadata of data stored beside a grid."""

        name: str
        ptr: int
        value_size: int
        value_count: int
        type_str: str

    class RebuildInfo(NamedTuple):
        """The kind of points that `rebuild` takes, and the size of a rebuilt grid; `kind` is None without `rebuild`."""

        kind: str | None
        max_voxel_count: int
        max_leaf_node_count: int
        max_lower_node_count: int
        max_upper_node_count: int

    class ActiveStats(NamedTuple):
        """Counts of a grid's voxels and nodes."""

        voxel_count: int
        leaf_node_count: int
        lower_node_count: int
        upper_node_count: int

    REBUILD_SUCCESS = 0
    REBUILD_LEAF_CAPACITY_EXCEEDED = 1
    REBUILD_LOWER_CAPACITY_EXCEEDED = 2
    REBUILD_UPPER_CAPACITY_EXCEEDED = 4
    REBUILD_VOXEL_CAPACITY_EXCEEDED = 8
    REBUILD_INVALID_INPUT = 16

    def __init__(self, data: array, copy: bool = True) -> None:
        super().__init__()
        memory = data.numpy().view(np.uint8).ravel()
        if len(memory) < 736 or int(grids.header(memory)["magic"]) not in (grids.MAGIC_FILE, grids.MAGIC_GRID):
            raise RuntimeError("Failed to create volume from input array")
        self.device = data.device
        self._take(memory.copy() if copy else memory)
        self._previous: Volume | None = None
        self._points: Points | None = None
        self._capacity = Volume.RebuildInfo(None, 0, 0, 0, 0)

    def _take(self, grid: grids.Bytes) -> None:
        # Kernels read words of 32 bits.
        self._grid = grid
        self._words = array(grid[: len(grid) // 4 * 4].view(np.uint32), dtype=uint32, copy=False)

    def row(self) -> dict[str, Any]:
        return grids.row(self._grid, self._words)

    def array(self) -> array:
        """Return the bytes of the grid, and of those behind it."""
        return array(self._grid, dtype=uint8, copy=False)

    @property
    def dtype(self) -> Any:
        """The type of values; None for grids of indices and for types without a counterpart."""
        return grids.DTYPES.get(self._kind_name())

    @property
    def is_index(self) -> bool:
        return int(grids.header(self._grid)["kind"]) in grids.INDEX_KINDS

    def _kind_name(self) -> str:
        return grids.NAMES[int(grids.header(self._grid)["kind"])]

    def get_grid_info(self) -> "Volume.GridInfo":
        """Return the grid's metadata."""
        head = grids.header(self._grid)
        return Volume.GridInfo(
            bytes(head["name"]).decode("ascii"), int(head["size"]), int(head["grid_index"]), int(head["grid_count"]),
            self._kind_name(), vec3(*head["translation"].tolist()), mat33(*head["matrix"].tolist()),
        )  # fmt: skip

    def get_voxel_size(self) -> tuple[float, float, float]:
        """Return a voxel's extents in the world."""
        x, y, z = grids.header(self._grid)["voxel_size"].astype(np.float32).tolist()
        return (x, y, z)

    def get_tile_count(self) -> int:
        """Return the number of leaves."""
        return int(grids.tree(self._grid)["leaf_count"])

    def get_voxel_count(self) -> int:
        """Return the number of voxels that have a number."""
        return grids.voxel_count(self._grid)

    def get_active_stats(self) -> "Volume.ActiveStats":
        """Return the numbers of voxels and of nodes."""
        return Volume.ActiveStats(self.get_voxel_count(), *grids.node_counts(self._grid))

    @property
    def is_rebuildable(self) -> bool:
        return self._capacity.kind is not None

    def get_rebuild_info(self) -> "Volume.RebuildInfo":
        """Return what `rebuild` takes."""
        return self._capacity

    def get_tiles(self, out: Any = None) -> Any:
        """Return the first corner of each leaf."""
        return _stored(grids.tiles(self._grid), out)

    def get_voxels(self, out: Any = None) -> Any:
        """Return the coordinates of all voxels, in the order of their numbers."""
        return _stored(grids.voxels(self._grid), out)

    def get_feature_array_count(self) -> int:
        """Return how many arrays are stored beside the grid."""
        return int(grids.header(self._grid)["blind_count"])

    def _feature(self, index: int) -> tuple[int, Any]:
        if not 0 <= index < self.get_feature_array_count():
            raise RuntimeError("Invalid feature array")
        size = grids.BLIND.itemsize
        at = int(grids.header(self._grid)["blind_offset"]) + index * size
        meta = self._grid[at : at + size].view(grids.BLIND)[0]
        return at + int(meta["offset"]), meta

    def get_feature_array_info(self, feature_index: int) -> "Volume.FeatureArrayInfo":
        """Return the metadata of an array beside the grid."""
        at, meta = self._feature(feature_index)
        name, kind = bytes(meta["name"]).decode("ascii"), grids.NAMES[int(meta["kind"])]
        return Volume.FeatureArrayInfo(name, self._grid.ctypes.data + at, int(meta["size"]), int(meta["count"]), kind)

    def feature_array(self, feature_index: int, dtype: Any = None) -> Any:
        """Return an array beside the grid, in the same memory."""
        at, meta = self._feature(feature_index)
        dtype = dtype or grids.DTYPES.get(grids.NAMES[int(meta["kind"])], uint8)
        kind = np.zeros(1, np.uint8) if dtype is None else array(shape=1, dtype=dtype).numpy()
        size, count = int(meta["size"]), int(meta["count"])
        total = size * count
        if kind.nbytes not in (1, size) and not (size == 1 and total % kind.nbytes == 0):
            raise RuntimeError(f"Cannot cast feature data of size {size} to array dtype {dtype.__name__}")
        memory = self._grid[at : at + total].view(kind.dtype).reshape(-1, *kind.shape[1:])
        return array(memory, dtype=dtype, copy=False)

    def load_next_grid(self) -> "Volume | None":
        """Return the next grid in the same memory, or None."""
        info = self.get_grid_info()
        if info.grid_index + 1 >= info.grid_count or len(self._grid) <= info.size_in_bytes:
            return None
        following = Volume(array(self._grid[info.size_in_bytes :], dtype=uint8, copy=False), copy=False)
        following._previous = self
        return following

    @classmethod
    def load_from_nvdb(cls, file_or_buffer: Any, device: Any = None) -> "Volume":
        """Read the grids of a file or of its bytes."""
        get_device(device)
        data = bytes(file_or_buffer.read() if hasattr(file_or_buffer, "read") else file_or_buffer)
        magic, version, count, codec = struct.unpack("<QIHH", data[:16])
        if magic not in (grids.MAGIC_FILE, 0x324244566F6E614E):
            raise RuntimeError("NanoVDB signature not found")
        if version >> 21 != 32:
            raise RuntimeError("Unsupported NanoVDB version")
        at, size = 16, 0
        for _ in range(count):
            meta = _FILE_META.unpack_from(data, at)
            size += meta[1]
            at += _FILE_META.size + meta[21]
        grid = b"".join(_unpacked(data, at, at + size, codec))
        try:
            grids.check(np.frombuffer(grid, np.uint8))
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        return cls(array(np.frombuffer(grid, np.uint8), dtype=uint8, copy=False))

    def save_to_nvdb(self, path: Any, codec: str = "none") -> Any:
        """Write the grids to a file."""
        if codec not in _CODECS:
            raise RuntimeError(f"Unsupported codec requested: {codec}")
        if self.get_grid_info().grid_index > 0:
            raise RuntimeError("a grid behind another is saved by the first one's `save_to_nvdb`")
        pack: Any = {"none": bytes, "zip": zlib.compress}.get(codec) or _blosc().compress
        version, at, metas, parts = 32 << 21 | 3 << 10 | 3, 0, [], []
        count = self.get_grid_info().grid_count
        for _ in range(count):
            head = grids.header(self._grid[at:])
            size, name = int(head["size"]), bytes(head["name"]) + b"\0"
            part = pack(self._grid[at : at + size].tobytes())
            metas.append(_FILE_META.pack(
                size, len(part), 0, 0, int(head["kind"]), int(head["grid_class"]), *head["world_box"], *[0] * 6,
                *head["voxel_size"], len(name), *[0] * 7, _CODECS[codec], 0, version,
            ) + name)  # fmt: skip
            parts.append(part if codec == "none" else struct.pack("<Q", len(part)) + part)
            at += size
        with open(path, "wb") as file:
            file.write(struct.pack("<QIHH", grids.MAGIC_FILE, version, count, _CODECS[codec]))
            file.writelines([*metas, *parts])
        return path

    @classmethod
    def load_from_numpy(
        cls, ndarray: npt.NDArray[Any], min_world: Any = (0.0, 0.0, 0.0), voxel_size: Any = 1.0, bg_value: Any = 0.0,
        device: Any = None,
    ) -> "Volume":  # fmt: skip
        """Make a volume of a dense array."""
        extents = np.array([math.ceil(extent / 8) * 8 for extent in ndarray.shape[:3]])
        spacing = _spacing(voxel_size)
        last = [low + (extent - 1) * step for low, extent, step in zip(min_world, extents, spacing, strict=True)]
        volume = cls.allocate(min_world, last, spacing, bg_value, min_world, points_in_world_space=True, device=device)
        scalar = float32 if hasattr(bg_value, "__len__") or not isinstance(bg_value, int) else int32
        inner = (3,) if hasattr(bg_value, "__len__") else ()
        padded = np.full((*extents, *inner), bg_value, scalar.numpy if inner else ndarray.dtype)
        padded[tuple(map(slice, ndarray.shape[:3]))] = ndarray
        blocks = padded.astype(scalar.numpy).reshape(*np.stack([extents // 8, np.full(3, 8)], axis=1).ravel(), *inner)
        blocks = np.moveaxis(blocks, (0, 2, 4), (0, 1, 2))
        of_tiles = blocks[tuple(grids.tiles(volume._grid).T // 8)].reshape(volume.get_tile_count(), -1)
        layout = grids.Layout.of(int(grids.header(volume._grid)["kind"]))
        grids.leaves(volume._grid)[:, layout.leaf_table :] = of_tiles.view(np.uint8)
        return volume

    @classmethod
    def allocate(
        cls, min: Any, max: Any, voxel_size: Any, bg_value: Any = 0.0, translation: Any = (0.0, 0.0, 0.0),
        points_in_world_space: bool = False, device: Any = None,
    ) -> "Volume":  # fmt: skip
        """Make a volume of all tiles in a box."""
        spacing = _spacing(voxel_size)
        box = [np.array(corner, np.float32 if points_in_world_space else np.int32) for corner in (min, max)]
        if points_in_world_space:
            box = [np.around((corner - translation) / np.asarray(spacing, np.float32)) for corner in box]
        low, high = (corner.astype(np.int32) // 8 for corner in box)
        ranges = [np.arange(begin, end + 1, dtype=np.int32) for begin, end in zip(low, high, strict=True)]
        tiles = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 3)
        return cls.allocate_by_tiles(array(tiles * 8, dtype=int32), spacing, bg_value, translation, device)

    @classmethod
    def allocate_by_tiles(
        cls, tile_points: Any, voxel_size: Any = None, bg_value: Any = 0.0, translation: Any = (0.0, 0.0, 0.0),
        device: Any = None, transform: Any = None, rebuildable: bool = False, max_tiles: int | None = None,
        max_lower_nodes: int | None = None, max_upper_nodes: int | None = None, status: Any = None,
        point_mask: Any = None,
    ) -> "Volume":  # fmt: skip
        """Make a volume of the tiles around points; without a background its voxels have numbers alone."""
        kind, background = (grids.INDEX, b"") if bg_value is None else _background(bg_value)
        of = Points("tile_points", kind, background, _map(voxel_size, translation, transform))
        limits = {"max_tiles": max_tiles, "max_lower_nodes": max_lower_nodes, "max_upper_nodes": max_upper_nodes}
        return cls._made(of, tile_points, point_mask, device, rebuildable, limits, status)

    @classmethod
    def allocate_by_voxels(
        cls, voxel_points: Any, voxel_size: Any = None, translation: Any = (0.0, 0.0, 0.0), device: Any = None,
        transform: Any = None, rebuildable: bool = False, max_active_voxels: int | None = None,
        max_leaf_nodes: int | None = None, max_lower_nodes: int | None = None, max_upper_nodes: int | None = None,
        status: Any = None, point_mask: Any = None,
    ) -> "Volume":  # fmt: skip
        """Make a volume that numbers the voxels around points."""
        of = Points("voxel_points", grids.ON_INDEX, b"", _map(voxel_size, translation, transform))
        limits = {
            "max_active_voxels": max_active_voxels, "max_leaf_nodes": max_leaf_nodes, "max_lower_nodes": max_lower_nodes,
            "max_upper_nodes": max_upper_nodes,
        }  # fmt: skip
        return cls._made(of, voxel_points, point_mask, device, rebuildable, limits, status)

    @classmethod
    def _made(
        cls, of: "Points", points: Any, mask: Any, device: Any, rebuildable: bool, limits: dict[str, int | None],
        status: Any,
    ) -> "Volume":  # fmt: skip
        get_device(device)
        voxels = of.voxels(points, mask)
        if not rebuildable and all(limit is None for limit in limits.values()):
            if not len(voxels):
                raise RuntimeError("Failed to create volume")
            return cls(array(of.grid(voxels), dtype=uint8, copy=False), copy=False)
        made = cls(array(of.grid(voxels[:0]), dtype=uint8, copy=False), copy=False)
        made._points, made._capacity = of, _capacity(limits, len(points))
        made._rebuilt(voxels, _checked_status(status))
        return made

    def rebuild(self, points: Any, status: Any = None, point_mask: Any = None) -> Any:
        """Make the grid anew of other points; `status` gets 0, or tells which capacity was exceeded.

        A grid that would exceed the capacity stays as it is. All values become the background.
        """
        if self._points is None:
            raise RuntimeError("Volume is not rebuildable")
        of, checked = self._points, _checked_status(status)
        of.voxels(points, point_mask)
        capture.run(lambda: self._rebuilt(of.voxels(points, point_mask), checked, is_empty=not len(points)))
        return status

    def _rebuilt(self, voxels: npt.NDArray[np.int32], status: Any, is_empty: bool = False) -> None:
        assert self._points is not None
        grid = self._points.grid(voxels)
        counts = (*grids.node_counts(grid), grids.voxel_count(grid))
        _, voxel_count, *node_counts = self._capacity
        exceeded = [1 << bit for bit, most in enumerate((*node_counts, voxel_count)) if counts[bit] > most]
        if not exceeded:
            self._take(grid)
        if status is not None:
            status.numpy()[0] = sum(exceeded) + (Volume.REBUILD_INVALID_INPUT if is_empty else 0)


@dataclass(frozen=True)
class Points:
    """The parts of a grid besides its points: `kind` and background of its values, and its place in the world."""

    name: str
    kind: int
    background: bytes
    place: grids.Map

    def voxels(self, points: Any, mask: Any) -> npt.NDArray[np.int32]:
        """Return the voxels around points that the mask doesn't leave out."""
        if not isinstance(points, array) or not points.is_contiguous or not _is_points(points):
            raise RuntimeError(
                f"{self.name} must be contiguous and either a 1D Warp array of vec3f or vec3i or a 2D n-by-3 array of "
                "int32 or float32."
            )
        numbers = points.numpy().reshape(-1, 3)
        if mask is not None:
            if not isinstance(mask, array) or mask.ndim != 1 or mask.dtype is not int32 or not mask.is_contiguous:
                raise RuntimeError("point_mask must be a contiguous 1D Warp array with dtype int32")
            if len(mask) < len(numbers):
                raise RuntimeError(f"point_mask must have at least {len(numbers)} entries")
            numbers = numbers[mask.numpy()[: len(numbers)] != 0]
        return self.place.index(numbers) if numbers.dtype == np.float32 else numbers

    def grid(self, voxels: npt.NDArray[np.int32]) -> grids.Bytes:
        """Make the grid."""
        make = partial(grids.made, voxels) if len(voxels) else grids.empty
        return make(self.kind, self.background, self.place)


def _capacity(limits: dict[str, int | None], count: int) -> Volume.RebuildInfo:
    """Return how much a grid may hold; a limit that isn't given is the one before it, the first the number of points."""
    known = []
    for name, given in limits.items():
        try:
            count = count if given is None else int(given)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be an integer") from None
        if not 0 < count < 2**32:
            is_large = "fit in uint32" if count > 0 else "be positive"
            raise ValueError(f"{name} must {is_large}, got {count}")
        known.append(count)
    return Volume.RebuildInfo("voxels", *known) if len(known) == 4 else Volume.RebuildInfo("tiles", 512 * known[0], *known)


def _checked_status(status: Any) -> Any:
    if status is not None and (not isinstance(status, array) or status.dtype is not uint32 or status.size < 1):
        raise RuntimeError("status must be a Warp array with dtype uint32 and at least one element")
    return status


def _is_points(points: array) -> bool:
    rows = points.ndim == 2 and points.shape[1] == 3 and points.dtype in (int32, float32)
    return rows or (points.ndim == 1 and points.dtype in (vec3, vec3i))


def _stored(of: npt.NDArray[np.int32], out: Any) -> Any:
    if out is None:
        return array(of, dtype=int32)
    if out.shape[0] < len(of):
        raise RuntimeError(f"'out' array must an array with at least {len(of)} rows on device {out.device}")
    if not out.is_contiguous or not _is_points(out) or out.dtype in (float32, vec3):
        raise RuntimeError(
            "'out' must be a contiguous 1D array with type vec3i or a 2D array of type int32 with shape (N, 3) "
        )
    out.numpy()[: len(of)] = of
    return out


def _unpacked(data: bytes, at: int, end: int, codec: int) -> Any:
    if codec not in _CODECS.values():
        raise RuntimeError(f"Unsupported codec code: {codec}")
    if codec == 0:
        yield data[at:end]
        return
    unpack = zlib.decompress if codec == 1 else _blosc().decompress
    while at < end:
        (size,) = struct.unpack_from("<Q", data, at)
        yield unpack(data[at + 8 : at + 8 + size])
        at += 8 + size


def _blosc() -> ModuleType:
    try:
        import blosc  # type: ignore[import-not-found]  # an optional package
    except ImportError as error:
        raise RuntimeError(f"grids compressed by blosc need the Python module `blosc`: {error}") from error
    return blosc  # type: ignore[no-any-return]


def _spacing(voxel_size: Any) -> tuple[float, ...]:
    """Return a voxel's extents: three numbers above 0."""
    if isinstance(voxel_size, (int, float, np.floating, np.integer)):
        voxel_size = (voxel_size,) * 3
    if not isinstance(voxel_size, (list, tuple, np.ndarray, Composite)):
        raise TypeError(f"voxel_size must be a numeric scalar or a sequence of 3 floats, got {type(voxel_size).__name__}")
    spacing = tuple(float(extent) for extent in voxel_size)
    if len(spacing) != 3:
        raise ValueError(f"voxel_size must be a scalar or a 3-element sequence, got length {len(spacing)}")
    if not all(math.isfinite(extent) and extent > 0.0 for extent in spacing):
        raise ValueError(f"All voxel_size components must be finite and positive, got {spacing}")
    return spacing


def _map(voxel_size: Any, translation: Any, transform: Any) -> grids.Map:
    if transform is None and voxel_size is None:
        raise ValueError("Either 'voxel_size' or 'transform' must be provided")
    if transform is not None and voxel_size is not None:
        raise ValueError("Only one of 'voxel_size' or 'transform' must be provided")
    matrix = np.diag(_spacing(voxel_size)) if transform is None else np.array(transform)
    return grids.Map(matrix.astype(np.float32).reshape(3, 3), np.array([*translation], np.float32))


def _background(value: Any) -> tuple[int, bytes]:
    """Return the kind of values that a background implies, and the background's bytes."""
    is_sequence = hasattr(value, "__len__") and not isinstance(value, Composite)
    dtype: Any = composite("vector", (len(value),), float32) if is_sequence else scalar_type(type(value)) or type(value)
    for kind in grids.VALUE_KINDS:
        if grids.DTYPES[grids.NAMES[kind]] is dtype:
            scalar: Any = getattr(dtype, "_wp_scalar_type_", dtype)
            return kind, np.array(getattr(value, "value", value), scalar.numpy).tobytes()
    allowed = ", ".join(grids.NAMES[kind] for kind in grids.VALUE_KINDS)
    name = getattr(dtype, "__name__", dtype)
    raise TypeError(f"Unsupported bg_value type for volume allocation {name}. Supported volume types are {allowed}.")
