; MBC5_SWITCH: ROM banks behind an MBC5: nine bits in two registers, and zero is zero.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC5". The ROM has 64 banks, so the upper bits wrap.

    title "MBC5 SWITCH"
    cartridge mbc5
    banks 64
    include "selfcheck.inc"
    include "mbc.inc"

UPPER equ $3000

Start:
    begin
    case 1                      ; after power-on
    expect_bank $01

    case 2                      ; the low eight bits
    choose ROM_BANK, $02
    expect_bank $02
    choose ROM_BANK, $20
    expect_bank $20
    choose $2FFF, $3F
    expect_bank $3F

    case 3                      ; bank 0 shows itself: the same bytes as at $0000
    choose ROM_BANK, $00
    expect_at $4000 + Probe, $6D
    ld a, [Start]
    ld b, a
    ld a, [$4000 + Start]
    cp b
    jp nz, Fail

    case 4                      ; 64 banks wrap around, with the ninth bit too
    choose ROM_BANK, $42
    expect_bank $02
    choose UPPER, $01
    expect_bank $02
    choose ROM_BANK, $20
    expect_bank $20
    choose $3FFF, $00
    expect_bank $20
    jp Pass

Probe:
    db $6D

    mark $01
    mark $02
    mark $20
    mark $3F
