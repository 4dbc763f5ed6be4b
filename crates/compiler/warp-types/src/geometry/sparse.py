
# Searches in matrices of blocks: `bsr_offsets[row]` is the first block of a row, and the columns
# of a row ascend.


@wp.func
def bsr_row_index(offsets: wp.array(dtype=int), row_count: int, block_index: int) -> int:
    if block_index < offsets[0] or block_index >= offsets[row_count]:
        return -1
    # The row is at or behind `low`, before `high`.
    low = int(0)
    high = int(row_count)
    while high - low > 1:
        middle = low + (high - low) // 2
        if offsets[middle] <= block_index:
            low = middle
        else:
            high = middle
    return low


@wp.func
def bsr_block_index(
    row: int, col: int, bsr_offsets: wp.array(dtype=int), bsr_columns: wp.array(dtype=int)
) -> int:
    if row < 0:
        return -1
    end = bsr_offsets[row + 1]
    low = int(bsr_offsets[row])
    high = int(end)
    while low < high:
        middle = low + (high - low) // 2
        if bsr_columns[middle] < col:
            low = middle + 1
        else:
            high = middle
    if low < end:
        if bsr_columns[low] == col:
            return low
    return -1
