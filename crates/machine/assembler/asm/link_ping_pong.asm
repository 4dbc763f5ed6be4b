; LINK_PING_PONG: two machines throw a ball to each other over the cable. The first one whose player
; holds A throws it, then each throws it back by its own clock and waits for it by the other's.
;
; C000  $A5 when the ball has come 16 times
; C001  how often the ball has come
; C002  the ball as it came last: the number of throws, never 0 or $FF
; C003  1 on the side that threw first, 2 on the other one, 0 before
; C004  throws that nobody caught: no cable, or both threw at once

    title "LINK PING PONG"

BUTTONS equ $10                 ; selects A, B, SELECT and START
READY   equ $00                 ; what a side that waits sends
NOBODY  equ $FF                 ; what comes where nobody waits

    ram $C000
Verdict:    ds 1
Catches:    ds 1
Ball:       ds 1
Side:       ds 1
Misses:     ds 1

    org $0150
Start:
    di
    ld sp, $DFF0
    xor a
    ld hl, Verdict
    ld b, 5
.clear:
    ld [hl+], a
    dec b
    jr nz, .clear
    ld a, BUTTONS
    ldh [P1], a
    call Wait

; Nobody has thrown yet.
.serve:
    call Caught
    jr nz, Return
    ldh a, [P1]
    ldh a, [P1]
    bit 0, a
    jr nz, .serve
    ld a, 1
    call Throw
    jr nz, .missed
    ld a, 1
    ld [Side], a
    jr Play
.missed:
    ld hl, Misses
    inc [hl]
    ldh a, [DIV]                ; two that threw at once try again at different times
    ld b, a
.pause:
    dec b
    jr nz, .pause
    jr .serve

; The other side has the ball.
Play:
    call Caught
    jr z, Play
Return:
    ld [Ball], a
    ld hl, Side
    ld a, [hl]
    and a
    jr nz, .known
    ld [hl], 2
.known:
    ld hl, Catches
    inc [hl]
    ld a, [hl]
    cp 16
    jr nz, .count
    ld a, $A5
    ld [Verdict], a
.count:
    ld a, [Ball]
    inc a
    cp NOBODY
    jr nz, .throw
    ld a, 1
.throw:
    ld d, a
    ld b, 20                    ; the other side needs a moment to wait
.pause:
    dec b
    jr nz, .pause
    ld a, d
    call Throw
    jr z, Play
    ld hl, Misses
    inc [hl]
    ld a, d
    jr .throw

; Waits for the other's clock.
Wait:
    ld a, READY
    ldh [SB], a
    ld a, $80
    ldh [SC], a
    ret

; Gives what came, or 0 with flag Z. A side that caught waits no more.
Caught:
    ldh a, [SC]
    add a, a
    jr c, .nothing
    ldh a, [SB]
    and a
    jr z, Wait
    ret
.nothing:
    xor a
    ret

; Throws a, then waits; flag Z says that the other side waited for it.
Throw:
    ldh [SB], a
    ld a, $81
    ldh [SC], a
.busy:
    ldh a, [SC]
    add a, a
    jr c, .busy
    ldh a, [SB]
    ld c, a
    call Wait
    ld a, c
    and a
    ret
