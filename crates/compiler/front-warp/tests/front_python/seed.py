import math
from typing import Any

import warp as wp

N = wp.constant(3)
SCALE = math.pi * 2.0
vec5 = wp.types.vector(length=5, dtype=wp.float64)


@wp.struct
class Particle:
    position: wp.vec3
    mass: float
    tags: wp.array(dtype=int)


@wp.func
def square(x: Any):
    return x * x


@wp.func
def split(v: wp.vec3, scale: float = 2.0):
    if v.x > 0.0:
        return wp.length(v) * scale, v
    return 0.0, wp.vec3()


@wp.func
def increase(x: wp.ref[float], by: float):
    x += by


@wp.kernel
def move(particles: wp.array(dtype=Particle), out: wp.array2d[float], dt: float):
    i, j = wp.tid()
    p = particles[i]
    p.position += wp.vec3(dt, 0.0, 1.0) * SCALE
    p.tags[j] += 1
    length, v = split(p.position, scale=dt)
    total = float(0.0)
    for k in range(N):
        total += v[k]
    for k in range(out.shape[1]):
        if k == 7:
            continue
        total = total + out[i, k] if k < j and out[i, k] > 0.0 else total
        if total > 100.0:
            break
    increase(total, length)
    particles[i].mass = square(total)
    out[i][j] = p.position.x


@wp.kernel
def rotate(m: wp.array(dtype=wp.mat33), v: wp.array(dtype=vec5), seed: int):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    a = m[i]
    a[0, 1] = wp.randf(state)
    a[2] = wp.vec3(1.0, 2.0, 3.0)
    m[i] = a * wp.transpose(a)
    x = int(seed)
    while x > 0:
        x = x // 2
    part = v[1:i]
    part[0][4] = wp.float64(x)
    old = wp.atomic_add(v, i, vec5())
    scratch = wp.zeros(shape=4, dtype=int)
    scratch[i % 4] = x << 2
    assert scratch[0] >= 0
    print(old[0])
    if not (0 < x <= 5):
        return
    wp.printf("%d\n", scratch[1])
