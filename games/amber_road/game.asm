; AMBER_ROAD: a game for the Color. A sled races the setting sun along an old trade road. Amber that
; lies on it holds sunlight and makes the day longer, and so does each gate; when the sun is gone, or
; the sled is broken, the game is over.
;
; A drives, B brakes, LEFT and RIGHT steer; bends carry the sled outwards, beside the road it is slow.
;
; C000-C001  score, low byte first
; C002       planks of the sled that are whole, 4 at first, 5 at most
; C003       game over: 0 playing, 1 over
; C004       leg of the way, from 1 on
; C005       0 title, 1 play, 2 over
; C006       place across the road: 128 its middle, 64 and 192 its edges
; C007       speed, 0 to 224: in 64 frames the sled covers so many units
; C008-C009  units covered / 64 in this game
; C00A-C00B  buttons held, pressed: A B SELECT START in bits 0-3, right left up down in 4-7
; C00C-C00D  random state: the level seed while a game is played
; C00E       light left: C016 and C015 / 16
; C00F       games begun since power-on
; C010       bend of the road here, signed: positive to the right
; C011       bend of the road behind the next C012 units
; C013-C014  units left until the gate
; C015-C016  frames of light left
; C017       frames until the sled is steered again after a crash
; C018       frames for which nothing breaks
; C100-C14F  ten things, eight bytes each: kind (0 none, 1 plant, 2 wagon, 3 boulder, 4 amber, 5 gate),
;            speed, z / 100, z (units ahead), place across the road (signed), 1 when it was met, line
;            below the horizon, class of size
;
; The frame, at double speed: every line's HBlank interrupt brings the scroll and four colors of the
; next one (road.inc, sky.inc). In the first HBlanks of a picture, DMA brings the sled's tiles, or what
; grows beside the road of the next leg.

    title "AMBER ROAD"
    model color
    cartridge mbc5
    banks 4

PLANKS      equ 4
MOST_PLANKS equ 5
FIRST_LIGHT equ 3300
MOST_LIGHT  equ 4080
TITLE_LIGHT equ 2560            ; with no more, the sun stands below the name
AMBER_LIGHT equ 20
TOP_SPEED   equ 224
LAND_SPEED  equ 72              ; beside the road
CRASH_TIME  equ 36              ; frames
SAFE        equ 110
EDGE        equ 68              ; where the land begins
BANK        equ $2000           ; the cartridge's switch

    org $0040
    jp PictureEnd
    org $0048
    jp LineEnd
    org $0150
    include "game/memory.inc"
    include "game/video.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/level.inc"
    include "game/variant.inc"
    include "game/objects.inc"
    include "game/sound.inc"
    include "game/text.inc"
    include "game/logo.inc"

    ram $C00E
Light:      ds 1
    ram $C010
Bend:       ds 1
NextBend:   ds 1
BendLeft:   ds 1
LegLeft:    ds 2
LightFrames: ds 2
Crash:      ds 1
Safe:       ds 1
Clock:      ds 1                ; frames of the program
Lane:       ds 2                ; across the road: 1/256 and signed parts
Step:       ds 2                ; this frame's way: 1/256 and units
Moved:      ds 1                ; whole units of it
Position:   ds 2                ; on the road: 1/256 and the low byte of units
Covered:    ds 1                ; units since the last point
TrafficLeft: ds 1               ; units until something is put on the road
PlantLeft:  ds 1
PlantSide:  ds 1
AmberRow:   ds 1                ; pieces left of a row of amber
AmberLane:  ds 1
Bends:      ds 1                ; drawn in this game, of the way and of what lies on it and beside it
Traffic:    ds 1
Plants:     ds 1
Lean:       ds 1                ; of the sled: $FE to 2
HillScroll: ds 2
BarPart:    ds 1                ; of the status bar, drawn last
MessageRow: ds 1                ; row of the message to be printed next, 3 when none
Message:    ds 2
MessageTime: ds 1               ; frames until the message goes
Stream:     ds 2                ; tiles of plants to be brought, 0 none
Best:       ds 2
SunRises:   ds 1                ; on the title: 0 it sinks, 1 it rises
    ram $C100
Things:     ds 80
ThingsEnd:
    rom

Start:
    di
    ld sp, STACK
    call ScreenOff
    call DoubleSpeed
    ld a, 1
    ldh [VBK], a
    ld hl, VRAM
    ld bc, $2000
    call Clear
    xor a
    ldh [VBK], a
    call ClearMemory
    call InitObjects
    call SeedRandom
    call SoundInit
    ld a, 1
    ld [BANK], a
    call LoadScene
    call ShowTitle

Main:
    call NextFrame
    call DrawBar                ; while VBlank lasts: the queue keeps interrupts waiting
    call EndVBlank
    call ReadButtons
    call StirBetweenGames
    call SoundFrame
    ld hl, Clock
    inc [hl]
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
    call BuildLines
    call PaintColors
    call DrawScene
    jr Main
CallHl:
    jp hl

States:
    dw Title, Play, Over

; The seed of all chance.
Seed:
    dw $7A31

; Changes the CPU's clock, if it is not fast already. Pan Docs "FF4D - KEY1/SPD".
DoubleSpeed:
    ldh a, [KEY1]
    rlca
    ret c
    xor a
    ldh [IE], a
    ldh [IF], a
    ld a, $30
    ldh [P1], a
    ld a, 1
    ldh [KEY1], a
    stop 0
    ret

