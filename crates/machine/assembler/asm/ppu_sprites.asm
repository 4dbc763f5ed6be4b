; PPU_SPRITES: forty objects: flips, palettes, priorities, both heights, more than ten on a line,
; over every edge of the screen.
; C000-C002 as screen.inc says; C003 bit 0: tall objects in the frame to come; C100-C19F OAM's source.

    title "PPU SPRITES"
    include "screen.inc"

Tall    equ $C003
Objects equ $C100

    org $0220
Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    copy Routine, HRAM, RoutineEnd - Routine
    ld a, %00011011             ; the second palette is the first reversed
    ldh [OBP1], a
    ld hl, $9800                ; every third column of the background is tile 4, the others 5
    ld bc, $0400
    ld d, 3
.fill:
    ld a, 5
    dec d
    jr nz, .empty
    ld d, 3
    ld a, 4
.empty:
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .fill

    ld hl, Objects              ; object n at (n * 9, n / 12 * 40 + n), all attributes in turn
    ld b, 0
.object:
    ld a, b
    ld c, 0
.dozen:
    cp 12
    jr c, .line
    sub 12
    inc c
    jr .dozen
.line:
    ld a, c                     ; y: dozens share their lines but for a slant
    swap a
    add a
    add b
    add 10
    ld [hl+], a
    ld a, b                     ; x
    add a
    add a
    add a
    add b
    ld [hl+], a
    ld a, b                     ; tile
    and 3
    ld [hl+], a
    ld a, b                     ; priority, flips and palette
    swap a
    and $F0
    ld [hl+], a
    inc b
    ld a, b
    cp 40
    jr nz, .object
    show %10010011, $01

VBlank:
    push af
    push bc
    push de
    push hl
    ld a, high(Objects)
    call HRAM
    call CountFrame
    ld hl, Objects              ; odd objects to the right, even ones down
    ld b, 20
    ld de, 4
.move:
    inc [hl]
    add hl, de
    inc hl
    inc [hl]
    dec hl
    add hl, de
    dec b
    jr nz, .move
    ld a, [Frames]              ; the other height each 64 frames
    bit 6, a
    ld a, %10010011
    ld b, 0
    jr z, .height
    ld a, %10010111
    inc b
.height:
    ldh [LCDC], a
    ld a, b
    ld [Tall], a
    pop hl
    pop de
    pop bc
    pop af
    reti

Routine:
    ldh [DMA], a
    ld a, 40
.wait:
    dec a
    jr nz, .wait
    ret
RoutineEnd:

Tiles:
    art
    ########...##.....####..#......#::....::........
    #::::::#..#oo#...#....#.##....##::....::........
    #:oooo:#.#o::o#.#..##..##o#..#o#::....::........
    #:o...:##o:..:o##.#oo#.##:o##o:#::....::........
    #:o...:##o:...o##.#oo#.##:o##o:#::....::........
    #:ooo.:#.#o:.o#.#..##..##o#..#o#::....::........
    #:.....#..#oo#...#....#.##....##::....::........
    ########...##.....####..#......#::....::........
    endart
TilesEnd:
