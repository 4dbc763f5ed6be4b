"""Sparse matrices beside dense ones, their gradients beside central differences, and solvers of systems."""

import numpy as np
import pytest

import gbxcule.warp as wp
from gbxcule.warp import sparse
from gbxcule.warp.optim import linear

BLOCK = wp.types.matrix((2, 3), wp.float64)


@wp.kernel
def weigh(x: wp.array(dtype=wp.float64), weights: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, weights[i] * x[i] * x[i])


def dense(matrix):
    height, width = matrix.block_shape
    result = np.zeros(matrix.shape)
    rows = matrix.uncompress_rows().numpy()
    for row, column, block in zip(rows, matrix.columns.numpy(), matrix.scalar_values.numpy(), strict=True):
        result[row * height : (row + 1) * height, column * width : (column + 1) * width] += block
    return result


def triplets(random, rows, columns, count, dtype=BLOCK):
    values = random.normal(size=(count, *getattr(dtype, "_shape_", ())))
    places = [wp.array(random.integers(0, extent, count), dtype=int) for extent in (rows, columns)]
    return [*places, wp.array(values, dtype=dtype, requires_grad=True)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", [BLOCK, wp.float64])
def test_sums_and_products_are_those_of_dense_matrices(seed, dtype):
    random = np.random.default_rng(seed)
    rows, columns, count = random.integers(1, 7, 3)
    a = sparse.bsr_from_triplets(rows, columns, *triplets(random, rows, columns, 3 * count, dtype))
    b = sparse.bsr_from_triplets(rows, columns, *triplets(random, rows, columns, 3 * count, dtype))
    x, y = random.normal(size=a.shape[1]), random.normal(size=a.shape[0])
    assert np.allclose(dense(0.5 * a - b), 0.5 * dense(a) - dense(b))
    assert np.allclose(dense(a @ b.transpose()), dense(a) @ dense(b).T)
    assert np.allclose((a @ wp.array(x)).numpy().reshape(-1), dense(a) @ x)
    assert np.allclose((wp.array(y) @ a).numpy().reshape(-1), y @ dense(a))
    assert np.allclose(dense(sparse.bsr_copy(a, block_shape=(1, 1))), dense(a))
    into = wp.array(y)
    sparse.bsr_mv(a, wp.array(x), into, alpha=2.0, beta=-3.0)
    assert np.allclose(into.numpy(), 2.0 * dense(a) @ x - 3.0 * y)


@pytest.mark.parametrize("seed", range(10))
def test_gradients_are_central_differences(seed):
    random = np.random.default_rng(seed)
    one, two = triplets(random, 4, 3, 9), triplets(random, 4, 3, 6)
    x = wp.array(random.normal(size=9), requires_grad=True)
    y = wp.array(random.normal(size=8), requires_grad=True)
    weights = wp.array(random.normal(size=8))

    def loss_of():
        loss, into = wp.zeros(1, dtype=wp.float64, requires_grad=True), wp.clone(y)
        a = sparse.bsr_from_triplets(4, 3, *one)
        b = sparse.bsr_from_triplets(4, 3, *two)
        square = sparse.bsr_mm(a, sparse.bsr_transposed(b), alpha=0.4)
        total = sparse.bsr_axpy(b, sparse.bsr_copy(a), alpha=0.3, beta=1.2)
        sparse.bsr_scale(total, 0.9)
        sparse.bsr_mv(total, x, into, alpha=0.7, beta=0.6)
        out = wp.zeros(8, dtype=wp.float64, requires_grad=True)
        sparse.bsr_mv(square, into, out, transpose=True)
        wp.launch(weigh, 8, [out, weights, loss])
        return loss

    tape = wp.Tape()
    with tape:
        loss = loss_of()
    tape.backward(loss)
    for of in (one[2], two[2], x, y):
        numbers, gradient = of.numpy(), of.grad.numpy()
        direction = random.normal(size=numbers.shape)
        numbers += 1e-5 * direction
        above = loss_of().numpy()[0]
        numbers -= 2e-5 * direction
        below = loss_of().numpy()[0]
        numbers += 1e-5 * direction
        assert np.isclose((gradient * direction).sum(), (above - below) / 2e-5, rtol=1e-5, atol=1e-6)


def test_misuse_says_what_is_wanted():
    a = sparse.bsr_zeros(3, 2, wp.mat33)
    with pytest.raises(ValueError, match="`x` needs 2 times 3 numbers"):
        sparse.bsr_mv(a, wp.zeros(5, dtype=float))
    with pytest.raises(ValueError, match="as many columns as rows"):
        sparse.bsr_mm(a, a)
    with pytest.raises(NotImplementedError, match="compact"):
        sparse.bsr_zeros(3, 2, float, topology="padded")
    with pytest.raises(ValueError, match="3 rows and 2 columns"):
        sparse.bsr_set_from_triplets(a, wp.zeros(3, dtype=int), wp.zeros(2, dtype=int), wp.zeros(3, dtype=wp.mat33))
    with wp.ScopedCapture(), pytest.raises(NotImplementedError, match="capture"):
        sparse.bsr_copy(a)


@pytest.mark.parametrize("solver", ["cg", "cr", "bicgstab", "gmres"])
@pytest.mark.parametrize("kind", ["id", "diag", "diag_abs"])
@pytest.mark.parametrize("form", ["sparse", "dense", "vectors", "own"])
def test_solvers_solve(solver, kind, form):
    random = np.random.default_rng(5)
    a = sparse.bsr_from_triplets(6, 6, *triplets(random, 6, 6, 20, wp.types.matrix((2, 2), wp.float64)))
    matrix = a @ a.transpose() + sparse.bsr_identity(6, a.dtype)
    right = random.normal(size=12)
    dtype = wp.vec2d if form == "vectors" else wp.float64
    b = wp.array(right.reshape((-1, *getattr(dtype, "_shape_", ()))), dtype=dtype)
    x = wp.zeros_like(b)
    inverse = linear.preconditioner(matrix, kind)
    of = matrix if form in ("sparse", "vectors") else wp.array(dense(matrix))
    if form == "own":

        def times(x, _y, z, alpha, beta):
            sparse.bsr_mv(matrix, x, z, alpha, beta)

        of = linear.LinearOperator(matrix.shape, wp.float64, "cpu", times)
    _, size, limit = getattr(linear, solver)(of, b, x, tol=1e-9, M=inverse, maxiter=100)
    assert size <= limit
    assert np.allclose(dense(matrix) @ x.numpy().reshape(-1), right, atol=1e-7)


def test_a_solver_looks_when_it_is_asked_to():
    seen = []
    a, b = wp.array(np.diag(np.arange(1.0, 9.0))), wp.ones(8, dtype=wp.float64)
    done, size, limit = linear.cg(a, b, wp.zeros_like(b), check_every=3, callback=lambda *told: seen.append(told))
    assert [told[0] for told in seen] == [0, 3, 6, 8] and done == 8 and size <= limit
    assert linear.cg(a, b, wp.zeros_like(b), check_every=0)[0].numpy() == [8]
    seen.clear()
    linear.gmres(a, b, wp.zeros_like(b), restart=3, check_every=1, callback=lambda *told: seen.append(told))
    assert [told[0] for told in seen][:3] == [0, 3, 6]
    with wp.Tape(), pytest.raises(NotImplementedError, match="reversed"):
        linear.cg(a, wp.ones(8, dtype=wp.float64, requires_grad=True), wp.zeros_like(b))


@pytest.mark.parametrize("on_the_left", [False, True])
def test_gmres_solves_systems_that_are_not_symmetric(on_the_left):
    random = np.random.default_rng(3)
    a, right = random.normal(size=(20, 20)) * 0.1 + np.diag(np.arange(1.0, 21.0)), random.normal(size=20)
    matrix, b = wp.array(a), wp.array(right)
    x = wp.zeros_like(b)
    done, size, limit = linear.gmres(
        matrix, b, x, restart=7, M=linear.preconditioner(matrix), is_left_preconditioner=on_the_left
    )
    assert size <= limit and done % 7 == 0 and np.allclose(a @ x.numpy(), right)
