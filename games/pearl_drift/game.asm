; PEARL_DRIFT: a game. Steer a little submarine through a drifting sea, collect pearls, touch nothing
; that stings. It begins at once and ends when the third hull is lost; START begins anew.
;
; Pearls come in strings. Each is worth one point, and one more for every eight caught in a row
; without letting one drift away, up to four. A starfish is worth five. Jellyfish bob, urchins roll
; from the second level on, eels hunt from the fourth. Every 1024 frames the level rises, up to nine,
; and with it the current and the number of things that sting. Each full hundred points bring a hull.
;
; C000-C001  score, low byte first
; C002       hulls left: 3 at first, 4 at most
; C003       game over: 0 playing, 1 over
; C004       level, 1 to 9
; C005       pearls caught in a row
; C006       submarine: x of its middle on the screen plus 8, 16 to 160
; C007       submarine: y of its upper edge on the screen plus 16, 24 to 128
; C008-C009  frames played in this game, low byte first
; C00A       buttons held: A B Select Start in bits 0-3, right left up down in 4-7
; C00B       buttons pressed in this frame
; C00C-C00D  random state, stirred by the buttons held
; C00E       frames for which nothing can hurt, 0 if something can
; C00F       games begun since power-on
; C010-C014  score as digits, C015-C019 best score since power-on as digits
; C020-C06F  ten things in the sea, eight bytes each: kind (0 none, 1 pearl, 2 starfish, 3 jellyfish,
;            4 urchin, 5 eel, 6 splash), x/256, x, speed/256, speed, y, first y, phase
;
; The frame: VBlank copies objects and status bar and sets the scroll of the waves; two STAT
; interrupts set that of the hills and that of the sea bed; the rest is HALT.

    title "PEARL DRIFT"

PEARL   equ 1
STAR    equ 2
JELLY   equ 3
URCHIN  equ 4
EEL     equ 5
SPLASH  equ 6

EASY    equ 0                   ; bits of Variant: nothing stings, twice the current
FAST    equ 1

HULLS       equ 3
MOST_HULLS  equ 4
SAFE        equ 96              ; frames of mercy after a hit
LEFT        equ 16
RIGHT       equ 160
TOP         equ 24
BOTTOM      equ 128
HILLS_LINE  equ 12              ; both lines run through plain water or plain hill, so that
BED_LINE    equ 84              ; nobody sees in which dot the scroll changes
BAR         equ $9C00
DRAW        equ HRAM            ; the DMA routine

    ram $C000
Score:      ds 2
Hulls:      ds 1
GameOver:   ds 1
Level:      ds 1
Chain:      ds 1
SubX:       ds 1
SubY:       ds 1
Frames:     ds 2
Held:       ds 1
Pressed:    ds 1
Random:     ds 2
Safe:       ds 1
Games:      ds 1
Digits:     ds 5
Best:       ds 5
Scroll:     ds 3                ; of the sea bed: 1/256, low, high
Speed:      ds 2                ; of the current, pixels a frame: 1/256, whole
    ram $C020
Things:     ds 80
ThingsEnd:
PearlTimer: ds 1
PearlsLeft: ds 1                ; of the string at hand
PearlY:     ds 1
PearlSlope: ds 1
StingTimer: ds 1
Shake:      ds 1
WaveScroll: ds 1
HillScroll: ds 1
BedScroll:  ds 1
FrameDone:  ds 1                ; set by VBlank
BarChanged: ds 1
    ram $C080
Bar:        ds 40               ; the status bar's two rows
    ram $C100
Objects:    ds 160
    ram $DFAB
Variant:    ds 1                ; where all games have it

    org $0040
    jp VBlank
    org $0048
    jp Split

    org $0150
Start:
    di
    ld sp, $DFF0
    ldh a, [LCDC]
    bit 7, a
    jr z, .off
.vblank:                        ; the screen may only be switched off in VBlank
    ldh a, [LY]
    cp 144
    jr nz, .vblank
    xor a
    ldh [LCDC], a
.off:
    ld hl, WRAM
    ld bc, $0200
    call Clear
    ld [Variant], a
    ld hl, $9C00
    ld bc, $0400
    call Clear
    ld hl, Creatures
    ld de, $8000
    ld bc, CreaturesEnd - Creatures
    call Copy
    ld hl, Scenery
    ld de, $8000 + ' ' * 16
    ld bc, SceneryEnd - Scenery
    call Copy
    ld hl, Letters
    ld bc, LettersEnd - Letters
    call CopyInverted
    ld hl, Plants
    ld bc, PlantsEnd - Plants
    call Copy
    ld hl, Pearls
    ld de, $8800
    ld bc, PearlsEnd - Pearls
    call Copy
    ld hl, Map
    ld de, $9800
    ld bc, MapEnd - Map
    call Copy
    ld hl, DrawRoutine
    ld c, low(DRAW)
    ld b, DrawRoutineEnd - DrawRoutine
