import warp as wp


@wp.func
def f(x: float):
    return x * x


@wp.func_replay(f)
def replay_f(x: float):
    return x


@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = f(x[i])

#= reverse ir
# error[grad-replay]: `f` gives floats: a replay would hide where they come from
#  --> refused_replay.py:5:5
#   |
# 5 | def f(x: float):
#   |     ^
#   |
#   = help: write the function's gradient by hand: `@wp.func_grad`
