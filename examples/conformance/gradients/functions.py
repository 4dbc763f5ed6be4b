"""Functions, structs and gradients by hand."""

from typing import Any

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)
vec3d = wp.types.vector(length=3, dtype=wp.float64)


@wp.struct
class Body:
    mass: wp.float64
    place: vec3d


@wp.struct
class Pair:
    first: Body
    second: Body


@wp.func
def square(a: wp.float64):
    return a * a


@wp.func
def square_twice(a: wp.float64):
    return square(square(a))


@wp.func
def sum_of(x: Reals, count: int):
    s = Real(0.0)
    for i in range(count):
        s += x[i]
    return s


@wp.func
def norm_of(x: Reals, count: int):
    s = Real(0.0)
    for i in range(count):
        s += x[i] * x[i]
    return wp.sqrt(s)


@wp.func
def product_of(x: Reals, count: int):
    p = Real(1.0)
    for i in range(count):
        p = p * x[i]
    return p


@wp.func
def early(a: wp.float64, b: wp.float64):
    if a > Real(0.0):
        return a * b
    return wp.sin(a) + b


@wp.func
def three(a: wp.float64, b: wp.float64):
    return a * b, a + b, a * a


@wp.func
def put(o: Reals, at: int, value: wp.float64):
    o[at] = value * value


@wp.func
def changed(a: wp.float64):
    a = a * a
    a = a + Real(1.0)
    return a * a


@wp.func
def power_of(a: wp.float64, count: int):
    p = a
    for i in range(count):
        p = p * a + Real(0.1)
    return p


@wp.func
def energy(b: Body):
    return b.mass * wp.length_sq(b.place) * Real(0.5)


@wp.func
def heavier(b: Body, factor: wp.float64):
    c = Body()
    c.mass = b.mass * factor
    c.place = b.place * factor
    return c


@wp.func
def generic_square(a: Any):
    return a * a


@wp.func
def kept_gradient(a: wp.float64):
    return a * a * a


@wp.func_grad(kept_gradient)
def adj_kept_gradient(a: wp.float64, adj_ret: wp.float64):
    wp.adjoint[a] += Real(3.0) * a * a * adj_ret


@wp.kernel
def function_call(x: Reals, o: Reals, n: int, m: int):
    """a call"""
    t = wp.tid()
    o[t] = square(x[t]) * x[t + 2]


@wp.kernel
def function_call_in_call(x: Reals, o: Reals, n: int, m: int):
    """a call in a call"""
    t = wp.tid()
    o[t] = square_twice(x[t] * x[t + 2])


@wp.kernel
def function_twice_with_one_value(x: Reals, o: Reals, n: int, m: int):
    """a function called twice with one value"""
    t = wp.tid()
    o[t] = square(x[t]) * square(x[t])


@wp.kernel
def function_in_loop(x: Reals, o: Reals, n: int, m: int):
    """a function called in a dynamic loop"""
    t = wp.tid()
    s = Real(0.5)
    for i in range(n):
        s = square(s * x[i]) + x[i]
    o[t] = s


@wp.kernel
def function_loop_in_function(x: Reals, o: Reals, n: int, m: int):
    """a sum in a function"""
    t = wp.tid()
    o[t] = sum_of(x, n) * x[t]


@wp.kernel
def function_root_of_sum_in_function(x: Reals, o: Reals, n: int, m: int):
    """a root of a sum, in a function (NVIDIA/warp#1740)"""
    t = wp.tid()
    o[t] = norm_of(x, n)


@wp.kernel
def function_product_in_function(x: Reals, o: Reals, n: int, m: int):
    """a product in a function"""
    t = wp.tid()
    o[t] = product_of(x, n) * x[t]


@wp.kernel
def function_early_return(x: Reals, o: Reals, n: int, m: int):
    """an early `return`"""
    t = wp.tid()
    o[t] = early(x[t], x[t + 2]) * x[4]


