import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = x.grad[i] * 2.0

#= reverse ir
# error[grad-of-gradient]: a kernel that uses gradients itself can't be differentiated
#  --> refused_gradient_of_a_gradient.py:7:12
#   |
# 7 |     o[i] = x.grad[i] * 2.0
#   |            ^^^^^^^^^
#   |
#   = help: pass the gradients as an array of its own
