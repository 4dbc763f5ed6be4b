"""Several launches, copies and parts of arrays under one tape: a function takes the arrays that a kernel would take."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
Table = wp.array(dtype=wp.float64, ndim=2)
vec3d = wp.types.vector(length=3, dtype=wp.float64)


@wp.struct
class Bound:
    x: Reals
    o: Reals
    scale: wp.float64


@wp.kernel
def squares(a: Reals, b: Reals):
    t = wp.tid()
    b[t] = a[t] * a[t]


@wp.kernel
def sines(a: Reals, b: Reals):
    t = wp.tid()
    b[t] = wp.sin(a[t])


@wp.kernel
def products(a: Reals, b: Reals, c: Reals):
    t = wp.tid()
    c[t] = a[t] * b[t]


@wp.kernel
def doubled(a: Reals):
    t = wp.tid()
    a[t] = a[t] * Real(2.0)


@wp.kernel
def overwritten(a: Reals, value: wp.float64):
    a[wp.tid()] = value


@wp.kernel
def total(a: Reals, b: Reals):
    wp.atomic_add(b, 0, a[wp.tid()])


@wp.kernel
def advanced(p: Reals, v: Reals, q: Reals, w: Reals):
    t = wp.tid()
    w[t] = v[t] - wp.sin(p[t]) * Real(0.1)
    q[t] = p[t] + w[t] * Real(0.1)


@wp.kernel
def table_sums(a: Table, b: Reals):
    i, j = wp.tid()
    wp.atomic_add(b, i, a[i, j] * a[i, j])


@wp.kernel
def row_sums(a: Table, b: Reals):
    i = wp.tid()
    row = a[i]
    s = Real(0.0)
    for j in range(row.shape[0]):
        s += row[j] * row[j]
    b[i] = s


@wp.kernel
def transposed_products(a: Table, b: Reals):
    i = wp.tid()
    s = Real(1.0)
    for j in range(a.shape[1]):
        s = s * a[i, j]
    b[i] = s


@wp.kernel
def of_indexed(a: wp.indexedarray(dtype=wp.float64), b: Reals):
    t = wp.tid()
    wp.atomic_add(b, 0, a[t] * a[t])


@wp.kernel
def of_vectors(a: wp.array(dtype=vec3d), b: Reals):
    t = wp.tid()
    b[t] = wp.length_sq(a[t]) * a[t][0]


@wp.kernel
def to_vectors(a: Reals, b: wp.array(dtype=vec3d)):
    t = wp.tid()
    b[t] = vec3d(a[t], a[t + 1] * a[t], a[t + 2])


@wp.kernel
def letters_stored(a: Reals, b: wp.array(dtype=vec3d)):
    t = wp.tid()
    b[t].x = a[t] * Real(2.0)
    b[t].y = a[t] * a[t]
    b[t].z = a[t + 1]


@wp.kernel
def of_struct(s: Bound):
    t = wp.tid()
    s.o[t] = s.x[t] * s.x[t] * s.scale


@wp.kernel
def vector_scaled(a: wp.array(dtype=vec3d), b: wp.array(dtype=vec3d)):
    t = wp.tid()
    b[t] = wp.normalize(a[t]) * a[t][1]


def made(count):
    return wp.zeros(count, dtype=wp.float64, requires_grad=True)


def one_launch(x, o):
    """one launch"""
    wp.launch(squares, dim=4, inputs=[x], outputs=[o])


def two_launches(x, o):
    """an array between two launches"""
    a = made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(sines, dim=4, inputs=[a], outputs=[o])


def used_by_two(x, o):
    """an array that two launches read"""
    a, b = made(6), made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(sines, dim=6, inputs=[a], outputs=[b])
    wp.launch(products, dim=4, inputs=[a, b], outputs=[o])


def same_array_twice(x, o):
    """one array given for two parameters"""
    wp.launch(products, dim=4, inputs=[x, x, o])


def written_by_two(x, o):
    """an array that two launches write, one after the other (NVIDIA/warp#1062)"""
    wp.launch(squares, dim=4, inputs=[x], outputs=[o])
    wp.launch(sines, dim=4, inputs=[x], outputs=[o])


def overwritten_after(x, o):
    """an input overwritten by a later launch (NVIDIA/warp#1350)"""
    a = made(6)
    wp.launch(sines, dim=6, inputs=[x], outputs=[a])
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])
    wp.launch(overwritten, dim=6, inputs=[a, Real(100.0)])


