; MBC1_SWITCH: ROM banks behind an MBC1 of 1 MiB: five bits, two more bits, both modes.
; C000-C002 as selfcheck.inc says. Pan Docs "MBC1".

    title "MBC1 SWITCH"
    cartridge mbc1
    banks 64
    include "selfcheck.inc"
    include "mbc.inc"

UPPER   equ $4000
MODE    equ $6000

Start:
    begin
    case 1                      ; after power-on
    expect_bank $01

    case 2                      ; the low five bits
    choose ROM_BANK, $02
    expect_bank $02
    choose ROM_BANK, $03
    expect_bank $03
    choose ROM_BANK, $10
    expect_bank $10
    choose ROM_BANK, $1F
    expect_bank $1F

    case 3                      ; zero means one, and only five bits count
    choose ROM_BANK, $00
    expect_bank $01
    choose ROM_BANK, $E2
    expect_bank $02

    case 4                      ; the register answers in all of $2000-$3FFF
    choose $3FFF, $03
    expect_bank $03

    case 5                      ; the two upper bits
    choose UPPER, $01
    expect_bank $23
    choose ROM_BANK, $1F
    expect_bank $3F
    choose ROM_BANK, $00        ; $20 can't be reached: zero is one here too
    expect_bank $21
    choose UPPER, $00
    expect_bank $01

    case 6                      ; 64 banks wrap around
    choose UPPER, $02
    choose ROM_BANK, $10
    expect_bank $10

    case 7                      ; mode 1 sends the upper bits to $0000-$3FFF as well
    choose UPPER, $01
    expect_at Probe, $00
    ld hl, Outside
    ld de, $C100
    ld b, OutsideEnd - Outside
.copy:                          ; bank $20 holds no code, so this runs from work RAM
    ld a, [hl+]
    ld [de], a
    inc e
    dec b
    jr nz, .copy
    call $C100
    ld a, [$C010]
    expect_a $20

    case 8                      ; back in mode 0 the program is whole
    choose UPPER, $00
    choose ROM_BANK, $02
    expect_bank $02
    expect_at Probe, $00
    jp Pass

; Reads the byte at Probe in mode 1 into C010.
Outside:
    ld a, 1
    ld [MODE], a
    ld a, [Probe]
    ld [$C010], a
    xor a
    ld [MODE], a
    ret
OutsideEnd:

Probe:
    db $00

    mark $01
    mark $02
    mark $03
    mark $10
    mark $1F
    bank $20
    org $4000 + Probe
    db $20
    mark $21
    mark $23
    mark $3F
