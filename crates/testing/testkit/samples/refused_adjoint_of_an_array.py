import warp as wp


@wp.func
def f(x: wp.array(dtype=float), i: int):
    return x[i]


@wp.func_grad(f)
def adj_f(x: wp.array(dtype=float), i: int, adj: float):
    wp.adjoint[x][i] += adj


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = f(x, i)

#= reverse ir
# error[unsupported-adjoint]: `f` takes arrays or references: its gradient can't be written by hand
#   --> refused_adjoint_of_an_array.py:10:5
#    |
# 10 | def adj_f(x: wp.array(dtype=float), i: int, adj: float):
#    |     ^^^^^
