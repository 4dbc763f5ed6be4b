; PPU_WINDOW: the window over the background, moving through all places it may have, switched off
; and on again within the frame.
; C000-C002 as screen.inc says; C003 WX and C004 WY of the frame to come; C005 counts the STAT
; interrupts, two a frame.
;
; Above line 96 the window is on, from 96 to 111 off, from 112 on again, switched in the HBlank before:
; its own line counter goes on from where it stopped. Pan Docs "Window".
;
; Emulators that draw whole lines differ from a DMG in two places: WX 166, and a pixel of colour 0 that
; the window puts into the background where it would begin while it is off, at every eighth WX.

    title "PPU WINDOW"
    include "screen.inc"

    org $0048
    jp StatInterrupt

WindowX     equ $C003
WindowY     equ $C004
Interrupts  equ $C005
On          equ %11110001       ; window from the map at $9C00
Off         equ %11010001
OffBehind   equ 95              ; the last line with the window, and the last without
OnBehind    equ 111

    org $0220
Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    ld hl, $9C00                ; the window's map: columns of tile 1 and 2, framed by row
    ld bc, $0400
.fill:
    ld a, l
    and 1
    inc a
    ld d, a
    ld a, l
    and $20
    jr z, .even
    ld d, 3
.even:
    ld a, d
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .fill
    ld a, 7
    ldh [WX], a
    ld [WindowX], a
    xor a
    ldh [WY], a
    ld a, OffBehind
    ldh [LYC], a
    ld a, %01000000             ; STAT interrupt by LYC
    ldh [STAT], a
    show On, $03

VBlank:
    push af
    push hl
    call CountFrame
    ld a, On
    ldh [LCDC], a
    ld a, OffBehind
    ldh [LYC], a
    ld hl, WindowX
    inc [hl]
    ld a, [hl]
    cp 167
    jr nz, .place
    ld a, 7                     ; 7 is the left edge, 166 the last column
    ld [hl], a
.place:
    ldh [WX], a
    inc hl
    ld a, [Frames]
    and $3F
    ld [hl], a
    ldh [WY], a
    pop hl
    pop af
    reti

StatInterrupt:
    push af
    push hl
    ld hl, Interrupts
    inc [hl]
.wait:                          ; for HBlank, so that no line is half and half
    ldh a, [STAT]
    and 3
    jr nz, .wait
    ldh a, [LYC]
    cp OffBehind
    ld a, On
    jr nz, .done
    ld a, OnBehind
    ldh [LYC], a
    ld a, Off
.done:
    ldh [LCDC], a
    pop hl
    pop af
    reti

Tiles:
    art
    ........##################......
    .......:#::::::##oooooo#.##..##.
    ......:.#:....:##o####o#.######.
    .....:..#:....:##o#..#o#..####..
    ....:...#:....:##o#..#o#..####..
    ...:....#:....:##o####o#.######.
    ..:.....#::::::##oooooo#.##..##.
    .:......################........
    endart
TilesEnd:
