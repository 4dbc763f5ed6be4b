; ALU16_SP: sixteen-bit arithmetic, and all instructions on the stack pointer.
; C000-C002 as selfcheck.inc says.

    title "ALU16 SP"
    include "selfcheck.inc"

ZF equ $80
NF equ $40
HF equ $20
CF equ $10

; addhl number, hl, bc, flags before, result, flags after
macro addhl
    case \1
    ld bc, \3
    load_af \4
    ld hl, \2
    add hl, bc
    push hl
    expect_af \6
    pop hl
    expect_pair h, l, \5
endm

; addsp number, sp, offset, result, flags: `add sp` and `ld hl, sp` do the same sum
macro addsp
    case \1
    load_af $00F0
    ld sp, \2
    ld hl, sp + \3
    ld sp, $DFF0
    push hl
    expect_af \5
    pop hl
    expect_pair h, l, \4
    load_af $0000
    ld sp, \2
    add sp, \3
    ld [$C010], sp
    ld sp, $DFF0
    expect_af \5
    expect_at $C010, low(\4)
    expect_at $C011, high(\4)
endm

Start:
    begin
    addhl 1, $0FFF, $0001, $0000, $1000, HF
    addhl 2, $FFFF, $0001, $00F0, $0000, ZF | HF | CF   ; zero stays as it was
    addhl 3, $8000, $8000, $0000, $0000, CF
    addhl 4, $1234, $4321, $0070, $5555, 0
    addhl 5, $8FFF, $8001, $0080, $1000, ZF | HF | CF

    case 6                      ; the other pairs
    ld hl, $1111
    ld de, $2222
    add hl, de
    expect_pair h, l, $3333
    add hl, hl
    expect_pair h, l, $6666
    ld sp, $1111
    add hl, sp
    ld sp, $DFF0
    expect_pair h, l, $7777

    case 7                      ; inc and dec of pairs carry over and leave the flags
    ld bc, $00FF
    ld de, $FFFF
    load_af $00F0
    ld hl, $0000
    inc bc
    inc de
    dec hl
    expect_af $00F0
    expect_pair b, c, $0100
    expect_pair d, e, $0000
    expect_pair h, l, $FFFF
    load_af $0000
    dec bc
    dec de
    inc hl
    expect_af $0000
    expect_pair b, c, $00FF
    expect_pair d, e, $FFFF

    case 8                      ; the stack pointer counts too
    ld sp, $CFFF
    inc sp
    ld [$C010], sp
    dec sp
    dec sp
    ld [$C012], sp
    ld sp, $DFF0
    expect_at $C010, $00
    expect_at $C011, $D0
    expect_at $C012, $FE
    expect_at $C013, $CF

    addsp 10, $0FFF, 1, $1000, HF | CF      ; flags as of the low bytes
    addsp 11, $00F0, $10, $0100, CF
    addsp 12, $0000, -1, $FFFF, 0
    addsp 13, $0001, -1, $0000, HF | CF
    addsp 14, $000F, 1, $0010, HF
    addsp 15, $C080, 127, $C0FF, 0
    addsp 16, $C07F, -128, $BFFF, 0
    addsp 17, $FFFF, 1, $0000, HF | CF

    case 20                     ; from hl to the stack pointer
    ld hl, $D234
    ld sp, hl
    ld [$C010], sp
    ld sp, $DFF0
    expect_at $C010, $34
    expect_at $C011, $D2

    case 21                     ; the stack grows down and may be anywhere in RAM
    ld sp, $C014
    ld bc, $BEEF
    push bc
    ld sp, $DFF0
    expect_at $C013, $BE
    expect_at $C012, $EF
    jp Pass
