"""Sparse matrices of blocks, which Warp has in `warp.sparse`.

Blocks lie row by row, in a row by columns; a row's blocks begin at its offset. NumPy finds which blocks there are,
kernels compute their numbers, so a tape reverses sums and products of blocks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture, tape
from gbxcule.warp.array_copy import clone, copy
from gbxcule.warp.array_factory import full, zeros
from gbxcule.warp.array_memory import array
from gbxcule.warp.composite import composite
from gbxcule.warp.device import get_device
from gbxcule.warp.element import element, inside
from gbxcule.warp.missing import KnownByName, Missing
from gbxcule.warp.program import launch
from gbxcule.warp.scalar import int32
from gbxcule.warp.sparse_kernel import add_chosen, add_products, add_scaled, apply, place_chosen, scale, transposed

Integers = npt.NDArray[np.int64]


class BsrMatrix(KnownByName):
    """A sparse matrix: `values` are its blocks, `columns` their columns, `offsets` where each row begins."""

    row_counts = None

    def __class_getitem__(cls, _block: Any) -> "type[BsrMatrix]":
        return cls

    def __init__(self, nrow: int, ncol: int, dtype: Any, device: Any = None) -> None:
        self.device = get_device(device)
        self.dtype = element(dtype)
        self.nrow, self.ncol = int(nrow), int(ncol)
        self._set(np.empty(0, int), zeros(0, self.dtype))

    def _set(self, keys: Integers, values: array) -> None:
        """Replace all blocks; a key is `row * ncol + column`, and keys ascend."""
        if capture.is_capturing():
            raise NotImplementedError("a capture can't change a sparse matrix's blocks: do it before the capture")
        rows, columns = np.divmod(keys, max(self.ncol, 1))
        offsets = np.searchsorted(rows, np.arange(self.nrow + 1))
        self.offsets, self.columns = array(offsets, dtype=int32), array(columns, dtype=int32)
        self.values, self.nnz = values, len(keys)

    def _resize(self, rows: int | None, columns: int | None) -> None:
        """Change the counts of block rows and columns; `None` keeps a count. New blocks must follow."""
        if rows is not None:
            self.nrow = int(rows)
        if columns is not None:
            self.ncol = int(columns)

    def _keys(self) -> Integers:
        offsets = self.offsets.numpy().astype(np.int64)
        rows = np.repeat(np.arange(self.nrow), np.diff(offsets))
        keys: Integers = rows * self.ncol + self.columns.numpy()[: len(rows)]
        return keys

    @property
    def block_shape(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        inner = inside(self.dtype)[0]
        return (inner[0], inner[1]) if len(inner) == 2 else (1, 1)

    @property
    def block_size(self) -> int:
        """Count of a block's numbers."""
        return self.block_shape[0] * self.block_shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of numbers."""
        return self.nrow * self.block_shape[0], self.ncol * self.block_shape[1]

    @property
    def scalar_type(self) -> Any:
        """Type of the numbers."""
        return getattr(self.dtype, "_wp_scalar_type_", self.dtype)

    @property
    def scalar_values(self) -> array:
        """Numbers of all blocks, in three dimensions."""
        scalars = self.values.view(self.scalar_type)
        return scalars if scalars.ndim == 3 else scalars.reshape((len(self.values), 1, 1))

    @property
    def requires_grad(self) -> bool:
        """Tell whether the blocks have gradients."""
        return self.values.requires_grad

    def nnz_sync(self) -> int:
        """Return the count of blocks, read from the offsets."""
        self.nnz = int(self.offsets.numpy()[self.nrow])
        return self.nnz

    def notify_nnz_changed(self, nnz: int | None = None) -> None:
        """Note that a program wrote offsets itself."""
        self.nnz = self.nnz_sync() if nnz is None else nnz

    def copy_nnz_async(self) -> None:
        """Do nothing: the count is known."""

    def uncompress_rows(self, out: array | None = None) -> array:
        """Return the row of each block."""
        rows = array(self._keys() // max(self.ncol, 1), dtype=int32)
        if out is None:
            return rows
        copy(out, rows, count=self.nnz)
        return out

    def transpose(self) -> "BsrMatrix":
        """Return the transposed matrix."""
        return bsr_transposed(self)

    def __matmul__(self, other: Any) -> Any:
        return bsr_mm(self, other) if isinstance(other, BsrMatrix) else bsr_mv(self, other)

    def __rmatmul__(self, x: Any) -> Any:
        return bsr_mv(self, x, transpose=True)

    def __add__(self, other: "BsrMatrix") -> "BsrMatrix":
        return bsr_axpy(other, bsr_copy(self))

    def __sub__(self, other: "BsrMatrix") -> "BsrMatrix":
        return bsr_axpy(other, bsr_copy(self), alpha=-1.0)

    def __iadd__(self, other: "BsrMatrix") -> "BsrMatrix":
        return bsr_axpy(other, self)

    def __isub__(self, other: "BsrMatrix") -> "BsrMatrix":
        return bsr_axpy(other, self, alpha=-1.0)

    def __mul__(self, factor: Any) -> "BsrMatrix":
        return bsr_scale(bsr_copy(self), factor)

    __rmul__ = __mul__

    def __imul__(self, factor: Any) -> "BsrMatrix":
        return bsr_scale(self, factor)

    def __truediv__(self, divisor: Any) -> "BsrMatrix":
        return bsr_scale(bsr_copy(self), 1.0 / divisor)

    def __itruediv__(self, divisor: Any) -> "BsrMatrix":
        return bsr_scale(self, 1.0 / divisor)

    def __neg__(self) -> "BsrMatrix":
        return bsr_scale(bsr_copy(self), -1.0)


def _compact(of: str, topology: Any = None, *others: Any) -> None:
    if topology not in (None, "compact") or any(each is not None for each in others):
        raise NotImplementedError(f"`{of}` here makes compact matrices: leave out capacities, mappings and `topology`")


def _indices(of: array | Any) -> Integers:
    numbers = of.numpy() if isinstance(of, array) else np.asarray(of)
    return numbers.reshape(-1).astype(np.int64)


def _int_array(numbers: Integers) -> array:
    return array(numbers, dtype=int32)


def _with_gradient(of: array, *like: array) -> array:
    of.requires_grad = any(each.requires_grad for each in like)
    return of


def _blocks(values: array, dtype: Any, shape: tuple[int, int]) -> array:
    """Return values as blocks: numbers in three dimensions are blocks too."""
    if values.dtype is dtype:
        return values.flatten()
    if values.dtype is not getattr(dtype, "_wp_scalar_type_", dtype):
        raise ValueError(f"blocks of `{dtype.__name__}` are made of its numbers, found {values!r}")
    return values.reshape((-1, *shape)).view(dtype)


def bsr_zeros(
    rows_of_blocks: int,
    cols_of_blocks: int,
    block_type: Any,
    device: Any = None,
    *,
    topology: str | None = None,
    row_capacity: Any = None,
    nnz_capacity: int | None = None,
) -> BsrMatrix:
    """Make a matrix without blocks."""
    _compact("bsr_zeros", topology, row_capacity, nnz_capacity)
    return BsrMatrix(rows_of_blocks, cols_of_blocks, block_type, device)


def bsr_set_zero(
    bsr: BsrMatrix,
    rows_of_blocks: int | None = None,
    cols_of_blocks: int | None = None,
    *,
    topology: str = "compact",
    row_capacity: Any = None,
    nnz_capacity: int | None = None,
) -> None:
    """Remove all blocks, and perhaps change the size."""
    _compact("bsr_set_zero", topology, row_capacity, nnz_capacity)
    bsr._resize(rows_of_blocks, cols_of_blocks)
    bsr._set(np.empty(0, int), zeros(0, bsr.dtype))


def bsr_set_from_triplets(
    dest: BsrMatrix,
    rows: array,
    columns: array,
    values: array | None = None,
    count: array | None = None,
    prune_numerical_zeros: bool = True,
    topology: str | None = None,
    build_mapping: Any = None,
) -> None:
    """Set all blocks; those of one place are added, and those beyond the matrix are left out."""
    _compact("bsr_set_from_triplets", topology, build_mapping or None)
    given, across = _indices(rows), _indices(columns)
    if len(given) != len(across):
        raise ValueError(f"each block has a row and a column, found {len(given)} rows and {len(across)} columns")
    blocks = None if values is None else _blocks(values, dest.dtype, dest.block_shape)
    if blocks is not None and len(blocks) != len(given):
        raise ValueError(f"each block has a row, found {len(given)} rows and {len(blocks)} blocks")
    chosen = (given >= 0) & (given < dest.nrow) & (across >= 0) & (across < dest.ncol)
    if count is not None:
        chosen[int(count.numpy()[0]) :] = False
    if blocks is not None and prune_numerical_zeros:
        chosen &= np.any(blocks.numpy().reshape((len(given), -1)) != 0, axis=1)
    places = np.flatnonzero(chosen)
    keys = given[places] * dest.ncol + across[places]
    order = np.argsort(keys, kind="stable")
    unique, begins = np.unique(keys[order], return_index=True)
    sums = zeros(len(unique), dest.dtype)
    if blocks is not None:
        _with_gradient(sums, blocks)
        ends = _int_array(np.append(begins, len(keys)))
        launch(add_chosen, len(unique), [_int_array(places[order]), ends, blocks, sums])
    dest._set(unique, sums)


def bsr_from_triplets(
    rows_of_blocks: int,
    cols_of_blocks: int,
    rows: array,
    columns: array,
    values: array,
    prune_numerical_zeros: bool = True,
) -> BsrMatrix:
    """Make a matrix of blocks and their places."""
    dtype = values.dtype
    if values.ndim == 3:
        _, *block = values.shape
        dtype = composite("matrix", tuple(block), values.dtype)
    made = BsrMatrix(rows_of_blocks, cols_of_blocks, dtype)
    bsr_set_from_triplets(made, rows, columns, values, prune_numerical_zeros=prune_numerical_zeros)
    return made


def bsr_assign(dest: BsrMatrix, src: BsrMatrix, structure_only: bool = False, topology: str | None = None) -> None:
    """Copy a matrix; numbers are converted, and blocks cut or joined to the other matrix's."""
    _compact("bsr_assign", topology)
    (height, width), (own_height, own_width) = src.block_shape, dest.block_shape
    if src.shape[0] % own_height or src.shape[1] % own_width:
        raise ValueError(f"a matrix of {src.shape} isn't made of blocks of {dest.block_shape}")
    dest.nrow, dest.ncol = src.shape[0] // own_height, src.shape[1] // own_width
    if src.dtype is dest.dtype:
        dest._set(src._keys(), zeros(src.nnz, dest.dtype) if structure_only else clone(src.values[: src.nnz]))
        return
    tape.refuse("bsr_assign", src.values)
    rows, columns = np.divmod(src._keys(), max(src.ncol, 1))
    down = (rows[:, None, None] * height + np.arange(height)[:, None] + np.zeros((1, 1, width), int)).reshape(-1)
    right = (columns[:, None, None] * width + np.arange(width) + np.zeros((1, height, 1), int)).reshape(-1)
    keys = down // own_height * dest.ncol + right // own_width
    unique, block = np.unique(keys, return_inverse=True)
    made = zeros(len(unique), dest.dtype)
    if not structure_only:
        numbers = made.numpy().reshape((len(unique), own_height, own_width))
        numbers[block, down % own_height, right % own_width] = src.values.numpy()[: src.nnz].reshape(-1)
    dest._set(unique, made)


