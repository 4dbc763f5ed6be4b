; LANTERN_WING: a game. A glider with a lantern crosses a sea of stars, and everything that loves
; light comes: shoot it, gather the oil it drops, and put out the queen behind each third sector.
;
; A fires while it is held, B burns a flare: all shots vanish and everything that flies is hurt. Oil
; makes the lantern brighter, up to three; a hit costs a life and the brightness. Each 500 points
; bring a life.
;
; C000-C001  score, low byte first
; C002       lives left, 3 at first, 9 at most
; C003       game over: 0 playing, 1 over
; C004       sector, 1 to 9
; C005       0 title, 1 play, 2 over, 3 on the way to a sector
; C006-C007  glider: x + 8 and y + 16 of its upper left corner, 16 to 120 and 18 to 124
; C008-C009  waves begun in this game
; C00A-C00B  buttons held, pressed: A B SELECT START in bits 0-3, right left up down in 4-7
; C00C-C00D  random state: the level seed while a game is played
; C00E       flares left
; C00F       games begun since power-on
; C010       brightness of the lantern, 1 to 3
; C011       frames for which nothing can hurt
; C012       frames since the glider was hit, 0 while it flies
; C013       strength of the queen, 0 while there is none
; C014-C015  queen: x + 8 and y + 16 of her upper left corner
; C100-C19F  ten that fly, sixteen bytes each: kind (0 none, 1 moth, 2 beetle, 3 wasp, 4 pod, 5 oil,
;            6 burst), strength, x / 100, x + 8, y / 100, y + 16 and what the game needs to fly them
; C1A0-C1B7  six bolts, four bytes each: strength (0 none), x + 8, y + 16
; C200-C25F  twelve shots, eight bytes each: 1 or 0 none, x / 100, x + 8, y / 100, y + 16, speeds
;
; The frame: every row of stars has a scroll of its own, set by an LYC interrupt every eight lines.
; On the way to a sector an HBlank interrupt bends each line.

    title "LANTERN WING"

STATE_WARP equ 3

DAY         equ 1               ; variants: a white sky, waves that follow each other sooner
FAST        equ 2

LIVES       equ 3
MOST_LIVES  equ 9
FLARES      equ 2
BRIGHTEST   equ 3
SAFE        equ 120             ; frames of mercy
LAST_SECTOR equ 9
WAVES       equ 8               ; in a sector
LIFE_POINTS equ 500

    org $0040
    jp VBlank
    org $0048
    jp Stat
    org $0150
    include "game/memory.inc"
    include "game/video.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/level.inc"
    include "game/chance.inc"
    include "game/variant.inc"
    include "game/objects.inc"
    include "game/sound.inc"
    include "game/text.inc"
    include "game/logo.inc"

    ram $C00E
Flares:     ds 1
    ram $C010
Bright:     ds 1
Safe:       ds 1
Hit:        ds 1
QueenHp:    ds 1
QueenX:     ds 1
QueenY:     ds 1
Clock:      ds 1                ; frames of the program
Timer:      ds 1                ; frames of the state at hand
FireDelay:  ds 1
Flash:      ds 1                ; frames of a flare's light
NextLife:   ds 2                ; points
BarPart:    ds 1                ; of the status bar, drawn last
WavesLeft:  ds 1                ; of the sector
WaveAt:     ds 2                ; its row in Waves
WaveCount:  ds 1                ; of the wave, that are still to come
WaveTimer:  ds 1                ; until the next of them, or the next wave
WaveY:      ds 1
QueenStep:  ds 1                ; 1 if she moves down, $FF up
QueenTimer: ds 1                ; until her next attack
QueenTurn:  ds 1                ; attacks so far
QueenFlash: ds 1
QueenDying: ds 1                ; frames since she went out
Best:       ds 2
    ram $C100
Swarm:      ds 160
Bolts:      ds 24
    ram $C200
Shots:      ds 96
ShotsEnd:
    ram $C300
RowScroll:  ds 16               ; SCX of each row of tiles
    ram $C320
Wobble:     ds 32               ; SCX of lines on the way to a sector
RowPlace:   ds 32               ; 1/256 and pixels of each row
    rom

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    call SeedRandom
    call SoundInit
    ld hl, VRAM + BOX * 16
    ld b, $FF
    call LoadFont
    ld hl, Sprites
    ld de, VRAM + SHIP * 16
    ld bc, SpritesEnd - Sprites
    call Copy
    ld hl, Stars
    ld de, VRAM
    ld bc, StarsEnd - Stars
    call Copy
    ld a, %11100100
    ldh [BGP], a
    ld a, %10010000             ; on the black sky the darkest of an object is dark grey
    ldh [OBP0], a
    xor a                       ; flashes are white
    ldh [OBP1], a
    ld a, 7
    ldh [WX], a
    call ShowTitle

