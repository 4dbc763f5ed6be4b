import warp as wp


@wp.struct
class Row:
    values: wp.array(dtype=float)


@wp.kernel
def k(rows: wp.array(dtype=Row), x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    rows[i] = rows[i + 1]
    o[i] = x[i] * x[i]

#= reverse ir
# error[grad-stored-array]: a struct with an array in it is stored: the gradient can't tell which memory its array uses
#   --> refused_stored_array.py:12:5
#    |
# 12 |     rows[i] = rows[i + 1]
#    |     ^^^^^^^^^^^^^^^^^^^^^
#    |
#    = help: store its fields without arrays one by one