.routine:
    ld a, [hl+]
    ldh [c], a
    inc c
    dec b
    jr nz, .routine

    ld a, %11100100
    ldh [BGP], a
    ldh [OBP1], a
    ld a, %11100000             ; the submarine and the pearls are white inside
    ldh [OBP0], a
    ld a, 7
    ldh [WX], a
    ld a, 128
    ldh [WY], a
    ld a, $80
    ldh [NR52], a
    ld a, $FF
    ldh [NR51], a
    ld a, $55
    ldh [NR50], a
    ld hl, Random
    ld [hl], $5D
    inc hl
    ld [hl], $A1
    call NewGame
    call DrawThings
    call DrawBar
    ld a, HILLS_LINE
    ldh [LYC], a
    ld a, %01000000             ; STAT interrupt by LYC
    ldh [STAT], a
    ld a, %11110111             ; window, tall objects, tiles at $8000, all on
    ldh [LCDC], a
    xor a
    ldh [IF], a
    ld a, $03
    ldh [IE], a
    ei

Main:
    halt
    nop
    ld a, [FrameDone]
    or a
    jr z, Main
    xor a
    ld [FrameDone], a
    call ReadButtons
    call Stir
    ld a, [GameOver]
    or a
    jr nz, .over
    call Play
    jr .draw
.over:
    call Sink
.draw:
    call DrawThings
    ld a, [BarChanged]
    or a
    call nz, DrawBar
    jr Main

; The eight buttons to Held, those that were not held before to Pressed.
ReadButtons:
    ld a, $20
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    swap a
    ld b, a
    ld a, $10
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    or b
    ld b, a
    ld a, $30
    ldh [P1], a
    ld hl, Held
    ld a, [hl]
    cpl
    and b
    ld [hl], b
    ld [Pressed], a
    ret

; One random step a frame, and the buttons held on top: whoever plays otherwise, plays another game.
Stir:
    call NextRandom
    ld a, [Held]
    ld hl, Random
    xor [hl]
    ld [hl+], a
    or [hl]
    ret nz
    inc [hl]                    ; zero would stay zero
    ret

; a = the next random byte. Sixteen bits of state: x ^= x << 7, x ^= x >> 9, x ^= x << 8.
; Changes hl and c.
NextRandom:
    ld hl, Random
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    rrca
    and $80
    xor l
    ld c, a
    ld a, h
    rra
    ld a, l
    rra
    xor h
    ld h, a
    srl a
    xor c
    ld l, a
    xor h
    ld [Random + 1], a
    ld a, l
    ld [Random], a
    ret

; Everything back to the start, but the best score, the random state and the count of games.
NewGame:
    ld hl, Things
    ld bc, Objects - Things
    call Clear
    ld hl, Score
    ld bc, Held - Score
    call Clear
    ld hl, Digits
    ld bc, 5
    call Clear
    ld hl, Scroll
    ld bc, 5
    call Clear
    ld a, HULLS
    ld [Hulls], a
    ld a, 1
    ld [Level], a
    ld [BarChanged], a
    ld a, 48
    ld [SubX], a
    ld a, 72
    ld [SubY], a
    ld a, 20
    ld [PearlTimer], a
    ld a, 120
    ld [StingTimer], a
    ld a, SAFE
    ld [Safe], a
    ld hl, Games
    inc [hl]
    ret

; One frame of the game.
Play:
    ld hl, Frames
    inc [hl]
    jr nz, .level
    inc hl
    inc [hl]
.level:
    call SetLevel
    call ScrollSea
    call Steer
    ld hl, Safe
    ld a, [hl]
    or a
    jr z, .spawn
    dec [hl]
.spawn:
    call SpawnPearls
    call SpawnStings
    jp MoveThings

; The level by the frames played, and the speed of the current by the level.
SetLevel:
    ld a, [Frames + 1]
    srl a
    srl a
    cp 8
    jr c, .rising
    ld a, 8
.rising:
    ld b, a                     ; 0 to 8
    inc a
    ld hl, Level
    cp [hl]
    jr z, .same
    ld [hl], a
    ld a, 1
    ld [BarChanged], a
.same:
    ld a, b                     ; 1 + level * 24 / 256 pixels a frame
    add a
    add b
    add a
    add a
    add a
    ld [Speed], a
    ld a, [Variant]
    and 1 << FAST
    ld a, 1
    jr z, .slow
    inc a
.slow:
    ld [Speed + 1], a
    ret

ScrollSea:
    ld hl, Speed
    ld a, [hl+]
    ld d, [hl]
    ld e, a
    ld hl, Scroll
    ld a, [hl]
    add e
    ld [hl+], a
    ld a, [hl]
    adc d
    ld [hl+], a
    ld c, a
    jr nc, .near
    inc [hl]
