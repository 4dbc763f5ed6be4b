; COLOR_BANKS: the seven banks of work RAM at D000, both banks of video RAM, the spare registers.
; C000-C002 as selfcheck.inc says. Pan Docs "CGB Registers".

    title "COLOR BANKS"
    model color
    include "selfcheck.inc"
    include "color.inc"

Fixed equ $C0F0

Start:
    begin
    ld sp, $CFF0                ; not where banks change

    case 1                      ; SVBK reads back its three bits, the others as ones
    ld b, 255
.select:
    ld a, b
    and 7
    jr z, .next                 ; 0 is in case 9
    ld a, b
    ldh [SVBK], a
    ldh a, [SVBK]
    ld c, a
    ld a, b
    or $F8
    cp c
    jp nz, Fail
.next:
    dec b
    jr nz, .select

    case 2                      ; seven banks, first and last byte of each
    ld b, 1
.fill:
    ld a, b
    ldh [SVBK], a
    swap a
    or b
    ld [$D000], a
    cpl
    ld [$DFFF], a
    inc b
    bit 3, b
    jr z, .fill
    ld b, 1
.compare:
    ld a, b
    ldh [SVBK], a
    swap a
    or b
    ld hl, $D000
    cp [hl]
    jp nz, Fail
    cpl
    ld hl, $DFFF
    cp [hl]
    jp nz, Fail
    inc b
    bit 3, b
    jr z, .compare

    case 3                      ; zero stands for one
    xor a
    ldh [SVBK], a
    expect_at $D000, $11

    case 4                      ; C000 is there in all of them
    ld a, $A7
    ld [Fixed], a
    ld a, 5
    ldh [SVBK], a
    expect_at Fixed, $A7

    case 5                      ; the echo shows the bank, and writes to it
    expect_at $F000, $55
    ld a, $C3
    ld [$F001], a
    expect_at $D001, $C3
    ld a, 6
    ldh [SVBK], a
    expect_at $F000, $66
    expect_at $E0F0, $A7
    ld a, 1
    ldh [SVBK], a

    case 6                      ; VBK reads back one bit
    ld a, $FF
    ldh [VBK], a
    ldh a, [VBK]
    expect_a $FF
    ld a, $FE
    ldh [VBK], a
    ldh a, [VBK]
    expect_a $FE

    case 7                      ; two banks of video RAM, first and last byte
    screen_off
    ld a, $12
    ld [$8000], a
    ld [$9FFF], a
    ld a, 1
    ldh [VBK], a
    ld a, $34
    ld [$8000], a
    ld [$9FFF], a
    xor a
    ldh [VBK], a
    expect_at $8000, $12
    expect_at $9FFF, $12
    ld a, 1
    ldh [VBK], a
    expect_at $8000, $34
    expect_at $9FFF, $34
    xor a
    ldh [VBK], a

    case 8                      ; spare registers; of FF75 three bits are there
    ld a, $5C
    ldh [$FF72], a
    cpl
    ldh [$FF73], a
    ld a, $81
    ldh [$FF74], a
    ld a, $50
    ldh [$FF75], a
    expect_at $FF72, $5C
    expect_at $FF73, $A3
    expect_at $FF74, $81
    expect_at $FF75, $DF

    case 9                      ; SVBK reads back 0 where bank 1 is meant
    xor a
    ldh [SVBK], a
    ldh a, [SVBK]
    expect_a $F8
    jp Pass
