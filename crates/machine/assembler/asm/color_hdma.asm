; COLOR_HDMA: the Color's DMA, all at once: addresses, banks, continuation, duration.
; C000-C002 as selfcheck.inc says. Pan Docs "VRAM DMA transfers".

    title "COLOR HDMA"
    model color
    include "selfcheck.inc"
    include "color.inc"

Start:
    begin
    screen_off
    ld hl, $8000                ; 3 KiB of 0
    ld bc, $0C00
.clear:
    xor a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .clear

    case 1                      ; at rest
    ldh a, [HDMA5]
    expect_a $FF

    case 2                      ; two blocks; the low bits of addresses don't count
    transfer Source + 7, $8013
    ld a, 1
    ldh [HDMA5], a
    ldh a, [HDMA5]
    expect_a $FF
    ld hl, $8000
    expect_bytes 16, 0
    expect_bytes 16, $A1
    expect_bytes 16, $B2
    expect_bytes 16, 0

    case 3                      ; addresses go on
    xor a
    ldh [HDMA5], a
    ld hl, $8030
    expect_bytes 16, $C3
    expect_bytes 16, 0

    case 4                      ; from work RAM, into the bank that VBK shows
    ld hl, $D000
    ld b, 16
.fill:
    ld [hl], $D4
    inc hl
    dec b
    jr nz, .fill
    ld a, 1
    ldh [VBK], a
    transfer $D000, $9800
    xor a
    ldh [HDMA5], a
    expect_at $9800, $D4
    expect_at $980F, $D4
    xor a
    ldh [VBK], a
    ld hl, $9800
    ld a, [hl]
    cp $D4
    jp z, Fail

    case 5                      ; the top bits of the target don't count
    transfer Source, $F8A0
    xor a
    ldh [HDMA5], a
    ld hl, $98A0
    expect_bytes 16, $A1

    case 6                      ; sixteen blocks of 8 M-cycles: TIMA counts each four
    transfer Source, $8400
    ld a, 5
    ldh [TAC], a
    xor a
    ldh [DIV], a
    ldh [TIMA], a
    ld a, 15
    ldh [HDMA5], a
    ldh a, [TIMA]
    sub 33
    cp 3
    jp nc, Fail
    jp Pass

    align 16
Source:
    ds 16, $A1
    ds 16, $B2
    ds 16, $C3
    ds 256, $E5
