; MBC3_SWITCH: 128 ROM banks behind an MBC3: seven bits, only zero is special.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC3".

    title "MBC3 SWITCH"
    cartridge mbc3
    banks 128
    include "selfcheck.inc"
    include "mbc.inc"

Start:
    begin
    case 1                      ; after power-on
    expect_bank $01

    case 2                      ; all seven bits
    choose ROM_BANK, $02
    expect_bank $02
    choose ROM_BANK, $1F
    expect_bank $1F
    choose ROM_BANK, $7F
    expect_bank $7F

    case 3                      ; the banks that an MBC1 can't reach
    choose ROM_BANK, $20
    expect_bank $20
    choose ROM_BANK, $40
    expect_bank $40
    choose ROM_BANK, $60
    expect_bank $60

    case 4                      ; zero means one
    choose ROM_BANK, $00
    expect_bank $01

    case 5                      ; the register answers in all of $2000-$3FFF, and nowhere else
    choose $3FFF, $02
    expect_bank $02
    choose $4000, $01
    choose $1FFF, $01
    expect_bank $02
    jp Pass

    mark $01
    mark $02
    mark $1F
    mark $20
    mark $40
    mark $60
    mark $7F
