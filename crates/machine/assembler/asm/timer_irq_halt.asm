; TIMER_IRQ_HALT: timer interrupts that wake the CPU from HALT, with and without serving them.
; C000-C002 as selfcheck.inc says; C010 counts the interrupts served.

    title "TIMER HALT"
    include "selfcheck.inc"

Served equ $C010

    org $0050
    push hl
    ld hl, Served
    inc [hl]
    pop hl
    reti

    org $0200

; Sets the timer to \1 with reload \2 and rate \3, nothing pending.
macro timer
    xor a
    ldh [TAC], a
    ldh [DIV], a
    ld a, \1
    ldh [TIMA], a
    ld a, \2
    ldh [TMA], a
    xor a
    ldh [IF], a
    ld [Served], a
    ld a, \3
    ldh [TAC], a
endm

Start:
    begin
    ld a, $04
    ldh [IE], a

    case 1                      ; one overflow, one interrupt, and on behind the halt
    timer $F0, $00, $05
    ei
    halt
    nop
    di
    expect_at Served, 1

    case 2                      ; eight rounds of 256 counts take 8 * 1024 M-cycles: 128 of DIV
    timer $00, $00, $05
    ei
    ld b, 8
.eight:
    halt
    nop
    dec b
    jr nz, .eight
    di
    ldh a, [DIV]
    sub 127
    cp 3
    jp nc, Fail
    expect_at Served, 8

    case 3                      ; the reload shortens the next round: 16 counts of 4 M-cycles
    timer $F0, $F0, $05
    ei
    halt
    nop
    xor a
    ldh [DIV], a
    ld b, 32
.short:
    halt
    nop
    dec b
    jr nz, .short
    di
    ldh a, [DIV]                ; 32 rounds of 64
    sub 31
    cp 3
    jp nc, Fail

    case 4                      ; with interrupts off HALT ends too, nothing is served
    timer $F0, $00, $05
    halt
    nop
    expect_at Served, 0
    ldh a, [IF]
    and $04
    expect_a $04

    case 5                      ; the request waits until interrupts are on
    ei
    nop
    di
    expect_at Served, 1
    ldh a, [IF]
    and $04
    expect_a $00

    case 6                      ; a request that IE does not name wakes nobody: 2 rounds of 4
    xor a
    ldh [TAC], a
    ld a, $08                   ; serial, which nothing asks for
    ldh [IE], a
    timer $F0, $00, $05
    ei
    ds 100
    di
    expect_at Served, 0
    jp Pass
