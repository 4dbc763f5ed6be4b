"""A program with sparse matrices, for Warp and `gbxcule.warp`."""

import numpy as np
import warp as wp
import warp.sparse as sparse
from warp.optim import linear

# Warp compiles the reverses of its own kernels for minutes.
wp.config.enable_backward = False

TYPES = {"scalar": wp.float32, "double": wp.float64, "block": wp.mat33, "wide": wp.types.matrix((2, 3), wp.float32)}


class Example:
    def __init__(self):
        self.random = np.random.default_rng(3)

    def triplets(self, rows, columns, dtype, count=40):
        shape = getattr(dtype, "_shape_", ())
        of = self.random.integers
        # Some blocks lie beyond the matrix, some are 0.
        values = self.random.normal(size=(count, *shape))
        values[::7] = 0.0
        places = [wp.array(of(-1, extent + 1, count), dtype=int) for extent in (rows, columns)]
        return [*places, wp.array(values, dtype=dtype)]

    def keep(self, name, matrix):
        """Keep the dense matrix: Warp may store blocks of zeros, and adds blocks of one place in another order."""
        count = matrix.nnz_sync()
        height, width = matrix.block_shape
        dense = np.zeros((matrix.nrow, height, matrix.ncol, width))
        rows, columns = matrix.uncompress_rows().numpy()[:count], matrix.columns.numpy()[:count]
        dense[rows, :, columns] = matrix.values.numpy()[:count].reshape((count, height, width))
        setattr(self, f"near_{name}", wp.array(dense.reshape(matrix.shape), dtype=wp.float64))

    def keep_places(self, name, matrix):
        self.keep(name, matrix)
        setattr(self, f"{name}_offsets", wp.array(matrix.offsets.numpy()[: matrix.nrow + 1], dtype=int))
        setattr(self, f"{name}_columns", wp.array(matrix.columns.numpy()[: matrix.nnz_sync()], dtype=int))

    def numbers(self, count, dtype):
        return wp.array(self.random.normal(size=count), dtype=getattr(dtype, "_wp_scalar_type_", dtype))

    def step(self):
        for name, dtype in TYPES.items():
            a = sparse.bsr_from_triplets(6, 5, *self.triplets(6, 5, dtype))
            self.keep_places(f"{name}_a", a)
            every = sparse.bsr_zeros(6, 5, dtype)
            sparse.bsr_set_from_triplets(every, *self.triplets(6, 5, dtype), prune_numerical_zeros=False)
            self.keep_places(f"{name}_every", every)
            turned = sparse.bsr_transposed(a)
            self.keep_places(f"{name}_turned", turned)
            self.keep_places(f"{name}_sum", sparse.bsr_axpy(a, sparse.bsr_copy(every), alpha=0.3, beta=-1.7))
            self.keep(f"{name}_plus", sparse.bsr_copy(a * 2.0 - every))
            product = sparse.bsr_mm(a, turned, alpha=1.3)
            self.keep(f"{name}_product", product)
            sparse.bsr_mm(every, turned, product, alpha=0.7, beta=0.4)
            self.keep(f"{name}_added", product)
            setattr(self, f"near_{name}_diagonal", sparse.bsr_get_diag(product))
            x = self.numbers(a.shape[1], dtype)
            y = self.numbers(a.shape[0], dtype)
            setattr(self, f"near_{name}_times", sparse.bsr_mv(a, x))
            sparse.bsr_mv(a, x, y, alpha=0.6, beta=-0.8)
            setattr(self, f"near_{name}_beside", y)
            setattr(self, f"near_{name}_turned_times", sparse.bsr_mv(a, y, transpose=True))
            self.keep(f"{name}_single", sparse.bsr_copy(a, block_shape=(1, 1)))
            self.keep(f"{name}_half", sparse.bsr_copy(a, scalar_type=wp.float32))
        self.keep("joined", sparse.bsr_copy(sparse.bsr_diag(self.numbers(12, wp.float32)), block_shape=(2, 3)))
        self.keep("one", sparse.bsr_identity(3, wp.mat22))
        same = sparse.bsr_diag(wp.mat22(1.0, 2.0, 3.0, 4.0), rows_of_blocks=2, cols_of_blocks=3)
        self.keep("same", same)
        sparse.bsr_set_zero(same, 4, 5)
        self.keep("none", same)
        self.solve()

    def solve(self):
        """Solve a system of blocks by each solver, and keep the number of iterations."""
        counts = []
        for dtype in (wp.mat33, wp.float64):
            a = sparse.bsr_from_triplets(10, 10, *self.triplets(10, 10, dtype))
            square = sparse.bsr_mm(a, sparse.bsr_transposed(a)) + sparse.bsr_copy(
                sparse.bsr_identity(10, dtype) * 3.0
            )
            right = self.numbers(square.shape[0], dtype)
            for name in ("cg", "cr", "bicgstab", "gmres"):
                for kind in ("id", "diag"):
                    for every in (1, 3):
                        x = wp.zeros_like(right)
                        inverse = linear.preconditioner(square, kind)
                        solver = getattr(linear, name)
                        count, _, _ = solver(square, right, x, tol=1e-4, M=inverse, check_every=every)
                        setattr(self, f"near_{name}_{kind}_{every}_{dtype.__name__}", x)
                        counts.append(count)
        self.counts = wp.array(counts, dtype=int)
