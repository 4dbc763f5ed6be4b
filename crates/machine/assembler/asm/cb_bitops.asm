; CB_BITOPS: rotations, shifts, swap, and bit, res, set behind the CB prefix.
; C000-C002 as selfcheck.inc says; C010 is the byte in memory worked on.
;
; Cases 1 to 17 check results and flags in registers and memory. Case 20 runs all 256 opcodes, each
; on three values, from work RAM, and compares the rotating sum of all registers with the one that
; the definitions give.

    title "CB BITOPS"
    include "selfcheck.inc"

ZF equ $80
NF equ $40
HF equ $20
CF equ $10

; rotate number, operation, value, flags before, result, flags after; in d, in a and in memory
macro rotate
    case \1
    load_af \4
    ld d, \3
    ld a, 0
    \2 d
    ld a, d
    expect_af (\5) << 8 | (\6)
    load_af (\3) << 8 | (\4)
    \2 a
    expect_af (\5) << 8 | (\6)
    load_af \4
    ld hl, $C010
    ld [hl], \3
    \2 [hl]
    ld a, [hl]
    expect_af (\5) << 8 | (\6)
endm

; bits number, bit: test, reset and set it in memory and in e
macro bits
    case \1
    ld hl, $C010
    ld [hl], 1 << \2
    load_af CF
    ld hl, $C010
    bit \2, [hl]
    expect_af HF | CF
    ld [hl], ~(1 << \2) & $FF
    load_af NF
    ld hl, $C010
    bit \2, [hl]
    expect_af ZF | HF
    ld e, $00
    set \2, e
    ld a, e
    expect_a 1 << \2
    ld e, $FF
    res \2, e
    ld a, e
    expect_a ~(1 << \2) & $FF
    ld [hl], $00
    set \2, [hl]
    ld a, [hl]
    expect_a 1 << \2
    res \2, [hl]
    ld a, [hl]
    expect_a $00
endm

Code equ $C020

Start:
    begin
    rotate 1, rlc, $85, 0,  $0B, CF
    rotate 2, rlc, $00, CF, $00, ZF
    rotate 3, rrc, $01, 0,  $80, CF
    rotate 4, rl,  $80, 0,  $00, ZF | CF
    rotate 5, rl,  $11, CF, $23, 0
    rotate 6, rr,  $01, 0,  $00, ZF | CF
    rotate 7, rr,  $8A, CF, $C5, 0
    rotate 8, sla, $FF, CF, $FE, CF
    rotate 9, sra, $8A, CF, $C5, 0
    rotate 10, sra, $01, 0, $00, ZF | CF
    rotate 11, srl, $FF, CF, $7F, CF
    rotate 12, srl, $01, 0, $00, ZF | CF
    rotate 13, swap, $F1, CF, $1F, 0
    rotate 14, swap, $00, CF, $00, ZF
    bits 15, 0
    bits 16, 3
    bits 17, 7

    case 20
    ld hl, Code
    ld [hl], $CB
    inc l
    ld [hl], $00
    inc l
    ld [hl], $C9                ; ret
    ld hl, 0
    push hl                     ; the sum lies on the stack
.opcode:
    ld a, $00
    call Try
    ld a, $96
    call Try
    ld a, $FF
    call Try
    ld hl, Code + 1
    inc [hl]
    jr nz, .opcode
    pop hl
    expect_pair h, l, $6FC8
    jp Pass

; Runs the opcode with a in every register and in memory, and adds all of them to the sum on the
; stack: af, bc, de, hl, and the byte in memory.
Try:
    ld d, a
    ld e, a
    ld hl, $C010
    ld [hl], a
    ld b, a
    ld c, CF
    push bc
    pop af
    ld c, b
    call Code
    push hl
    push de
    push bc
    push af                     ; above these: the way back, then the sum
    ld hl, sp + 10
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    pop de
    call AddToSum
    pop de
    call AddToSum
    pop de
    call AddToSum
    pop de
    call AddToSum
    ld a, [$C010]
    ld e, a
    ld d, 0
    call AddToSum
    ld d, h
    ld e, l
    ld hl, sp + 2
    ld [hl], e
    inc hl
    ld [hl], d
    ret

; hl = hl rotated left by one, plus de.
AddToSum:
    add hl, hl
    jr nc, .even
    inc l
.even:
    add hl, de
    ret
