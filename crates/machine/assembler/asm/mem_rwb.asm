; MEM_RWB: endless read, modify, write over the 256 bytes at C000.
;
; C000  changed in every round, once in 256 turns
; C001  changed likewise, one turn later
; C000-C0FF  each byte has taken in its own value, its neighbour's and the round's counter
;
; Nothing here looks at the clock, the screen or the joypad.

    title "MEM RWB"

    org $0150
Start:
    di
    ld sp, $DFF0
    ld hl, $C000
    ld b, $5A
.fill:                          ; a byte pattern without symmetry
    ld a, b
    ld [hl], a
    rlca
    add l
    ld b, a
    inc l
    jr nz, .fill
    ld de, $C080                ; a second pointer, half a page away
    ld c, $01

Round:
    ld a, [hl]                  ; read
    add c                       ; modify
    rlca
    xor l
    ld [hl+], a                 ; write
    ld b, a
    ld a, [de]
    adc b
    ld [de], a
    inc e                       ; both pointers stay in their page
    ld h, $C0
    inc [hl]
    rl [hl]
    ld a, l
    or a
    jr nz, Round
    inc c
    jr Round
