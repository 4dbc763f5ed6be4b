"""Our own boot program, so that the reference starts in the same state as the swarm.

PyBoy's own boot ROM plays an animation and hands over at a moment of its choosing. This one sets
the documented post-boot registers (Pan Docs "Power Up Sequence"), switches the LCD on and resets DIV at chosen moments, and hands over at PC=0x0100 with the PPU and the divider in the
phase asked for. It is built for each ROM, because the flags left behind depend on the header
checksum.
"""

from dataclasses import dataclass

FRAME_TCYCLES = 70224
COLOR_PROGRAM_BYTES = 0x900
HAND_OVER = 0xFC  # `LD A,1; LDH (0x50),A` must be the last thing below 0x0100
HEADER_CHECKSUM = 0x14D
LOGO = slice(0x104, 0x134)
# Rows of the trademark sign's tile.
TRADEMARK = (0x3C, 0x42, 0xB9, 0xA5, 0xB9, 0xA5, 0x42, 0x3C)


@dataclass(frozen=True)
class Phase:
    """The phase of the clocks when PC reaches 0x0100."""

    line_0_in_tcycles: int
    """T-cycles until LY becomes 0 in mode 2; the hand-over is in line 153."""
    divider: int
    """The 16-bit counter whose upper half is DIV."""


# The moments below are counted in PyBoy's own clock. It performs the access of `LDH (n),A` and
# `LDH A,(n)` one M-cycle after the instruction began, hardware two; so the divider is shifted to
# read the same.
PYBOY_PHASE = Phase(line_0_in_tcycles=60, divider=0xABD0)
# A Color's boot ROM hands over in line 144, or in line 153 to a program for the original.
COLOR_PHASE = Phase(line_0_in_tcycles=10 * 456 - 172 + 8, divider=0x1EA4)
COMPATIBLE_PHASE = Phase(line_0_in_tcycles=60, divider=0x267C)
KEY0_COMPATIBLE = 0x04


@dataclass(frozen=True)
class Color:
    """The state that a Color's boot ROM chooses for a cartridge."""

    compatible: bool
    """True for a program written for the original Game Boy."""
    title_sum: int
    palettes: "list[list[int]]"
    """OBP0, OBP1 and BGP of a program for the original, RGB555."""

    @property
    def phase(self) -> Phase:
        return COMPATIBLE_PHASE if self.compatible else COLOR_PHASE

    def registers(self) -> "tuple[int, ...]":
        """A, B, C, D, E, H, L; of the flags only Z is set."""
        if not self.compatible:
            return (0x11, 0x00, 0x00, 0xFF, 0x56, 0x00, 0x0D)
        low, high = (0x1A, 0x99) if self.title_sum in (0x43, 0x58) else (0x7C, 0x00)
        return (0x11, self.title_sum, 0x00, 0x00, 0x08, high, low)

    def rgb_palettes(self) -> "tuple[tuple[int, ...], ...]":
        """Return the palettes as PyBoy takes them: BGP, OBP0, OBP1, 24 bits a colour."""
        first, second, background = (tuple(map(rgb, palette)) for palette in self.palettes)
        return (background, first, second)

    def writes(self) -> "list[tuple[int, int]]":
        """Return the writes that leave palette memory and its indices as the boot ROM does."""
        if self.compatible:
            return []
        white = [0xFF, 0x7F] * 32
        writes = []
        for index, data, left in ((0xFF68, 0xFF69, 0x88), (0xFF6A, 0xFF6B, 0x90)):
            writes += [(index, 0x80), *((data, byte) for byte in white), (index, left)]
        return writes


def rgb(color: int) -> int:
    """Convert a colour to 24 bits, spreading the five bits of each component over eight as PyBoy does."""
    red, green, blue = (color >> shift & 31 for shift in (0, 5, 10))
    return red << 19 | green << 11 | blue << 3


REGISTER_WRITES = (  # P1, NR52, NR11, NR12, NR51, NR50, BGP
    (0x00, 0x00),
    (0x26, 0x80),
    (0x11, 0x80),
    (0x12, 0xF3),
    (0x25, 0xF3),
    (0x24, 0x77),
    (0x47, 0xFC),
)


