"""Vectors and their components."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
vec2d = wp.types.vector(length=2, dtype=wp.float64)
vec3d = wp.types.vector(length=3, dtype=wp.float64)
vec5d = wp.types.vector(length=5, dtype=wp.float64)


@wp.kernel
def vector_dot(x: Reals, o: Reals, n: int, m: int):
    """`dot`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(a, b)


@wp.kernel
def vector_cross(x: Reals, o: Reals, n: int, m: int):
    """`cross`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.cross(a, b), a + b * x[5])


@wp.kernel
def vector_length(x: Reals, o: Reals, n: int, m: int):
    """`length`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.length(a)


@wp.kernel
def vector_length_sq(x: Reals, o: Reals, n: int, m: int):
    """`length_sq`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.length_sq(a)


@wp.kernel
def vector_length_of_zero(x: Reals, o: Reals, n: int, m: int):
    """`length` of a vector of zeros"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.length(a - a) + x[t]


@wp.kernel
def vector_normalize(x: Reals, o: Reals, n: int, m: int):
    """`normalize`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.normalize(a), b)


@wp.kernel
def vector_cw_mul(x: Reals, o: Reals, n: int, m: int):
    """`cw_mul`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.cw_mul(a, b), a)


@wp.kernel
def vector_cw_div(x: Reals, o: Reals, n: int, m: int):
    """`cw_div`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.cw_div(a, b), a)


@wp.kernel
def vector_min(x: Reals, o: Reals, n: int, m: int):
    """`min` by component"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.min(a, b), b)


@wp.kernel
def vector_max(x: Reals, o: Reals, n: int, m: int):
    """`max` by component"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.max(a, b), b)


@wp.kernel
def vector_min_of_one(x: Reals, o: Reals, n: int, m: int):
    """`min` of one vector's components"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.min(a) * x[t]


@wp.kernel
def vector_max_of_one(x: Reals, o: Reals, n: int, m: int):
    """`max` of one vector's components"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.max(a) * x[t]


@wp.kernel
def vector_abs(x: Reals, o: Reals, n: int, m: int):
    """`abs`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.abs(a), b)


@wp.kernel
def vector_sum_operators(x: Reals, o: Reals, n: int, m: int):
    """sum, difference, negation"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(a + b, a - b) + wp.dot(-a, b)


@wp.kernel
def vector_scaled(x: Reals, o: Reals, n: int, m: int):
    """a vector times a number"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(a * x[t], b)


@wp.kernel
def vector_divided(x: Reals, o: Reals, n: int, m: int):
    """a vector over a number"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(a / (x[t] * x[t] + Real(0.5)), b)


@wp.kernel
def vector_norm_l2(x: Reals, o: Reals, n: int, m: int):
    """`norm_l2`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.norm_l2(a)


@wp.kernel
def vector_lerp(x: Reals, o: Reals, n: int, m: int):
    """`lerp`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[t + 1])
    o[t] = wp.dot(wp.lerp(a, b, x[5]), a)


@wp.kernel
def vector_clamped(x: Reals, o: Reals, n: int, m: int):
    """`clamp` of components"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = wp.clamp(a[0], Real(-1.0), Real(1.0)) * wp.clamp(a[1], Real(0.0), Real(0.3)) * a[2] + a[0]


@wp.kernel
def vector_component_read(x: Reals, o: Reals, n: int, m: int):
    """a component by a constant"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = a[1] * a[2]


@wp.kernel
def vector_component_by_thread(x: Reals, o: Reals, n: int, m: int):
    """a component by a variable"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = a[t] * a[t + 1]


@wp.kernel
def vector_by_letters(x: Reals, o: Reals, n: int, m: int):
    """components by letters"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = a.x * a.y + wp.sin(a.z)


@wp.kernel
def vector_letter_written(x: Reals, o: Reals, n: int, m: int):
    """a component written by its letter"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    a.y = a.x * a.z
    o[t] = wp.length_sq(a)


@wp.kernel
def vector_added_in_place(x: Reals, o: Reals, n: int, m: int):
    """`v[i] = v[i] + x` on a local vector (NVIDIA/warp#1697)"""
    t = wp.tid()
    v = vec3d()
    for k in range(4):
        v[0] = v[0] + x[k] * x[k]
        v[1] = v[1] + v[0] * x[k]
    o[t] = v[0] * v[1]


