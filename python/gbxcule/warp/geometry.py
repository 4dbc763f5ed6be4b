"""Geometry that kernels query by an id: hash grids, hierarchies of boxes, meshes.

A launch passes a kernel a table of each kind that it queries: all geometry of this kind, by id.
"""

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from gbxcule import _native
from gbxcule.warp import capture
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import composite
from gbxcule.warp.missing import Missing
from gbxcule.warp.scalar import float32, float64, int32, uint64
from gbxcule.warp.structure import Struct

vec3, vec3d = (composite("vector", (3,), of) for of in (float32, float64))


class Geometry:
    """An object with an id, which is its row in its kind's table. Ids begin at 1, and are reused."""

    _table: str
    _live: "WeakValueDictionary[int, Geometry]"

    def __init_subclass__(cls) -> None:
        cls._live = WeakValueDictionary()
        _KINDS[cls._table] = cls

    def __init__(self) -> None:
        number = next(at for at in range(1, len(self._live) + 2) if at not in self._live)
        self._live[number] = self
        self.id = uint64(number)

    def row(self) -> dict[str, Any]:
        """Return the fields of its struct in the dialect's library."""
        raise NotImplementedError


_KINDS: dict[str, type[Geometry]] = {}


def table(name: str) -> list[dict[str, Any] | None]:
    """Return the table of a kind, which is the name of a kernel's parameter."""
    live = dict(_KINDS[name]._live)
    return [live[at].row() if at in live else None for at in range(max(live, default=0) + 1)]


def _points(of: array, what: str, kind: Any = vec3) -> npt.NDArray[Any]:
    if not isinstance(of, array) or of.dtype is not kind:
        raise TypeError(f"{what} are an array of `{'vec3f' if kind is vec3 else 'vec3d'}`, found {of!r}")
    return of.numpy().reshape(-1, 3)


def _indices(of: bytes) -> array:
    return array(np.frombuffer(of, np.int32), dtype=int32)


