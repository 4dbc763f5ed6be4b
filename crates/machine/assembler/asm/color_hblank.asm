; COLOR_HBLANK: the Color's DMA, a block in each HBlank: counted, ended early, during HALT.
; C000-C002 as selfcheck.inc says. Pan Docs "VRAM DMA transfers".

    title "COLOR HBLANK"
    model color
    include "selfcheck.inc"
    include "color.inc"

; Waits for line \1 and fails unless HDMA5 reads \2 there. Changes a.
macro left
    await_line \1
    ldh a, [HDMA5]
    expect_a \2
endm

Start:
    begin
    screen_off
    ld hl, $8000
    ld b, 0
.clear:
    xor a
    ld [hl+], a
    dec b
    jr nz, .clear
    ld a, %10010001
    ldh [LCDC], a

    case 1                      ; four blocks in four lines
    await_line 20
    transfer Source, $8000
    await_line 21
    ld a, $83
    ldh [HDMA5], a
    ldh a, [HDMA5]
    expect_a $03
    left 22, $02
    left 23, $01
    left 24, $00
    left 25, $FF

    case 2                      ; the bytes are there
    await_line 145
    ld hl, $8000
    expect_bytes 16, $A1
    expect_bytes 16, $B2
    expect_bytes 16, $C3
    expect_bytes 16, $D4
    expect_bytes 16, 0

    case 3                      ; ended early
    await_line 39
    transfer Source, $8080
    await_line 40
    ld a, $83
    ldh [HDMA5], a
    await_line 42
    xor a
    ldh [HDMA5], a
    ldh a, [HDMA5]
    and $80
    expect_a $80
    await_line 145
    ld hl, $8080
    expect_bytes 16, $A1
    expect_bytes 16, $B2
    expect_bytes 16, 0

    case 4                      ; none while the CPU sleeps through HBlank, from before to VBlank
    transfer Source, $80C0
    xor a
    ldh [IF], a
    ld a, 1
    ldh [IE], a
    await_line 50
    ld a, $83
    ldh [HDMA5], a
    halt
    nop
    xor a
    ldh [IE], a
    ldh a, [HDMA5]
    expect_a $03
    jp Pass

    align 16
Source:
    ds 16, $A1
    ds 16, $B2
    ds 16, $C3
    ds 16, $D4
