"""Loops: what is carried, what leaves early, what stands before and after."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)


@wp.kernel
def loop_sum_of_products(x: Reals, o: Reals, n: int, m: int):
    """a sum of products of neighbours"""
    s = Real(0.0)
    for i in range(n):
        s += x[i] * x[i + 1]
    o[wp.tid()] = s


@wp.kernel
def loop_mean_and_variance(x: Reals, o: Reals, n: int, m: int):
    """a mean, then a variance in a second loop"""
    mean = Real(0.0)
    for i in range(n):
        mean += x[i] / Real(5.0)
    spread = Real(0.0)
    for i in range(n):
        spread += (x[i] - mean) * (x[i] - mean)
    o[wp.tid()] = wp.sqrt(spread)


@wp.kernel
def loop_quotient_after(x: Reals, o: Reals, n: int, m: int):
    """a sum divided after the loop (NVIDIA/warp#1740)"""
    s = Real(0.0)
    w = Real(0.5)
    for i in range(n):
        s += x[i]
        w += x[i] * x[i]
    o[wp.tid()] = s / w


@wp.kernel
def loop_before_used_after(x: Reals, o: Reals, n: int, m: int):
    """a value from before the loop, used after it (NVIDIA/warp#1694)"""
    t = wp.tid()
    scale = x[t] * x[t + 2]
    s = Real(0.0)
    for i in range(n):
        s += x[i]
    o[t] = s * scale


@wp.kernel
def loop_before_used_in_and_after(x: Reals, o: Reals, n: int, m: int):
    """a value from before the loop, used in it and after it"""
    t = wp.tid()
    scale = wp.sin(x[t])
    s = Real(0.0)
    for i in range(n):
        s += x[i] * scale
    o[t] = s * scale


@wp.kernel
def loop_argmax_by_continue(x: Reals, o: Reals, n: int, m: int):
    """a largest value found with `continue` (NVIDIA/warp#1552)"""
    t = wp.tid()
    best = Real(-100.0)
    for i in range(n):
        if x[i] == Real(0.0):
            continue
        v = x[i] * x[t] * Real(float(i) + 1.0)
        if v > best:
            best = v
    o[t] = best


@wp.kernel
def loop_argmax_by_branch(x: Reals, o: Reals, n: int, m: int):
    """a largest value found with a branch (NVIDIA/warp#1552)"""
    t = wp.tid()
    best = Real(-100.0)
    for i in range(5):
        if x[i] != Real(0.0):
            v = x[i] * x[t] * Real(float(i) + 1.0)
            if v > best:
                best = v
    o[t] = best


@wp.kernel
def loop_argmin_index(x: Reals, o: Reals, n: int, m: int):
    """a smallest value and its index, kept"""
    t = wp.tid()
    best = Real(100.0)
    at = int(0)
    for i in range(n):
        v = x[i] * x[i] + x[t] * x[i]
        if v < best:
            best = v
            at = i
    o[t] = best * x[at + 1]


@wp.kernel
def loop_max_function(x: Reals, o: Reals, n: int, m: int):
    """`s = max(s, x)`"""
    s = Real(-9.0)
    for i in range(n):
        s = wp.max(s, x[i] * x[i + 1])
    o[wp.tid()] = s * s


@wp.kernel
def loop_softmax(x: Reals, o: Reals, n: int, m: int):
    """a soft maximum in three loops"""
    t = wp.tid()
    top = Real(-9.0)
    for i in range(n):
        top = wp.max(top, x[i])
    whole = Real(0.0)
    for i in range(n):
        whole += wp.exp(x[i] - top)
    s = Real(0.0)
    for i in range(n):
        s += wp.exp(x[i] - top) / whole * x[i]
    o[t] = s * x[t]


@wp.kernel
def loop_log_sum_exp(x: Reals, o: Reals, n: int, m: int):
    """logarithm of a sum of exponentials"""
    s = Real(0.0)
    for i in range(n):
        s += wp.exp(x[i])
    o[wp.tid()] = wp.log(s)


@wp.kernel
def loop_horner(x: Reals, o: Reals, n: int, m: int):
    """a polynomial by Horner's rule"""
    t = wp.tid()
    s = Real(0.0)
    for i in range(n):
        s = s * x[t] + x[i]
    o[t] = s


@wp.kernel
def loop_newton_root(x: Reals, o: Reals, n: int, m: int):
    """a root by Newton's iteration"""
    t = wp.tid()
    r = Real(1.0)
    a = x[t] * x[t] + Real(0.5)
    for i in range(n):
        r = Real(0.5) * (r + a / r)
    o[t] = r * x[t + 2]


@wp.kernel
def loop_fibonacci(x: Reals, o: Reals, n: int, m: int):
    """two values carried crosswise"""
    a = x[0]
    b = x[1]
    for i in range(n):
        c = a * x[i] + b
        a = b
        b = c
    o[wp.tid()] = a * b


@wp.kernel
def loop_symplectic(x: Reals, o: Reals, n: int, m: int):
    """position and velocity of an oscillator"""
    t = wp.tid()
    p = x[t]
    v = x[t + 2]
    for i in range(n):
        v = v - wp.sin(p) * Real(0.1)
        p = p + v * Real(0.1)
    o[t] = p * v


@wp.kernel
def loop_runge_kutta(x: Reals, o: Reals, n: int, m: int):
    """four stages in each step"""
    t = wp.tid()
    p = x[t]
    for i in range(m):
        a = wp.sin(p)
        b = wp.sin(p + Real(0.05) * a)
        c = wp.sin(p + Real(0.05) * b)
        d = wp.sin(p + Real(0.1) * c)
        p = p + (a + Real(2.0) * b + Real(2.0) * c + d) * Real(0.1) * x[4]
    o[t] = p


@wp.kernel
def loop_triangular(x: Reals, o: Reals, n: int, m: int):
    """an inner loop bounded by the outer one"""
    s = Real(0.0)
    for i in range(n):
        for j in range(i):
            s += x[i] * x[j]
    o[wp.tid()] = s * s


@wp.kernel
def loop_three_deep(x: Reals, o: Reals, n: int, m: int):
    """three loops"""
    s = Real(0.0)
    for i in range(m):
        for j in range(m):
            for k in range(m):
                s += x[i] * x[j + 1] * x[k + 2]
    o[wp.tid()] = s


@wp.kernel
def loop_three_deep_products(x: Reals, o: Reals, n: int, m: int):
    """products carried through three loops"""
    s = Real(1.0)
    for i in range(2):
        for j in range(m):
            p = Real(0.5)
            for k in range(m):
                p = p * x[k + j] + x[i]
            s = s * p
    o[wp.tid()] = s


@wp.kernel
def loop_backwards(x: Reals, o: Reals, n: int, m: int):
    """a loop that counts down"""
    s = Real(0.5)
    for i in range(n - 1, -1, -1):
        s = s * x[i] + x[i]
    o[wp.tid()] = s


@wp.kernel
def loop_by_twos(x: Reals, o: Reals, n: int, m: int):
    """a loop by twos"""
    s = Real(0.5)
    for i in range(0, n, 2):
        s = s * x[i] + x[i]
    o[wp.tid()] = s


@wp.kernel
def loop_from_thread(x: Reals, o: Reals, n: int, m: int):
    """a loop from the thread's number on"""
    t = wp.tid()
    s = Real(0.5)
    for i in range(t, n):
        s = s * x[i] + wp.cos(x[i])
    o[t] = s


@wp.kernel
def loop_never(x: Reals, o: Reals, n: int, m: int):
    """a loop without iterations"""
    t = wp.tid()
    s = x[t]
    for i in range(n, m):
        s = s * s
    o[t] = s * x[t + 2]


@wp.kernel
def loop_count_from_data(x: Reals, o: Reals, n: int, m: int):
    """a count that follows from data"""
    t = wp.tid()
    c = int(x[2] * Real(2.0))
    s = Real(1.0)
    for i in range(c):
        s = s * x[t] + x[i]
    o[t] = s


@wp.kernel
def loop_while_halved(x: Reals, o: Reals, n: int, m: int):
    """`while` until a value is small"""
    t = wp.tid()
    s = x[t] * x[t] + Real(4.0)
    while s > Real(0.3):
        s = s * (Real(0.3) + x[2] * Real(0.1))
    o[t] = s


@wp.kernel
def loop_while_true_break(x: Reals, o: Reals, n: int, m: int):
    """`while True` left by `break`"""
    t = wp.tid()
    s = x[t] * x[t] + Real(1.0)
    i = int(0)
    while True:
        s = s * Real(1.3) + x[i]
        i += 1
        if i >= n:
            break
    o[t] = s * s


@wp.kernel
def loop_while_continue(x: Reals, o: Reals, n: int, m: int):
    """`while` with `continue`"""
    s = Real(1.0)
    i = int(0)
    while i < n:
        i += 1
        if x[i] < Real(0.0):
            continue
        s = s * x[i] + x[i - 1]
    o[wp.tid()] = s


@wp.kernel
def loop_while_inside_for(x: Reals, o: Reals, n: int, m: int):
    """`while` inside `for`"""
    s = Real(1.0)
    for i in range(m):
        j = int(0)
        while j <= i:
            s = s * x[j] + x[i]
            j += 1
    o[wp.tid()] = s


@wp.kernel
def loop_break_from_inner(x: Reals, o: Reals, n: int, m: int):
    """`break` from an inner loop only"""
    s = Real(1.0)
    for i in range(m):
        for j in range(n):
            s = s + x[i] * x[j] * s * Real(0.1)
            if j > i:
                break
    o[wp.tid()] = s


@wp.kernel
def loop_continue_in_inner(x: Reals, o: Reals, n: int, m: int):
    """`continue` in an inner loop"""
    s = Real(1.0)
    for i in range(m):
        for j in range(n):
            if j == i:
                continue
            s = s + x[i] * x[j] * s * Real(0.1)
    o[wp.tid()] = s


@wp.kernel
def loop_break_after_use(x: Reals, o: Reals, n: int, m: int):
    """`break` after the value that it judges was used"""
    s = Real(1.0)
    for i in range(n):
        s = s * x[i]
        o[3] = s
        if s < Real(-0.5):
            break
    o[wp.tid()] = s * s


@wp.kernel
def loop_if_in_loop(x: Reals, o: Reals, n: int, m: int):
    """`if` without `else` on the number of the iteration"""
    s = Real(1.0)
    for i in range(n):
        if i % 2 == 0:
            s = s * x[i]
        s = s + x[i]
    o[wp.tid()] = s


@wp.kernel
def loop_nested_if(x: Reals, o: Reals, n: int, m: int):
    """nested branches on carried state"""
    s = Real(0.4)
    for i in range(n):
        if s > Real(0.0):
            if s > Real(1.0):
                s = s * x[i]
            else:
                s = s + x[i] * x[i]
        else:
            s = wp.exp(s) * x[i]
    o[wp.tid()] = s


@wp.kernel
def loop_clamped_state(x: Reals, o: Reals, n: int, m: int):
    """a carried value clamped in each iteration"""
    s = Real(0.4)
    for i in range(n):
        s = wp.clamp(s * x[i] + x[i], Real(-0.9), Real(0.9))
    o[wp.tid()] = s * s


@wp.kernel
def loop_flag(x: Reals, o: Reals, n: int, m: int):
    """a flag that is set once"""
    s = Real(0.0)
    seen = int(0)
    for i in range(n):
        if seen == 1:
            s = s + x[i] * x[i]
        if x[i] < Real(0.0):
            seen = 1
    o[wp.tid()] = s * s


@wp.kernel
def loop_two_accumulators(x: Reals, o: Reals, n: int, m: int):
    """two accumulators multiplied after the loop"""
    a = Real(1.0)
    b = Real(1.0)
    for i in range(n):
        if x[i] > Real(0.5):
            a = a * x[i]
        else:
            b = b + x[i] * a
    o[wp.tid()] = a * b


@wp.kernel
def loop_unrolled_16(x: Reals, o: Reals, n: int, m: int):
    """a product over `range(16)`, which Warp unrolls"""
    p = Real(1.0)
    for i in range(16):
        p = p * (x[i % 6] * Real(0.3) + Real(1.0))
    o[wp.tid()] = p


@wp.kernel
def loop_assign_operators(x: Reals, o: Reals, n: int, m: int):
    """`*=`, `/=`, `-=` in one loop"""
    t = wp.tid()
    s = Real(1.5)
    for i in range(n):
        s *= x[i] + Real(2.0)
        s /= x[t] * x[t] + Real(1.0)
        s -= s * x[i] * Real(0.2)
    o[t] = s


@wp.kernel
def loop_hundreds(x: Reals, o: Reals, n: int, m: int):
    """a sum and a product of 300 steps"""
    t = wp.tid()
    s = Real(1.0)
    for i in range(n * 60):
        s = s * (Real(1.0) + x[t] * Real(0.001)) + x[2] * Real(0.001)
    o[t] = s


@wp.kernel
def loop_reused_name(x: Reals, o: Reals, n: int, m: int):
    """a name used for two loops"""
    s = Real(1.0)
    for i in range(n):
        s = s * x[i]
    for i in range(m):
        s = s + x[i] * s
    o[wp.tid()] = s


@wp.kernel
def loop_gather(x: Reals, o: Reals, n: int, m: int):
    """an index from data: the next one's place"""
    t = wp.tid()
    s = Real(1.0)
    at = t
    for i in range(n):
        s = s * x[at] + Real(0.5)
        at = (at + 2) % 5
    o[t] = s