@wp.kernel
def function_three_results(x: Reals, o: Reals, n: int, m: int):
    """three results, one of them dropped"""
    t = wp.tid()
    a, b, c = three(x[t], x[t + 2])
    o[t] = a * c


@wp.kernel
def function_store_in_function(x: Reals, o: Reals, n: int, m: int):
    """a store in a function"""
    t = wp.tid()
    put(o, t, x[t] * x[t + 1])


@wp.kernel
def function_parameter_changed(x: Reals, o: Reals, n: int, m: int):
    """a parameter that the function changes"""
    t = wp.tid()
    o[t] = changed(x[t] * x[t + 2])


@wp.kernel
def function_power(x: Reals, o: Reals, n: int, m: int):
    """a recurrence in a function"""
    t = wp.tid()
    o[t] = power_of(x[t], n)


@wp.kernel
def function_power_in_loop(x: Reals, o: Reals, n: int, m: int):
    """a recurrence in a function, in a loop"""
    t = wp.tid()
    s = x[t]
    for i in range(m):
        s = power_of(s * Real(0.5), m) + x[i]
    o[t] = s


@wp.kernel
def function_gradient_by_hand(x: Reals, o: Reals, n: int, m: int):
    """a gradient by hand"""
    t = wp.tid()
    o[t] = kept_gradient(x[t] * x[t + 2])


@wp.kernel
def function_generic(x: Reals, o: Reals, n: int, m: int):
    """a generic function, for numbers and vectors"""
    t = wp.tid()
    v = generic_square(x[t])
    o[t] = v * x[t + 2]


@wp.kernel
def function_struct_argument(x: Reals, o: Reals, n: int, m: int):
    """a struct as an argument"""
    t = wp.tid()
    b = Body()
    b.mass = x[t]
    b.place = vec3d(x[0], x[1], x[2])
    o[t] = energy(b)


@wp.kernel
def function_struct_result(x: Reals, o: Reals, n: int, m: int):
    """a struct as a result"""
    t = wp.tid()
    b = Body()
    b.mass = x[t]
    b.place = vec3d(x[0], x[1], x[2])
    c = heavier(b, x[4])
    o[t] = energy(c)


@wp.kernel
def function_struct_in_struct(x: Reals, o: Reals, n: int, m: int):
    """a struct in a struct"""
    t = wp.tid()
    p = Pair()
    p.first.mass = x[t]
    p.first.place = vec3d(x[0], x[1], x[2])
    p.second = heavier(p.first, x[4])
    o[t] = energy(p.second) * energy(p.first)


@wp.kernel
def function_struct_field_changed(x: Reals, o: Reals, n: int, m: int):
    """a field changed in a dynamic loop"""
    t = wp.tid()
    b = Body()
    b.mass = x[t]
    for i in range(n):
        b.mass = b.mass * x[i] + Real(0.5)
    o[t] = b.mass * b.mass


@wp.kernel
def function_struct_vector_changed(x: Reals, o: Reals, n: int, m: int):
    """a vector of a struct changed in a dynamic loop"""
    t = wp.tid()
    b = Body()
    b.mass = x[t]
    b.place = vec3d(x[0], x[1], x[2])
    for i in range(m):
        b.place = wp.cross(b.place, vec3d(x[i], x[i + 1], x[i + 2])) + b.place
    o[t] = energy(b)


@wp.kernel
def function_struct_component_changed(x: Reals, o: Reals, n: int, m: int):
    """a component of a vector of a struct changed"""
    t = wp.tid()
    b = Body()
    b.place = vec3d(x[0], x[1], x[2])
    b.mass = x[t]
    b.place[0] = b.place[0] * b.place[1]
    b.place[1] += b.place[0] * x[t]
    o[t] = energy(b)


@wp.kernel
def function_struct_constructor(x: Reals, o: Reals, n: int, m: int):
    """a struct made of arguments"""
    t = wp.tid()
    b = Body(x[t], vec3d(x[0], x[1], x[2]))
    o[t] = energy(b)
