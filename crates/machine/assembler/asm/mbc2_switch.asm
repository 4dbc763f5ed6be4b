; MBC2_SWITCH: 16 ROM banks behind an MBC2, whose address bit 8 tells its two registers apart.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC2".

    title "MBC2 SWITCH"
    cartridge mbc2
    banks 16
    include "selfcheck.inc"
    include "mbc.inc"

Start:
    begin
    case 1                      ; after power-on
    expect_bank $01

    case 2                      ; any address below $4000 with bit 8 set
    choose $2100, $02
    expect_bank $02
    choose $0100, $03
    expect_bank $03
    choose $3FFF, $08
    expect_bank $08
    choose $2100, $0F
    expect_bank $0F

    case 3                      ; with bit 8 clear it is the RAM's lock
    choose $2000, $02
    expect_bank $0F
    choose $3E00, $03
    expect_bank $0F

    case 4                      ; zero means one, and only four bits count
    choose $2100, $00
    expect_bank $01
    choose $2100, $F3
    expect_bank $03
    choose $2100, $10
    expect_bank $01
    jp Pass

    mark $01
    mark $02
    mark $03
    mark $08
    mark $0F
