; LOADS_BASIC: every way of moving bytes and words between registers and memory.
; C000-C002 as selfcheck.inc says; C010-C01F scratch.

    title "LOADS BASIC"
    include "selfcheck.inc"

; The value 0x5A travels through \1 and comes back.
macro through
    ld \1, $5A
    xor a
    ld a, \1
    expect_a $5A
    ld a, $A7
    ld \1, a
    xor a
    or \1
    expect_a $A7
endm

; The value in \1 reaches all other registers.
macro spread
    ld \1, \2
    ld \3, \1
    ld \4, \1
    ld a, \3
    expect_a \2
    ld a, \4
    expect_a \2
endm

Start:
    begin

    case 1                      ; immediate and accumulator
    through b
    through c
    through d
    through e
    through h
    through l

    case 2                      ; register to register
    spread b, $11, c, d
    spread b, $12, e, h
    spread b, $13, l, b
    spread c, $21, b, d
    spread c, $22, e, h
    spread c, $23, l, c
    spread d, $31, b, c
    spread d, $32, e, h
    spread d, $33, l, d
    spread e, $41, b, c
    spread e, $42, d, h
    spread e, $43, l, e
    spread h, $51, b, c
    spread h, $52, d, e
    spread h, $53, l, h
    spread l, $61, b, c
    spread l, $62, d, e
    spread l, $63, h, l

    case 3                      ; [hl] from and to each register
    ld hl, $C010
    ld [hl], $3C
    ld b, [hl]
    ld c, [hl]
    ld d, [hl]
    ld e, [hl]
    ld a, [hl]
    expect_a $3C
    expect_pair b, c, $3C3C
    expect_pair d, e, $3C3C
    ld b, $71
    ld [hl], b
    expect_at $C010, $71
    ld c, $72
    ld [hl], c
    expect_at $C010, $72
    ld d, $73
    ld [hl], d
    expect_at $C010, $73
    ld e, $74
    ld [hl], e
    expect_at $C010, $74
    ld [hl], h
    expect_at $C010, $C0
    ld [hl], l
    expect_at $C010, $10
    ld h, [hl]                  ; h = $10
    ld a, h
    expect_a $10
    ld hl, $C010
    ld l, [hl]
    ld a, l
    expect_a $10

    case 4                      ; [bc] and [de]
    ld bc, $C011
    ld de, $C012
    ld a, $81
    ld [bc], a
    ld a, $82
    ld [de], a
    expect_at $C011, $81
    expect_at $C012, $82
    ld a, [bc]
    expect_a $81
    ld a, [de]
    expect_a $82

    case 5                      ; [hl+] and [hl-], over the end of a page
    ld hl, $C0FF
    ld a, $91
    ld [hl+], a
    ld a, $92
    ld [hl-], a
    expect_pair h, l, $C0FF
    ld a, [hl+]
    expect_a $91
    ld a, [hl-]
    expect_a $92
    expect_pair h, l, $C0FF

    case 6                      ; absolute and high addresses
    ld a, $A1
    ld [$C013], a
    xor a
    ld a, [$C013]
    expect_a $A1
    ld a, $A2
    ldh [$FF90], a
    xor a
    ldh a, [$FF90]
    expect_a $A2
    ld c, $91
    ld a, $A3
    ldh [c], a
    xor a
    ldh a, [c]
    expect_a $A3
    ld a, [$FF90]
    expect_a $A2

    case 7                      ; words
    ld bc, $1234
    ld de, $5678
    ld hl, $9ABC
    expect_pair b, c, $1234
    expect_pair d, e, $5678
    expect_pair h, l, $9ABC
    ld sp, $CFFE
    ld [$C014], sp
    ld sp, $DFF0
    expect_at $C014, $FE
    expect_at $C015, $CF

    case 8                      ; push and pop; the low four flag bits stay zero
    ld bc, $1FFF
    push bc
    pop af
    push af
    pop de
    expect_pair d, e, $1FF0
    ld hl, $4321
    push hl
    pop bc
    expect_pair b, c, $4321
    expect_at $DFEE, $21        ; low byte below the high byte
    expect_at $DFEF, $43

    case 9                      ; loads leave the flags alone
    load_af $00F0
    ld b, 0
    ld hl, $C010
    ld [hl], $FF
    ld a, [hl+]
    ld a, $77
    expect_af $77F0
    load_af $0000
    ld a, [hl-]
    ld a, $78
    expect_af $7800

    case 10                     ; echo RAM shows the same bytes
    ld a, $B4
    ld [$C016], a
    expect_at $E016, $B4
    jp Pass