.near:
    ld b, [hl]                  ; bc = the sea bed's place
    ld a, c
    ld [BedScroll], a
    srl b
    rr c
    ld a, [Frames]              ; the waves run ahead of the current
    rrca
    rrca
    and $3F
    add c
    ld [WaveScroll], a
    srl b
    rr c
    ld a, c                     ; the hills are far away
    ld [HillScroll], a
    ld hl, Shake
    ld a, [hl]
    or a
    ret z
    dec [hl]
    ret

; Two pixels a frame in each direction held.
Steer:
    ld a, [Held]
    ld b, a
    ld hl, SubX
    ld a, [hl]
    bit 4, b
    jr z, .noRight
    cp RIGHT
    jr nc, .noRight
    add 2
.noRight:
    bit 5, b
    jr z, .noLeft
    cp LEFT + 1
    jr c, .noLeft
    sub 2
.noLeft:
    ld [hl+], a
    ld a, [hl]
    bit 6, b
    jr z, .noUp
    cp TOP + 1
    jr c, .noUp
    sub 2
.noUp:
    bit 7, b
    jr z, .noDown
    cp BOTTOM
    jr nc, .noDown
    add 2
.noDown:
    ld [hl], a
    ret

; Strings of three to six pearls on a slanted line, then a pause.
SpawnPearls:
    ld hl, PearlTimer
    dec [hl]
    ret nz
    ld a, [PearlsLeft]
    or a
    jr nz, .next
    call NextRandom
    and 3
    add 3
    ld [PearlsLeft], a
    call RandomHeight
    ld [PearlY], a
    call NextRandom
    and 7
    add low(Slopes)
    ld l, a
    ld h, high(Slopes)
    ld a, [hl]
    ld [PearlSlope], a
.next:
    ld a, [PearlY]
    ld c, a
    ld a, [Speed]
    ld e, a
    ld a, [Speed + 1]
    ld d, a
    ld b, PEARL
    call Spawn
    ld hl, PearlSlope
    ld a, [PearlY]
    add [hl]
    cp TOP                      ; the string bends back from the surface and the bed
    jr c, .bend
    cp BOTTOM + 1
    jr c, .straight
.bend:
    xor a
    sub [hl]
    ld [hl], a
    ld a, [PearlY]
    add [hl]
.straight:
    ld [PearlY], a
    ld b, 12
    ld hl, PearlsLeft
    dec [hl]
    jr nz, .wait
    call NextRandom
    and $1F
    add 24
    ld b, a
.wait:
    ld a, b
    ld [PearlTimer], a
    ret

; Starfish and what stings, the more and the worse the higher the level.
SpawnStings:
    ld hl, StingTimer
    dec [hl]
    ret nz
    call NextRandom
    and $0F
    ld b, a
    ld a, [Level]
    add low(Pauses) - 1
    ld l, a
    ld h, high(Pauses)
    ld a, [hl]
    add b
    ld [StingTimer], a
    call RandomHeight
    ld b, a
    push bc
    call NextRandom
    pop bc
    and $0F
    ld c, a
    ld a, [Level]
    ld d, a
    ld a, [Variant]
    rra                         ; EASY: starfish alone
    ld a, c
    ld c, b                     ; c = height
    jr c, .star
    cp 3
    jr c, .star
    cp 8
    jr c, .jelly
    cp 12
    jr c, .urchin
    ld a, d
    cp 4
    jr c, .urchin
    ld b, EEL
    ld de, $0160
    jr .spawn
.urchin:
    ld a, d
    cp 2
    jr c, .jelly
    ld b, URCHIN
    ld de, $0080
    jr .spawn
.jelly:
    ld b, JELLY
    ld de, $0040
    jr .spawn
.star:
    ld b, STAR
    ld c, BOTTOM - 4            ; they lie on the bed
    ld de, $0000
.spawn:
    ld hl, Speed                ; de = its own speed and the current's
    ld a, [hl+]
    add e
    ld e, a
    ld a, [hl]
    adc d
    ld d, a
    jp Spawn

; a = a random height in the sea. Changes bc and hl.
RandomHeight:
    call NextRandom
    and $3F
    ld b, a
    push bc
    call NextRandom
    pop bc
    and $1F
    add b
    add TOP + 4
    ret

; A new thing of kind b at height c beyond the right edge, de / 256 pixels a frame. None if all
; places are taken.
Spawn:
    ld hl, Things
.look:
    ld a, [hl]
    or a
    jr z, .free
    ld a, l
    add 8
    ld l, a
    cp low(ThingsEnd)
    jr nz, .look
    ret
.free:
    ld a, b
    ld [hl+], a
    xor a
    ld [hl+], a
    ld a, 176
    ld [hl+], a
    ld a, e
    ld [hl+], a
    ld a, d
    ld [hl+], a
    ld a, c
    ld [hl+], a
    ld [hl+], a
    ld a, [Random]
    and $3F
    ld [hl], a
    ret