def reused_buffer(x, o):
    """a buffer used for two results, each needed (NVIDIA/warp#1350)"""
    a, b = made(6), made(6)
    wp.launch(sines, dim=6, inputs=[x], outputs=[a])
    wp.launch(squares, dim=6, inputs=[a], outputs=[b])
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(products, dim=4, inputs=[a, b], outputs=[o])


def doubled_in_place(x, o):
    """an array doubled in place between launches (NVIDIA/warp#1294)"""
    a = made(6)
    wp.launch(sines, dim=6, inputs=[x], outputs=[a])
    wp.launch(doubled, dim=6, inputs=[a])
    wp.launch(sines, dim=4, inputs=[a], outputs=[o])


def doubled_copy(x, o):
    """a copy, doubled in place (NVIDIA/warp#1294)"""
    a = made(6)
    wp.copy(a, x)
    wp.launch(doubled, dim=6, inputs=[a])
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])


def steps_with_arrays(x, o):
    """steps of a pendulum, each with its own arrays"""
    places, speeds = [x], [made(6)]
    for _ in range(4):
        places.append(made(6))
        speeds.append(made(6))
        wp.launch(advanced, dim=6, inputs=[places[-2], speeds[-2]], outputs=[places[-1], speeds[-1]])
    wp.launch(products, dim=4, inputs=[places[-1], speeds[-1]], outputs=[o])


def steps_with_two_arrays(x, o):
    """steps of a pendulum in two arrays by turns (NVIDIA/warp#1350)"""
    places, speeds = [made(6), made(6)], [made(6), made(6)]
    wp.launch(sines, dim=6, inputs=[x], outputs=[places[0]])
    for k in range(4):
        here, there = k % 2, 1 - k % 2
        wp.launch(advanced, dim=6, inputs=[places[here], speeds[here]], outputs=[places[there], speeds[there]])
    wp.launch(products, dim=4, inputs=[places[0], speeds[0]], outputs=[o])


def copied(x, o):
    """`wp.copy` (NVIDIA/warp#1728)"""
    a = made(6)
    wp.copy(a, x)
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])


def copied_and_read(x, o):
    """a copy of an array that a later launch reads too (NVIDIA/warp#1728)"""
    a = made(6)
    wp.copy(a, x)
    wp.launch(products, dim=4, inputs=[a, x], outputs=[o])


def copied_over(x, o):
    """a copy over what a launch wrote (NVIDIA/warp#1728)"""
    a, b = made(6), made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(sines, dim=6, inputs=[x], outputs=[b])
    wp.copy(a, b)
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])


def copied_in_part(x, o):
    """three elements copied to another place"""
    a = made(6)
    wp.copy(a, x, dest_offset=1, src_offset=3, count=3)
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])


def cloned(x, o):
    """`wp.clone` (NVIDIA/warp#1728)"""
    a = wp.clone(x)
    wp.launch(products, dim=4, inputs=[a, x], outputs=[o])


def assigned(x, o):
    """`array.assign` (NVIDIA/warp#1728)"""
    a = made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    b = made(6)
    b.assign(a)
    wp.launch(products, dim=4, inputs=[a, b], outputs=[o])


def indexed(x, o):
    """an indexed array as an input (NVIDIA/warp#1479)"""
    ids = wp.array([1, 3, 5], dtype=wp.int32)
    wp.launch(of_indexed, dim=3, inputs=[wp.indexedarray1d(x, [ids])], outputs=[o])


def part(x, o):
    """a slice of an array as an input"""
    wp.launch(squares, dim=4, inputs=[x[1:5]], outputs=[o])


def part_by_twos(x, o):
    """every second element as an input"""
    wp.launch(squares, dim=3, inputs=[x[::2], o])


