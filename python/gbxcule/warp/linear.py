"""Iterative solvers of linear systems, which Warp has in `warp.optim.linear`.

As in Warp a solver looks at the residual after each `check_every` iterations, and takes no step once it is small.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp import capture, overwritten, tape
from gbxcule.warp.array_factory import zeros_like
from gbxcule.warp.array_memory import array
from gbxcule.warp.missing import Missing
from gbxcule.warp.scalar import float16, float32
from gbxcule.warp.sparse import BsrMatrix, bsr_get_diag, bsr_mv

Numbers = npt.NDArray[Any]


class LinearOperator:
    """A matrix by its product: `matvec(x, y, z, alpha, beta)` sets `z` to `alpha * A @ x + beta * y`."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        device: Any,
        matvec: Callable[..., Any],
        batch_offsets: Any = None,
        max_batch_length: int | None = None,
    ) -> None:
        if batch_offsets is not None:
            raise NotImplementedError("batches of systems aren't solved together: solve one after the other")
        self.shape, self.dtype, self.device, self.matvec = shape, dtype, device, matvec

    @property
    def scalar_type(self) -> Any:
        """Type of the numbers."""
        return getattr(self.dtype, "_wp_scalar_type_", self.dtype)


def aslinearoperator(
    A: Any,  # noqa: N803
    batch_offsets: Any = None,
    max_batch_length: int | None = None,
) -> LinearOperator:
    """Return a matrix, dense or sparse, or a diagonal as an operator."""
    if isinstance(A, LinearOperator):
        return A
    if isinstance(A, BsrMatrix):
        shape: tuple[int, ...] = A.shape
        dtype = A.scalar_type
    elif isinstance(A, array) and A.ndim == 2 and A.numpy().ndim == 2:
        shape, dtype = A.shape, A.dtype
    elif isinstance(A, array) and A.ndim == 1:
        shape, dtype = (A.numpy().size,) * 2, getattr(A.dtype, "_wp_scalar_type_", A.dtype)
    else:
        raise ValueError(f"an operator is a sparse matrix, or an array of one or two dimensions, found {A!r}")

    def matvec(x: array, y: array, z: array, alpha: Any, beta: Any) -> None:
        if isinstance(A, BsrMatrix):
            if z.ptr != y.ptr and beta != 0:
                z.assign(y)
            bsr_mv(A, x, z, alpha, beta)
            return
        vector, matrix = x.numpy().reshape(-1), A.numpy()
        product = alpha * (matrix @ vector if matrix.ndim == 2 else matrix.reshape(-1) * vector)
        if beta != 0:
            product = product + beta * y.numpy().reshape(-1)
        z.numpy()[...] = product.reshape(z.numpy().shape)

    return LinearOperator(shape, dtype, A.device, matvec, batch_offsets, max_batch_length)


def preconditioner(A: Any, ptype: str = "diag") -> LinearOperator | None:  # noqa: N803
    """Return the inverse of the diagonal, or of its absolute values; zeros count as ones."""
    if ptype == "id":
        return None
    if ptype not in ("diag", "diag_abs"):
        raise NotImplementedError(f"preconditioners are `diag`, `diag_abs` and `id`, found `{ptype}`")
    if isinstance(A, BsrMatrix):
        blocks = bsr_get_diag(A).numpy()
        diagonal = np.diagonal(blocks, axis1=-2, axis2=-1).reshape(-1) if blocks.ndim == 3 else blocks
    elif isinstance(A, array) and A.ndim == 2:
        diagonal = np.diagonal(A.numpy())
    else:
        raise ValueError(f"a diagonal is taken from a matrix, sparse or dense, found {A!r}")
    diagonal = np.abs(diagonal) if ptype == "diag_abs" else diagonal
    inverse = np.where(diagonal == 0, 1, 1 / np.where(diagonal == 0, 1, diagonal)).astype(diagonal.dtype)
    return aslinearoperator(array(inverse))


