"""Functions and operators of numbers."""

import warp as wp

Real = wp.float64
Reals = wp.array(dtype=wp.float64)


@wp.kernel
def scalar_sin(x: Reals, o: Reals, n: int, m: int):
    """`sin`"""
    t = wp.tid()
    o[t] = wp.sin(x[t]) * x[t + 2]


@wp.kernel
def scalar_cos(x: Reals, o: Reals, n: int, m: int):
    """`cos`"""
    t = wp.tid()
    o[t] = wp.cos(x[t]) * x[t + 2]


@wp.kernel
def scalar_tan(x: Reals, o: Reals, n: int, m: int):
    """`tan`"""
    t = wp.tid()
    o[t] = wp.tan(x[t]) * x[t + 2]


@wp.kernel
def scalar_asin(x: Reals, o: Reals, n: int, m: int):
    """`asin`"""
    t = wp.tid()
    o[t] = wp.asin(x[t] * Real(0.4)) * x[t + 2]


@wp.kernel
def scalar_acos(x: Reals, o: Reals, n: int, m: int):
    """`acos`"""
    t = wp.tid()
    o[t] = wp.acos(x[t] * Real(0.4)) * x[t + 2]


@wp.kernel
def scalar_atan(x: Reals, o: Reals, n: int, m: int):
    """`atan`"""
    t = wp.tid()
    o[t] = wp.atan(x[t]) * x[t + 2]


@wp.kernel
def scalar_sinh(x: Reals, o: Reals, n: int, m: int):
    """`sinh`"""
    t = wp.tid()
    o[t] = wp.sinh(x[t]) * x[t + 2]


@wp.kernel
def scalar_cosh(x: Reals, o: Reals, n: int, m: int):
    """`cosh`"""
    t = wp.tid()
    o[t] = wp.cosh(x[t]) * x[t + 2]


@wp.kernel
def scalar_tanh(x: Reals, o: Reals, n: int, m: int):
    """`tanh`"""
    t = wp.tid()
    o[t] = wp.tanh(x[t]) * x[t + 2]


@wp.kernel
def scalar_exp(x: Reals, o: Reals, n: int, m: int):
    """`exp`"""
    t = wp.tid()
    o[t] = wp.exp(x[t]) * x[t + 2]


@wp.kernel
def scalar_log(x: Reals, o: Reals, n: int, m: int):
    """`log`"""
    t = wp.tid()
    o[t] = wp.log(x[t] * x[t] + Real(0.1)) * x[t + 2]


@wp.kernel
def scalar_log2(x: Reals, o: Reals, n: int, m: int):
    """`log2`"""
    t = wp.tid()
    o[t] = wp.log2(x[t] * x[t] + Real(0.1)) * x[t + 2]


@wp.kernel
def scalar_log10(x: Reals, o: Reals, n: int, m: int):
    """`log10`"""
    t = wp.tid()
    o[t] = wp.log10(x[t] * x[t] + Real(0.1)) * x[t + 2]


@wp.kernel
def scalar_sqrt(x: Reals, o: Reals, n: int, m: int):
    """`sqrt`"""
    t = wp.tid()
    o[t] = wp.sqrt(x[t] * x[t] + Real(0.1)) * x[t + 2]


@wp.kernel
def scalar_cbrt(x: Reals, o: Reals, n: int, m: int):
    """`cbrt`"""
    t = wp.tid()
    o[t] = wp.cbrt(x[t] * x[t] + Real(0.1)) * x[t + 2]


@wp.kernel
def scalar_abs(x: Reals, o: Reals, n: int, m: int):
    """`abs`"""
    t = wp.tid()
    o[t] = wp.abs(x[t]) * x[t + 2]


@wp.kernel
def scalar_sign(x: Reals, o: Reals, n: int, m: int):
    """`sign`"""
    t = wp.tid()
    o[t] = wp.sign(x[t]) * x[t + 2]


@wp.kernel
def scalar_floor(x: Reals, o: Reals, n: int, m: int):
    """`floor`"""
    t = wp.tid()
    o[t] = wp.floor(x[t]) * x[t + 2]


@wp.kernel
def scalar_ceil(x: Reals, o: Reals, n: int, m: int):
    """`ceil`"""
    t = wp.tid()
    o[t] = wp.ceil(x[t]) * x[t + 2]


@wp.kernel
def scalar_trunc(x: Reals, o: Reals, n: int, m: int):
    """`trunc`"""
    t = wp.tid()
    o[t] = wp.trunc(x[t]) * x[t + 2]


@wp.kernel
def scalar_round(x: Reals, o: Reals, n: int, m: int):
    """`round`"""
    t = wp.tid()
    o[t] = wp.round(x[t]) * x[t + 2]