MoveThings:
    ld hl, Things
.next:
    ld a, [hl]
    or a
    call nz, MoveThing
    ld a, l
    add 8
    ld l, a
    cp low(ThingsEnd)
    jr nz, .next
    ret

; Moves the thing of kind a at hl and sees whether it touches the submarine. Keeps hl.
MoveThing:
    push hl
    ld b, a
    inc l
    ld e, [hl]
    inc l
    ld d, [hl]
    inc l
    ld a, e
    sub [hl]
    ld e, a
    inc l
    ld a, d
    sbc [hl]
    ld d, a                     ; de = its new x
    jr c, .gone
    cp 3
    jr c, .gone
    dec l
    dec l
    ld [hl], d
    dec l
    ld [hl], e
    ld a, l
    add 4
    ld l, a                     ; hl = its y
    ld a, b
    cp JELLY
    jr z, .bob
    cp EEL
    jr z, .hunt
    cp SPLASH
    jr z, .fade
.touch:
    ld c, [hl]
    ld a, b
    cp JELLY
    ld a, [SubX]
    jr nc, .sting
    ld e, 13                    ; pearls and starfish are easy to catch
    bit 0, b                    ; a pearl is eight pixels wide, its middle is 4 further right
    jr z, .wide
    sub 4
.wide:
    call IsNear
    jr nc, .done
    pop hl
    jp Catch
.sting:
    ld e, 10                    ; what stings must come closer
    call IsNear
    jr nc, .done
    ld a, [Safe]
    or a
    jr nz, .done
    pop hl
    jp Hurt
.done:
    pop hl
    ret
.gone:
    pop hl
    ld [hl], 0
    ld a, b
    cp PEARL
    ret nz
    xor a                       ; a pearl drifted away
    ld [Chain], a
    inc a
    ld [BarChanged], a
    ret

.bob:
    inc l
    inc l
    ld a, [hl]                  ; phase
    inc a
    and $3F
    ld [hl-], a
    push hl
    add low(Wave)
    ld l, a
    ld h, high(Wave)
    ld a, [hl]
    pop hl
    add [hl]                    ; first y
    dec l
    ld [hl], a
    jr .touch

.hunt:
    ld a, [Frames]
    and 3
    jr nz, .touch
    ld a, [SubY]
    cp [hl]
    jr z, .touch
    jr c, .higher
    inc [hl]
    inc [hl]
.higher:
    dec [hl]
    jr .touch

.fade:
    inc l
    inc l
    dec [hl]
    pop hl
    ret nz
    ld [hl], 0
    ret

; Carry if the submarine's x, given in a, is nearer than e to d, and its y nearer than e - 1 to c.
IsNear:
    sub d
    jr nc, .right
    cpl
    inc a
.right:
    cp e
    ret nc
    dec e
    ld a, [SubY]
    sub c
    jr nc, .below
    cpl
    inc a
.below:
    cp e
    ret

; The submarine has the thing of kind b at hl. Keeps hl.
Catch:
    call Burst
    ld a, b
    cp STAR
    jr z, .star
    push hl
    ld hl, Chain
    ld a, [hl]
    cp 99
    jr nc, .longest
    inc [hl]
.longest:
    ld a, [hl]                  ; a higher note for each pearl in a row
    cp 25
    jr c, .note
    ld a, 24
.note:
    add a
    add a
    add $40
    ldh [NR23], a
    ld a, $80
    ldh [NR21], a
    ld a, $A1
    ldh [NR22], a
    ld a, $87
    ldh [NR24], a
    call Multiplier
    call AddPoints
    pop hl
    ret
.star:
    push hl
    ld a, $15
    ldh [NR10], a
    ld a, $80
    ldh [NR11], a
    ld a, $A2
    ldh [NR12], a
    xor a
    ldh [NR13], a
    ld a, $86
    ldh [NR14], a
    ld a, 5
    call AddPoints
    pop hl
    ret

; The thing at hl becomes a splash that drifts with the current for 16 frames. Keeps hl and b.
Burst:
    push hl
    ld [hl], SPLASH
    ld a, l
    add 7
    ld l, a
    ld [hl], 16
    pop hl
    ret

; a = what a pearl is worth: 1 to 4.
Multiplier:
    ld a, [Chain]
    srl a
    srl a
    srl a
    cp 3
    jr c, .growing
    ld a, 3
.growing:
    inc a
    ret

; Adds a, at most 9, to the score and its digits.
AddPoints:
    ld b, a
    ld hl, Score
    add [hl]
    ld [hl+], a
    jr nc, .digits
    inc [hl]
    jr nz, .digits
    dec [hl]                    ; it stays at its highest
    dec hl
    ld [hl], $FF
    cpl                         ; what is left to add: b less the sum's low byte less 1
    add b
    ld b, a