class _System:
    """A system, and products with its matrix and its preconditioner."""

    def __init__(self, of: str, A: Any, b: array, x: array, M: Any) -> None:  # noqa: N803
        if capture.is_capturing():
            raise NotImplementedError(f"a capture can't keep `{of}`: its number of iterations isn't known")
        tape.refuse(of, b, x)
        if isinstance(A, (array, BsrMatrix)):
            tape.refuse(of, A if isinstance(A, array) else A.values)
        self.operator = aslinearoperator(A)
        self.inverse = None if M is None else aslinearoperator(M)
        if b.numpy().size != self.operator.shape[0] or x.numpy().size != self.operator.shape[1]:
            raise ValueError(f"{b!r} and {x!r} don't fit a matrix of {self.operator.shape}: give one number a row")
        overwritten.before(x.numpy())
        self.b, self.x = b, x
        self.given, self.result = zeros_like(x), zeros_like(b)

    def _apply(self, operator: LinearOperator, of: Numbers) -> Numbers:
        self.given.numpy()[...] = of.reshape(self.given.numpy().shape)
        operator.matvec(self.given, self.result, self.result, 1.0, 0.0)
        return self.result.numpy().reshape(-1).copy()

    def times(self, of: Numbers) -> Numbers:
        """Multiply the matrix by a vector."""
        return self._apply(self.operator, of)

    def conditioned(self, of: Numbers) -> Numbers:
        """Multiply the preconditioner by a vector."""
        return of if self.inverse is None else self._apply(self.inverse, of)


