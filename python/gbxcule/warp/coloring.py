"""Coloring of graphs, which Warp has in `wp.utils`: nodes that an edge connects get different colors.

Nodes are visited in Warp's order, so that the colors are equal to Warp's; only in `GREEDY` does Warp leave open which
of two nodes with equally many edges comes first.
"""

import enum
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp.array_memory import array
from gbxcule.warp.scalar import int32


class GraphColoringAlgorithm(enum.IntEnum):
    """The order in which nodes get their colors."""

    MCS = 0
    """The next node is one with the most neighbors that have a color."""
    GREEDY = 1
    """Nodes with more edges come first."""


def graph_coloring_assign(
    edges: array, node_colors: array, algorithm: GraphColoringAlgorithm = GraphColoringAlgorithm.MCS
) -> int:
    """Write a color for each node; return the number of colors."""
    neighbors = _neighbors(edges, node_colors)
    if not neighbors:
        raise RuntimeError("a graph without nodes has no colors")
    is_mcs = GraphColoringAlgorithm(algorithm) is GraphColoringAlgorithm.MCS
    by_degree = sorted(range(len(neighbors)), key=lambda node: -len(neighbors[node]))
    colors = _colored(_by_colored_neighbors(neighbors) if is_mcs else by_degree, neighbors)
    node_colors.numpy()[:] = colors
    return max(colors) + 1


def graph_coloring_balance(
    edges: array, node_colors: array, color_count: int, target_max_min_ratio: float, *, max_iterations: int | None = None
) -> float:
    """Move nodes from the largest group of a color to the smallest; return the final ratio of their sizes."""
    neighbors = _neighbors(edges, node_colors)
    limit = len(neighbors) if max_iterations is None else max_iterations
    if limit < 0:
        raise ValueError(f"`max_iterations` is not negative, found {limit}")
    if color_count < 2:
        return 1.0
    groups = [group.tolist() for group in graph_coloring_get_groups(node_colors, color_count, return_wp_array=False)]
    colors, before = node_colors.numpy(), np.float32(-1.0)
    moved = (-1, -1)
    for iteration in range(limit + 1):
        sizes = list(map(len, groups))
        largest, smallest = sizes.index(max(sizes)), sizes.index(min(sizes))
        with np.errstate(divide="ignore"):
            ratio = np.float32(sizes[largest]) / np.float32(sizes[smallest])
        if 0.0 < before < ratio:
            colors[moved[0]] = moved[1]
            return float(before)
        if sizes[largest] - sizes[smallest] <= 2 or ratio <= np.float32(target_max_min_ratio):
            return float(ratio)
        others = [color for color in range(color_count) if color not in (largest, smallest)]
        move = _movable([largest, *others], groups, smallest, colors, neighbors)
        if move is None:
            return float(ratio)
        if iteration == limit:
            warnings.warn(f"colors are not balanced after {limit} moves: the ratio is {ratio:g}", stacklevel=2)
            return float(ratio)
        source, at = move
        node, before, moved = groups[source][at], ratio, (groups[source][at], source)
        groups[source][at] = groups[source][-1]
        groups[source].pop()
        groups[smallest].append(node)
        colors[node] = smallest
    raise AssertionError("the last round returns")


def graph_coloring_get_groups(
    node_colors: array, color_count: int, return_wp_array: bool = True, device: Any = "cpu"
) -> tuple[Any, ...]:
    """List the nodes of each color."""
    colors = _numbers(node_colors, "the colors of nodes", 1)
    if colors.size and not 0 <= colors.min() <= colors.max() < color_count:
        raise RuntimeError(f"colors are numbers below {color_count}, found {colors.min()} to {colors.max()}")
    groups = [np.flatnonzero(colors == color).astype(np.int32) for color in range(color_count)]
    return tuple(array(group, dtype=int32, device=device) for group in groups) if return_wp_array else tuple(groups)


def _numbers(of: array, what: str, ndim: int) -> npt.NDArray[Any]:
    if of.dtype is not int32 or of.ndim != ndim:
        raise RuntimeError(f"{what} are an array of `int32` with {ndim} dimensions, found {of!r}")
    return of.numpy()


def _neighbors(edges: array, node_colors: array) -> list[list[int]]:
    """List each node's neighbors in the order of edges."""
    count = len(_numbers(node_colors, "the colors of nodes", 1))
    pairs = _numbers(edges, "edges", 2)
    if pairs.shape[1] != 2:
        raise RuntimeError(f"an edge is a pair of nodes, found {edges!r}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < count:
        raise RuntimeError(f"nodes are numbers below {count}, found {pairs.min()} to {pairs.max()}")
    neighbors: list[list[int]] = [[] for _ in range(count)]
    for one, other in pairs.tolist():
        neighbors[one].append(other)
        neighbors[other].append(one)
    return neighbors


def _colored(order: Iterable[int], neighbors: Sequence[Sequence[int]]) -> list[int]:
    """Give each node in turn the first color that none of its neighbors has."""
    colors = [-1] * len(neighbors)
    for node in order:
        taken = {colors[each] for each in neighbors[node]}
        colors[node] = next(color for color in range(len(neighbors)) if color not in taken)
    return colors


class _Buckets:
    """Nodes by weight, which is their count of visited neighbors; each bucket is in Warp's order."""

    def __init__(self, count: int) -> None:
        self.weights = [0] * count
        self._places = [-1] * count
        self._buckets: list[list[int]] = [[]]
        self._highest = 0

    def add(self, weight: int, node: int) -> None:
        self._buckets += [[] for _ in range(weight + 1 - len(self._buckets))]
        self._places[node], self.weights[node] = len(self._buckets[weight]), weight
        self._buckets[weight].append(node)
        self._highest = max(self._highest, weight)

    def remove(self, weight: int, place: int) -> int:
        """Remove and return the node at a place; the bucket's last node moves there."""
        bucket = self._buckets[weight]
        node, last = bucket[place], bucket[-1]
        self._places[last], bucket[place] = place, last
        bucket.pop()
        return node

    def raise_weight(self, node: int) -> None:
        self.remove(self.weights[node], self._places[node])
        self.add(self.weights[node] + 1, node)

    def pop(self) -> int | None:
        """Remove and return the first node of the highest weight, or None without nodes."""
        while self._highest > 0 and not self._buckets[self._highest]:
            self._highest -= 1
        if not self._buckets[self._highest]:
            return None
        node = self.remove(self._highest, 0)
        self.weights[node] = -1
        return node


def _by_colored_neighbors(neighbors: Sequence[Sequence[int]]) -> list[int]:
    """Order nodes so that the next one always has the most neighbors among those before it."""
    buckets, order = _Buckets(len(neighbors)), []
    unseen = iter(range(len(neighbors)))
    for _ in neighbors:
        node = buckets.pop()
        if node is None:
            buckets.add(0, next(each for each in unseen if buckets.weights[each] >= 0))
            node = buckets.pop()
        assert node is not None
        order.append(node)
        for each in neighbors[node]:
            if buckets.weights[each] == 0:
                buckets.add(1, each)
            elif buckets.weights[each] > 0:
                buckets.raise_weight(each)
    return order


def _movable(
    sources: Iterable[int], groups: Sequence[Sequence[int]], target: int, colors: Any, neighbors: Sequence[Sequence[int]]
) -> tuple[int, int] | None:
    """Find a node that may get the target's color; return its own color, and its place in that color's group."""
    for source in sources:
        for at, node in enumerate(groups[source]):
            if all(colors[each] != target for each in neighbors[node]):
                return source, at
    return None
