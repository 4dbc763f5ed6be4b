import warp as wp


@wp.func
def total(values: wp.array(dtype=float)):
    return values[0] * values[1]


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    values = wp.zeros(shape=(2,), dtype=float)
    values[0] = x[i]
    values[1] = x[i] * x[i]
    o[i] = total(values)

#= reverse ir
# error[grad-local-array]: an array made of a variable can't be differentiated
#   --> refused_local_array.py:12:14
#    |
# 12 |     values = wp.zeros(shape=(2,), dtype=float)
#    |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#    |
#    = help: use a vector, or pass an array from outside
