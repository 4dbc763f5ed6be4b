; MBC5_RAM: 128 KiB of cartridge RAM behind an MBC5: the lock and sixteen banks.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC5".

    title "MBC5 RAM"
    cartridge mbc5_ram_battery
    ramsize 128
    include "selfcheck.inc"
    include "mbc.inc"

RAM_BANK equ $4000

Start:
    begin
    case 1                      ; locked at power-on
    expect_at SRAM, $FF
    choose SRAM, $12
    expect_at SRAM, $FF

    case 2                      ; sixteen banks, first and last byte of each
    choose RAM_ENABLE, $0A
    ld b, 0
.fill:
    ld a, b
    ld [RAM_BANK], a
    or $E0
    ld [SRAM], a
    cpl
    ld [$BFFF], a
    inc b
    ld a, b
    cp 16
    jr nz, .fill
    ld b, 0
.compare:
    ld a, b
    ld [RAM_BANK], a
    or $E0
    ld hl, SRAM
    cp [hl]
    jp nz, Fail
    cpl
    ld hl, $BFFF
    cp [hl]
    jp nz, Fail
    inc b
    ld a, b
    cp 16
    jr nz, .compare

    case 3                      ; locked again, the bytes stay
    choose RAM_ENABLE, 0
    expect_at SRAM, $FF
    choose SRAM, $99
    choose RAM_ENABLE, $0A
    expect_at SRAM, $EF
    choose RAM_ENABLE, 0
    jp Pass
