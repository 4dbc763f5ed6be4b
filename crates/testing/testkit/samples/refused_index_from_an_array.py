# An index comes from an array: only the author knows which element comes first.
import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), parent: wp.array(dtype=int), o: wp.array(dtype=float), n: int):
    for j in range(n):
        o[j] = o[parent[j]] * x[j]

#= reverse ir
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_index_from_an_array.py:8:9
#   |
# 8 |         o[j] = o[parent[j]] * x[j]
#   |         ^^^^^^^------------^^^^^^^
#   |         |      |
#   |         |      read here
#   |         written here
#   |
#   = help: read from one array and write to another, or launch level by level and pass the part that is read and the part that is written as two arguments: `x[a:b]` and `x[b:c]`
