"""Matrices and their elements."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
vec2d = wp.types.vector(length=2, dtype=wp.float64)
vec3d = wp.types.vector(length=3, dtype=wp.float64)
mat22d = wp.types.matrix(shape=(2, 2), dtype=wp.float64)
mat23d = wp.types.matrix(shape=(2, 3), dtype=wp.float64)
mat33d = wp.types.matrix(shape=(3, 3), dtype=wp.float64)
mat44d = wp.types.matrix(shape=(4, 4), dtype=wp.float64)


@wp.func
def square(x: Reals, t: int):
    a = mat33d(x[0], x[1], x[2], x[3], x[4], x[5], x[2] * x[t], x[1] * x[0], x[5] * x[3])
    return a + Real(2.0) * wp.identity(3, dtype=wp.float64)


@wp.func
def column(x: Reals, t: int):
    return vec3d(x[t], x[t + 2], x[t + 4])


@wp.kernel
def matrix_times_vector(x: Reals, o: Reals, n: int, m: int):
    """a matrix times a vector"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.length_sq(a * column(x, t))


@wp.kernel
def matrix_vector_times(x: Reals, o: Reals, n: int, m: int):
    """a vector times a matrix"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.length_sq(column(x, t) * a)


@wp.kernel
def matrix_times_matrix(x: Reals, o: Reals, n: int, m: int):
    """a product of matrices"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.trace(a * wp.transpose(a) * a)


@wp.kernel
def matrix_at_operator(x: Reals, o: Reals, n: int, m: int):
    """the operator `@`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.dot(a @ column(x, t), column(x, t))


@wp.kernel
def matrix_scaled(x: Reals, o: Reals, n: int, m: int):
    """a matrix times a number"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.ddot(a * x[t], a)


@wp.kernel
def matrix_divided(x: Reals, o: Reals, n: int, m: int):
    """a matrix over a number"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.ddot(a / (x[t] * x[t] + Real(1.0)), a)


@wp.kernel
def matrix_transpose(x: Reals, o: Reals, n: int, m: int):
    """`transpose`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.ddot(wp.transpose(a), a)


@wp.kernel
def matrix_trace(x: Reals, o: Reals, n: int, m: int):
    """`trace`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.trace(a) * x[t]


@wp.kernel
def matrix_determinant(x: Reals, o: Reals, n: int, m: int):
    """`determinant` of 3 by 3"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.determinant(a)


@wp.kernel
def matrix_inverse(x: Reals, o: Reals, n: int, m: int):
    """`inverse` of 3 by 3"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.dot(wp.inverse(a) * column(x, t), column(x, t))


@wp.kernel
def matrix_skew(x: Reals, o: Reals, n: int, m: int):
    """`skew`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.length_sq(wp.skew(column(x, t)) * vec3d(x[0], x[1], x[2]))


@wp.kernel
def matrix_diag(x: Reals, o: Reals, n: int, m: int):
    """`diag`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.ddot(wp.diag(column(x, t)), a)


@wp.kernel
def matrix_get_diag(x: Reals, o: Reals, n: int, m: int):
    """`get_diag`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.length_sq(wp.get_diag(a))


@wp.kernel
def matrix_cw_mul(x: Reals, o: Reals, n: int, m: int):
    """`cw_mul`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.trace(wp.cw_mul(a, a))


@wp.kernel
def matrix_cw_div(x: Reals, o: Reals, n: int, m: int):
    """`cw_div`"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.trace(wp.cw_div(a, a * a + mat33d(Real(9.0))))


@wp.kernel
def matrix_element(x: Reals, o: Reals, n: int, m: int):
    """an element by a constant"""
    t = wp.tid()
    a = square(x, t)
    o[t] = a[0, 1] * a[2, 2]


@wp.kernel
def matrix_element_by_thread(x: Reals, o: Reals, n: int, m: int):
    """an element by a variable"""
    t = wp.tid()
    a = square(x, t)
    o[t] = a[t, t + 1] * a[t + 1, t]


@wp.kernel
def matrix_row(x: Reals, o: Reals, n: int, m: int):
    """a row"""
    t = wp.tid()
    a = square(x, t)
    o[t] = wp.dot(a[0], a[t + 1])


@wp.kernel
def matrix_row_written(x: Reals, o: Reals, n: int, m: int):
    """a row written"""
    t = wp.tid()
    a = square(x, t)
    a[1] = column(x, t) * a[0, 0]
    o[t] = wp.determinant(a)


@wp.kernel
def matrix_element_written(x: Reals, o: Reals, n: int, m: int):
    """an element written"""
    t = wp.tid()
    a = square(x, t)
    a[0, 0] = a[0, 0] * x[t]
    a[1, 2] = a[0, 0] * a[2, 2]
    o[t] = wp.determinant(a)


@wp.kernel
def matrix_element_plus_assign(x: Reals, o: Reals, n: int, m: int):
    """`m[i, j] += x` in a dynamic loop (NVIDIA/warp#1697)"""
    t = wp.tid()
    a = square(x, t)
    for i in range(m):
        a[i, t] += a[t, i] * x[i]
    o[t] = wp.ddot(a, a)