def _solve(
    method: Callable[[_System, Numbers, Numbers], Iterator[Numbers]],
    system: _System,
    tol: float | None,
    atol: float | None,
    maxiter: float | None,
    callback: Callable[..., Any] | None,
    check_every: int,
    stride: int = 1,
) -> Any:
    """Step until the residual is small; `method` changes the solution in place, and gives residuals.

    A step of the method counts as `stride` iterations.
    """
    scalar = system.operator.scalar_type
    exact = 1e-3 if scalar is float16 else 1e-6 if scalar is float32 else 1e-12
    if tol is None:
        tol = atol = exact if atol is None else atol
    atol = tol if atol is None else atol
    right, solution = system.b.numpy().reshape(-1), system.x.numpy()
    numbers = solution.reshape(-1)
    limit = max(atol, tol * float(np.linalg.norm(right)))
    most = int(maxiter) if maxiter else len(right)
    residuals = method(system, numbers, right - system.times(numbers))
    size, done = float(np.linalg.norm(next(residuals))), 0
    if callback is not None and check_every:
        callback(done, size, limit)
    while size > limit and done < most:
        for _ in range(-(-min(check_every or most, most - done) // stride)):
            done += stride
            if size > limit:
                size = float(np.linalg.norm(next(residuals)))
        if callback is not None and check_every:
            callback(done, size, limit)
    solution[...] = numbers.reshape(solution.shape)
    if check_every:
        return done, size, limit
    squares = [array(np.array([each * each]), dtype=scalar) for each in (size, limit)]
    return array([done], dtype=int), *squares


def _ratio(above: Any, below: Any) -> Any:
    return above / below if below != 0 else above * type(below)(0)


def _gradients(system: _System, x: Numbers, r: Numbers) -> Iterator[Numbers]:
    z = system.conditioned(r)
    p, rz = z, r @ z
    while True:
        yield r
        ap = system.times(p)
        alpha = _ratio(rz, p @ ap)
        x += alpha * p
        r = r - alpha * ap
        z = system.conditioned(r)
        before, rz = rz, r @ z
        p = z + _ratio(rz, before) * p


def _residuals(system: _System, x: Numbers, r: Numbers) -> Iterator[Numbers]:
    z = system.conditioned(r)
    p, az = z, system.times(z)
    ap, zaz = az, z @ az
    while True:
        yield r
        y = system.conditioned(ap)
        alpha = _ratio(zaz, ap @ y)
        x += alpha * p
        r, z = r - alpha * ap, z - alpha * y
        az = system.times(z)
        before, zaz = zaz, z @ az
        beta = _ratio(zaz, before)
        p, ap = z + beta * p, az + beta * ap


def _stabilized(system: _System, x: Numbers, r: Numbers) -> Iterator[Numbers]:
    shadow, p = r, r
    rho = shadow @ r
    while True:
        yield r
        y = system.conditioned(p)
        v = system.times(y)
        alpha = _ratio(rho, shadow @ v)
        s = r - alpha * v
        z = system.conditioned(s)
        t = system.times(z)
        omega = _ratio(t @ s, t @ t)
        x += alpha * y + omega * z
        r = s - omega * t
        before, rho = rho, shadow @ r
        p = r + _ratio(rho, before) * _ratio(alpha, omega) * (p - omega * v)


def _minimal(
    restart: int, on_the_left: bool, system: _System, x: Numbers, r: Numbers
) -> Iterator[Numbers]:
    """Minimize the residual in the span of `restart` products, again and again."""
    while True:
        yield r
        first = system.conditioned(r) if on_the_left else r
        basis, products = [_ratio(first, np.linalg.norm(first))], np.zeros((restart + 1, restart))
        for column in range(restart):
            if on_the_left:
                made = system.conditioned(system.times(basis[-1]))
            else:
                made = system.times(system.conditioned(basis[-1]))
            for row, vector in enumerate(basis):
                products[row, column] = made @ vector
                made = made - made.dtype.type(products[row, column]) * vector
            products[column + 1, column] = length = np.linalg.norm(made)
            basis.append(_ratio(made, length))
        wanted = np.zeros(restart + 1)
        wanted[0] = np.linalg.norm(first)
        weights = np.linalg.lstsq(products, wanted, rcond=None)[0].astype(x.dtype)
        step = weights @ np.array(basis[:-1])
        x += step if on_the_left else system.conditioned(step)
        r = system.b.numpy().reshape(-1) - system.times(x)


def _runs(of: str, run: bool, restart: Any = None) -> None:
    if not run or restart is not None:
        raise NotImplementedError(f"`{of}` solves at once and without restarts: leave out `run` and `restart`")


def cg(
    A: Any,  # noqa: N803
    b: array,
    x: array,
    tol: float | None = None,
    atol: float | None = None,
    maxiter: float | None = 0,
    M: Any = None,  # noqa: N803
    callback: Callable[..., Any] | None = None,
    check_every: int = 10,
    use_cuda_graph: bool = True,
    run: bool = True,
    *,
    restart: int | None = None,
) -> Any:
    """Solve a symmetric, positive definite system by conjugate gradients."""
    _runs("cg", run, restart)
    return _solve(_gradients, _System("cg", A, b, x, M), tol, atol, maxiter, callback, check_every)


def cr(
    A: Any,  # noqa: N803
    b: array,
    x: array,
    tol: float | None = None,
    atol: float | None = None,
    maxiter: float | None = 0,
    M: Any = None,  # noqa: N803
    callback: Callable[..., Any] | None = None,
    check_every: int = 10,
    use_cuda_graph: bool = True,
    run: bool = True,
    *,
    restart: int | None = None,
) -> Any:
    """Solve a symmetric, positive definite system by conjugate residuals."""
    _runs("cr", run, restart)
    return _solve(_residuals, _System("cr", A, b, x, M), tol, atol, maxiter, callback, check_every)


def bicgstab(
    A: Any,  # noqa: N803
    b: array,
    x: array,
    tol: float | None = None,
    atol: float | None = None,
    maxiter: float | None = 0,
    M: Any = None,  # noqa: N803
    callback: Callable[..., Any] | None = None,
    check_every: int = 10,
    use_cuda_graph: bool = True,
    is_left_preconditioner: bool = False,
    run: bool = True,
) -> Any:
    """Solve any system by stabilized biconjugate gradients, with a preconditioner on the right."""
    _runs("bicgstab", run)
    if is_left_preconditioner and M is not None:
        raise NotImplementedError("`bicgstab` takes a preconditioner on the right: leave out `is_left_preconditioner`")
    return _solve(_stabilized, _System("bicgstab", A, b, x, M), tol, atol, maxiter, callback, check_every)


def gmres(
    A: Any,  # noqa: N803
    b: array,
    x: array,
    tol: float | None = None,
    atol: float | None = None,
    restart: int = 31,
    maxiter: float | None = 0,
    M: Any = None,  # noqa: N803
    callback: Callable[..., Any] | None = None,
    check_every: int = 31,
    use_cuda_graph: bool = True,
    is_left_preconditioner: bool = False,
    run: bool = True,
) -> Any:
    """Solve any system by generalized minimal residuals, which begins anew after `restart` iterations."""
    _runs("gmres", run)
    system = _System("gmres", A, b, x, M)
    stride = min(restart, int(maxiter) if maxiter else system.operator.shape[0])
    check_every = max(check_every, stride) if check_every else 0
    method = partial(_minimal, stride, is_left_preconditioner)
    return _solve(method, system, tol, atol, maxiter, callback, check_every, stride)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"warp.optim.linear.{name}")
