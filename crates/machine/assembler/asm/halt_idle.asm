; HALT_IDLE: a machine that works a moment in each VBlank and halts for the rest of the frame.
;
; C000-C001  frames so far, low byte first
; C002       the line at which the last interrupt was served: $90
; C003       $A5, written at the start

    title "HALT IDLE"

    ram $C000
Frames: ds 2
Line:   ds 1
Alive:  ds 1

    org $0040
    jp VBlank

    org $0150
Start:
    di
    ld sp, $DFF0
    xor a
    ld hl, Frames
    ld [hl+], a
    ld [hl+], a
    ld [hl+], a
    ld [hl], $A5
    ldh [IF], a
    ld a, $01                   ; VBlank only
    ldh [IE], a
    ei
Idle:
    halt
    nop
    jr Idle

VBlank:
    push af
    push hl
    ldh a, [LY]
    ld [Line], a
    ld hl, Frames
    inc [hl]
    jr nz, .done
    inc hl
    inc [hl]
.done:
    pop hl
    pop af
    reti
