; DMA_OAM_COPY: OAM DMA from work RAM, started by a routine in high RAM as every game does.
; C000-C002 as selfcheck.inc says; C100-C19F and C200-C29F are the pages copied.

    title "DMA OAM"
    include "selfcheck.inc"

; Fills the page at \1 with a pattern that starts at \2.
macro pattern
    ld hl, \1
    ld a, \2
.fill\@:
    ld [hl+], a
    add 7
    ld b, a
    ld a, l
    cp 160
    ld a, b
    jr nz, .fill\@
endm

; Fails unless OAM equals the page at \1.
macro compare
    ld hl, OAM
    ld de, \1
.same\@:
    ld a, [de]
    cp [hl]
    jp nz, Fail
    inc e
    inc l
    ld a, l
    cp 160
    jr nz, .same\@
endm

Start:
    begin
    ldh a, [LCDC]               ; with the screen off OAM is always open
    bit 7, a
    jr z, .off
.vblank:
    ldh a, [LY]
    cp 144
    jr nz, .vblank
    xor a
    ldh [LCDC], a
.off:
    ld hl, Routine
    ld c, low(HRAM)
    ld b, RoutineEnd - Routine
.install:
    ld a, [hl+]
    ldh [c], a
    inc c
    dec b
    jr nz, .install

    case 1                      ; all 160 bytes arrive
    pattern $C100, $11
    pattern $C200, $C4
    ld a, $C1
    call HRAM
    compare $C100

    case 2                      ; a second one from elsewhere
    ld a, $C2
    call HRAM
    compare $C200

    case 3                      ; the source is untouched and the register reads back
    expect_at $C200, $C4
    expect_at $C29F, ($C4 + 159 * 7) & $FF
    ldh a, [DMA]
    expect_a $C2

    case 4                      ; from ROM too
    ld a, high(Table)
    call HRAM
    compare Table

    case 5                      ; later writes of the program reach OAM again
    ld hl, OAM + 5
    ld [hl], $3B
    ld a, [hl]
    expect_a $3B
    jp Pass

; Starts the copy and waits for its 160 M-cycles, in the only memory the CPU then reaches.
Routine:
    ldh [DMA], a
    ld a, 40
.wait:
    dec a
    jr nz, .wait
    ret
RoutineEnd:

    align 256
Table:
    ds 64, $A5
    db "OAM DMA COPIES 160 BYTES FROM ANY PAGE, THIS ONE IS IN ROM."
    ds 37, $3C
