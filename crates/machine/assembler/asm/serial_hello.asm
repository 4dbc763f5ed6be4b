; SERIAL_HELLO: sends "HELLO" over the serial port with its own clock, one interrupt a byte.
;
; C000  $A5 when all five bytes are sent
; C001  how many bytes have been sent
; C002-C006  what came in for each: $FF with no partner
; C007  SC after the last byte: $7F, no transfer running
; C008  DIV's advance over the five bytes: $50 to $58, $10 for each (8192 bits a second) and the wait
;       for the next tick of the serial clock

    title "SERIAL HELLO"

    ram $C000
Verdict:    ds 1
Sent:       ds 1
Received:   ds 5
Control:    ds 1
Time:       ds 1

    org $0058
    jp ByteDone

    org $0150
Start:
    di
    ld sp, $DFF0
    ld hl, Verdict
    xor a
    ld b, 16
.clear:
    ld [hl+], a
    dec b
    jr nz, .clear
    ldh [IF], a
    ld a, $08
    ldh [IE], a
    xor a
    ldh [DIV], a
    ei
    ld a, [Text]
    call Send
.wait:
    halt
    nop
    ld a, [Sent]
    cp TextEnd - Text
    jr nz, .wait
    di
    ldh a, [DIV]
    ld [Time], a
    ldh a, [SC]
    or $02                      ; the clock speed bit is the CGB's
    ld [Control], a
    ld a, $A5
    ld [Verdict], a
.forever:
    jr .forever

; Starts sending a.
Send:
    ldh [SB], a
    ld a, $81
    ldh [SC], a
    ret

ByteDone:
    push af
    push hl
    push de
    ld a, [Sent]
    ld e, a
    ld d, 0
    ld hl, Received
    add hl, de
    ldh a, [SB]
    ld [hl], a
    inc e
    ld a, e
    ld [Sent], a
    cp TextEnd - Text
    jr z, .done
    ld hl, Text
    add hl, de
    ld a, [hl]
    call Send
.done:
    pop de
    pop hl
    pop af
    reti

Text:
    db "HELLO"
TextEnd:
