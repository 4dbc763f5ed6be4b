; MBC1_RAM: 32 KiB of cartridge RAM behind an MBC1: the lock, four banks, both modes.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC1".

    title "MBC1 RAM"
    cartridge mbc1_ram_battery
    ramsize 32
    include "selfcheck.inc"
    include "mbc.inc"

RAM_BANK    equ $4000
MODE        equ $6000

Start:
    begin
    case 1                      ; locked at power-on: reads give $FF, writes are lost
    expect_at SRAM, $FF
    choose SRAM, $12
    expect_at SRAM, $FF

    case 2                      ; $0A in the low four bits opens it
    choose RAM_ENABLE, $0A
    choose SRAM, $34
    expect_at SRAM, $34
    choose RAM_ENABLE, $5A
    expect_at SRAM, $34

    case 3                      ; anything else locks it, the bytes stay
    choose RAM_ENABLE, $0B
    expect_at SRAM, $FF
    choose SRAM, $99
    choose $1FFF, $0A
    expect_at SRAM, $34

    case 4                      ; four banks in mode 1
    choose MODE, 1
    choose RAM_BANK, 0
    choose SRAM, $A0
    choose $BFFF, $B0
    choose RAM_BANK, 1
    choose SRAM, $A1
    choose $BFFF, $B1
    choose RAM_BANK, 2
    choose SRAM, $A2
    choose $BFFF, $B2
    choose RAM_BANK, 3
    choose SRAM, $A3
    choose $BFFF, $B3
    choose RAM_BANK, 0
    expect_at SRAM, $A0
    expect_at $BFFF, $B0
    choose RAM_BANK, 1
    expect_at SRAM, $A1
    expect_at $BFFF, $B1
    choose RAM_BANK, 2
    expect_at SRAM, $A2
    expect_at $BFFF, $B2
    choose RAM_BANK, 3
    expect_at SRAM, $A3
    expect_at $BFFF, $B3

    case 5                      ; only two bits count
    choose RAM_BANK, $06
    expect_at SRAM, $A2

    case 6                      ; mode 0 shows bank 0 whatever the register says
    choose MODE, 0
    expect_at SRAM, $A0
    choose MODE, 1
    expect_at SRAM, $A2

    choose MODE, 0
    choose RAM_ENABLE, 0
    jp Pass
