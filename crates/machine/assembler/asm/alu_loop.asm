; ALU_LOOP: an endless loop of register arithmetic over all groups of the ALU.
;
; C000  a running sum of the accumulator, changed every round
; C001  a running mix of the flags, changed every round
;
; Nothing here looks at the clock, the screen or the joypad: the state after n instructions is the
; same on every machine that executes them rightly.

    title "ALU LOOP"

    ram $C000
Sum:    ds 1
Mix:    ds 1

    org $0150
Start:
    di
    ld sp, $DFF0
    ld hl, $C000
    xor a
.clear:                         ; C000-C0FF, which is what verification hashes
    ld [hl+], a
    bit 0, h
    jr z, .clear
    ld bc, $1234
    ld de, $5678
    ld hl, $9ABC
    ld a, $01

Round:
    add b
    adc c
    sub d
    sbc e
    xor h
    or l
    and $FD
    add $3B
    cp b                        ; Z N H C only
    inc b
    dec c
    rlca
    rrca
    rla
    adc d
    rra
    daa
    cpl
    ccf
    adc $47
    swap a
    sla d
    rl e
    srl h
    rr l
    sra c
    rlc b
    rrc d
    add hl, bc
    inc de
    dec bc
    add hl, de
    set 3, e
    res 6, l
    bit 5, h
    sbc h
    xor e
    scf
    sbc $11
    push hl
    ld hl, Sum
    add [hl]
    ld [hl+], a                 ; C000
    push af
    ld a, e
    adc [hl]
    rlca
    ld [hl], a                  ; C001
    pop af
    pop hl
    adc h                       ; and into the next round
    jr Round