class _Program:
    """Bytes of code, and the T-cycles that the code takes."""

    def __init__(self) -> None:
        self.code = bytearray()
        self.tcycles = 0

    def emit(self, code: "tuple[int, ...]", tcycles: int) -> None:
        self.code.extend(code)
        self.tcycles += tcycles

    def wait_until(self, tcycles: int) -> None:
        """`LD DE,n; loop: DEC DE; LD A,D; OR E; JR NZ,loop` takes 28 n + 8; NOPs fill the rest."""
        rounds, rest = divmod(tcycles - self.tcycles - 8, 28)
        if rounds < 1 or rest % 4:
            raise ValueError(f"cannot wait {tcycles - self.tcycles} T-cycles in the boot program")
        loop = (0x11, rounds & 0xFF, rounds >> 8, 0x1B, 0x7A, 0xB3, 0x20, 0xFB)
        self.emit(loop, 28 * rounds + 8)
        self.emit((0x00,) * (rest // 4), rest)


def boot_program(rom: bytes, color: "Color | None" = None) -> bytes:
    """Return the program that replaces the boot ROM."""
    phase = color.phase if color else PYBOY_PHASE
    program = _Program()
    program.emit((0x31, 0xFE, 0xFF), 12)  # LD SP,0xFFFE
    if color and color.compatible:
        program.emit((0x3E, KEY0_COMPATIBLE, 0xE0, 0x4C), 20)
    for register, value in REGISTER_WRITES:
        program.emit((0x3E, value, 0xE0, register), 20)  # LD A,value; LDH (register),A
    program.emit((0x3E, 0x91, 0xE0, 0x40), 20)  # the LCD's clock starts with the end of this write
    hand_over = program.tcycles + 2 * FRAME_TCYCLES - phase.line_0_in_tcycles

    registers = _Program()
    if color:
        accumulator, b, c, d, e, h, l = color.registers()
        registers.emit((0xAF,), 4)  # XOR A   F = Z - - -
        registers.emit((0x01, c, b, 0x11, e, d, 0x21, l, h), 36)  # BC, DE, HL
    else:
        accumulator = 0x01
        if rom[HEADER_CHECKSUM]:
            registers.emit((0x3E, 0xFF, 0xC6, 0x01), 16)  # LD A,0xFF; ADD A,1   F = Z - H C
        else:
            registers.emit((0xAF,), 4)  # XOR A   F = Z - - -
        registers.emit((0x01, 0x13, 0x00, 0x11, 0xD8, 0x00, 0x21, 0x4D, 0x01), 36)  # BC, DE, HL

    final = (0x3E, accumulator, 0xE0, 0x50)  # LD A,n; LDH (0x50),A
    jump_tcycles, final_tcycles = 16, 20
    program.wait_until(hand_over - phase.divider - 4)
    program.emit((0xE0, 0x04), 12)  # LDH (DIV),A, which PyBoy performs 4 T-cycles into the instruction
    program.wait_until(hand_over - final_tcycles - jump_tcycles - registers.tcycles)
    program.emit(tuple(registers.code), registers.tcycles)
    program.emit((0xC3, HAND_OVER, 0x00), jump_tcycles)
    if len(program.code) > HAND_OVER:
        raise ValueError("the boot program does not fit")
    whole = bytes(program.code).ljust(HAND_OVER, b"\0") + bytes(final)
    # PyBoy requires a longer boot program for a Color.
    return whole.ljust(COLOR_PROGRAM_BYTES, b"\0") if color else whole


def logo_in_vram(rom: bytes, on_map: bool) -> "dict[int, int]":
    """Return the video memory that a boot ROM leaves: the tiles of the header's logo, with each pixel as four, and of
    the sign after it. A Color's boot ROM removes them from the map again."""
    vram: "dict[int, int]" = {}
    nibbles = [nibble for byte in rom[LOGO] for nibble in (byte >> 4, byte & 0xF)]
    for index, nibble in enumerate(nibbles):
        row = sum(0b11 << 2 * bit for bit in range(4) if nibble >> bit & 1)
        vram |= {0x8010 + 4 * index: row, 0x8012 + 4 * index: row}
    vram |= {0x8190 + 2 * index: row for index, row in enumerate(TRADEMARK)}
    if not on_map:
        return vram
    for column in range(12):
        vram |= {0x9904 + column: 1 + column, 0x9924 + column: 13 + column}
    return vram | {0x9910: 25}