.digits:
    ld a, 1
    ld [BarChanged], a
    ld hl, Digits + 4
    ld c, 5
.digit:
    ld a, [hl]
    add b
    cp 10
    jr c, .last
    sub 10
    ld [hl-], a
    ld b, 1
    dec c
    ret z
    ld a, c
    cp 3                        ; a full hundred
    call z, AddHull
    jr .digit
.last:
    ld [hl], a
    ret

; Keeps hl, b and c.
AddHull:
    ld a, [Hulls]
    cp MOST_HULLS
    ret nc
    inc a
    ld [Hulls], a
    ret

; The thing at hl has stung. Keeps hl.
Hurt:
    call Burst
    ld a, SAFE
    ld [Safe], a
    ld a, 20
    ld [Shake], a
    xor a
    ld [Chain], a
    ldh [NR41], a
    inc a
    ld [BarChanged], a
    ld a, $F3
    ldh [NR42], a
    ld a, $63
    ldh [NR43], a
    ld a, $80
    ldh [NR44], a
    push hl
    ld hl, Hulls
    dec [hl]
    call z, EndGame
    pop hl
    ret

EndGame:
    ld a, 1
    ld [GameOver], a
    ld hl, Digits               ; is it the best so far?
    ld de, Best
    ld c, 5
.compare:
    ld a, [de]
    cp [hl]
    jr c, .better
    ret nz
    inc hl
    inc de
    dec c
    jr nz, .compare
    ret
.better:
    ld hl, Digits
    ld de, Best
    ld bc, 5
    jp Copy

; After the end the submarine goes down, and START begins a new game.
Sink:
    ld a, [Pressed]
    bit 3, a
    jp nz, NewGame
    ld hl, Shake
    ld a, [hl]
    or a
    jr z, .still
    dec [hl]
.still:
    ld hl, SubY
    ld a, [hl]
    cp BOTTOM
    ret nc
    inc [hl]
    ret

; Fills the object page: the submarine, then the things.
DrawThings:
    ld hl, Objects
    ld a, [GameOver]
    or a
    ld d, $40                   ; upside down
    jr nz, .sub
    ld d, $00
    ld a, [Safe]                ; it blinks while it is safe
    and 4
    jr z, .sub
    xor a
    ld [Objects], a
    ld [Objects + 4], a
    jr .things
.sub:
    ld a, [Frames]              ; the propeller turns
    and 4
    ld c, a
    ld a, [SubY]
    ld [hl+], a
    ld b, a
    ld a, [SubX]
    sub 8
    ld [hl+], a
    ld [hl], c
    inc l
    ld [hl], d
    inc l
    ld [hl], b
    inc l
    add 8
    ld [hl+], a
    ld a, c
    add 2
    ld [hl+], a
    ld [hl], d
.things:
    ld hl, Objects + 8
    ld de, Things
.next:
    ld a, [de]
    or a
    jr z, .none
    call DrawThing
    jr .on
.none:
    ld [hl], a                  ; y = 0: not on the screen
    ld a, l
    add 4
    ld l, a
    ld [hl], 0
    add 4
    ld l, a
.on:
    ld a, e
    add 8
    ld e, a
    cp low(ThingsEnd)
    jr nz, .next
    ret

; The objects at hl for the thing of kind a at de. hl = behind them, keeps de.
DrawThing:
    push de
    push hl
    dec a
    add a
    add a
    add low(Looks)
    ld l, a
    ld h, high(Looks)
    ld a, [Frames]
    and [hl]                    ; which frame of the animation
    inc l
    ld b, [hl]
    inc l
    jr z, .first
    ld a, [hl]
    add b
    ld b, a
.first:
    inc l
    ld c, [hl]                  ; b = tile, c = attributes
    pop hl
    ld a, e
    add 5
    ld e, a
    ld a, [de]
    ld [hl+], a                 ; y
    dec e
    dec e
    dec e
    ld a, [de]                  ; x of the middle
    bit 0, c
    jr nz, .narrow
    sub 8
    ld [hl+], a
    ld [hl], b
    inc l
    ld [hl], c
    inc l
    add 8
    push af
    ld a, e
    add 3
    ld e, a
    ld a, [de]
    ld [hl+], a                 ; y once more
    pop af
    ld [hl+], a
    ld a, b
    add 2
    ld [hl+], a
    ld [hl], c
    inc l
    pop de
    ret
.narrow:
    ld [hl+], a
    ld [hl], b
    inc l
    ld [hl], c
    inc l
    ld [hl], 0
    ld a, l
    add 4
    ld l, a
    pop de
    ret

; Animation bit of the frame count, tile, step to the second frame, attributes; the attribute's lowest
; bit, which this console ignores, marks what is one object wide.
    align 64
