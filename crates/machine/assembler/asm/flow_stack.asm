; FLOW_STACK: jumps, calls, returns and restarts, taken and not taken, and what they leave on the stack.
; C000-C002 as selfcheck.inc says; C010 holds one bit for each restart.

    title "FLOW STACK"
    include "selfcheck.inc"

; Each of the eight restarts sets its bit in b.
macro restart
    org \1 * 8
    set \1, b
    ret
endm

    restart 0
    restart 1
    restart 2
    restart 3
    restart 4
    restart 5
    restart 6
    restart 7

    org $0180

; untaken condition, load that makes it false
macro untaken
    load_af \2
    jr \1, .bad\@
    load_af \2
    jp \1, .bad\@
    load_af \2
    call \1, .bad\@
    load_af \2
    ld hl, .good\@
    push hl
    ld hl, .bad\@
    push hl
    load_af \2
    ret \1                      ; not taken: the stack stays as it is
    pop hl
    ret
.bad\@:
    jp Fail
.good\@:
endm

Start:
    begin

    case 1                      ; jr over both signs
    jr .forward
.back:
    jr .over
    jp Fail
.forward:
    jr .back
    jp Fail
.over:

    case 2                      ; conditions that hold
    load_af $0080
    jr z, .z
    jp Fail
.z: load_af $0000
    jr nz, .nz
    jp Fail
.nz:
    load_af $0010
    jr c, .c
    jp Fail
.c: load_af $00E0
    jr nc, .nc
    jp Fail
.nc:
    load_af $0080
    jp z, .jpz
    jp Fail
.jpz:
    load_af $0000
    jp nz, .jpnz
    jp Fail
.jpnz:
    load_af $0010
    jp c, .jpc
    jp Fail
.jpc:
    load_af $0000
    jp nc, .jpnc
    jp Fail
.jpnc:

    case 3                      ; conditions that don't
    untaken z, $0070
    untaken nz, $0080
    untaken c, $00E0
    untaken nc, $0010

    case 4                      ; jp hl
    ld hl, .there
    jp hl
    jp Fail
.there:

    case 5                      ; call pushes the address behind it
    ld hl, $DFEE
    ld [hl], 0
    call Nothing
.behind:
    expect_at $DFEE, low(.behind)
    expect_at $DFEF, high(.behind)

    case 6                      ; conditional calls and returns that are taken
    ld b, 0
    load_af $0080
    call z, CountReturnZ
    load_af $0000
    call nz, CountReturnNz
    load_af $0010
    call c, CountReturnC
    load_af $00E0
    call nc, CountReturnNc
    ld a, b
    expect_a 4

    case 7                      ; the restarts
    ld b, 0
    rst $00
    rst $08
    rst $10
    rst $18
    ld a, b
    expect_a $0F
    rst $20
    rst $28
    rst $30
    rst $38
    ld a, b
    ld [$C010], a
    expect_a $FF

    case 8                      ; the stack pointer came back
    ld [$C011], sp
    expect_at $C011, $F0
    expect_at $C012, $DF

    case 9                      ; forty calls deep
    ld c, 40
    ld b, 0
    call Recurse
    ld a, b
    expect_a 40

    case 10                     ; reti returns and enables interrupts, none of which wait here
    xor a
    ldh [IF], a
    ldh [IE], a
    ld hl, .enabled
    push hl
    reti
    jp Fail
.enabled:
    di

    case 11                     ; arguments behind the call, read through the stack
    call Inline
    db $6B
    expect_a $6B
    jp Pass

Nothing:
    ret

CountReturnZ:
    inc b
    load_af $0080
    ret z
    jp Fail
CountReturnNz:
    inc b
    load_af $0000
    ret nz
    jp Fail
CountReturnC:
    inc b
    load_af $0010
    ret c
    jp Fail
CountReturnNc:
    inc b
    load_af $0000
    ret nc
    jp Fail

Recurse:
    inc b
    dec c
    ret z
    call Recurse
    ret

Inline:
    pop hl
    ld a, [hl+]
    push hl
    ret