@wp.kernel
def matrix_accumulated(x: Reals, o: Reals, n: int, m: int):
    """`m[i, j] = m[i, j] + x` at four points (NVIDIA/warp#1697)"""
    t = wp.tid()
    a = square(x, t)
    k = mat22d()
    for g in range(4):
        k[0, 0] = k[0, 0] + x[g] * x[g + 1]
        k[0, 1] = k[0, 1] + k[0, 0] * x[g]
        k[1, 1] = k[1, 1] + a[0, 0] * x[g]
    o[t] = wp.determinant(k) + k[0, 1]


@wp.kernel
def matrix_power(x: Reals, o: Reals, n: int, m: int):
    """a power of a matrix in a dynamic loop"""
    t = wp.tid()
    a = square(x, t)
    p = wp.identity(3, dtype=wp.float64)
    for i in range(n):
        p = p * a * Real(0.3)
    o[t] = wp.trace(p)


@wp.kernel
def matrix_inverse_in_loop(x: Reals, o: Reals, n: int, m: int):
    """an inverse in each iteration"""
    t = wp.tid()
    a = square(x, t)
    p = a
    for i in range(m):
        p = wp.inverse(p + a * x[5])
    o[t] = wp.trace(p)


@wp.kernel
def matrix_rows(x: Reals, o: Reals, n: int, m: int):
    """`matrix_from_rows`"""
    t = wp.tid()
    a = square(x, t)
    b = wp.matrix_from_rows(column(x, t), vec3d(x[0], x[1], x[2]), vec3d(x[3], x[1], x[5]))
    o[t] = wp.determinant(b)


@wp.kernel
def matrix_columns(x: Reals, o: Reals, n: int, m: int):
    """`matrix_from_cols`"""
    t = wp.tid()
    a = square(x, t)
    b = wp.matrix_from_cols(column(x, t), vec3d(x[0], x[1], x[2]), vec3d(x[3], x[1], x[5]))
    o[t] = wp.determinant(b)


@wp.kernel
def matrix_two_by_two(x: Reals, o: Reals, n: int, m: int):
    """determinant and inverse of 2 by 2"""
    t = wp.tid()
    a = square(x, t)
    b = mat22d(x[0], x[1], x[t + 2], x[3] + Real(2.0))
    o[t] = wp.determinant(b) + wp.trace(wp.inverse(b))


@wp.kernel
def matrix_four_by_four(x: Reals, o: Reals, n: int, m: int):
    """determinant and inverse of 4 by 4"""
    t = wp.tid()
    a = square(x, t)
    b = mat44d(x[0], x[1], x[2], x[3], x[4], x[5], x[0], x[1], x[t], x[1], x[4], x[3], x[2], x[2], x[1], x[0])
    b = b + Real(3.0) * wp.identity(4, dtype=wp.float64)
    o[t] = wp.trace(wp.inverse(b)) + wp.determinant(b) * Real(0.01)


@wp.kernel
def matrix_rectangular(x: Reals, o: Reals, n: int, m: int):
    """a matrix of 2 by 3"""
    t = wp.tid()
    a = square(x, t)
    b = mat23d(x[0], x[1], x[2], x[3], x[4], x[t])
    o[t] = wp.length_sq(b * column(x, t)) + wp.length_sq(vec2d(x[0], x[1]) * b)


@wp.kernel
def matrix_singular_values(x: Reals, o: Reals, n: int, m: int):
    """`svd3`: singular values"""
    t = wp.tid()
    a = square(x, t)
    u = mat33d()
    s = vec3d()
    v = mat33d()
    wp.svd3(a, u, s, v)
    o[t] = wp.length_sq(s) + s[0] * s[1]


@wp.kernel
def matrix_orthogonal_triangular(x: Reals, o: Reals, n: int, m: int):
    """`qr3`"""
    t = wp.tid()
    a = square(x, t)
    q = mat33d()
    r = mat33d()
    wp.qr3(a, q, r)
    o[t] = wp.dot(q * column(x, t), column(x, t)) + wp.trace(r)


@wp.kernel
def matrix_eigenvalues(x: Reals, o: Reals, n: int, m: int):
    """`eig3`: eigenvalues of a symmetric matrix"""
    t = wp.tid()
    a = square(x, t)
    q = mat33d()
    d = vec3d()
    wp.eig3(a + wp.transpose(a), q, d)
    o[t] = d[0] * d[1] + d[2]


@wp.kernel
def matrix_polar(x: Reals, o: Reals, n: int, m: int):
    """a strain energy of a deformation"""
    t = wp.tid()
    a = square(x, t)
    e = wp.transpose(a) * a - wp.identity(3, dtype=wp.float64)
    o[t] = Real(0.5) * wp.ddot(e, e) + wp.trace(e) * wp.trace(e)


@wp.kernel
def matrix_neo_hookean(x: Reals, o: Reals, n: int, m: int):
    """a Neo-Hookean energy"""
    t = wp.tid()
    a = square(x, t)
    j = wp.determinant(a)
    o[t] = wp.ddot(a, a) * Real(0.5) - wp.log(wp.abs(j)) + (j - Real(1.0)) * (j - Real(1.0)) * Real(0.1)
