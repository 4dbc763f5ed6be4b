import warp as wp


@wp.struct
class Body:
    mass: wp.uint8
    place: wp.array(dtype=wp.vec3)
    factor: wp.float64


@wp.kernel(launch_bounds=(48, 2))
def count(a: wp.array3d(dtype=wp.int32)):
    i, j, k = wp.tid()
    wp.atomic_add(a, i, j, k, 1)


@wp.kernel
def add(a: wp.array(dtype=wp.float32), sum: wp.array(dtype=wp.float32)):
    i = wp.tid()
    sum[i] = sum[i] + a[i]


@wp.kernel(launch_bounds=64)
def sums(a: wp.array2d(dtype=wp.float32), rows: wp.array(dtype=wp.float32), all: wp.array(dtype=wp.int32)):
    i, j = wp.tid()
    wp.atomic_add(rows, i, a[i, j])
    wp.atomic_max(all, 0, wp.int32(a[i, j]))
    wp.atomic_add(all, 1, 1)


@wp.kernel(cuda_max_registers=40)
def move(body: Body, by: wp.vec3, times: wp.int32):
    i = wp.tid()
    for step in range(times):
        body.place[i] = body.place[i] + by * wp.float32(body.factor) * wp.float32(body.mass)


@wp.kernel
def fault_index(a: wp.array(dtype=wp.float32), n: wp.int32):
    i = wp.tid()
    a[i + n] = 1.0


@wp.func
def quotient(x: wp.int32, n: wp.int32):
    return x // n


@wp.kernel
def fault_division(a: wp.array(dtype=wp.float32), n: wp.int32):
    i, j = wp.tid()
    a[0] = wp.float32(quotient(i, j - n))


@wp.kernel
def fault_one_division(a: wp.array(dtype=wp.float32), n: wp.int32):
    i, j = wp.tid()
    a[0] = wp.float32(quotient(1, 3 * i + j - n))


@wp.kernel
def fault_assert(a: wp.array(dtype=wp.float32), n: wp.int32):
    assert wp.tid() < n, "below n"


@wp.kernel
def alone(n: wp.int32):
    assert n < 3, "below 3"
