import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(o, 0, x[i])
    wp.atomic_max(o, 0, 1.0)

#= reverse ir
# error[grad-atomic]: an atomic minimum or maximum and another atomic operation on one array: the final value doesn't tell which thread won
#  --> refused_atomic_max_behind_add.py:8:5
#   |
# 7 |     wp.atomic_add(o, 0, x[i])
#   |     ------------------------- the other one
# 8 |     wp.atomic_max(o, 0, 1.0)
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = help: give each an array of its own
