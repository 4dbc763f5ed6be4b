; PPU_STAT_IRQ: the four sources of the STAT interrupt, counted over a frame each, and a wave drawn
; by changing SCX in every HBlank.
;
; C000  $A5 once the counting is over and right, $5A if it is wrong
; C001-C002  frames since then, low byte first
; C003  STAT interrupts in a frame by LYC = 64: 1
; C004  by HBlank: 144
; C005  by VBlank: 1
; C006  by OAM search: 144, or 145 where the one at line 144 shows (Pan Docs "STAT", as hardware does)
; C007  by LYC = 64 and HBlank together: the HBlank of line 64 adds none of its own, so 144, or 143
;       where HBlank and coincidence touch without a gap at the start of line 64 (UNVERIFIED which)

    title "PPU STAT"
    include "screen.inc"

    org $0048
    jp StatInterrupt

ByLyc       equ $C003
Count       equ $C010
Phase       equ $C011           ; 0 counting, 1 waving

    org $0220

; Counts the STAT interrupts of one frame with sources \1, into \2.
macro count_by
    ld a, \1
    ld hl, \2
    call CountFor
endm

Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    ld hl, $9800
    ld bc, $0400
.fill:
    ld a, l
    rrca
    rrca
    rrca
    rrca
    rrca
    xor l
    and 1
    inc a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .fill
    ld a, 64
    ldh [LYC], a
    ld a, %10010001
    ldh [LCDC], a
    ld a, $02
    ldh [IE], a
    call FrameStart             ; the first frame after the screen comes on is a special one

    count_by %01000000, ByLyc
    count_by %00001000, ByLyc + 1
    count_by %00010000, ByLyc + 2
    count_by %00100000, ByLyc + 3
    count_by %01001000, ByLyc + 4

    ld b, $5A
    ld hl, ByLyc
    ld a, [hl+]
    cp 1
    jr nz, .judged
    ld a, [hl+]
    cp 144
    jr nz, .judged
    ld a, [hl+]
    cp 1
    jr nz, .judged
    ld a, [hl+]
    sub 144
    cp 2
    jr nc, .judged
    ld a, [hl]
    sub 143
    cp 2
    jr nc, .judged
    ld b, $A5
.judged:
    ld a, b
    ld [Ready], a
    ld a, 1
    ld [Phase], a
    ld a, %00001000
    ldh [STAT], a
    xor a
    ldh [IF], a
    ld a, $03
    ldh [IE], a
    ei
.idle:
    halt
    nop
    jr .idle

; Counts over lines 0-153 from just behind the start of line 150, sources in a, result to hl.
CountFor:
    ld b, a
    call FrameStart
    ld a, b
    ldh [STAT], a
    xor a
    ld [Count], a
    ldh [IF], a
    ei
    call FrameStart
    di
    xor a
    ldh [STAT], a
    ld a, [Count]
    ld [hl], a
    ret

; Waits for the next time that line 150 begins.
FrameStart:
    ldh a, [LY]
    cp 150
    jr z, FrameStart
.wait:
    ldh a, [LY]
    cp 150
    jr nz, .wait
    ret

StatInterrupt:
    push af
    ld a, [Phase]
    or a
    jr nz, .wave
    ld a, [Count]
    inc a
    ld [Count], a
    pop af
    reti
.wave:                          ; SCX of the next line from the table
    push hl
    ldh a, [LY]
    ld hl, Frames
    add [hl]
    and $3F
    add low(Wave)
    ld l, a
    ld h, high(Wave)
    ld a, [hl]
    ldh [SCX], a
    pop hl
    pop af
    reti

VBlank:
    push af
    push hl
    call CountFrame
    pop hl
    pop af
    reti

    align 64
Wave:                           ; eight pixels up and down
    db 8, 9, 10, 10, 11, 12, 12, 13, 14, 14, 15, 15, 15, 16, 16, 16
    db 16, 16, 16, 16, 15, 15, 15, 14, 14, 13, 12, 12, 11, 10, 10, 9
    db 8, 7, 6, 6, 5, 4, 4, 3, 2, 2, 1, 1, 1, 0, 0, 0
    db 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7

Tiles:
    art
    ........:......:ooo##ooo
    ........:......:oo#..#oo
    ........:......:o#.::.#o
    ........:..##..:#.:oo:.#
    ........:..##..:#.:oo:.#
    ........:......:o#.::.#o
    ........:......:oo#..#oo
    ........:......:ooo##ooo
    endart
TilesEnd:
