; MBC3_RTC: the clock of an MBC3: set, halted, latched, carried over, and running in emulated time.
; C000-C002 as selfcheck.inc says; C010 is the frame count of case 6. Pan Docs "MBC3".
;
; One second is 2^20 M-cycles; an emulator whose clock follows its host's may fail case 6.

    title "MBC3 RTC"
    cartridge mbc3_timer_ram_battery
    ramsize 32
    include "selfcheck.inc"
    include "mbc.inc"

SELECT  equ $4000
LATCH   equ $6000
SECONDS equ $08
MINUTES equ $09
HOURS   equ $0A
DAYS    equ $0B
CONTROL equ $0C                 ; bit 0: day bit 8, bit 6: halt, bit 7: day carry

; set register, value
macro set_clock
    choose SELECT, \1
    choose SRAM, \2
endm

; Copies the running clock to where it is read.
macro latch
    choose LATCH, 0
    choose LATCH, 1
endm

; Fails unless the latched register \1, masked with \3, is \2.
macro expect_clock
    choose SELECT, \1
    ld a, [SRAM]
    and \3
    expect_a \2
endm

Start:
    begin
    choose RAM_ENABLE, $0A

    case 1                      ; halted, it keeps what was written
    set_clock CONTROL, $40
    set_clock SECONDS, 56
    set_clock MINUTES, 34
    set_clock HOURS, 12
    set_clock DAYS, $A5
    latch
    expect_clock SECONDS, 56, $3F
    expect_clock MINUTES, 34, $3F
    expect_clock HOURS, 12, $1F
    expect_clock DAYS, $A5, $FF
    expect_clock CONTROL, $40, $C1

    case 2                      ; what is read changes only when latched
    set_clock MINUTES, 7
    latch
    expect_clock MINUTES, 7, $3F
    set_clock HOURS, 3
    latch
    expect_clock HOURS, 3, $1F
    expect_clock SECONDS, 56, $3F

    case 3                      ; RAM and clock don't mix
    choose SELECT, 0
    choose SRAM, $77
    choose SELECT, 3
    choose SRAM, $78
    latch
    expect_clock SECONDS, 56, $3F
    choose SELECT, 0
    expect_at SRAM, $77

    case 4                      ; locked with the RAM
    choose SELECT, SECONDS
    choose RAM_ENABLE, 0
    expect_at SRAM, $FF
    choose RAM_ENABLE, $0A

    case 5                      ; the day's ninth bit and the carry are plain bits when written
    set_clock CONTROL, $C1
    latch
    expect_clock CONTROL, $C1, $C1

    case 6                      ; let go at the last second of the last day, all carries at once
    set_clock CONTROL, $41
    set_clock DAYS, $FF
    set_clock HOURS, 23
    set_clock MINUTES, 59
    set_clock SECONDS, 59
    set_clock CONTROL, $01
    ld b, 0                     ; 2^20 M-cycles and a little: 66 times 256 rounds of 64
.wait:
    ld c, 0
.round:
    ds 60
    dec c
    jr nz, .round
    inc b
    ld a, b
    ld [$C010], a
    cp 66
    jr nz, .wait
    latch
    expect_clock CONTROL, $80, $C1
    expect_clock SECONDS, 0, $3F
    expect_clock MINUTES, 0, $3F
    expect_clock HOURS, 0, $1F
    expect_clock DAYS, 0, $FF
    choose RAM_ENABLE, 0
    jp Pass
