"""Quaternions, transforms and spatial vectors."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
vec3d = wp.types.vector(length=3, dtype=wp.float64)
quatd = wp.types.quaternion(dtype=wp.float64)
transformd = wp.types.transformation(dtype=wp.float64)
mat33d = wp.types.matrix(shape=(3, 3), dtype=wp.float64)


@wp.func
def turn(x: Reals, t: int):
    return wp.normalize(quatd(x[t], x[1], x[t + 2], x[3] + Real(1.0)))


@wp.func
def point(x: Reals, t: int):
    return vec3d(x[2], x[t + 3], x[5])


@wp.kernel
def rotation_rotate(x: Reals, o: Reals, n: int, m: int):
    """`quat_rotate`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_rotate(q, p)
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_rotate_inv(x: Reals, o: Reals, n: int, m: int):
    """`quat_rotate_inv`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_rotate_inv(q, p)
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_inverse(x: Reals, o: Reals, n: int, m: int):
    """`quat_inverse`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_inverse(q)
    o[t] = r[0] * r[3] + r[1] * r[2]


@wp.kernel
def rotation_multiply(x: Reals, o: Reals, n: int, m: int):
    """a product of quaternions"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = q * quatd(x[0], x[2], x[4], x[5])
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_normalize(x: Reals, o: Reals, n: int, m: int):
    """`normalize` of a quaternion"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.normalize(quatd(x[0], x[t], x[4], x[5]))
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_dot(x: Reals, o: Reals, n: int, m: int):
    """`dot` of quaternions"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    o[t] = wp.dot(q, quatd(x[0], x[2], x[4], x[5]))


@wp.kernel
def rotation_from_axis_angle(x: Reals, o: Reals, n: int, m: int):
    """`quat_from_axis_angle`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_from_axis_angle(wp.normalize(p), x[t])
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_to_axis_angle(x: Reals, o: Reals, n: int, m: int):
    """`quat_to_axis_angle`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    axis = vec3d()
    angle = Real(0.0)
    wp.quat_to_axis_angle(q, axis, angle)
    o[t] = angle * axis[0] + axis[1] * axis[2]


@wp.kernel
def rotation_rpy(x: Reals, o: Reals, n: int, m: int):
    """`quat_rpy`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_rpy(x[0], x[t], x[2])
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_to_matrix(x: Reals, o: Reals, n: int, m: int):
    """`quat_to_matrix`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_to_matrix(q)
    o[t] = wp.dot(r * p, vec3d(x[0], x[1], x[2]))


@wp.kernel
def rotation_from_matrix(x: Reals, o: Reals, n: int, m: int):
    """`quat_from_matrix`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_from_matrix(wp.quat_to_matrix(q))
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_slerp(x: Reals, o: Reals, n: int, m: int):
    """`quat_slerp`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_slerp(q, wp.normalize(quatd(x[0], x[2], x[4], x[5])), Real(0.3))
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_slerp_by(x: Reals, o: Reals, n: int, m: int):
    """`quat_slerp` by its last argument"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.quat_slerp(q, wp.normalize(quatd(x[0], x[2], x[4], x[5])), x[t] * Real(0.3))
    o[t] = r[0] * r[1] + r[2] * r[3]


