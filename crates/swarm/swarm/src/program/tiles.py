"""`tiles_v1`: the numbers of the tiles that the screen shows, and a list of the objects on it.

`gbxcule.tile_program` changes the constants and the two origins."""

import gbxcule as gb
import warp as wp

LINES = 18
COLUMNS = 20
TOP = 0
LEFT = 0
OBJECTS = 40
OBS_DIM = 560
OUTPUTS = {"tiles": ("int16", (18, 20), -1, 767), "objects": ("int16", (40, 5), -255, 255)}

OF_OBJECT = 5


@wp.func
def origin_x(machine: gb.Machine) -> wp.int32:
    """The pixel column in which square LEFT of the grid begins."""
    return 0


@wp.func
def origin_y(machine: gb.Machine) -> wp.int32:
    """The pixel line in which square TOP of the grid begins."""
    return 0


@wp.func
def byte(machine: gb.Machine, address: wp.int32) -> wp.int32:
    return wp.int32(gb.read(machine, address))


@wp.func
def is_color(machine: gb.Machine) -> wp.bool:
    """Registers that only a Color has read FF on others. On a Color one of them has another bit at 0."""
    return (byte(machine, 0xFF4D) & byte(machine, 0xFF4F) & byte(machine, 0xFF70)) != 0xFF


@wp.func
def tile_at(machine: gb.Machine, x: wp.int32, y: wp.int32) -> wp.int32:
    """The number of the tile behind a pixel; -1 outside of the screen, and where no background is shown."""
    control = byte(machine, 0xFF40)
    colored = is_color(machine)
    if x < 0 or x > 159 or y < 0 or y > 143 or (control & 0x80) == 0:
        return -1
    if (control & 1) == 0 and not colored:
        return -1
    column = x + byte(machine, 0xFF43)
    line = y + byte(machine, 0xFF42)
    second_map = (control & 0x08) != 0
    window_x = x + 7 - byte(machine, 0xFF4B)
    window_y = y - byte(machine, 0xFF4A)
    if (control & 0x20) != 0 and window_x >= 0 and window_y >= 0:
        column = window_x
        line = window_y
        second_map = (control & 0x40) != 0
    entry = 0x9800 + 32 * ((line >> 3) & 31) + ((column >> 3) & 31)
    if second_map:
        entry += 0x400
    tile = wp.int32(gb.read_bank(machine, 0, entry))
    if (control & 0x10) == 0 and tile < 128:
        tile += 256
    if colored and (wp.int32(gb.read_bank(machine, 1, entry)) & 8) != 0:
        tile += 384
    return tile


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    left = origin_x(machine)
    top = origin_y(machine)
    for line in range(LINES):
        for column in range(COLUMNS):
            tile = tile_at(machine, left + 8 * (column - LEFT) + 4, top + 8 * (line - TOP) + 4)
            obs[line * COLUMNS + column] = wp.float32(tile)
    control = byte(machine, 0xFF40)
    lowest = wp.where((control & 4) != 0, 0, 8)
    first = LINES * COLUMNS
    end = first + OBJECTS * OF_OBJECT
    if (control & 0x82) == 0x82:
        for number in range(40):
            place = 0xFE00 + 4 * number
            y = byte(machine, place)
            x = byte(machine, place + 1)
            if x > 0 and x < 168 and y > lowest and y < 160 and first < end:
                tile = byte(machine, place + 2)
                if lowest == 0:
                    tile &= 0xFE
                obs[first] = 1.0
                obs[first + 1] = wp.float32(x - 8 - left)
                obs[first + 2] = wp.float32(y - 16 - top)
                obs[first + 3] = wp.float32(tile)
                obs[first + 4] = wp.float32(byte(machine, place + 3))
                first += OF_OBJECT
