import warp as wp


@wp.kernel
def heat(now: wp.array2d(dtype=float), after: wp.array2d(dtype=float), rate: float):
    i, j = wp.tid()
    rows = now.shape[0]
    columns = now.shape[1]
    if i == 0 or j == 0 or i == rows - 1 or j == columns - 1:
        after[i, j] = now[i, j]
        return
    around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
    after[i, j] = now[i, j] + rate * (around - 4.0 * now[i, j])
