# mypy: disable-error-code="valid-type"
"""Kernels of the optimizers in `optim.py`, with sums and products in Warp's order."""

from typing import Any

from gbxcule.kernel_text import wp
from gbxcule.warp.program import kernel


@kernel
def adam(
    g: wp.array(dtype=float),
    m: wp.array(dtype=float),
    v: wp.array(dtype=float),
    rate: float,
    beta1: float,
    beta2: float,
    t: float,
    eps: float,
    x: wp.array(dtype=float),
) -> None:
    i = wp.tid()
    m[i] = beta1 * m[i] + (1.0 - beta1) * g[i]
    v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i]
    mean = m[i] / (1.0 - wp.pow(beta1, (t + 1.0)))
    variance = v[i] / (1.0 - wp.pow(beta2, (t + 1.0)))
    x[i] = x[i] - rate * mean / (wp.sqrt(variance) + eps)


@kernel
def adam_half(
    g: wp.array(dtype=wp.float16),
    m: wp.array(dtype=float),
    v: wp.array(dtype=float),
    rate: float,
    beta1: float,
    beta2: float,
    t: float,
    eps: float,
    x: wp.array(dtype=wp.float16),
) -> None:
    i = wp.tid()
    m[i] = beta1 * m[i] + (1.0 - beta1) * float(g[i])
    v[i] = beta2 * v[i] + (1.0 - beta2) * float(g[i]) * float(g[i])
    mean = m[i] / (1.0 - wp.pow(beta1, (t + 1.0)))
    variance = v[i] / (1.0 - wp.pow(beta2, (t + 1.0)))
    x[i] = x[i] - wp.float16(rate * mean / (wp.sqrt(variance) + eps))


@kernel
def adam_vec3(
    g: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    rate: float,
    beta1: float,
    beta2: float,
    t: float,
    eps: float,
    x: wp.array(dtype=wp.vec3),
) -> None:
    i = wp.tid()
    m[i] = beta1 * m[i] + (1.0 - beta1) * g[i]
    v[i] = beta2 * v[i] + (1.0 - beta2) * wp.cw_mul(g[i], g[i])
    mean = m[i] / (1.0 - wp.pow(beta1, (t + 1.0)))
    variance = v[i] / (1.0 - wp.pow(beta2, (t + 1.0)))
    root = wp.vec3(wp.sqrt(variance[0]), wp.sqrt(variance[1]), wp.sqrt(variance[2]))
    x[i] = x[i] - rate * wp.cw_div(mean, (root + wp.vec3(eps, eps, eps)))


@kernel
def descent(
    g: wp.array(dtype=Any),
    b: wp.array(dtype=Any),
    rate: float,
    momentum: float,
    damping: float,
    decay: float,
    nesterov: int,
    t: int,
    x: wp.array(dtype=Any),
) -> None:
    i = wp.tid()
    step = g[i]
    if decay != 0.0:
        step += decay * x[i]
    if momentum != 0.0:
        kept = b[i]
        if t > 0:
            kept = momentum * kept + (1.0 - damping) * step
        else:
            kept = step
        if nesterov == 1:
            step += momentum * kept
        else:
            step = kept
        b[i] = kept
    x[i] = x[i] - rate * step