def bsr_copy(
    A: BsrMatrix,  # noqa: N803
    scalar_type: Any = None,
    block_shape: Sequence[int] | None = None,
    structure_only: bool = False,
    topology: str = "compact",
) -> BsrMatrix:
    """Copy a matrix, perhaps to numbers of another type and to blocks of another shape."""
    scalar = A.scalar_type if scalar_type is None else element(scalar_type)
    block = A.block_shape if block_shape is None else tuple(block_shape)
    if (scalar, block) == (A.scalar_type, A.block_shape):
        dtype = A.dtype
    else:
        dtype = scalar if block == (1, 1) else composite("matrix", block, scalar)
    made = BsrMatrix(0, 0, dtype)
    bsr_assign(made, A, structure_only, topology)
    return made


def bsr_set_transpose(dest: BsrMatrix, src: BsrMatrix, topology: str | None = None) -> None:
    """Set a matrix to another one, transposed."""
    _compact("bsr_set_transpose", topology)
    rows, columns = np.divmod(src._keys(), max(src.ncol, 1))
    keys = columns * src.nrow + rows
    order = np.argsort(keys, kind="stable")
    made = _with_gradient(zeros(len(keys), dest.dtype), src.values)
    if src.dtype is src.scalar_type:
        launch(add_chosen, len(keys), [_int_array(order), _int_array(np.arange(len(keys) + 1)), src.values, made])
    else:
        launch(transposed, len(keys), [_int_array(order), src.values, made])
    dest.nrow, dest.ncol = src.ncol, src.nrow
    dest._set(keys[order], made)