@wp.kernel
def scalar_rint(x: Reals, o: Reals, n: int, m: int):
    """`rint`"""
    t = wp.tid()
    o[t] = wp.rint(x[t]) * x[t + 2]


@wp.kernel
def scalar_frac(x: Reals, o: Reals, n: int, m: int):
    """`frac`"""
    t = wp.tid()
    o[t] = wp.frac(x[t]) * x[t + 2]


@wp.kernel
def scalar_step(x: Reals, o: Reals, n: int, m: int):
    """`step`"""
    t = wp.tid()
    o[t] = wp.step(x[t]) * x[t + 2]


@wp.kernel
def scalar_nonzero(x: Reals, o: Reals, n: int, m: int):
    """`nonzero`"""
    t = wp.tid()
    o[t] = wp.nonzero(x[t]) * x[t + 2]


@wp.kernel
def scalar_erf(x: Reals, o: Reals, n: int, m: int):
    """`erf`"""
    t = wp.tid()
    o[t] = wp.erf(x[t]) * x[t + 2]


@wp.kernel
def scalar_erfc(x: Reals, o: Reals, n: int, m: int):
    """`erfc`"""
    t = wp.tid()
    o[t] = wp.erfc(x[t]) * x[t + 2]


@wp.kernel
def scalar_erfinv(x: Reals, o: Reals, n: int, m: int):
    """`erfinv`"""
    t = wp.tid()
    o[t] = wp.erfinv(x[t] * Real(0.5)) * x[t + 2]


@wp.kernel
def scalar_erfcinv(x: Reals, o: Reals, n: int, m: int):
    """`erfcinv`"""
    t = wp.tid()
    o[t] = wp.erfcinv(Real(1.0) + x[t] * Real(0.5)) * x[t + 2]


@wp.kernel
def scalar_degrees(x: Reals, o: Reals, n: int, m: int):
    """`degrees`"""
    t = wp.tid()
    o[t] = wp.degrees(x[t]) * x[t + 2]


@wp.kernel
def scalar_radians(x: Reals, o: Reals, n: int, m: int):
    """`radians`"""
    t = wp.tid()
    o[t] = wp.radians(x[t]) * x[t + 2]


@wp.kernel
def scalar_atan2(x: Reals, o: Reals, n: int, m: int):
    """atan2"""
    t = wp.tid()
    o[t] = wp.atan2(x[t], x[t + 2])


@wp.kernel
def scalar_min(x: Reals, o: Reals, n: int, m: int):
    """min"""
    t = wp.tid()
    o[t] = wp.min(x[t], x[t + 2]) * x[t + 4]


@wp.kernel
def scalar_max(x: Reals, o: Reals, n: int, m: int):
    """max"""
    t = wp.tid()
    o[t] = wp.max(x[t], x[t + 2]) * x[t + 4]


@wp.kernel
def scalar_clamp(x: Reals, o: Reals, n: int, m: int):
    """clamp"""
    t = wp.tid()
    o[t] = wp.clamp(x[t], Real(-0.5), x[t + 2]) * x[t + 4]


@wp.kernel
def scalar_pow(x: Reals, o: Reals, n: int, m: int):
    """pow"""
    t = wp.tid()
    o[t] = wp.pow(x[t] * x[t] + Real(0.3), x[t + 2])


@wp.kernel
def scalar_mod_first(x: Reals, o: Reals, n: int, m: int):
    """first argument of `mod`"""
    t = wp.tid()
    o[t] = wp.mod(x[t] + Real(4.0), Real(0.7)) * x[t + 2]


@wp.kernel
def scalar_lerp(x: Reals, o: Reals, n: int, m: int):
    """lerp"""
    t = wp.tid()
    o[t] = wp.lerp(x[t], x[t + 2], x[t + 4])


@wp.kernel
def scalar_smoothstep(x: Reals, o: Reals, n: int, m: int):
    """smoothstep"""
    t = wp.tid()
    o[t] = wp.smoothstep(Real(-2.0), Real(2.0), x[t])


@wp.kernel
def scalar_smoothstep_edges(x: Reals, o: Reals, n: int, m: int):
    """smoothstep edges"""
    t = wp.tid()
    o[t] = wp.smoothstep(x[t] - Real(2.0), x[t + 2] + Real(2.0), Real(0.1))


