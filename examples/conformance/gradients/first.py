"""The patterns of docs/gradients.md, each a kernel that two threads run with n = 5 and m = 3.

The first line of a kernel's text is what the document calls it. Read by the tests as text, and run by
NVIDIA Warp.
"""

import warp as wp

Reals = wp.array(dtype=wp.float64)
vec3d = wp.types.vector(length=3, dtype=wp.float64)


@wp.struct
class Pair:
    s: wp.float64
    v: vec3d


@wp.kernel
def sum_dynamic(x: Reals, o: Reals, n: int, m: int):
    """sum over a dynamic range"""
    s = wp.float64(0.0)
    for i in range(n):
        s += x[i] * x[i]
    o[wp.tid()] = s


@wp.kernel
def product_dynamic(x: Reals, o: Reals, n: int, m: int):
    """`p *= x[i]` over a dynamic range"""
    p = wp.float64(1.0)
    for i in range(n):
        p *= x[i]
    o[wp.tid()] = p


@wp.kernel
def product_static(x: Reals, o: Reals, n: int, m: int):
    """product over `range(17)`"""
    p = wp.float64(1.0)
    for i in range(17):
        p = p * x[i % 6]
    o[wp.tid()] = p


@wp.kernel
def recurrence(x: Reals, o: Reals, n: int, m: int):
    """`s = sin(s * x) + x`"""
    t = wp.tid()
    s = wp.float64(0.5)
    for i in range(n):
        s = wp.sin(s * x[t]) + x[t]
    o[t] = s


@wp.kernel
def branch_on_state(x: Reals, o: Reals, n: int, m: int):
    """a branch on carried state"""
    s = wp.float64(0.4)
    for i in range(n):
        if s < wp.float64(0.9):
            s = s * x[i] + x[i]
        else:
            s = wp.cos(s)
    o[wp.tid()] = s


@wp.kernel
def nested_products(x: Reals, o: Reals, n: int, m: int):
    """nested dynamic products"""
    s = wp.float64(0.0)
    for i in range(n):
        p = wp.float64(1.0)
        for j in range(m):
            p = p * x[j] * x[i]
        s += p
    o[wp.tid()] = s


@wp.kernel
def used_after(x: Reals, o: Reals, n: int, m: int):
    """an accumulator used after the loop"""
    t = wp.tid()
    s = wp.float64(0.0)
    for i in range(n):
        s += x[i]
    o[t] = s * s * x[t] + wp.sin(s)


@wp.kernel
def while_loop(x: Reals, o: Reals, n: int, m: int):
    """`while` with sums and products"""
    s = wp.float64(0.0)
    p = wp.float64(1.0)
    i = int(0)
    while i < n:
        p = p * x[i] + s
        s += x[i] * p
        i += 1
    o[wp.tid()] = s * p


@wp.kernel
def break_dynamic(x: Reals, o: Reals, n: int, m: int):
    """`break` in a dynamic range"""
    p = wp.float64(1.0)
    for i in range(n):
        p = p * x[i]
        if p < wp.float64(-1.0):
            break
        p = p + x[i]
    o[wp.tid()] = p


@wp.kernel
def break_static(x: Reals, o: Reals, n: int, m: int):
    """`break` in a static range"""
    p = wp.float64(1.0)
    for i in range(6):
        p = p * x[i]
        if p < wp.float64(-1.0):
            break
        p = p + x[i]
    o[wp.tid()] = p


@wp.kernel
def continue_sum(x: Reals, o: Reals, n: int, m: int):
    """`continue` past a term of a sum"""
    s = wp.float64(0.0)
    for i in range(n):
        if x[i] < wp.float64(0.0):
            continue
        s += x[i] * x[i]
    o[wp.tid()] = s


@wp.kernel
def continue_product(x: Reals, o: Reals, n: int, m: int):
    """`continue` past a factor of a product"""
    p = wp.float64(1.0)
    for i in range(n):
        p = p * x[i]
        if p < wp.float64(-1.0):
            continue
        p = p + x[i]
    o[wp.tid()] = p


