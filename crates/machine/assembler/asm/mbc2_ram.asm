; MBC2_RAM: the 512 half bytes inside an MBC2.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC2": the upper half of what is read is undefined, so
; it is masked off here.

    title "MBC2 RAM"
    cartridge mbc2_battery
    include "selfcheck.inc"
    include "mbc.inc"

; Fails unless the low half of the byte at \1 is \2.
macro expect_half
    ld a, [\1]
    and $0F
    expect_a \2
endm

Start:
    begin
    case 1                      ; locked at power-on
    expect_at SRAM, $FF

    case 2                      ; opened by $0A where address bit 8 is clear
    choose RAM_ENABLE, $0A
    choose SRAM, $35
    expect_half SRAM, $05
    choose $A1FF, $0C
    expect_half $A1FF, $0C
    expect_half SRAM, $05

    case 3                      ; 512 addresses, repeated up to $BFFF
    expect_half $A200, $05
    expect_half $BE00, $05
    expect_half $BFFF, $0C
    choose $B000, $09
    expect_half SRAM, $09

    case 4                      ; all 512 hold their own value
    ld hl, SRAM
.fill:
    ld a, l
    swap a
    xor l
    xor h
    ld [hl+], a
    ld a, h
    cp $A2
    jr nz, .fill
    ld hl, SRAM
.compare:
    ld a, l
    swap a
    xor l
    xor h
    xor [hl]
    and $0F
    jp nz, Fail
    inc hl
    ld a, h
    cp $A2
    jr nz, .compare

    case 5                      ; locked again
    choose RAM_ENABLE, $00
    expect_at SRAM, $FF
    jp Pass
