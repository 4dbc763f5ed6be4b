"""Branches, and values that arms leave behind."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)


@wp.kernel
def branch_assigned_in_both(x: Reals, o: Reals, n: int, m: int):
    """a value assigned in both arms"""
    t = wp.tid()
    if x[t] > Real(0.0):
        s = x[t] * x[t + 2]
    else:
        s = wp.sin(x[t])
    o[t] = s * s


@wp.kernel
def branch_overwritten_in_one(x: Reals, o: Reals, n: int, m: int):
    """a value overwritten in one arm"""
    t = wp.tid()
    s = x[t] * x[t + 2]
    if x[t] > Real(0.0):
        s = s * s
    o[t] = s * x[t + 4]


@wp.kernel
def branch_elif(x: Reals, o: Reals, n: int, m: int):
    """`elif`"""
    t = wp.tid()
    s = Real(1.0)
    if x[t] > Real(1.0):
        s = x[t]
    elif x[t] > Real(0.0):
        s = x[t] * x[t]
    else:
        s = wp.exp(x[t])
    o[t] = s


@wp.kernel
def branch_early_return(x: Reals, o: Reals, n: int, m: int):
    """an early `return` of the kernel"""
    t = wp.tid()
    if x[t] < Real(0.0):
        o[t] = x[t] * x[t]
        return
    o[t] = wp.sin(x[t]) * x[t + 1]


@wp.kernel
def branch_stored_in_one_arm(x: Reals, o: Reals, n: int, m: int):
    """an element stored in one arm only"""
    t = wp.tid()
    if x[t] > Real(0.0):
        o[t] = x[t] * x[t]


@wp.kernel
def branch_and_or(x: Reals, o: Reals, n: int, m: int):
    """`and`, `or`, `not`"""
    t = wp.tid()
    s = x[t + 2]
    if (x[t] > Real(0.0) and x[t + 2] > Real(0.0)) or not (x[t] < Real(0.0)):
        s = s * x[t]
    o[t] = s * s


@wp.kernel
def branch_chained_comparison(x: Reals, o: Reals, n: int, m: int):
    """a comparison of three"""
    t = wp.tid()
    s = x[t + 2]
    if Real(-2.0) < x[t] < Real(0.5):
        s = s * x[t]
    o[t] = s * s


@wp.kernel
def branch_guarded_root(x: Reals, o: Reals, n: int, m: int):
    """a root guarded by a branch"""
    t = wp.tid()
    d = x[t] - x[t]
    s = x[t]
    if d > Real(0.0):
        s = wp.sqrt(d)
    o[t] = s * x[t]


@wp.kernel
def branch_guarded_norm(x: Reals, o: Reals, n: int, m: int):
    """a normalised difference guarded by a branch"""
    t = wp.tid()
    d = x[t] - x[t + 1]
    s = Real(0.0)
    if wp.abs(d) > Real(0.1):
        s = d / wp.abs(d) * x[t]
    o[t] = s + d


@wp.kernel
def branch_by_thread(x: Reals, o: Reals, n: int, m: int):
    """a branch on the thread's number"""
    t = wp.tid()
    if t == 0:
        o[0] = x[0] * x[1]
    else:
        o[1] = wp.exp(x[2]) * x[3]


@wp.kernel
def branch_contact(x: Reals, o: Reals, n: int, m: int):
    """a penalty force where bodies overlap"""
    t = wp.tid()
    d = x[t] - Real(0.5)
    f = Real(0.0)
    if d < Real(0.0):
        f = Real(10.0) * d * d + x[t + 2] * d
    o[t] = f * x[4]


@wp.kernel
def branch_friction(x: Reals, o: Reals, n: int, m: int):
    """friction limited by the normal force"""
    t = wp.tid()
    slide = x[t]
    limit = x[2] * Real(0.3)
    f = -slide * Real(2.0)
    if wp.abs(f) > limit:
        f = -wp.sign(slide) * limit
    o[t] = f * x[t + 3]


@wp.kernel
def branch_nested_values(x: Reals, o: Reals, n: int, m: int):
    """values of nested arms used after"""
    t = wp.tid()
    a = x[t]
    b = x[t + 2]
    if a > Real(0.0):
        a = a * b
        if b > Real(0.5):
            b = a * b
        else:
            b = b * b
    else:
        a = a + b * b
    o[t] = a * b


@wp.kernel
def branch_select_vector(x: Reals, o: Reals, n: int, m: int):
    """`where` of vectors"""
    t = wp.tid()
    a = wp.vec3d(x[0], x[1], x[2])
    b = wp.vec3d(x[3], x[4], x[5])
    c = wp.where(x[t] > Real(0.0), a * x[t], b)
    o[t] = wp.dot(c, a)