@wp.func
def first_large(a: wp.float64, b: wp.float64):
    p = a
    for i in range(5):
        p = p * b
        if p > wp.float64(1.0):
            return p * a
    return p


@wp.kernel
def return_in_function(x: Reals, o: Reals, n: int, m: int):
    """`return` inside a loop of a function"""
    t = wp.tid()
    o[t] = first_large(x[t], x[t + 2])


@wp.kernel
def return_in_kernel(x: Reals, o: Reals, n: int, m: int):
    """`return` inside a loop of a kernel"""
    t = wp.tid()
    p = wp.float64(1.0)
    for i in range(n):
        p = p * x[i]
        if p < wp.float64(-1.0):
            o[t] = p * x[t]
            return
        p = p + x[i]
    o[t] = p


@wp.kernel
def inner_sum(x: Reals, o: Reals, n: int, m: int):
    """an inner dynamic sum used by the outer body"""
    p = wp.float64(1.0)
    for i in range(n):
        s = wp.float64(0.0)
        for j in range(i + 1):
            s += x[j]
        p = p * s * x[i]
    o[wp.tid()] = p


@wp.kernel
def carried_index(x: Reals, o: Reals, n: int, m: int):
    """a carried integer index"""
    at = int(1)
    p = wp.float64(1.0)
    for i in range(n):
        p = p * x[at]
        at = (at * 2 + i) % 6
    o[wp.tid()] = p


@wp.kernel
def overwritten_needed(x: Reals, o: Reals, n: int, m: int):
    """an array element written after it was read, and needed"""
    t = wp.tid()
    y = x[t]
    x[t] = y * y


@wp.kernel
def overwritten_not_needed(x: Reals, o: Reals, n: int, m: int):
    """an array element written after it was read, not needed (`x[i] = 3 * x[i] + 1`)"""
    t = wp.tid()
    x[t] = wp.float64(3.0) * x[t] + wp.float64(1.0)


@wp.kernel
def prefix_in_place(x: Reals, o: Reals, n: int, m: int):
    """a prefix in place, `o[k] = o[k - 1] * x[k]`"""
    if wp.tid() == 0:
        for k in range(1, m + 1):
            o[k] = o[k - 1] * x[k]


@wp.kernel
def suffix_in_place(x: Reals, o: Reals, n: int, m: int):
    """from the last element on, `o[k] = sin(o[k + 1]) * x[k]`"""
    if wp.tid() == 0:
        for k in range(m - 1, -1, -1):
            o[k] = wp.sin(o[k + 1]) * x[k]


@wp.kernel
def read_after_add(x: Reals, o: Reals, n: int, m: int):
    """an element read by the thread that added to it"""
    t = wp.tid()
    wp.atomic_add(o, t, x[t] * x[t])
    o[t + 2] = o[t] * o[t]


@wp.kernel
def multiplied_in_place(x: Reals, o: Reals, n: int, m: int):
    """`o[i] *= x` in a loop"""
    t = wp.tid()
    for i in range(n):
        o[t] = o[t] * x[i]


@wp.kernel
def stored_then_multiplied(x: Reals, o: Reals, n: int, m: int):
    """`o[i] = x; o[i] *= y`"""
    t = wp.tid()
    o[t] = x[t]
    o[t] = o[t] * x[t + 2]


@wp.kernel
def store_load_store(x: Reals, o: Reals, n: int, m: int):
    """store, load, store of one element"""
    t = wp.tid()
    o[t] = x[t] * x[t]
    y = o[t]
    o[t] = wp.sin(y) * x[t]


@wp.kernel
def stored_each_time(x: Reals, o: Reals, n: int, m: int):
    """an element stored in every iteration"""
    t = wp.tid()
    for i in range(n):
        o[t] = x[i] * x[i]


