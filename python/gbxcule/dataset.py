"""Rows of a dataset of kernels, with inputs, results and gradients as NumPy arrays.

    from gbxcule.dataset import Dataset

    for row in Dataset("runs/kernels", split="train"):
        row["source"], row["cuda"], row.inputs(), row.outputs(), row.gradients()

Files are read by this package, Parquet and JSON lines alike, a few at a time. `to_arrow` and `to_polars` give the same
rows as a table of pyarrow or polars.
"""

import importlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule import _native

SPLITS = ("train", "valid", "test")
"""The splits of a dataset."""

BLOCK_ROWS = 500
"""Rows of a block: a process takes all rows of a block or none."""

Arrays = dict[str, npt.NDArray[Any]]
"""Arrays by the name of their parameter."""


class Row(Mapping[str, Any]):
    """A row: a mapping of its columns, and the arrays that follow from them.

    An array of vectors, matrices, quaternions or transforms has their components as its last dimensions. A value that
    is no array has no dimensions, and a struct is a record. NumPy has no `bfloat16`: such numbers come as `float32`, and
    in structs as their bits.
    """

    def __init__(self, rows: Any, file: int, number: int) -> None:
        self._rows, self._file = rows, file
        self.id = number
        self._columns: dict[str, Any] = json.loads(rows.columns(file, number))

    def __getitem__(self, column: str) -> Any:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<row {self.id}: {self['kernel']}, {self['family']}, {self['split']}>"

    def inputs(self) -> Arrays:
        """Every argument of the launch, in the order of the parameters."""
        return self._arrays("inputs")

    def cotangents(self) -> Arrays:
        """The weights of the kernel's results: the gradients that the backward launch starts from."""
        return self._arrays("cotangents")

    def outputs(self) -> Arrays:
        """The expected contents of the arrays that the kernel writes; empty if the row was not run."""
        return self._arrays("outputs")

    def gradients(self) -> Arrays:
        """The expected gradients of the weighted sum of all results; empty if the row has none."""
        return self._arrays("gradients")

    def run(self) -> tuple[Arrays, Arrays]:
        """Launch the kernel, or all launches of the host code, on this CPU; return outputs and gradients."""
        outputs, gradients = self._rows.executed(self._file, self.id)
        return _named(outputs), _named(gradients)

    def _arrays(self, kind: str) -> Arrays:
        return _named(self._rows.arrays(self._file, self.id, kind))


class Dataset(Sequence[Row]):
    """The rows of a dataset's folder, by their position.

    Args:
        folder: The folder, in which `dataset.json` lies.
        split: Only rows of this split: train, valid or test.
        shard: Only every n-th block of 500 rows, from the i-th: `(i, n)`, the part of one of n processes.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        split: str | None = None,
        shard: tuple[int, int] = (0, 1),
    ) -> None:
        if split is not None and split not in SPLITS:
            raise ValueError(f"split={split!r}: a dataset has the splits {', '.join(SPLITS)}")
        index, count = shard
        if not 0 <= index < count:
            raise ValueError(f"shard={shard}: the first number is from 0 up to the second, as in (0, 8)")
        self._rows = _native.StoredRows(os.fspath(folder))
        numbered = sorted(self._rows.index(), key=lambda row: row[1])
        self._index = [
            (file, number)
            for position, (file, number, own) in enumerate(numbered)
            if position // BLOCK_ROWS % count == index and split in (None, own)
        ]

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        return Row(self._rows, *self._index[position])

    def to_arrow(self) -> Any:
        """The rows as a table of pyarrow."""
        pyarrow = _imported("pyarrow", "to_arrow")
        tables = []
        for path, numbers in self._by_file():
            if path.suffix == ".parquet":
                table = importlib.import_module("pyarrow.parquet").read_table(path)
            else:
                # A row may be longer than the reader's default block.
                options = importlib.import_module("pyarrow.json").ReadOptions(block_size=path.stat().st_size + 1)
                table = importlib.import_module("pyarrow.json").read_json(path, read_options=options)
            own = set(numbers)
            tables.append(table.filter(pyarrow.array([number in own for number in table["id"].to_pylist()])))
        return pyarrow.concat_tables(tables, promote_options="default").sort_by("id")

    def to_polars(self) -> Any:
        """The rows as a data frame of polars."""
        polars = _imported("polars", "to_polars")
        frames = []
        for path, numbers in self._by_file():
            frame = polars.read_parquet(path) if path.suffix == ".parquet" else polars.read_ndjson(path)
            frames.append(frame.filter(polars.col("id").is_in(numbers)))
        return polars.concat(frames, how="vertical_relaxed").sort("id")

    def _by_file(self) -> list[tuple[Path, list[int]]]:
        """List the files of the rows, each with its row numbers."""
        files = [Path(file) for file in self._rows.files]
        numbers: dict[int, list[int]] = {}
        for file, number in self._index:
            numbers.setdefault(file, []).append(number)
        if not numbers:
            raise ValueError("this part of the dataset has no rows, and a table needs at least one")
        return [(files[file], own) for file, own in sorted(numbers.items())]


def _imported(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{method} needs {name}: pip install {name}") from error


def _named(arrays: Sequence[tuple[str, str, Sequence[int], bytes]]) -> Arrays:
    return {name: _array(json.loads(element), shape, memory) for name, element, shape, memory in arrays}


def _array(element: Any, shape: Sequence[int], memory: bytes) -> npt.NDArray[Any]:
    extents = [*shape]
    while isinstance(element, list):
        element, inner = element
        extents += inner
    array = np.frombuffer(memory, _dtype(element)).reshape(extents)
    if element == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.copy()


def _dtype(element: Any) -> np.dtype[Any]:
    """Return the NumPy type of an element that `crates/foundry/rows/src/row_array.rs` described."""
    if isinstance(element, str):
        return np.dtype("<u2" if element == "bf16" else element if element == "?" else f"<{element}")
    if isinstance(element, list):
        return np.dtype((_dtype(element[0]), tuple(element[1])))
    names, formats, offsets = zip(*element["fields"], strict=True)
    return np.dtype(
        {
            "names": names,
            "formats": [_dtype(each) for each in formats],
            "offsets": offsets,
            "itemsize": element["size"],
        }
    )
