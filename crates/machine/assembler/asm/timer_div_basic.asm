; TIMER_DIV_BASIC: the divider, the four rates of the timer, its overflow and its reload.
; C000-C002 as selfcheck.inc says.
;
; A case restarts the divider, waits a number of M-cycles and reads. Pan Docs "Timer and Divider
; Registers": the divider counts each 64 M-cycles, the timer each 256, 4, 16 or 64. All waits end
; well between two counts.

    title "TIMER DIV"
    include "selfcheck.inc"

; divided number, M-cycles from restart to read, expected
macro divided
    case \1
    xor a
    ldh [DIV], a
    ds \2 - 3                   ; nop; the read takes the last three
    ldh a, [DIV]
    expect_a \3
endm

; counted number, TAC, M-cycles from restart to read, expected
macro counted
    case \1
    ld a, \2
    ldh [TAC], a
    xor a
    ldh [DIV], a
    ldh [TIMA], a
    ds \3 - 6
    ldh a, [TIMA]
    expect_a \4
endm

Start:
    begin
    divided 1, 32, 0
    divided 2, 96, 1
    divided 3, 352, 5

    case 4                      ; any value written restarts it
    ld a, $5A
    ldh [DIV], a
    ldh a, [DIV]
    expect_a 0

    counted 5, 5, 46, 11
    counted 6, 6, 200, 12
    counted 7, 7, 672, 10
    counted 8, 4, 1408, 5

    case 9                      ; stopped, it keeps its value
    xor a
    ldh [TAC], a
    ld a, $7E
    ldh [TIMA], a
    ds 1100
    ldh a, [TIMA]
    expect_a $7E

    case 10                     ; the unused bits of TAC read as one
    ld a, $06
    ldh [TAC], a
    ldh a, [TAC]
    expect_a $FE
    xor a
    ldh [TAC], a

    case 11                     ; overflow loads TMA and asks for an interrupt
    ld a, $F0
    ldh [TMA], a
    xor a
    ldh [IF], a
    ld a, $05
    ldh [TAC], a
    xor a
    ldh [DIV], a
    ld a, $FE
    ldh [TIMA], a
    ds 16                       ; 8 M-cycles to the overflow, then from F0
    ldh a, [TIMA]
    and $F0
    expect_a $F0
    ldh a, [IF]
    and $04
    expect_a $04

    case 12                     ; without an overflow nothing is asked for
    xor a
    ldh [TAC], a
    ldh [TIMA], a
    ldh [IF], a
    ld a, $06
    ldh [TAC], a
    ds 200
    ldh a, [IF]
    and $04
    expect_a $00
    xor a
    ldh [TAC], a

    case 13                     ; the divider goes on while the timer is stopped
    ldh a, [DIV]
    ld b, a
    ds 64
    ldh a, [DIV]
    sub b
    expect_a 1
    jp Pass