@wp.kernel
def vector_plus_assign(x: Reals, o: Reals, n: int, m: int):
    """`v[i] += x` twice"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    v[0] += x[t] * v[1]
    v[0] += v[0] * x[3]
    o[t] = v[0] * v[1]


@wp.kernel
def vector_minus_assign(x: Reals, o: Reals, n: int, m: int):
    """`v[i] -= x` in a dynamic loop"""
    v = vec3d(x[0], x[1], x[2])
    for i in range(n):
        v[1] -= v[1] * v[0] * x[i]
    o[wp.tid()] = v[1]


@wp.kernel
def vector_divide_assign(x: Reals, o: Reals, n: int, m: int):
    """`v[i] /= x`"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    v[t] /= x[3] + Real(2.0)
    o[t] = wp.length_sq(v)


@wp.kernel
def vector_swapped(x: Reals, o: Reals, n: int, m: int):
    """two components exchanged"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    kept = v[0]
    v[0] = v[2]
    v[2] = kept
    o[t] = v[0] * x[3] + v[2] * v[0] * x[t]


@wp.kernel
def vector_of_five(x: Reals, o: Reals, n: int, m: int):
    """a vector of five, filled in a loop"""
    v = vec5d()
    for i in range(5):
        v[i] = x[i] * x[i + 1]
    o[wp.tid()] = wp.dot(v, v)


@wp.kernel
def vector_filled_dynamically(x: Reals, o: Reals, n: int, m: int):
    """a vector of five, filled in a dynamic loop"""
    v = vec5d()
    for i in range(n):
        v[i] = x[i] * x[i + 1]
    o[wp.tid()] = wp.dot(v, v)


@wp.kernel
def vector_accumulated(x: Reals, o: Reals, n: int, m: int):
    """a vector summed up in a dynamic loop"""
    s = vec3d()
    for i in range(n):
        s += vec3d(x[i], x[i] * x[i], Real(1.0)) * x[i + 1]
    o[wp.tid()] = wp.length_sq(s)


@wp.kernel
def vector_normalized_in_loop(x: Reals, o: Reals, n: int, m: int):
    """a vector normalised in each iteration"""
    s = vec3d(x[0], x[1], x[2])
    for i in range(m):
        s = wp.normalize(s + vec3d(x[i], x[i + 1], x[i + 2]))
    o[wp.tid()] = s[0] * s[1] + s[2]


@wp.kernel
def vector_crossed_in_loop(x: Reals, o: Reals, n: int, m: int):
    """a vector crossed in each iteration"""
    s = vec3d(x[0], x[1], x[2])
    for i in range(m):
        s = wp.cross(s, vec3d(x[i], x[i + 1], x[i + 2])) + s
    o[wp.tid()] = s[0] + s[1] * s[2]


@wp.kernel
def vector_slice(x: Reals, o: Reals, n: int, m: int):
    """a slice of a vector"""
    t = wp.tid()
    v = vec5d(x[0], x[1], x[2], x[3], x[4])
    o[t] = wp.length_sq(v[1:4])


@wp.kernel
def vector_slice_written(x: Reals, o: Reals, n: int, m: int):
    """a slice of a vector written"""
    t = wp.tid()
    v = vec5d(x[0], x[1], x[2], x[3], x[4])
    v[0:3] = vec3d(v[1], v[2] * v[3], v[4])
    o[t] = wp.length_sq(v)


@wp.kernel
def vector_copy_then_write(x: Reals, o: Reals, n: int, m: int):
    """a copy of a vector, written"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    w = vec3d(v[0], v[1], v[2])
    w[0] = w[0] * w[1]
    o[t] = wp.dot(v, w)


@wp.kernel
def vector_from_number(x: Reals, o: Reals, n: int, m: int):
    """a vector of one number"""
    t = wp.tid()
    o[t] = wp.length_sq(vec3d(x[t]) + vec3d(x[0], x[1], x[2]))


@wp.kernel
def vector_outer(x: Reals, o: Reals, n: int, m: int):
    """`outer`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    b = vec3d(x[3], x[4], x[5])
    o[t] = wp.ddot(wp.outer(a, b), wp.outer(b, a))


@wp.kernel
def vector_argmax(x: Reals, o: Reals, n: int, m: int):
    """the component at `argmax`"""
    t = wp.tid()
    a = vec3d(x[0], x[t], x[2])
    o[t] = a[int(wp.argmax(a))] * x[t]


@wp.kernel
def vector_branch_on_component(x: Reals, o: Reals, n: int, m: int):
    """a branch on a component"""
    v = vec3d(x[0], x[1], x[2])
    for i in range(n):
        if v[0] < v[1]:
            v[0] = v[0] * x[i] + x[i]
        else:
            v[1] = wp.sin(v[1]) * x[i]
    o[wp.tid()] = v[0] * v[1]
