import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), slots: wp.array(dtype=int), o: wp.array(dtype=float)):
    at = wp.atomic_add(slots, 0, 1)
    o[at] = x[at] * x[at]

#= reverse ir
# error[grad-atomic]: the old value of an atomic operation can't be known again for the gradient
#  --> refused_slots.py:6:10
#   |
# 6 |     at = wp.atomic_add(slots, 0, 1)
#   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = help: write what the gradient needs to an array of its own, and read it from there in another kernel
