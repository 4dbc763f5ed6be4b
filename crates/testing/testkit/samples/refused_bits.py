import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    bits = wp.cast(x[i], wp.uint32)
    o[i] = wp.cast(bits & wp.uint32(0xFFFFFF00), wp.float32)

#= reverse ir
# error[grad-bits]: a float made of the bits of another can't be differentiated
#  --> refused_bits.py:8:12
#   |
# 8 |     o[i] = wp.cast(bits & wp.uint32(0xFFFFFF00), wp.float32)
#   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   |
#   = help: compute it, or write the gradient by hand: `@wp.func_grad`
