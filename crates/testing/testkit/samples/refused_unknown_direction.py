# The direction of the loop isn't known.
import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for k in range(1, 5, n):
        o[k] = o[k - 1] * x[k]

#= reverse ir
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_unknown_direction.py:8:9
#   |
# 8 |         o[k] = o[k - 1] * x[k]
#   |         ^^^^^^^--------^^^^^^^
#   |         |      |
#   |         |      read here
#   |         written here
#   |
#   = help: read from one array and write to another, or launch level by level and pass the part that is read and the part that is written as two arguments: `x[a:b]` and `x[b:c]`
