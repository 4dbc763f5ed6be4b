; BG_STATIC: a background that never changes: eight tiles in all four shades over the whole screen.
; C000-C002 as screen.inc says.

    title "BG STATIC"
    include "screen.inc"

Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    ld hl, $9800                ; tile = (column + row * 3) mod 8
    ld c, 0
.row:
    ld b, 32
    ld d, c
.column:
    ld a, d
    and 7
    ld [hl+], a
    inc d
    dec b
    jr nz, .column
    inc c
    inc c
    inc c
    ld a, c
    cp 32 * 3
    jr nz, .row
    show %10010001, $01

VBlank:
    push af
    push hl
    call CountFrame
    pop hl
    pop af
    reti

Tiles:
    art
    ........::::::::oooooooo########.......######.:..:.::.:.oo..oo..
    ........::::::::oooooooo########......#..####.:..:.::.:.oo..oo..
    ........::::::::oooooooo########.....#....##.:.oo.:..:.:..oo..oo
    ........::::::::oooooooo########....#......#:.o##o.:.:.:..oo..oo
    ........::::::::oooooooo########...#........:.o##o.::.:.oo..oo..
    ........::::::::oooooooo########..#..........:.oo.:.:.:.oo..oo..
    ........::::::::oooooooo########.#..........:.:..:.:.:.:..oo..oo
    ........::::::::oooooooo#########..........:.:.::.:..:.:..oo..oo
    endart
TilesEnd:
