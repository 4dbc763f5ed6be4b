; ALU_FLAGS: results and all four flags of the eight-bit arithmetic.
; C000-C002 as selfcheck.inc says; C010-C011 holds the operation under test, called there.
;
; Cases 1 to 59 are single instructions at the edges of their flags. Cases 60 to 68 sweep one
; operation each over all accumulators, 16 operands and both carries, and compare the rotating sum
; of all results and flags with the one that the instruction's definition gives.

    title "ALU FLAGS"
    include "selfcheck.inc"

ZF equ $80
NF equ $40
HF equ $20
CF equ $10

Operation equ $C010

; alu number, operation, a, operand, flags before, result, flags after
macro alu
    case \1
    ld d, \4
    load_af (\3) << 8 | (\5)
    \2 d
    expect_af (\6) << 8 | (\7)
    case \1
    load_af (\3) << 8 | (\5)    ; the same with an immediate operand
    \2 \4
    expect_af (\6) << 8 | (\7)
endm

; one number, operation, a, flags before, result, flags after
macro one
    case \1
    load_af (\3) << 8 | (\4)
    \2
    expect_af (\5) << 8 | (\6)
endm

; sweep number, opcode of the operation with b, sum
macro sweep
    case \1
    ld a, \2
    call Sweep
    expect_pair h, l, \3
endm

Start:
    begin
    alu 1, add, $0F, $01, 0,     $10, HF
    alu 2, add, $F0, $10, NF,     $00, ZF | CF
    alu 3, add, $FF, $01, 0,     $00, ZF | HF | CF
    alu 4, add, $12, $34, CF,     $46, 0
    alu 5, adc, $0E, $01, CF,     $10, HF
    alu 6, adc, $FE, $01, CF,     $00, ZF | HF | CF
    alu 7, adc, $FF, $FF, CF,     $FF, HF | CF
    alu 8, adc, $00, $00, 0,     $00, ZF
    alu 9, sub, $10, $01, 0,     $0F, NF | HF
    alu 10, sub, $00, $01, CF,    $FF, NF | HF | CF
    alu 11, sub, $42, $42, 0,    $00, ZF | NF
    alu 12, sub, $01, $10, 0,    $F1, NF | CF
    alu 13, sbc, $10, $0F, CF,    $00, ZF | NF | HF
    alu 14, sbc, $00, $FF, CF,    $00, ZF | NF | HF | CF
    alu 15, sbc, $00, $00, CF,    $FF, NF | HF | CF
    alu 16, sbc, $80, $01, 0,    $7F, NF | HF
    alu 17, and, $F0, $0F, NF,    $00, ZF | HF
    alu 18, and, $F3, $3F, CF,    $33, HF
    alu 19, xor, $FF, $FF, CF,    $00, ZF
    alu 20, xor, $5A, $0F, HF,    $55, 0
    alu 21, or,  $00, $00, CF,    $00, ZF
    alu 22, or,  $50, $0A, NF,    $5A, 0
    alu 23, cp,  $3C, $3C, 0,    $3C, ZF | NF
    alu 24, cp,  $3C, $40, 0,    $3C, NF | CF
    alu 25, cp,  $3C, $2F, 0,    $3C, NF | HF

    one 30, inc a, $0F, NF | CF,     $10, HF | CF
    one 31, inc a, $FF, 0,         $00, ZF | HF
    one 32, dec a, $01, CF,         $00, ZF | NF | CF
    one 33, dec a, $00, 0,         $FF, NF | HF
    one 34, dec a, $10, ZF,         $0F, NF | HF
    one 35, cpl, $35, ZF | CF,         $CA, ZF | NF | HF | CF
    one 36, scf, $00, ZF | NF | HF,     $00, ZF | CF
    one 37, ccf, $00, ZF | NF | HF | CF, $00, ZF
    one 38, ccf, $00, 0,             $00, CF
    one 39, rlca, $80, ZF,            $01, CF
    one 40, rlca, $00, ZF | NF | HF | CF, $00, 0
    one 41, rrca, $01, 0,            $80, CF
    one 42, rla, $80, CF,             $01, CF
    one 43, rla, $80, 0,             $00, CF
    one 44, rra, $01, CF,             $80, CF
    one 45, rra, $01, 0,             $00, CF
    one 46, daa, $9A, 0,             $00, ZF | CF
    one 47, daa, $0A, 0,             $10, 0
    one 48, daa, $66, NF | HF | CF,     $00, ZF | NF | CF
    one 49, daa, $99, HF,             $9F, 0

    case 50                     ; inc and dec in memory
    ld hl, $C012
    ld [hl], $FF
    scf
    inc [hl]
    push af
    pop bc
    ld a, c
    expect_a ZF | HF | CF
    expect_at $C012, $00
    ld hl, $C012
    dec [hl]
    push af
    pop bc
    ld a, c
    and ZF | NF | HF
    expect_a NF | HF
    expect_at $C012, $FF

    case 51                     ; every operation with [hl]
    ld hl, $C012
    ld [hl], $0F
    ld a, $F1
    add [hl]
    expect_a $00
    ld a, $F1
    sub [hl]
    expect_a $E2
    ld a, $3C
    and [hl]
    expect_a $0C
    ld a, $3C
    xor [hl]
    expect_a $33
    ld a, $30
    or [hl]
    expect_a $3F

    sweep 60, $80, $C519        ; add
    sweep 61, $88, $EDE2        ; adc
    sweep 62, $90, $C73C        ; sub
    sweep 63, $98, $0C01        ; sbc
    sweep 64, $A0, $D17E        ; and
    sweep 65, $A8, $F736        ; xor
    sweep 66, $B0, $1BB4        ; or
    sweep 67, $B8, $4F62        ; cp
    case 68                     ; daa over all accumulators and flags
    call SweepDaa
    expect_pair h, l, $AB48
    jp Pass

; Runs the operation whose opcode is a over everything; hl = the sum.
Sweep:
    ld [Operation], a
    ld a, $C9                   ; ret
    ld [Operation + 1], a
    ld hl, 0
    ld b, 0
.operand:
    ld c, 0
.accumulator:
    ld a, c
    or a                        ; carry off
    call Operation
    call AddToSum
    ld a, c
    scf
    call Operation
    call AddToSum
    inc c
    jr nz, .accumulator
    ld a, b
    add 17
    ld b, a
    jr nc, .operand
    ret

SweepDaa:
    ld hl, 0
    ld c, 0
.flags:
    ld b, 0
.accumulator:
    push bc
    pop af
    daa
    call AddToSum
    inc b
    jr nz, .accumulator
    ld a, c
    add $10
    ld c, a
    jr nc, .flags
    ret

; hl = hl rotated left by one, plus a and the flags. Changes de.
AddToSum:
    push af
    pop de
    add hl, hl
    jr nc, .even
    inc l
.even:
    add hl, de
    ret
