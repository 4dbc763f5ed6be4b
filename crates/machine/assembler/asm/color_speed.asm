; COLOR_SPEED: double speed and back: KEY1, and the timer beside the picture.
; C000-C002 as selfcheck.inc says; C003-C005 sixteens of M-cycles in ten lines: once, double, once.
; Pan Docs "FF4D".

    title "COLOR SPEED"
    model color
    include "selfcheck.inc"
    include "color.inc"

; Switches the speed. Changes a.
macro switch
    ld a, $30
    ldh [P1], a
    ld a, 1
    ldh [KEY1], a
    stop
endm

; Fails unless the two bits of KEY1 are \1. Changes a.
macro speed
    ldh a, [KEY1]
    and $81
    expect_a \1
endm

; Counts from line 50 to line 60 and fails unless it is \2 or one of the two behind it. Changes a.
macro count
    await_line 50
    xor a
    ldh [TIMA], a
    await_line 60
    ldh a, [TIMA]
    ld [\1], a
    sub \2
    cp 3
    jp nc, Fail
endm

Start:
    begin
    case 1                      ; armed by bit 0
    speed $00
    ld a, 1
    ldh [KEY1], a
    speed $01
    xor a
    ldh [KEY1], a
    speed $00

    case 2                      ; ten lines have 1140 M-cycles
    ld a, 6
    ldh [TAC], a
    count $C003, 70

    case 3                      ; double speed
    switch
    speed $80

    case 4                      ; twice as many
    count $C004, 141

    case 5                      ; and back
    switch
    speed $00

    case 6
    count $C005, 70

    case 7                      ; the unused bits read as ones
    ldh a, [KEY1]
    expect_a $7E
    jp Pass
