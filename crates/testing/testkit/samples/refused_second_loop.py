# A second loop writes from the beginning again.
import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for step in range(n):
        for k in range(1, n):
            o[k] = o[k - 1] * x[k]

#= reverse ir
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_second_loop.py:9:13
#   |
# 9 |             o[k] = o[k - 1] * x[k]
#   |             ^^^^^^^--------^^^^^^^
#   |             |      |
#   |             |      read here
#   |             written here
#   |
#   = help: read from one array and write to another, or launch level by level and pass the part that is read and the part that is written as two arguments: `x[a:b]` and `x[b:c]`