@wp.kernel
def rotation_chain(x: Reals, o: Reals, n: int, m: int):
    """rotations multiplied in a dynamic loop (NVIDIA/warp#1293)"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = quatd(Real(0.0), Real(0.0), Real(0.0), Real(1.0))
    s = vec3d()
    for i in range(n):
        half = x[i] * Real(0.5)
        r = r * quatd(wp.sin(half), Real(0.0), Real(0.0), wp.cos(half)) * q
        s += wp.quat_rotate(r, p)
    o[t] = s[0] * s[1] + s[2]


@wp.kernel
def rotation_chain_nested(x: Reals, o: Reals, n: int, m: int):
    """joints in a loop over bodies in a loop (NVIDIA/warp#1293)"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = q
    s = vec3d()
    for i in range(m):
        for j in range(i + 1):
            half = x[j] * Real(0.5)
            r = r * quatd(wp.sin(half), Real(0.0), Real(0.0), wp.cos(half))
        s += wp.quat_rotate(r, p)
    o[t] = s[0] * s[1] + s[2]


@wp.kernel
def rotation_component_written(x: Reals, o: Reals, n: int, m: int):
    """a component of a quaternion written"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    q[3] = q[3] * x[t]
    q[0] = q[0] + q[3]
    o[t] = q[0] * q[1] + q[2] * q[3]


@wp.kernel
def rotation_integrated(x: Reals, o: Reals, n: int, m: int):
    """a quaternion integrated by an angular velocity"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    for i in range(n):
        w = quatd(p[0], p[1], p[2], Real(0.0))
        q = wp.normalize(q + w * q * Real(0.05))
    o[t] = q[0] * q[1] + q[2] * q[3]


@wp.kernel
def rotation_transform_point(x: Reals, o: Reals, n: int, m: int):
    """`transform_point`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.transform_point(transformd(p, q), vec3d(x[0], x[1], x[2]))
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_vector(x: Reals, o: Reals, n: int, m: int):
    """`transform_vector`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.transform_vector(transformd(p, q), vec3d(x[0], x[1], x[2]))
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_multiply(x: Reals, o: Reals, n: int, m: int):
    """`transform_multiply`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = transformd(p, q)
    b = wp.transform_multiply(a, a)
    r = wp.transform_get_translation(b)
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_operator(x: Reals, o: Reals, n: int, m: int):
    """a product of transforms"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = transformd(p, q)
    b = a * wp.transform_inverse(a * a)
    r = wp.transform_get_translation(b)
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_inverse(x: Reals, o: Reals, n: int, m: int):
    """`transform_inverse`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.transform_point(wp.transform_inverse(transformd(p, q)), vec3d(x[0], x[1], x[2]))
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_rotation(x: Reals, o: Reals, n: int, m: int):
    """`transform_get_rotation`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    r = wp.transform_get_rotation(transformd(p, q))
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_transform_index(x: Reals, o: Reals, n: int, m: int):
    """a component of a transform"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = transformd(p, q)
    o[t] = a[0] * a[3] + a[t + 1]


@wp.kernel
def rotation_transform_chain(x: Reals, o: Reals, n: int, m: int):
    """transforms multiplied in a dynamic loop"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = transformd(p, q)
    b = a
    for i in range(n):
        b = b * transformd(vec3d(x[i], Real(0.1), Real(0.0)), q)
    r = wp.transform_get_translation(b)
    o[t] = r[0] * r[1] + r[2]


@wp.kernel
def rotation_spatial_dot(x: Reals, o: Reals, n: int, m: int):
    """`spatial_dot`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = wp.spatial_vectord(x[0], x[1], x[2], x[3], x[4], x[5])
    o[t] = wp.spatial_dot(a, a) * x[t]


@wp.kernel
def rotation_spatial_cross(x: Reals, o: Reals, n: int, m: int):
    """`spatial_cross`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = wp.spatial_vectord(x[0], x[1], x[2], x[3], x[4], x[5])
    b = wp.spatial_vectord(p[0], p[1], p[2], x[0], x[t], x[2])
    r = wp.spatial_cross(a, b)
    o[t] = wp.spatial_dot(r, a + b)


@wp.kernel
def rotation_spatial_cross_dual(x: Reals, o: Reals, n: int, m: int):
    """`spatial_cross_dual`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    a = wp.spatial_vectord(x[0], x[1], x[2], x[3], x[4], x[5])
    b = wp.spatial_vectord(p[0], p[1], p[2], x[0], x[t], x[2])
    r = wp.spatial_cross_dual(a, b)
    o[t] = wp.spatial_dot(r, a + b)


@wp.kernel
def rotation_spatial_halves(x: Reals, o: Reals, n: int, m: int):
    """`spatial_top`, `spatial_bottom`"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    b = wp.spatial_vectord(p[0], p[1], p[2], x[0], x[t], x[2])
    o[t] = wp.dot(wp.spatial_top(b), wp.spatial_bottom(b))


@wp.kernel
def rotation_adjoint_twist(x: Reals, o: Reals, n: int, m: int):
    """a twist moved by a transform"""
    t = wp.tid()
    q = turn(x, t)
    p = point(x, t)
    b = wp.spatial_vectord(p[0], p[1], p[2], x[0], x[t], x[2])
    w = wp.quat_rotate(q, wp.spatial_top(b))
    v = wp.quat_rotate(q, wp.spatial_bottom(b)) + wp.cross(p, w)
    o[t] = wp.dot(w, v)
