; COLOR_PALETTES: palette memory: indices with and without auto-increment, both halves, mode 3.
; C000-C002 as selfcheck.inc says. Pan Docs "LCD Color Palettes".

    title "COLOR PALETTES"
    model color
    include "selfcheck.inc"
    include "color.inc"

; Fails unless index register \1 with data \2 keeps the rules; case numbers from \3 on.
macro rules
    case \3 + 0                 ; six bits and the top one read back, bit 6 as one
    ld a, $3F
    ldh [\1], a
    ldh a, [\1]
    expect_a $7F
    ld a, $80
    ldh [\1], a
    ldh a, [\1]
    expect_a $C0

    case \3 + 1                 ; with the top bit, writes count and go around
    ld a, $BE
    ldh [\1], a
    ld a, $11
    ldh [\2], a
    ld a, $22
    ldh [\2], a
    ldh a, [\1]
    expect_a $C0
    ld a, $3E
    ldh [\1], a
    ldh a, [\2]
    expect_a $11
    ld a, $3F
    ldh [\1], a
    ldh a, [\2]
    expect_a $22

    case \3 + 2                 ; without it they don't
    ld a, $05
    ldh [\1], a
    ld a, $33
    ldh [\2], a
    ldh a, [\1]
    expect_a $45
    ldh a, [\2]
    expect_a $33

    case \3 + 3                 ; reads never count
    ld a, $85
    ldh [\1], a
    ldh a, [\2]
    ldh a, [\2]
    expect_a $33
    ldh a, [\1]
    expect_a $C5

    case \3 + 4                 ; all 64 bytes
    ld a, $80
    ldh [\1], a
    ld b, 64
.fill\@:
    ld a, b
    ldh [\2], a
    dec b
    jr nz, .fill\@
    ld b, 64
.compare\@:
    ld a, 64
    sub b
    ldh [\1], a
    ldh a, [\2]
    cp b
    jp nz, Fail
    dec b
    jr nz, .compare\@
endm

Start:
    begin
    screen_off
    rules BCPS, BCPD, 1
    rules OCPS, OCPD, 6

    case 11                     ; the two are apart
    xor a
    ldh [BCPS], a
    ldh [OCPS], a
    ld a, $5D
    ldh [BCPD], a
    ldh a, [OCPD]
    expect_a 64
    ldh a, [BCPD]
    expect_a $5D

    case 12                     ; in mode 3 nothing is written, but the index counts
    ld a, $80
    ldh [BCPS], a
    ld a, %10010001
    ldh [LCDC], a
    await_line 30
.mode3:
    ldh a, [STAT]
    and 3
    cp 3
    jr nz, .mode3
    ld a, $77
    ldh [BCPD], a
    await_line 145
    ldh a, [BCPS]
    expect_a $C1
    xor a
    ldh [BCPS], a
    ldh a, [BCPD]
    expect_a $5D

    case 13                     ; nor read
    await_line 30
.again:
    ldh a, [STAT]
    and 3
    cp 3
    jr nz, .again
    ldh a, [BCPD]
    expect_a $FF
    jp Pass