def bsr_transposed(A: BsrMatrix) -> BsrMatrix:  # noqa: N803
    """Return the transposed matrix."""
    height, width = A.block_shape
    square = A.dtype is A.scalar_type or height == width
    made = BsrMatrix(0, 0, A.dtype if square else composite("matrix", (width, height), A.scalar_type))
    bsr_set_transpose(made, A)
    return made


def bsr_get_diag(A: BsrMatrix, out: array | None = None) -> array:  # noqa: N803
    """Return the blocks on the diagonal; those that the matrix lacks are 0."""
    count = min(A.nrow, A.ncol)
    keys = A._keys()
    places = np.flatnonzero(keys // max(A.ncol, 1) == keys % max(A.ncol, 1))
    result = _with_gradient(zeros(count, A.dtype), A.values) if out is None else out
    if out is not None:
        out.zero_()
    rows = _int_array(keys[places] // max(A.ncol, 1))
    launch(place_chosen, len(places), [_int_array(places), rows, A.values, result])
    return result


def bsr_set_diag(
    A: BsrMatrix,  # noqa: N803
    diag: Any,
    rows_of_blocks: int | None = None,
    cols_of_blocks: int | None = None,
) -> None:
    """Set a matrix to blocks on its diagonal: one for each row, or the same one everywhere."""
    if rows_of_blocks is None and cols_of_blocks is not None:
        rows_of_blocks = cols_of_blocks
    if cols_of_blocks is None:
        cols_of_blocks = rows_of_blocks
    if rows_of_blocks is None and isinstance(diag, array):
        rows_of_blocks = cols_of_blocks = len(diag)
    A._resize(rows_of_blocks, cols_of_blocks)
    count = min(A.nrow, A.ncol)
    if isinstance(diag, array):
        made = clone(_blocks(diag, A.dtype, A.block_shape)[:count])
    else:
        made = zeros(count, A.dtype) if diag is None else full(count, diag, A.dtype)
    A._set(np.arange(count) * (A.ncol + 1), made)


def bsr_diag(
    diag: Any = None,
    rows_of_blocks: int | None = None,
    cols_of_blocks: int | None = None,
    block_type: Any = None,
    device: Any = None,
) -> BsrMatrix:
    """Make a matrix of blocks on its diagonal."""
    if block_type is None:
        if diag is None:
            raise ValueError("`bsr_diag` needs blocks, `diag`, or their type, `block_type`")
        block_type = diag.dtype if isinstance(diag, array) else type(diag)
        if isinstance(diag, array) and diag.ndim == 3:
            block_type = composite("matrix", diag.shape[1:], diag.dtype)
    made = BsrMatrix(0, 0, block_type, device)
    bsr_set_diag(made, diag, rows_of_blocks, cols_of_blocks)
    return made


def bsr_set_identity(A: BsrMatrix, rows_of_blocks: int | None = None) -> None:  # noqa: N803
    """Set a matrix to the identity."""
    height, width = A.block_shape
    one = 1.0 if A.dtype is A.scalar_type else A.dtype(*np.eye(height, width).reshape(-1).tolist())
    bsr_set_diag(A, one, rows_of_blocks, rows_of_blocks)


def bsr_identity(rows_of_blocks: int, block_type: Any, device: Any = None) -> BsrMatrix:
    """Make an identity."""
    made = BsrMatrix(rows_of_blocks, rows_of_blocks, block_type, device)
    bsr_set_identity(made)
    return made


def bsr_scale(x: BsrMatrix, alpha: Any) -> BsrMatrix:
    """Multiply a matrix by a number."""
    launch(scale, x.nnz, [x.values, x.scalar_type(alpha)])
    return x


def bsr_axpy(
    x: BsrMatrix,
    y: BsrMatrix | None = None,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    work_arrays: Any = None,
    topology: str | None = None,
) -> BsrMatrix:
    """Set `y` to `alpha * x + beta * y`, and return it."""
    _compact("bsr_axpy", topology)
    if y is None:
        y, beta = BsrMatrix(x.nrow, x.ncol, x.dtype), 0.0
    if (x.nrow, x.ncol, x.block_shape) != (y.nrow, y.ncol, y.block_shape):
        raise ValueError(f"a sum is of matrices of one size and block, found {x.shape} and {y.shape}")
    first, second = y._keys(), x._keys()
    keys = np.union1d(first, second)
    made = _with_gradient(zeros(len(keys), y.dtype), x.values, y.values)
    if beta != 0:
        at = _int_array(np.searchsorted(keys, first))
        launch(add_scaled, len(first), [at, y.values, y.scalar_type(beta), made])
    at = _int_array(np.searchsorted(keys, second))
    launch(add_scaled, len(second), [at, x.values, y.scalar_type(alpha), made])
    y._set(keys, made)
    return y


def bsr_mm(
    x: BsrMatrix,
    y: BsrMatrix,
    z: BsrMatrix | None = None,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    work_arrays: Any = None,
    reuse_topology: bool = False,
    tile_size: int = 0,
    max_new_nnz: int | None = None,
    topology: str | None = None,
) -> BsrMatrix:
    """Set `z` to `alpha * x @ y + beta * z`, and return it."""
    _compact("bsr_mm", topology)
    (height, inner), (other, width) = x.block_shape, y.block_shape
    if x.ncol != y.nrow or inner != other:
        raise ValueError(f"a product needs as many columns as rows, found {x.shape} and {y.shape}")
    if z is None:
        scalars = x.dtype is x.scalar_type and y.dtype is y.scalar_type
        z, beta = BsrMatrix(0, 0, x.dtype if scalars else composite("matrix", (height, width), x.scalar_type)), 0.0
    keys, begins = x._keys(), y.offsets.numpy().astype(np.int64)
    counts = (begins[1:] - begins[:-1])[keys % max(x.ncol, 1)]
    left = np.repeat(np.arange(len(keys)), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = begins[keys[left] % max(x.ncol, 1)] + within
    places = keys[left] // max(x.ncol, 1) * y.ncol + y.columns.numpy()[right]
    order = np.argsort(places, kind="stable")
    unique, firsts = np.unique(places[order], return_index=True)
    old = z._keys() if beta != 0 else np.empty(0, np.int64)
    if beta != 0 and (z.nrow, z.ncol) != (x.nrow, y.ncol):
        raise ValueError(f"the product has {(x.shape[0], y.shape[1])} numbers, found a sum with {z.shape}")
    every = np.union1d(old, unique)
    made = _with_gradient(zeros(len(every), z.dtype), x.values, y.values, z.values)
    if beta != 0:
        launch(add_scaled, len(old), [_int_array(np.searchsorted(every, old)), z.values, z.scalar_type(beta), made])
    pairs = [_int_array(np.append(firsts, len(order))), _int_array(left[order]), _int_array(right[order])]
    at = _int_array(np.searchsorted(every, unique))
    launch(add_products, len(unique), [*pairs, x.values, y.values, z.scalar_type(alpha), at, made])
    z.nrow, z.ncol = x.nrow, y.ncol
    z._set(every, made)
    return z


def _vectors(of: array, length: int, is_block: bool, what: str, count: int) -> array:
    """Return numbers as vectors of a block's length."""
    scalar = getattr(of.dtype, "_wp_scalar_type_", of.dtype)
    if of.size * int(np.prod(inside(of.dtype)[0], dtype=int)) != count * length:
        raise ValueError(f"`{what}` needs {count} times {length} numbers, found {of!r}")
    wanted = composite("vector", (length,), scalar) if is_block else scalar
    if of.dtype is wanted:
        return of.flatten()
    scalars = of.view(scalar).reshape((count, length))
    return scalars.view(wanted) if is_block else scalars.flatten()


def bsr_mv(
    A: BsrMatrix,  # noqa: N803
    x: array,
    y: array | None = None,
    alpha: Any = 1.0,
    beta: Any = 0.0,
    transpose: bool = False,
    work_buffer: array | None = None,
    tile_size: int = 0,
) -> array:
    """Set `y` to `alpha * A @ x + beta * y`, and return it."""
    if transpose:
        A = bsr_transposed(A)  # noqa: N806
    height, width = A.block_shape
    is_block = A.dtype is not A.scalar_type
    if y is None:
        y, beta = _with_gradient(zeros(A.shape[0], A.scalar_type), A.values, x), 0.0
        if height > 1:
            y = y.reshape((A.nrow, height)).view(composite("vector", (height,), A.scalar_type))
    source = _vectors(clone(x) if x.ptr == y.ptr else x, width, is_block, "x", A.ncol)
    target = _vectors(y, height, is_block, "y", A.nrow)
    factors = [A.scalar_type(alpha), A.scalar_type(beta)]
    launch(apply, A.nrow, [A.offsets, A.columns, A.values, source, *factors, target])
    return y


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"warp.sparse.{name}")
