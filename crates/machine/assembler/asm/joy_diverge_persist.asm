; JOY_DIVERGE_PERSIST: the joypad steers which code runs and what stays in memory, for good.
;
; C000  the accumulator of the path taken, changed every round
; C001  a linear feedback shift register's low byte, stirred by the buttons
; C002  its high byte
; C003  the buttons last read: A B Select Start in bits 0-3, right left up down in 4-7, 1 = held
; C004  the exclusive or of all button bytes ever read, rotated each round
; C005-C006  rounds so far, low byte first
; C007  the path taken last, 0 to 3
; C008-C00B  how often each path was taken, modulo 256
; C00C-C00D  a checksum of the pages written
; C00E  $A5, written at the start
; C00F-C010  where the next byte of the trail goes, low byte first
; C100-C1FF  the trail: one byte a round, overwritten in a circle
;
; One button held for one round changes the register, hence every later path: two machines that saw
; different buttons never meet again.

    title "JOY DIVERGE"

    ram $C000
Mixed:      ds 1
ShiftLow:   ds 1
ShiftHigh:  ds 1
Buttons:    ds 1
History:    ds 1
Rounds:     ds 2
Path:       ds 1
Taken:      ds 4
Checksum:   ds 2
Alive:      ds 1
Trail:      ds 2

    org $0150
Start:
    di
    ld sp, $DFF0
    ld hl, $C000
    xor a
.clear:                         ; C000-C1FF
    ld [hl+], a
    bit 1, h
    jr z, .clear
    ld a, $E1                   ; a shift register must not be zero
    ld [ShiftLow], a
    ld a, $AC
    ld [ShiftHigh], a
    ld a, $A5
    ld [Alive], a
    ld a, $C1
    ld [Trail + 1], a

Round:
    call ReadButtons
    call Stir
    ld hl, Rounds
    inc [hl]
    jr nz, .choose
    inc hl
    inc [hl]
.choose:
    ld a, [ShiftLow]            ; two bits choose the path
    and 3
    ld [Path], a
    ld e, a
    ld d, 0
    ld hl, Taken
    add hl, de
    inc [hl]
    cp 1
    jr z, PathOne
    jr c, PathZero
    cp 2
    jr z, PathTwo
    jr PathThree

PathZero:                       ; arithmetic on the accumulator
    ld a, [Mixed]
    ld b, a
    ld a, [ShiftHigh]
    add b
    daa
    jr Leave
PathOne:                        ; a short counted loop, as long as the register says
    ld a, [ShiftHigh]
    and 7
    inc a
    ld b, a
    ld a, [Mixed]
.turn:
    rlca
    xor b
    dec b
    jr nz, .turn
    jr Leave
PathTwo:                        ; a walk back through the trail
    ld a, [Trail]
    sub 16
    ld l, a
    ld h, $C1
    ld a, [Mixed]
    ld b, 4
.step:
    xor [hl]
    inc l
    dec b
    jr nz, .step
    jr Leave
PathThree:                      ; the history decides
    ld a, [History]
    bit 4, a
    jr z, .plain
    swap a
.plain:
    ld b, a
    ld a, [Mixed]
    sbc b

Leave:                          ; a = what this path made of it
    ld [Mixed], a
    ld hl, Trail
    ld e, [hl]
    inc [hl]                    ; a circle of one page
    ld d, $C1
    ld b, a
    ld a, [de]
    xor b
    ld [de], a
    ld hl, Checksum
    add [hl]
    ld [hl+], a
    adc [hl]
    ld [hl], a
    jr Round

; The eight buttons to a byte, 1 = held.
ReadButtons:
    ld a, $20                   ; directions
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    swap a
    ld b, a
    ld a, $10                   ; buttons
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    or b
    ld [Buttons], a
    ld b, a
    ld a, $30
    ldh [P1], a
    ld hl, History
    ld a, [hl]
    rlca
    xor b
    ld [hl], a
    ret

; One step of the register with taps 16, 14, 13, 11, then the buttons on top, never to zero.
Stir:
    ld hl, ShiftLow
    ld a, [hl+]
    ld d, [hl]
    ld e, a                     ; de = the register
    srl d
    rr e
    jr nc, .stirred
    ld a, d
    xor $B4
    ld d, a
.stirred:
    ld a, [Buttons]
    xor e
    ld e, a
    or d
    jr nz, .keep
    ld e, $E1
.keep:
    ld a, d
    ld [hl-], a
    ld [hl], e
    ret