Looks:
    db $10, $80, 2, $01         ; pearl
    db $00, 28, 0, $00          ; starfish
    db $10, 8, 4, $10           ; jellyfish
    db $00, 16, 0, $10          ; urchin
    db $08, 20, 4, $10          ; eel
    db $04, $84, 2, $01         ; splash

; The two rows of the status bar.
DrawBar:
    ld hl, BarText
    ld de, Bar
    ld bc, 40
    call Copy
    ld hl, Digits
    ld de, Bar + 7
    call DrawDigits
    ld a, [Level]
    add '0'
    ld [Bar + 19], a
    ld a, [GameOver]
    or a
    jr nz, .over
    ld de, Bar + 26
    call DrawDigits             ; hl is at Best now
    call Multiplier
    add '0'
    ld [Bar + 34], a
    ld a, [Hulls]
    ld hl, Bar + 36
    or a
    ret z
.hull:
    ld [hl], '&'
    inc l
    dec a
    jr nz, .hull
    ret
.over:
    ld hl, OverText
    ld de, Bar + 20
    ld bc, 20
    jp Copy

; Five digits from hl as characters to de.
DrawDigits:
    ld b, 5
.digit:
    ld a, [hl+]
    add '0'
    ld [de], a
    inc de
    dec b
    jr nz, .digit
    ret

BarText:
    db "_SCORE_00000_LEVEL_1"
    db "_BEST_00000_%+1_____"
OverText:
    db "_GAME_OVER_HIT_START"

VBlank:
    push af
    push bc
    push de
    push hl
    call DRAW
    ld a, [WaveScroll]
    ldh [SCX], a
    ld a, [Shake]
    and 2
    ldh [SCY], a
    ld a, HILLS_LINE
    ldh [LYC], a
    ld hl, BarChanged
    ld a, [hl]
    or a
    jr z, .done
    ld [hl], 0
    ld hl, Bar
    ld de, BAR
    ld b, 20
.upper:
    ld a, [hl+]
    ld [de], a
    inc e
    dec b
    jr nz, .upper
    ld e, 32
    ld b, 20
.lower:
    ld a, [hl+]
    ld [de], a
    inc e
    dec b
    jr nz, .lower
.done:
    ld a, 1
    ld [FrameDone], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; At HILLS_LINE the hills' scroll, at BED_LINE the sea bed's.
Split:
    push af
    ldh a, [LYC]
    cp HILLS_LINE
    jr nz, .bed
    ld a, [HillScroll]
    ldh [SCX], a
    ld a, BED_LINE
    ldh [LYC], a
    pop af
    reti
.bed:
    ld a, [BedScroll]
    ldh [SCX], a
    pop af
    reti

; Copied to high RAM, the only memory in reach while the object page is copied.
DrawRoutine:
    ld a, high(Objects)
    ldh [DMA], a
    ld a, 40
.wait:
    dec a
    jr nz, .wait
    ret
DrawRoutineEnd:

; Zeroes bc bytes at hl.
Clear:
    xor a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, Clear
    ret

; Copies bc bytes from hl to de.
Copy:
    ld a, [hl+]
    ld [de], a
    inc de
    dec bc
    ld a, b
    or c
    jr nz, Copy
    ret

; The same, light and dark exchanged: letters are drawn dark here and shown light on the dark bar.
CopyInverted:
    ld a, [hl+]
    cpl
    ld [de], a
    inc de
    dec bc
    ld a, b
    or c
    jr nz, CopyInverted
    ret

    align 64
Wave:                           ; fourteen pixels up and down
    db 0, 1, 3, 4, 5, 7, 8, 9, 10, 11, 12, 12, 13, 13, 14, 14
    db 14, 14, 14, 13, 13, 12, 12, 11, 10, 9, 8, 7, 5, 4, 3, 1
    db 0, -1, -3, -4, -5, -7, -8, -9, -10, -11, -12, -12, -13, -13, -14, -14
    db -14, -14, -14, -13, -13, -12, -12, -11, -10, -9, -8, -7, -5, -4, -3, -1
Slopes:                         ; from pearl to pearl of a string
    db 0, 0, 4, -4, 8, -8, 11, -11
Pauses:                         ; between what stings, by level
    db 72, 62, 54, 47, 41, 36, 32, 28, 25

; The sea, 256 pixels around. Characters are tile numbers.
Map:
    db "--,,-,--,-,,-,-,--,-,,-,--,-,-,,"
    db "                                "
    db "         o                      "
    db "                          o     "
    db "    c                           "
    db "   c      /`                    "
    db "         /$#`        c  /`      "
    db "  /`    /$##!`      c  /$#`     "
    db " /$#`  /##$#!#`   /`  /$##!`    "
    db "/$##!`/#$###!#!` /$#`/##$#!#`   "
    db "################################"
    db "#######l#############l####l#####"
    db "#l#####k##a###l#l####k####k#a###"
    db "#k#()##k##b*##k#k#()#k()*#k#b#*#"
    db "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
    db "nn.nnnnn.nnnnn.nnn.nnnnnn.nnn.nn"
    db "nn.nnnnn.nnnnn.nnn.nnnnnn.nnn.nn"   ; below the bar, which only a shake lifts the sea above