@wp.kernel
def component_reassigned(x: Reals, o: Reals, n: int, m: int):
    """a component reassigned"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    v[0] = wp.sin(v[0]) * x[t]
    o[t] = v[0] * v[1] + v[2]


@wp.kernel
def component_multiplied(x: Reals, o: Reals, n: int, m: int):
    """`v[0] *= x` twice"""
    t = wp.tid()
    v = vec3d(x[0], x[1], x[2])
    v[0] *= x[t]
    v[0] *= x[t]
    o[t] = v[0] * v[1] + v[2]


@wp.kernel
def component_by_index(x: Reals, o: Reals, n: int, m: int):
    """`v[i % 3] = ..` in a dynamic loop"""
    v = vec3d(x[0], x[1], x[2])
    for i in range(n):
        v[i % 3] = v[(i + 1) % 3] * x[i]
    o[wp.tid()] = v[0] * v[1] + v[2]


@wp.kernel
def struct_fields(x: Reals, o: Reals, n: int, m: int):
    """struct fields written in a loop"""
    p = Pair()
    p.s = wp.float64(1.0)
    for i in range(n):
        p.s = p.s * x[i]
        p.v[1] = p.s + x[i]
    o[wp.tid()] = p.s * p.v[1]


@wp.func
def two_results(a: wp.float64, b: wp.float64):
    return a * b, wp.sin(a)


@wp.kernel
def several_results(x: Reals, o: Reals, n: int, m: int):
    """a function with several results"""
    t = wp.tid()
    first, second = two_results(x[t], x[t + 2])
    o[t] = first * second


@wp.func
def scaled_product(x: Reals, o: Reals, a: wp.float64):
    p = wp.float64(1.0)
    for i in range(4):
        p = p * x[i] * a
        wp.atomic_add(o, 2, p)
        if p < wp.float64(-0.8):
            return p * a
    return p


@wp.kernel
def function_with_arrays(x: Reals, o: Reals, n: int, m: int):
    """a function with arrays, a loop and an early return"""
    t = wp.tid()
    o[t] = scaled_product(x, o, x[t])


@wp.kernel
def atomic_sums(x: Reals, o: Reals, n: int, m: int):
    """atomic add, subtract"""
    t = wp.tid()
    wp.atomic_add(o, 3, x[t] * x[t + 1])
    wp.atomic_sub(o, 2, x[t] * x[t])


@wp.kernel
def atomic_extreme(x: Reals, o: Reals, n: int, m: int):
    """atomic max"""
    t = wp.tid()
    wp.atomic_max(o, 3, x[t] * x[t])


@wp.kernel
def atomic_old_value(x: Reals, o: Reals, n: int, m: int):
    """the old value of an atomic used"""
    t = wp.tid()
    old = wp.atomic_add(o, 3, x[t])
    o[t] = old * old


@wp.kernel
def not_chosen(x: Reals, o: Reals, n: int, m: int):
    """an arm that isn't chosen has an infinite derivative"""
    t = wp.tid()
    d = x[t] - x[t]
    o[t] = wp.where(d > wp.float64(0.0), wp.sqrt(d), x[t] + x[t])


@wp.kernel
def fraction(x: Reals, o: Reals, n: int, m: int):
    """`frac`"""
    t = wp.tid()
    o[t] = wp.frac(x[t]) * x[t]


@wp.kernel
def modulo(x: Reals, o: Reals, n: int, m: int):
    """second argument of `mod`"""
    t = wp.tid()
    o[t] = wp.mod(x[t] + wp.float64(4.0), x[t + 4] + wp.float64(2.0))


@wp.kernel
def long_recurrence(x: Reals, o: Reals, n: int, m: int):
    """a recurrence of 500 steps"""
    t = wp.tid()
    s = wp.float64(0.5)
    for i in range(n * 100):
        s = wp.float64(0.5) * wp.sin(s * x[t]) + x[t]
    o[t] = s
