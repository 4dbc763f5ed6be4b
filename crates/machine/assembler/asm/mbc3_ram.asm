; MBC3_RAM: 32 KiB of cartridge RAM behind an MBC3: the lock and four banks.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC3".

    title "MBC3 RAM"
    cartridge mbc3_ram_battery
    ramsize 32
    include "selfcheck.inc"
    include "mbc.inc"

RAM_BANK equ $4000

Start:
    begin
    case 1                      ; locked at power-on
    expect_at SRAM, $FF
    choose SRAM, $12
    expect_at SRAM, $FF

    case 2                      ; four banks
    choose RAM_ENABLE, $0A
    choose RAM_BANK, 0
    choose SRAM, $C0
    choose $BFFF, $D0
    choose RAM_BANK, 1
    choose SRAM, $C1
    choose $BFFF, $D1
    choose RAM_BANK, 2
    choose SRAM, $C2
    choose $BFFF, $D2
    choose RAM_BANK, 3
    choose SRAM, $C3
    choose $BFFF, $D3
    choose RAM_BANK, 0
    expect_at SRAM, $C0
    expect_at $BFFF, $D0
    choose RAM_BANK, 1
    expect_at SRAM, $C1
    expect_at $BFFF, $D1
    choose RAM_BANK, 2
    expect_at SRAM, $C2
    expect_at $BFFF, $D2
    choose RAM_BANK, 3
    expect_at SRAM, $C3
    expect_at $BFFF, $D3

    case 3                      ; locked again, the bytes stay
    choose RAM_ENABLE, 0
    expect_at SRAM, $FF
    choose SRAM, $99
    choose RAM_ENABLE, $0A
    expect_at SRAM, $C3

    case 4                      ; the ROM bank is none of its business
    choose ROM_BANK, 1
    expect_at SRAM, $C3
    choose RAM_ENABLE, 0
    jp Pass