def part_written(x, o):
    """a slice of an array as an output"""
    wp.launch(squares, dim=2, inputs=[x], outputs=[o[2:4]])


def parts_of_one(x, o):
    """two slices of one array, read and written"""
    a = made(6)
    wp.launch(sines, dim=6, inputs=[x], outputs=[a])
    wp.launch(squares, dim=2, inputs=[a[0:2]], outputs=[a[4:6]])
    wp.launch(products, dim=2, inputs=[a[0:2], a[4:6]], outputs=[o])


def table(x, o):
    """a table of two rows made by `reshape`"""
    wp.launch(table_sums, dim=(2, 3), inputs=[x.reshape((2, 3))], outputs=[o])


def table_row(x, o):
    """a row of a table, taken in the kernel"""
    wp.launch(row_sums, dim=2, inputs=[x.reshape((2, 3))], outputs=[o])


def table_transposed(x, o):
    """a transposed table"""
    wp.launch(transposed_products, dim=3, inputs=[x.reshape((2, 3)).transpose()], outputs=[o])


def flattened(x, o):
    """a table made flat again"""
    wp.launch(squares, dim=4, inputs=[x.reshape((3, 2)).flatten()], outputs=[o])


def vectors(x, o):
    """an array of vectors between two launches"""
    a = wp.zeros(4, dtype=vec3d, requires_grad=True)
    wp.launch(to_vectors, dim=4, inputs=[x], outputs=[a])
    wp.launch(of_vectors, dim=4, inputs=[a], outputs=[o])


def vectors_by_letters(x, o):
    """components of elements stored by their letters (NVIDIA/warp#248)"""
    a = wp.zeros(4, dtype=vec3d, requires_grad=True)
    wp.launch(letters_stored, dim=4, inputs=[x], outputs=[a])
    wp.launch(of_vectors, dim=4, inputs=[a], outputs=[o])


def vectors_viewed(x, o):
    """numbers seen as vectors"""
    wp.launch(of_vectors, dim=2, inputs=[x.reshape((2, 3)).view(vec3d).flatten()], outputs=[o])


def vectors_scaled(x, o):
    """vectors normalised between launches"""
    a, b = (wp.zeros(4, dtype=vec3d, requires_grad=True) for _ in range(2))
    wp.launch(to_vectors, dim=4, inputs=[x], outputs=[a])
    wp.launch(vector_scaled, dim=4, inputs=[a], outputs=[b])
    wp.launch(of_vectors, dim=4, inputs=[b], outputs=[o])


def struct_of_arrays(x, o):
    """a struct that holds the arrays"""
    s = Bound()
    s.x, s.o, s.scale = x, o, 1.5
    wp.launch(of_struct, dim=4, inputs=[s])


def summed(x, o):
    """a sum after a launch"""
    a = made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(total, dim=6, inputs=[a], outputs=[o])


def summed_twice(x, o):
    """two sums into one element"""
    wp.launch(total, dim=6, inputs=[x], outputs=[o])
    wp.launch(total, dim=3, inputs=[x], outputs=[o])


def filled(x, o):
    """an array filled between launches"""
    a = made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    a.fill_(2.0)
    wp.launch(products, dim=4, inputs=[a, x], outputs=[o])


def zeroed(x, o):
    """an array set to 0 between launches"""
    a = made(6)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.launch(sines, dim=4, inputs=[a], outputs=[o])
    a.zero_()


def reduced(x, o):
    """`array_sum` of a launch's result"""
    a, b = made(6), made(1)
    wp.launch(squares, dim=6, inputs=[x], outputs=[a])
    wp.utils.array_sum(a, out=b)
    wp.copy(o, b, count=1)


def mapped(x, o):
    """`wp.map` of a builtin"""
    a = made(6)
    wp.map(wp.sin, x, out=a)
    wp.launch(squares, dim=4, inputs=[a], outputs=[o])


def added(x, o):
    """the operator `+` of whole arrays"""
    a = x + x
    wp.launch(products, dim=4, inputs=[a, x], outputs=[o])
