; EI_DELAY: EI acts one instruction late, DI and RETI at once; interrupts are served by priority.
; C000-C002 as selfcheck.inc says; C010 counts interrupts, C011 holds register b at the last one,
; C018-C01F their order.

    title "EI DELAY"
    include "selfcheck.inc"

Served  equ $C010
Seen    equ $C011
Order   equ $C018

    org $0040
    ld c, 1
    jr Note
    org $0048
    ld c, 2
    jr Note
    org $0050
    ld c, 3
    jr Note
    org $0058
    ld c, 4
    jr Note
    org $0060
    ld c, 5
    jr Note

; Notes which interrupt it was and what b held.
Note:
    ld hl, Served
    ld a, [hl]
    inc [hl]
    add low(Order)
    ld l, a
    ld [hl], c
    ld a, b
    ld [Seen], a
    reti

    org $0200

; Asks for the timer's interrupt with nothing noted so far.
macro ask
    di
    xor a
    ld [Served], a
    ld b, a
    ld a, $04
    ldh [IE], a
    ldh [IF], a
endm

Start:
    begin

    case 1                      ; one instruction passes behind EI
    ask
    ei
    inc b
    inc b
    inc b
    di
    expect_at Served, 1
    expect_at Seen, 1

    case 2                      ; DI right behind EI wins
    ask
    ei
    di
    inc b
    inc b
    expect_at Served, 0

    case 3                      ; a second EI does not put it off further
    ask
    ei
    ei
    inc b
    inc b
    di
    expect_at Served, 1
    expect_at Seen, 0

    case 4                      ; EI while interrupts are on changes nothing
    ask
    xor a
    ldh [IF], a
    ei
    nop
    ld a, $04
    ei
    ldh [IF], a
    inc b
    di
    expect_at Served, 1
    expect_at Seen, 0

    case 5                      ; RETI lets the next one in before the program goes on
    ask
    ld a, $0C                   ; timer and serial
    ldh [IE], a
    ldh [IF], a
    ei
    inc b
    inc b
    di
    expect_at Served, 2
    expect_at Seen, 1
    expect_at Order, 3
    expect_at Order + 1, 4

    case 6                      ; a served request is gone, the others stay
    ask
    ld a, $14
    ldh [IF], a
    ei
    nop
    nop
    di
    expect_at Served, 1
    ldh a, [IF]
    and $1F
    expect_a $10

    case 7                      ; by priority: VBlank, STAT, timer, serial, joypad
    ask
    ld a, $1F
    ldh [IE], a
    ldh [IF], a
    ei
    nop
    nop
    di
    expect_at Order, 1
    expect_at Order + 1, 2
    expect_at Order + 2, 3
    expect_at Order + 3, 4
    expect_at Order + 4, 5

    case 8                      ; the way back leads to the instruction not yet done
    ask
    ei
    inc b
.back:
    ld a, [$DFEE]               ; the stack still holds the address pushed last
    expect_a low(.back)
    jp Pass
