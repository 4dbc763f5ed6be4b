"""Numbers of the game that rewards and ends of episodes are made of, as `gbxcule.Number` describes them: a row has the
offset of the first byte in work RAM, the bytes, and bits of the form."""

import warp as wp

BIG_ENDIAN = wp.constant(1)
SIGNED = wp.constant(2)
DECIMAL = wp.constant(4)


@wp.func
def number_of(wram: wp.array2d(dtype=wp.uint8), env: int, numbers: wp.array2d(dtype=wp.int32), row: int) -> wp.int64:
    low = numbers[row, 0]
    width = numbers[row, 1]
    form = numbers[row, 2]
    number = wp.int64(0)
    power = wp.int64(1)
    for place in range(width):
        at = low + place
        if (form & BIG_ENDIAN) != 0:
            at = low + width - 1 - place
        byte = wp.int64(wram[env, at])
        if (form & DECIMAL) != 0:
            number += ((byte >> wp.int64(4)) * wp.int64(10) + (byte & wp.int64(15))) * power
            power *= wp.int64(100)
        else:
            number += byte * power
            power *= wp.int64(256)
    if (form & SIGNED) != 0 and number >= power / wp.int64(2):
        number -= power
    return number