MapEnd:

; The creatures, 8x16 objects: tiles 0 to 31.
Creatures:
    art tall                    ; the submarine, its propeller turning
    ................................
    ........##..............##......
    .......#oo#............#oo#.....
    .......#o##............#o##.....
    ......##o###..........##o###....
    ....##::::::##......##::::::##..
    #..#::::::::::#..#.#::::::::::#.
    ##.#:###:###::##.#.#:###:###::##
    .###:#o#:#o#:::#.###:#o#:#o#:::#
    ##.#:###:###::##.#.#:###:###::##
    #..#o::::::::o#..#.#o::::::::o#.
    ....##oooooo##......##oooooo##..
    ......######..........######....
    ................................
    ................................
    ................................
    endart
    art tall                    ; the jellyfish
    .....######.....................
    ...##:::::o##........######.....
    ..#:::::::::o#.....##:::::o##...
    .#:::::::::::o#...#:::::::::o#..
    .#::##:::##::o#..#::##:::##::o#.
    .#::##:::##::o#..#::##:::##::o#.
    .#:::::::::::o#.#::::::::::::oo#
    .#o:::o::::o:o#.#o:::o::::o:::o#
    ..##oo##oo##o##..###oo##oo##o##.
    ...#..#..#..#.....#...#..#...#..
    ...#..#..#..#.....#...#..#...#..
    ..#..#..#..#.......#..#..#..#...
    ..#..#..#..#.......#...#.#..#...
    ...#..#..#..#.....#...#...#..#..
    ...#..#..#..#.....#..#....#..#..
    ....#..#..#.....................
    endart
    art tall                    ; the urchin, the eel, the starfish
    .......#........................................................
    .#.....#.....#.........................................##.......
    ..#....#....#.........................................#::#......
    ...#..###..#..........................................#::#......
    ....##ooo##...........######..........######.........#::::#.....
    ....#ooooo#.........##oooooo##.#....##oooooo##..######::::######
    ...#o::oooo#......##o::ooooooo##..##o::ooooooo###::::::::::::::#
    ####o::oooo####..#oo:#oooooooo##.#oo:#oooooooo##.##::#::::#::##.
    ...#ooooooo#....#oooooooooooo####ooooooooooooo##...#::::::::#...
    ....#ooooo#......#:#:#oooooooo###:#:##oooooooo##...#::o##o::#...
    ....##ooo##.......#::::::oooo###.#::::::oooo####..#::::::::::#..
    ...#..###..#.......##::::::##..#..##:::::::##.##..#::::##::::#..
    ..#....#....#........######..........######......#::###..###::#.
    .#.....#.....#...................................###........###.
    .......#........................................................
    ................................................................
    endart
CreaturesEnd:

; Tiles $80 to $87.
Pearls:
    art tall                    ; a pearl, its shine, a splash
    ................................
    ................................
    ................................
    ..............#.................
    ..####....####.....#....#..o..#.
    .#::::#..#::::#..#...#...o...o..
    #::::::##:oo:::#................
    #:::::o##:o::::##..o..#.o.....o.
    #::::oo##:::::o#................
    #o::ooo##::::oo#.#...#...o...o..
    .#oooo#..#:ooo#....#....#..o..#.
    ..####....####..................
    ................................
    ................................
    ................................
    ................................
    endart
PearlsEnd:

; Water, hills, rocks, waves; the pearl, hull and times signs of the bar.
Scenery:
    art                         ; $20: . ! . # $ % & .
    ........::::::::........::::::::::::::::################........
    ........:::::o::........::::::::::.:::::##....###..#..##........
    ........::::::::........::::::::::::::::#......##.....##........
    ........::o:::::........::::::::::::::.:#.....:##.....##........
    ........::::::o:........::::::::::::::::#....::###...###........
    ........::::::::........:::::::::.::::::#...:::####.####........
    ........:::o::::........::::::::::::.:::##.:::##########........
    ........::::::::........::::::::::::::::################........
    endart
    art                         ; $28: ( ) * + , - . /
    ::::::::::::::::::::::::########oooooooooooooooooooooooo.......:
    :::::#####:::::::#:::#::########:::oo:::o::::ooooooooooo......::
    :::##oo:oo##:::::#:#:#:##.###.##.:::::..::..::::oo#ooooo.....:::
    ::#oo::ooooo#:::::##:##:##.#.###................ooooo:oo....::::
    :#oo:oooooooo#:::::###::###.####................ooooo:oo...:::::
    :#ooooooo#ooo#::::#.#.#:##.#.###.::::........:::o#oooooo..::::::
    #ooooooooooooo#:::#####:#.###.##........::......oooooooo.:::::::
    #ooooo#ooo#oooo#:###############................oooo#ooo::::::::
    endart
