; COLOR_PRIORITY: eight palettes of each kind, tiles of both banks, flips, priority of the
; background's cells, of objects, and of neither; a background that moves.
; C000-C002 as screen.inc says; C003 bit 0: nothing has priority in the frame to come; C100-C19F
; OAM's source.

    title "COLOR PRIORITY"
    model color
    include "screen.inc"

Flat    equ $C003
Objects equ $C100

    org $0220
; Fills the palettes behind index register low(de) with 64 bytes at hl.
Palettes:
    ld c, e
    ld a, $80
    ldh [c], a
    inc c
    ld b, 64
.byte:
    ld a, [hl+]
    ldh [c], a
    dec b
    jr nz, .byte
    ret

Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    copy Routine, HRAM, RoutineEnd - Routine
    ld a, 1
    ldh [VBK], a
    copy OtherTiles, $8000, OtherTilesEnd - OtherTiles
    ld hl, $9800                ; a cell's attributes count through all bits but the unused one
    ld bc, $0400
    ld d, 0
.attribute:
    ld a, d
    ld [hl+], a
    add 37
    and $EF
    ld d, a
    dec bc
    ld a, b
    or c
    jr nz, .attribute
    xor a
    ldh [VBK], a
    ld hl, $9800                ; tiles of four kinds
    ld bc, $0400
.tile:
    ld a, c
    and 3
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .tile
    ld hl, BackgroundColors
    ld e, low(BCPS)
    call Palettes
    ld hl, ObjectColors
    ld e, low(OCPS)
    call Palettes

    ld hl, Objects              ; object n at (n * 5, n / 10 * 32 + n), so that neighbours overlap
    ld b, 0
.object:
    ld a, b
    ld c, 0
.ten:
    cp 10
    jr c, .line
    sub 10
    inc c
    jr .ten
.line:
    ld e, a
    ld a, c
    swap a
    add a
    add e
    add 20
    ld [hl+], a
    ld a, b                     ; those of higher numbers to the left, in part
    bit 0, a
    jr z, .right
    cpl
    and $3F
.right:
    ld d, a
    add a
    add a
    add d
    ld [hl+], a
    ld a, b
    and 3
    ld [hl+], a
    ld a, d                     ; palette, bank, flips, priority
    add a
    add a
    add d
    add b
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
    ld hl, Objects + 1          ; odd objects to the right, even ones to the left
    ld b, 20
    ld de, 4
.move:
    dec [hl]
    add hl, de
    inc [hl]
    add hl, de
    dec b
    jr nz, .move
    ld a, [Frames]
    ldh [SCX], a
    swap a                      ; flat and deep by turns of 16 frames
    and 1
    ld [Flat], a
    xor %10010011
    ldh [LCDC], a
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
    ########...##.....####..#......#
    #::::::#..#oo#...#....#.##....##
    #:oooo:#.#o::o#.#..##..##o#..#o#
    #:o...:##o:..:o##.#oo#.##:o##o:#
    #:o...:##o:...o##.#oo#.##:o##o:#
    #:ooo.:#.#o:.o#.#..##..##o#..#o#
    #:.....#..#oo#...#....#.##....##
    ########...##.....####..#......#
    endart
TilesEnd:
OtherTiles:
    art
    ....::::oo....oo........########
    ....::::o......o.######.#......#
    ....::::...##....#oooo#.#.::::.#
    ....::::..####...#o::o#.#.:oo:.#
    oooo####..####...#o::o#.#.:oo:.#
    oooo####...##....#oooo#.#.::::.#
    oooo####o......o.######.#......#
    oooo####oo....oo........########
    endart
OtherTilesEnd:

; Eight palettes of four colours: blue, green and red in five bits each.
BackgroundColors:
    dw $7FFF, $5294, $294A, $0000
    dw $001F, $0013, $000A, $0003
    dw $03E0, $0260, $0140, $0060
    dw $7C00, $4C00, $2800, $0C00
    dw $03FF, $0273, $014A, $0063
    dw $7C1F, $4C13, $280A, $0C03
    dw $7FE0, $4E60, $2940, $0C60
    dw $1234, $5678, $3ABC, $2DEF
ObjectColors:
    dw $0000, $7FFF, $318C, $0421
    dw $0000, $051F, $0A3C, $0F59
    dw $0000, $2BE5, $1EC8, $11AB
    dw $0000, $7D08, $662B, $4F4E
    dw $0000, $17FF, $2EF7, $45EF
    dw $0000, $7C9F, $6D77, $5E4F
    dw $0000, $7FE8, $6B0C, $5630
    dw $0000, $4321, $0765, $6BA9
