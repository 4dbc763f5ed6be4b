@wp.func
def five_bits(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int, part: int) -> int:
    """Red, green or blue of a pixel of the Color, 0 to 31; the gray of a shade on the original."""
    if COLOR != 0:
        place = 2 * (line * 160 + column)
        color = int(frame[env, place]) | (int(frame[env, place + 1]) << 8)
        return (color >> (5 * part)) & 31
    return shade_gray(frame, env, line, column) >> 3


@wp.func
def shade_gray(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int) -> int:
    shade = (int(frame[env, line * 40 + column // 4]) >> (6 - 2 * (column & 3))) & 3
    if shade == 0:
        return GRAY_0
    if shade == 1:
        return GRAY_1
    if shade == 2:
        return GRAY_2
    return GRAY_3


@wp.func
def spread(five: int) -> int:
    return (five << 3) | (five >> 2)


@wp.func
def lightness(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int) -> int:
    """A pixel's gray."""
    if COLOR == 0:
        return shade_gray(frame, env, line, column)
    red = spread(five_bits(frame, env, line, column, 0))
    green = spread(five_bits(frame, env, line, column, 1))
    blue = spread(five_bits(frame, env, line, column, 2))
    return (299 * red + 587 * green + 114 * blue) // 1000


@wp.func
def corrected(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int, part: int) -> int:
    red = five_bits(frame, env, line, column, 0)
    green = five_bits(frame, env, line, column, 1)
    blue = five_bits(frame, env, line, column, 2)
    shown = 26 * red + 4 * green + 2 * blue
    if part == 1:
        shown = 24 * green + 8 * blue
    if part == 2:
        shown = 6 * red + 4 * green + 22 * blue
    return wp.min(shown, 960) >> 2


@wp.func
def packed(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int) -> int:
    """Four pixels of a line as shades; a colour's by its lightness."""
    if COLOR == 0:
        return int(frame[env, line * 40 + column])
    shades = int(0)
    for pixel in range(4):
        at = 4 * column + pixel
        red = five_bits(frame, env, line, at, 0)
        green = five_bits(frame, env, line, at, 1)
        blue = five_bits(frame, env, line, at, 2)
        shades = (shades << 2) | (3 - (299 * red + 587 * green + 114 * blue) // 8000)
    return shades


@wp.func
def byte_of(frame: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int, channel: int) -> int:
    """A byte of a frame's picture, as `picture.rs` has it."""
    if PICTURE == PACKED:
        return packed(frame, env, line, column)
    if PICTURE == MEAN:
        top = lightness(frame, env, 2 * line, 2 * column) + lightness(frame, env, 2 * line, 2 * column + 1)
        low = lightness(frame, env, 2 * line + 1, 2 * column) + lightness(frame, env, 2 * line + 1, 2 * column + 1)
        return (top + low) // 4
    if PICTURE == STRIDE:
        return lightness(frame, env, 2 * line, 2 * column)
    if PICTURE == RGB:
        if COLOR == 0:
            return shade_gray(frame, env, line, column)
        return spread(five_bits(frame, env, line, column, channel))
    if PICTURE == RGB_CORRECTED:
        return corrected(frame, env, line, column, channel)
    if PICTURE == RGB555:
        red = five_bits(frame, env, line, column, 0)
        green = five_bits(frame, env, line, column, 1)
        blue = five_bits(frame, env, line, column, 2)
        color = red | (green << 5) | (blue << 10)
        if COLOR != 0:
            color = color | (int(frame[env, 2 * (line * 160 + column) + 1] & wp.uint8(128)) << 8)
        return (color >> (8 * channel)) & 255
    return lightness(frame, env, line, column)


@wp.func
def pooled(
    frame: wp.array2d(dtype=wp.uint8), before: wp.array2d(dtype=wp.uint8), env: int, line: int, column: int, place: int,
    fills: int,
) -> int:
    """A byte of the picture, or the larger one of two frames."""
    byte = byte_of(frame, env, line, column, place)
    if POOLS != 0 and fills == 0:
        byte = wp.max(byte, byte_of(before, env, line, column, place))
    return byte


@wp.func
def reduced(
    frame: wp.array2d(dtype=wp.uint8), before: wp.array2d(dtype=wp.uint8), env: int, place: int, fills: int
) -> int:
    """A byte of the picture as it lies in the stack: the mean of the area that it covers."""
    channel = place % CHANNELS
    column = place // CHANNELS % COLUMNS
    line = place // CHANNELS // COLUMNS
    total = int(0)
    for y in range(line * FROM_LINES // LINES, ((line + 1) * FROM_LINES - 1) // LINES + 1):
        by_line = wp.min((line + 1) * FROM_LINES, (y + 1) * LINES) - wp.max(line * FROM_LINES, y * LINES)
        for x in range(column * FROM_COLUMNS // COLUMNS, ((column + 1) * FROM_COLUMNS - 1) // COLUMNS + 1):
            low = wp.max(column * FROM_COLUMNS, x * COLUMNS)
            by_column = wp.min((column + 1) * FROM_COLUMNS, (x + 1) * COLUMNS) - low
            total += by_line * by_column * pooled(frame, before, env, TOP + y, LEFT + x, channel, fills)
    return (total + FROM_LINES * FROM_COLUMNS // 2) // (FROM_LINES * FROM_COLUMNS)


@wp.kernel
def push_picture(
    frame: wp.array2d(dtype=wp.uint8),
    before: wp.array2d(dtype=wp.uint8),
    pictures: wp.array2d(dtype=wp.uint8),
    manual_buttons: wp.array(dtype=wp.int16),
    mask: wp.array(dtype=wp.uint8),
    fills: int,
):
    """Pushes the picture of each env that did not rest, or fills the stacks of marked ones."""
    env, place = wp.tid()
    applies = manual_buttons[env] != wp.int16(RESTS)
    if fills != 0:
        applies = mask[env] != wp.uint8(0)
    if applies:
        byte = wp.uint8(reduced(frame, before, env, place, fills))
        for age in range(DEPTH - 1):
            older = byte
            if fills == 0:
                older = pictures[env, (age + 1) * BYTES + place]
            pictures[env, age * BYTES + place] = older
        pictures[env, (DEPTH - 1) * BYTES + place] = byte


@wp.kernel
def copy_pictures(pictures: wp.array2d(dtype=wp.uint8), source: int, mask: wp.array(dtype=wp.uint8)):
    """Copies the stack of one env, which is not marked, to all marked ones."""
    env, place = wp.tid()
    if mask[env] != wp.uint8(0):
        pictures[env, place] = pictures[source, place]


@wp.kernel
def keep_frames(frame: wp.array2d(dtype=wp.uint8), before: wp.array2d(dtype=wp.uint8)):
    """Keeps the frames before the last ones."""
    env, place = wp.tid()
    before[env, place] = frame[env, place]