@wp.kernel
def scalar_floordiv(x: Reals, o: Reals, n: int, m: int):
    """floordiv"""
    t = wp.tid()
    o[t] = (x[t] // Real(0.3)) * x[t + 2]


@wp.kernel
def scalar_remainder(x: Reals, o: Reals, n: int, m: int):
    """remainder"""
    t = wp.tid()
    o[t] = (x[t] % Real(0.3)) * x[t + 2]


@wp.kernel
def scalar_div(x: Reals, o: Reals, n: int, m: int):
    """div"""
    t = wp.tid()
    o[t] = x[t] / (x[t + 2] * x[t + 2] + Real(0.2))


@wp.kernel
def scalar_power_operator(x: Reals, o: Reals, n: int, m: int):
    """power operator"""
    t = wp.tid()
    o[t] = (x[t] * x[t] + Real(0.3)) ** x[t + 2]


@wp.kernel
def scalar_square_by_power(x: Reals, o: Reals, n: int, m: int):
    """square by power"""
    t = wp.tid()
    o[t] = x[t] ** Real(2.0)


@wp.kernel
def scalar_negative_base_square(x: Reals, o: Reals, n: int, m: int):
    """negative base square"""
    t = wp.tid()
    o[t] = wp.pow(x[t], Real(2.0)) * x[t + 2]


@wp.kernel
def scalar_negation(x: Reals, o: Reals, n: int, m: int):
    """negation"""
    t = wp.tid()
    o[t] = -x[t] * x[t + 2]


@wp.kernel
def scalar_where_values(x: Reals, o: Reals, n: int, m: int):
    """where values"""
    t = wp.tid()
    o[t] = wp.where(x[t] > Real(0.0), x[t] * x[t], wp.sin(x[t]))


@wp.kernel
def scalar_conditional_expression(x: Reals, o: Reals, n: int, m: int):
    """conditional expression"""
    t = wp.tid()
    o[t] = x[t] * x[t] if x[t] > Real(0.0) else wp.sin(x[t])


@wp.kernel
def scalar_where_guards_a_logarithm(x: Reals, o: Reals, n: int, m: int):
    """where guards a logarithm"""
    t = wp.tid()
    o[t] = wp.where(x[t] > Real(0.0), wp.log(x[t]), x[t])


@wp.kernel
def scalar_where_guards_a_division(x: Reals, o: Reals, n: int, m: int):
    """where guards a division"""
    t = wp.tid()
    o[t] = wp.where(x[t] == x[t], x[t] * x[t], x[t] / (x[t] - x[t]))


@wp.kernel
def scalar_bool_factor(x: Reals, o: Reals, n: int, m: int):
    """bool factor"""
    t = wp.tid()
    o[t] = Real(x[t] > Real(0.0)) * x[t] * x[t]


@wp.kernel
def scalar_through_float32(x: Reals, o: Reals, n: int, m: int):
    """through float32"""
    t = wp.tid()
    o[t] = Real(float(1.5)) * x[t] * x[t]


@wp.kernel
def scalar_through_int(x: Reals, o: Reals, n: int, m: int):
    """through int"""
    t = wp.tid()
    o[t] = Real(int(x[t] * Real(3.0))) * x[t]


@wp.kernel
def scalar_sigmoid(x: Reals, o: Reals, n: int, m: int):
    """sigmoid"""
    t = wp.tid()
    o[t] = Real(1.0) / (Real(1.0) + wp.exp(-x[t]))


@wp.kernel
def scalar_softplus(x: Reals, o: Reals, n: int, m: int):
    """softplus"""
    t = wp.tid()
    o[t] = wp.log(Real(1.0) + wp.exp(x[t]))


@wp.kernel
def scalar_relu(x: Reals, o: Reals, n: int, m: int):
    """relu"""
    t = wp.tid()
    o[t] = wp.max(x[t], Real(0.0)) * x[t + 2]


@wp.kernel
def scalar_hypotenuse(x: Reals, o: Reals, n: int, m: int):
    """hypotenuse"""
    t = wp.tid()
    o[t] = wp.sqrt(x[t] * x[t] + x[t + 2] * x[t + 2])


@wp.kernel
def scalar_chained(x: Reals, o: Reals, n: int, m: int):
    """chained"""
    t = wp.tid()
    o[t] = wp.sin(wp.exp(wp.cos(x[t] * x[t + 2])))


@wp.kernel
def scalar_shared_term(x: Reals, o: Reals, n: int, m: int):
    """shared term"""
    t = wp.tid()
    o[t] = (x[t] * x[t + 2] + Real(1.0)) * (x[t] * x[t + 2] - wp.sin(x[t] * x[t + 2]))


@wp.kernel
def scalar_min_of_equals(x: Reals, o: Reals, n: int, m: int):
    """min of equals"""
    t = wp.tid()
    o[t] = wp.min(x[t] * Real(2.0), x[t] + x[t]) * x[t + 2]


@wp.kernel
def scalar_cosine_of_zero_times(x: Reals, o: Reals, n: int, m: int):
    """cosine of zero times"""
    t = wp.tid()
    o[t] = wp.cos(x[t] - x[t]) * x[t]


@wp.kernel
def scalar_product_with_zero(x: Reals, o: Reals, n: int, m: int):
    """product with zero"""
    t = wp.tid()
    o[t] = (x[t] - x[t]) * x[t + 2]
