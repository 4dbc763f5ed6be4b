; BG_SCROLL: a background that moves one pixel right and half a pixel down in each frame, around
; both edges of its map.
; C000-C002 as screen.inc says; C003 SCX and C004 SCY as set for the frame to come.

    title "BG SCROLL"
    include "screen.inc"

ScrollX equ $C003
ScrollY equ $C004

Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    ld hl, $9800                ; each tile by the low bits of a running product
    ld de, $0001
    ld bc, $0400
.fill:
    push hl
    ld h, d
    ld l, e
    add hl, hl
    add hl, hl
    add hl, de                  ; times 5
    inc hl
    ld d, h
    ld e, l
    pop hl
    ld a, d
    and 3
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .fill
    show %10010001, $01

VBlank:
    push af
    push hl
    call CountFrame
    ld hl, ScrollX
    inc [hl]
    ld a, [hl+]
    ldh [SCX], a
    ld a, [Frames + 1]          ; half as fast: SCY = frames / 2
    rra
    ld a, [Frames]
    rra
    ld [hl], a
    ldh [SCY], a
    pop hl
    pop af
    reti

Tiles:
    art
    ...........##...:.......oo....oo
    ...........#:#...:......o:oooo:o
    ...##.......#:#...o......o::::o.
    ..#::#..#....#:#...o.....o:##:o.
    ..#::#..##....##....#....o:##:o.
    ...##...::#....#.....#...o::::o.
    ........#::#..........o.o:oooo:o
    .........##:#..........:oo....oo
    endart
TilesEnd:
