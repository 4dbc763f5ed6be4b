import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float)):
    i = wp.tid()
    for step in range(3):
        x[i] = x[i] * wp.sin(x[i])

#= reverse ir
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_squared_in_place.py:8:9
#   |
# 8 |         x[i] = x[i] * wp.sin(x[i])
#   |         ^^^^^^^----^^^^^^^^^^^^^^^
#   |         |      |
#   |         |      read here
#   |         written here
#   |
#   = help: keep the number in a variable and store it once, or write to another array
#
# error[grad-overwritten]: an array element is overwritten, but the gradient needs the number that was read from it
#  --> refused_squared_in_place.py:8:9
#   |
# 8 |         x[i] = x[i] * wp.sin(x[i])
#   |         ^^^^^^^^^^^^^^^^^^^^^----^
#   |         |                    |
#   |         |                    read here
#   |         written here
#   |
#   = help: keep the number in a variable and store it once, or write to another array