Main:
    call NextFrame
    ld a, [State]               ; both while VBlank lasts: the queue keeps interrupts waiting, and
    or a                        ; scrolls must not change in the middle of a picture
    call nz, DrawBar
    call ScrollStars
    call EndVBlank
    call ReadButtons
    call StirBetweenGames
    call SoundFrame
    ld hl, Clock
    inc [hl]
    call BeginObjects
    ld a, [State]
    add a
    ld e, a
    ld d, 0
    ld hl, States
    add hl, de
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    call CallHl
    call EndObjects
    jr Main
CallHl:
    jp hl

States:
    dw Title, Play, Over, Warp

; The seed of all chance.
Seed:
    dw $C96B

Title:
    ld a, [Clock]
    and $1F
    jr nz, .objects
    ld a, [Clock]
    bit 5, a
    ld hl, PressText
    jr z, .print
    ld hl, NoText
.print:
    ld de, $9800 + 10 * 32 + 4
    call PrintText
.objects:
    call DrawTitleObjects
    ld a, [Pressed]
    bit BUTTON_START, a
    ret z

; A new game, from the title or after the end.
NewGame:
    ld hl, Score
    ld bc, 2
    call Clear
    ld [GameOver], a
    ld [Progress], a
    ld [Progress + 1], a
    ld [Hit], a
    ld [FireDelay], a
    call BeginVariant
    ld a, [Variant]
    bit DAY, a
    ld a, %00011011
    jr nz, .sky
    ld a, %11100100
.sky:
    ldh [BGP], a
    ld a, %01101100
    jr nz, .objects
    ld a, %10010000
.objects:
    ldh [OBP0], a
    ld a, LIVES
    ld [Lives], a
    ld a, FLARES
    ld [Flares], a
    ld a, 1
    ld [Level], a
    ld [Bright], a
    ld hl, NextLife
    ld a, low(LIFE_POINTS)
    ld [hl+], a
    ld [hl], high(LIFE_POINTS)
    ld hl, Games
    inc [hl]
    ld a, 40
    ld [PlayerX], a
    ld a, 72
    ld [PlayerY], a
    jp BeginWarp

Play:
    call FlyShip
    call MoveBolts
    call NextWave
    call MoveSwarm
    call MoveShots
    call MoveQueen
    ld a, [State]
    cp STATE_PLAY
    ret nz
    jp DrawObjects

Over:
    call MoveSwarm
    call MoveShots
    call DrawObjects
    ld a, [Pressed]
    bit BUTTON_START, a
    ret z
    jp NewGame

EndGame:
    ld a, STATE_OVER
    ld [State], a
    ld a, 1
    ld [GameOver], a
    call StopTune
    ld a, EFFECT_OVER
    call PlayEffect
    ld hl, Score + 1
    ld de, Best + 1
    ld a, [de]
    cp [hl]
    jr c, .better
    jr nz, .print
    dec e
    dec l
    ld a, [de]
    cp [hl]
    jr nc, .print
.better:
    ld hl, Score
    ld a, [hl+]
    ld [Best], a
    ld a, [hl]
    ld [Best + 1], a
.print:
    ld de, $9800 + 5 * 32 + 4
    ld bc, $0C05
    call PrintBox
    ld hl, OverText
    ld de, $9800 + 6 * 32 + 5
    call PrintText
    ld hl, Best
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld de, $9800 + 7 * 32 + 10
    ld bc, $0500 + '0'
    jp PrintNumber

; Adds a to the score; enough of it brings a life. Keeps hl.
AddScore:
    push hl
    ld hl, Score
    add [hl]
    ld [hl+], a
    jr nc, .compare
    inc [hl]
    jr nz, .compare
    dec [hl]                    ; it stays at its highest
    dec hl
    ld [hl], $FF
    jr .done
.compare:
    ld hl, NextLife + 1
    ld a, [Score + 1]
    cp [hl]
    jr c, .done
    jr nz, .life
    dec hl
    ld a, [Score]
    cp [hl]
    jr c, .done
.life:
    ld hl, NextLife
    ld a, [hl]
    add low(LIFE_POINTS)
    ld [hl+], a
    ld a, [hl]
    adc high(LIFE_POINTS)
    ld [hl], a
    ld hl, Lives
    ld a, [hl]
    cp MOST_LIVES
    jr nc, .done
    inc [hl]
    ld a, EFFECT_LIFE
    call EffectKeeping
.done:
    pop hl
    ret

; PlayEffect that keeps all registers but a.
EffectKeeping:
    push bc
    push de
    push hl
    call PlayEffect
    pop hl
    pop de
    pop bc
    ret

    include "lantern_wing/ship.inc"
    include "lantern_wing/swarm.inc"
    include "lantern_wing/queen.inc"
    include "lantern_wing/stars.inc"
    include "lantern_wing/draw.inc"

    bank 1
    include "lantern_wing/waves.inc"
    include "lantern_wing/music.inc"
    include "lantern_wing/sprites.inc"
    include "lantern_wing/worlds.inc"
