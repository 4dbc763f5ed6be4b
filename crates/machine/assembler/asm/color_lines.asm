; COLOR_LINES: another colour for each line, written in HBlank, and a tile that HDMA brings in each.
; C000-C002 as screen.inc says; C003 STAT interrupts of the last frame (144).

    title "COLOR LINES"
    model color
    include "screen.inc"

Count   equ $C004
Last    equ $C003

    org $0048
    jp HBlank

    org $0220
Start:
    begin
    ld hl, $9800                ; tile = column
    ld b, 0
.map:
    ld a, l
    and 31
    ld [hl+], a
    ld a, h
    cp $9C
    jr nz, .map
    ld a, $82                   ; of palette 0 the colours 1 to 3
    ldh [BCPS], a
    ld a, $E0
    ldh [BCPD], a
    ld a, $03
    ldh [BCPD], a
    ld a, $1F
    ldh [BCPD], a
    xor a
    ldh [BCPD], a
    ldh [BCPD], a
    ldh [BCPD], a
    ld a, %00001000
    ldh [STAT], a
    show %10010001, $03

HBlank:
    push af
    ldh a, [LY]                 ; from black to blue, red by the frame
    push hl
    ld hl, Count
    inc [hl]
    ld h, a
    ld a, $80
    ldh [BCPS], a
    ld a, [Frames]
    and $1F
    ldh [BCPD], a
    ld a, h
    rrca
    and $7C
    ldh [BCPD], a
    pop hl
    pop af
    reti

VBlank:
    push af
    push hl
    call CountFrame
    ld hl, Count
    ld a, [hl]
    ld [hl], 0
    ld [Last], a
    ld a, high(Tiles)           ; 24 tiles, a block in each of 24 lines, from where the frame says
    ldh [HDMA1], a
    ld a, [Frames]
    and $F0
    ldh [HDMA2], a
    ld a, $80
    ldh [HDMA3], a
    xor a
    ldh [HDMA4], a
    ld a, $97
    ldh [HDMA5], a
    pop hl
    pop af
    reti

    align 256
Tiles:
    art
    ########...##.....####..#......#....::::oo....oo........########
    #::::::#..#oo#...#....#.##....##....::::o......o.######.#......#
    #:oooo:#.#o::o#.#..##..##o#..#o#....::::...##....#oooo#.#.::::.#
    #:o...:##o:..:o##.#oo#.##:o##o:#....::::..####...#o::o#.#.:oo:.#
    #:o...:##o:...o##.#oo#.##:o##o:#oooo####..####...#o::o#.#.:oo:.#
    #:ooo.:#.#o:.o#.#..##..##o#..#o#oooo####...##....#oooo#.#.::::.#
    #:.....#..#oo#...#....#.##....##oooo####o......o.######.#......#
    ########...##.....####..#......#oooo####oo....oo........########
    endart
    ds 512, $5A