; The sled drives by itself; the sun sets and rises by turns.
Title:
    ld hl, LightFrames
    ld de, -5
    ld a, [SunRises]
    or a
    jr z, .move
    ld de, 5
.move:
    ld a, [hl]
    add e
    ld [hl+], a
    ld c, a
    ld a, [hl]
    adc d
    ld [hl], a
    ld b, a
    or c
    jr z, .turn
    ld a, b
    cp high(TITLE_LIGHT)
    jr nz, .light
    ld a, c
    cp low(TITLE_LIGHT)
    jr nz, .light
.turn:
    ld hl, SunRises
    ld a, [hl]
    xor 1
    ld [hl], a
.light:
    call SetLight
    ld a, 150
    ld [PlayerY], a
    call Roll
    call KeepBend
    ld a, [MessageTime]
    dec a
    ld [MessageTime], a
    jr nz, .start
    ld a, 40
    ld [MessageTime], a
    ld a, [PlantSide]           ; blinks
    cpl
    ld [PlantSide], a
    or a
    ld hl, NoText
    jr z, .show
    ld hl, PressText
.show:
    call ShowMessage
    ld a, 2                     ; the name is in the other rows
    ld [MessageRow], a
.start:
    ld a, [Pressed]
    bit BUTTON_START, a
    ret z

; A new game, from the title or after the end. The screen is off until all of its picture is there.
NewGame:
    call ScreenOff
    xor a                       ; printing lets interrupts come
    ldh [IE], a
    ld hl, Score
    ld bc, 2
    call Clear
    ld [GameOver], a
    ld [Progress], a
    ld [Progress + 1], a
    ld [PlayerY], a
    ld [Crash], a
    ld [Lane], a
    ld [Lane + 1], a
    ld [Bend], a
    ld [NextBend], a
    ld [Covered], a
    ld [AmberRow], a
    ld [Bends], a
    ld [Traffic], a
    ld [Plants], a
    ld hl, Things
    ld bc, ThingsEnd - Things
    call Clear
    ld a, PLANKS
    ld [Lives], a
    ld a, 1
    ld [Level], a
    ld a, 250
    ld [BendLeft], a
    ld a, 120
    ld [TrafficLeft], a
    ld a, SAFE
    ld [Safe], a
    ld hl, LightFrames
    ld a, low(FIRST_LIGHT)
    ld [hl+], a
    ld [hl], high(FIRST_LIGHT)
    ld hl, Games
    inc [hl]
    call BeginVariant
    ld a, STATE_PLAY
    ld [State], a
    ld hl, DriveTune
    call PlayTune
    call BeginLeg
    call SetLight
    call PaintAll
    call BuildLines
    ld b, 3 + BAR_PARTS         ; three rows of the message, then the bar
.text:
    push bc
    call DrawBar
    pop bc
    dec b
    jr nz, .text
    jp ShowScene

Play:
    call Steer
    call Roll
    call CoverWay
    call CountMessage           ; before a crash, whose message stays
    call MoveThings
    call SpawnThings
    ld hl, LightFrames
    ld a, [hl]
    sub 1
    ld [hl+], a
    ld c, a
    ld a, [hl]
    sbc 0
    ld [hl], a
    or c
    call z, EndByNight
SetLight:
    ld hl, LightFrames          ; a sixteenth of it
    ld a, [hl+]
    and $F0
    ld c, a
    ld a, [hl]
    and $0F
    or c
    swap a
    ld [Light], a
    ret

Over:
    ld hl, PlayerY
    ld a, [hl]
    sub 2
    jr nc, .speed
    xor a
.speed:
    ld [hl], a
    call Roll
    call MoveThings
    ld a, [Pressed]
    bit BUTTON_START, a
    ret z
    jp NewGame

EndByNight:
    ld hl, NightText
    jr EndGame
EndByCrash:
    ld hl, WreckText
EndGame:
    push hl
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
    jr nz, .message
    dec e
    dec l
    ld a, [de]
    cp [hl]
    jr nc, .message
.better:
    ld hl, Score
    ld a, [hl+]
    ld [Best], a
    ld a, [hl]
    ld [Best + 1], a
.message:
    pop hl
    jr ShowMessage

; Three rows of text in the sky, a row in each frame. hl = the text.
ShowMessage:
    ld a, l
    ld [Message], a
    ld a, h
    ld [Message + 1], a
    xor a
    ld [MessageRow], a
    ret

; In play a message goes after its time.
CountMessage:
    ld hl, MessageTime
    ld a, [hl]
    or a
    ret z
    dec [hl]
    ret nz
    ld hl, NoText
    jr ShowMessage

; Adds a to the score. Changes a and hl.
AddScore:
    ld hl, Score
    add [hl]
    ld [hl+], a
    ret nc
    inc [hl]
    ret nz
    dec [hl]                    ; it stays at its highest
    dec hl
    ld [hl], $FF
    ret

    include "amber_road/road.inc"
    include "amber_road/sky.inc"
    include "amber_road/things.inc"
    include "amber_road/draw.inc"
    include "amber_road/legs.inc"
    include "amber_road/perspective.inc"

    bank 1
    include "amber_road/music.inc"
    align 16
    include "amber_road/roadside.inc"
    include "amber_road/sled.inc"

    bank 2
    include "amber_road/figures.inc"
    include "amber_road/ground.inc"
