"""Functions that put their results into variables."""

import warp as wp


@wp.kernel
def turns(q: wp.array(dtype=wp.quat), out: wp.array(dtype=wp.vec4)):
    i = wp.tid()
    axis = wp.vec3()
    angle = float(0.0)
    wp.quat_to_axis_angle(q[i], axis, angle)
    out[i] = wp.vec4(axis[0], axis[1], axis[2], angle)