class HashGrid(Geometry):
    """Points in the cells of a grid that repeats without end; `build` sorts them in."""

    _table = "hash_grids"

    def __init__(self, dim_x: int, dim_y: int, dim_z: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if dtype not in (None, float, float32, float64):
            raise NotImplementedError(f"gbxcule.warp has hash grids of `float32` and `float64`, found `{dtype}`")
        self._is_double = dtype is float64
        self._extents = [int(dim_x), int(dim_y), int(dim_z)]
        if min(self._extents) <= 0:
            raise RuntimeError(f"extents of a hash grid are above 0, found {self._extents}")
        self._per_unit = 1.0
        self._cells: list[array | None] = [None, None]

    def build(self, points: array, radius: float, groups: Any = None) -> None:
        """Sort points into cells as wide as `radius`."""
        if groups is not None:
            raise NotImplementedError("gbxcule.warp has no groups in hash grids")
        if radius <= 0.0:
            raise ValueError(f"cells are wider than 0, found {radius}")
        of = _points(points, "a hash grid's points", vec3d if self._is_double else vec3)
        capture.run(lambda: self._build(of, float(radius)))

    def _build(self, of: npt.NDArray[Any], radius: float) -> None:
        self._per_unit = 1.0 / radius if self._is_double else float(np.float32(1.0) / np.float32(radius))
        cells = _native.sort_into_cells(of.tobytes(), self._extents, self._per_unit, self._is_double)
        self._cells = [_indices(part) for part in cells]

    def reserve(self, num_points: int, with_groups: bool = False) -> None:
        """Do nothing: `build` takes the memory."""

    def row(self) -> dict[str, Any]:
        starts, points = self._cells
        extents = np.array(self._extents, np.int32)
        return {"extents": extents, "cells_per_unit": self._per_unit, "starts": starts, "points": points}


def _checked_groups(groups: Any, count: int) -> array | None:
    if groups is None:
        return None
    if not isinstance(groups, array) or groups.dtype is not int32 or groups.shape != (count,):
        raise RuntimeError(f"groups are an array of `int32`, one for each of {count} boxes, found {groups!r}")
    return groups


def _group_tree(
    lowers: npt.NDArray[Any], uppers: npt.NDArray[Any], groups: npt.NDArray[Any]
) -> tuple[bytes, bytes, bytes, bytes]:
    """Build a tree for the boxes of each group, and one tree over all of them.

    Returns the tree's skips and items, the groups in ascending order, and the top node of each group.
    """
    order = np.argsort(groups, kind="stable").astype(np.int32)
    names, starts = np.unique(groups[order], return_index=True)
    # A balanced tree over `n` groups: `True` for a node over several groups, `False` for a group.
    layout: list[tuple[bool, int, int]] = []
    todo = [(0, len(names))] if len(names) else []
    while todo:
        begin, end = todo.pop()
        layout.append((end - begin > 1, begin, end))
        if end - begin > 1:
            middle = (begin + end) // 2
            todo += [(middle, end), (begin, middle)]
    ends = np.append(starts[1:], len(order))
    # A tree over n boxes has 2 n - 1 nodes.
    sizes = 2 * (ends - starts) - 1
    roots = np.zeros(len(names), np.int32)
    before = np.concatenate(([0], np.cumsum(sizes)))
    skips, items, at = [], [], 0
    for is_inner, begin, end in layout:
        if is_inner:
            nodes = int(before[end] - before[begin]) + end - begin - 1
            skips.append(np.array([at + nodes], np.int32))
            items.append(np.array([-1], np.int32))
            at += 1
            continue
        members = order[starts[begin] : ends[begin]]
        parts = _native.build_box_tree(lowers[members].tobytes(), uppers[members].tobytes())
        own_skips, own_items = (np.frombuffer(part, np.int32) for part in parts)
        skips.append(own_skips + np.int32(at))
        items.append(np.where(own_items >= 0, members[own_items], own_items).astype(np.int32))
        roots[begin] = at
        at += len(own_items)
    joined = [np.concatenate(parts) if parts else np.zeros(0, np.int32) for parts in (skips, items)]
    all_skips, all_items = joined
    return all_skips.tobytes(), all_items.tobytes(), names.astype(np.int32).tobytes(), roots.tobytes()


# A node of a tree, laid out as in the dialect's library.
_FIELDS = {"lower": vec3, "skip": int32, "upper": vec3, "item": int32}
_NODE = Struct(type("BvhNode", (), {"__annotations__": _FIELDS}))
_BOUNDS = dict.fromkeys(("low_x", "low_y", "low_z", "high_x", "high_y", "high_z"), composite("vector", (4,), float32))
_REFERENCES = {"children": composite("vector", (4,), int32), "parent": int32, "slots": int32, "a": int32, "b": int32}
_WIDE_NODE = Struct(type("BvhWideNode", (), {"__annotations__": _BOUNDS | _REFERENCES}))


class Bvh(Geometry):
    """A tree over boxes; call `refit` after boxes moved, `rebuild` after they moved far."""

    _table = "bvhs"

    def __init__(
        self, lowers: array, uppers: array, constructor: Any = None, groups: Any = None, leaf_size: int = 1
    ) -> None:
        super().__init__()
        self.groups = _checked_groups(groups, len(lowers))
        self.lowers, self.uppers = lowers, uppers
        self.device = lowers.device
        if _points(lowers, "lower corners").shape != _points(uppers, "upper corners").shape:
            raise RuntimeError(f"each box has a lower and an upper corner, found {len(lowers)} and {len(uppers)}")
        self._build()

    def rebuild(self, constructor: Any = None) -> None:
        """Build the tree anew."""
        capture.run(self._build)

    def refit(self) -> None:
        """Update the boxes of the tree's nodes to the moved boxes."""
        capture.run(self._refit)

    def _corners(self) -> tuple[bytes, bytes]:
        return self.lowers.numpy().tobytes(), self.uppers.numpy().tobytes()

    def _build(self) -> None:
        groups = np.zeros(len(self.lowers), np.int32) if self.groups is None else self.groups.numpy()
        skips, items, names, roots = _group_tree(self.lowers.numpy(), self.uppers.numpy(), groups)
        self._groups, self._roots = _indices(names), _indices(roots)
        self._tree = (skips, items)
        self._refit()

    def _refit(self) -> None:
        (skips, items), (lowers, uppers) = self._tree, self._corners()
        low, high, wide = _native.bound_box_tree(skips, items, lowers, uppers)
        nodes = np.zeros(len(skips) // 4, _NODE.numpy_dtype())
        nodes["skip"], nodes["item"] = np.frombuffer(skips, np.int32), np.frombuffer(items, np.int32)
        nodes["lower"], nodes["upper"] = (np.frombuffer(part, np.float32).reshape(-1, 3) for part in (low, high))
        self._nodes = array(nodes, dtype=_NODE)
        self._wide = array(np.frombuffer(wide, _WIDE_NODE.numpy_dtype()), dtype=_WIDE_NODE)

    def row(self) -> dict[str, Any]:
        return {"nodes": self._nodes, "wide": self._wide, "groups": self._groups, "group_roots": self._roots}


class Mesh(Geometry):
    """Triangles; call `refit` after points moved."""

    _table = "meshes"

    def __init__(
        self,
        points: array,
        indices: array,
        velocities: array | None = None,
        support_winding_number: bool = False,
        bvh_constructor: Any = None,
        bvh_leaf_size: int | None = None,
        groups: Any = None,
    ) -> None:
        super().__init__()
        if indices.dtype is not int32 or indices.ndim != 1 or len(indices) % 3:
            raise RuntimeError(f"indices are an array of `int32` in one dimension, three a triangle, found {indices!r}")
        self._points, self.indices, self._velocities = points, indices, velocities
        self.device = points.device
        self.support_winding_number = support_winding_number
        corners = self._corners()
        boxes = (array(corners.min(axis=1), dtype=vec3), array(corners.max(axis=1), dtype=vec3))
        self.groups = groups
        self._bvh = Bvh(*boxes, groups=groups)
        self._measure(corners)

    def _corners(self) -> npt.NDArray[Any]:
        points, indices = _points(self._points, "a mesh's points"), self.indices.numpy()
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(points):
            raise RuntimeError(f"indices of a mesh are from 0 to {len(points) - 1}, found {indices.min()} to {indices.max()}")
        corners: npt.NDArray[Any] = points[indices].reshape(-1, 3, 3)
        return corners

    def _measure(self, corners: npt.NDArray[Any]) -> None:
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
        self._edge = float(edges.mean(dtype=np.float64)) if len(edges) else 0.0

    @property
    def points(self) -> array:
        """The corners of the triangles; setting them also calls `refit`."""
        return self._points

    @points.setter
    def points(self, points: array) -> None:
        if points.shape != self._points.shape:
            raise RuntimeError(f"a mesh has {len(self._points)} points, found {len(points)}")
        self._points = points
        self.refit()

    @property
    def velocities(self) -> array | None:
        """The points' velocities."""
        return self._velocities

    @velocities.setter
    def velocities(self, velocities: array | None) -> None:
        self._velocities = velocities

    def refit(self) -> None:
        """Update the tree to the moved points."""
        capture.run(self._refit)

    def _refit(self) -> None:
        corners = self._corners()
        self._bvh.lowers.assign(corners.min(axis=1))
        self._bvh.uppers.assign(corners.max(axis=1))
        self._bvh.refit()
        self._measure(corners)

    def row(self) -> dict[str, Any]:
        return {
            "points": self._points,
            "velocities": self._velocities,
            "indices": self.indices,
            "bvh": int(self._bvh.id),
            "average_edge_length": self._edge,
            "has_winding_number": self.support_winding_number,
        }


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"warp.geometry.{name}")