SceneryEnd:

; Digits and letters; the last one is the bar's empty space.
Letters:
    art                         ; $30: 0 1 2 3 4 5 6 7
    ................................................................
    ..###......#......###....####.......#....#####.....##....#####..
    .#...#....##.....#...#.......#.....##....#........#..........#..
    .#..##.....#.........#.......#....#.#....####....#..........#...
    .#.#.#.....#.......##.....###....#..#........#...####......#....
    .##..#.....#......#..........#...#####.......#...#...#....#.....
    .#...#.....#.....#...........#......#....#...#...#...#....#.....
    ..###.....###....#####...####.......#.....###.....###.....#.....
    endart
    art                         ; $38: 8 9 . . . . . .
    ................................................................
    ..###.....###...................................................
    .#...#...#...#..................................................
    .#...#...#...#..................................................
    ..###.....####..................................................
    .#...#.......#..................................................
    .#...#......#...................................................
    ..###.....##....................................................
    endart
    art                         ; $40: . A B C D E F G
    ................................................................
    ..........###....####.....####...####....#####...#####....####..
    .........#...#...#...#...#.......#...#...#.......#.......#......
    .........#...#...#...#...#.......#...#...#.......#.......#......
    .........#####...####....#.......#...#...####....####....#..##..
    .........#...#...#...#...#.......#...#...#.......#.......#...#..
    .........#...#...#...#...#.......#...#...#.......#.......#...#..
    .........#...#...####.....####...####....#####...#........####..
    endart
    art                         ; $48: H I J K L M N O
    ................................................................
    .#...#....###......###...#...#...#.......#...#...#...#....###...
    .#...#.....#........#....#..#....#.......##.##...##..#...#...#..
    .#...#.....#........#....#.#.....#.......#.#.#...#.#.#...#...#..
    .#####.....#........#....##......#.......#.#.#...#..##...#...#..
    .#...#.....#........#....#.#.....#.......#...#...#...#...#...#..
    .#...#.....#.....#..#....#..#....#.......#...#...#...#...#...#..
    .#...#....###.....##.....#...#...#####...#...#...#...#....###...
    endart
    art                         ; $50: P Q R S T U V W
    ................................................................
    .####.....###....####.....####...#####...#...#...#...#...#...#..
    .#...#...#...#...#...#...#.........#.....#...#...#...#...#...#..
    .#...#...#...#...#...#...#.........#.....#...#...#...#...#...#..
    .####....#...#...####.....###......#.....#...#...#...#...#.#.#..
    .#.......#.#.#...#.#.........#.....#.....#...#...#...#...#.#.#..
    .#.......#..#....#..#........#.....#.....#...#....#.#....##.##..
    .#........##.#...#...#...####......#......###......#.....#...#..
    endart
    art                         ; $58: X Y Z . . . . .
    ................................................................
    .#...#...#...#...#####..........................................
    .#...#...#...#.......#..........................................
    ..#.#.....#.#.......#...........................................
    ...#.......#.......#............................................
    ..#.#......#......#.............................................
    .#...#.....#.....#..............................................
    .#...#.....#.....#####..........................................
    endart
LettersEnd:

; Corals, kelp, sand, bubbles, far fish.
Plants:
    art                         ; $60: ` a b c . . . .
    :.......:::::::::::#o#::........................................
    ::......:##::##:##:#o#::........................................
    :::.....#oo##oo##o##o#::..::..:.................................
    ::::....#oo#:#o#:#ooo#::.::::::.................................
    :::::...:#o###o#::##o#:::::::::.................................
    ::::::..::#ooo#::::#o#::.::::::.................................
    :::::::.:::#o#::::##o##:..::..:.................................
    :::::::::::#o#:::#ooooo#........................................
    endart
    art                         ; $68: . . . k l m n o
    ........................::#oo#::::::::::::::::::oooooooo.....::.
    ........................::#o#::::::#:::::::###::oooo:ooo....:..:
    ........................:#oo#:::::#o#:::###ooo##oooooooo....:..:
    ........................:#o#::::::#o#:::ooooooooo#oooooo.....::.
    ........................::#o#::::::#o#::ooo:oooooooooooo.::.....
    ........................::#oo#:::::#oo#:oooooooooooooo#o:..:....
    ........................:::#o#::::#oo#::ooooooo#ooo:oooo:..:..::
    ........................:::#oo#:::#o#:::o#oooooooooooooo.::...::
    endart
PlantsEnd:
