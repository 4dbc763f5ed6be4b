# An element that is read is written afterwards.
import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for k in range(1, n):
        o[k - 1] = o[k] * x[k]

#= reverse ir
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_written_behind_its_read.py:8:9
#   |
# 8 |         o[k - 1] = o[k] * x[k]
#   |         ^^^^^^^^^^^----^^^^^^^
#   |         |          |
#   |         |          read here
#   |         written here
#   |
#   = help: read from one array and write to another, or launch level by level and pass the part that is read and the part that is written as two arguments: `x[a:b]` and `x[b:c]`
