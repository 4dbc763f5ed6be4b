; KEEP_OF_KEYS: a game. Three floors of a keep, 27 rooms: find the keys, open the doors, take the great
; key to the gate, and keep out of the way of guards, hounds, bats, blades and spikes.
;
; A key opens any one door of its floor. The lantern (A) dazzles all creatures of a room for a while;
; it burns a flask of oil. Three hearts, each hit costs one; each new floor gives a heart and a
; flask. START begins, at the title and after the end.
;
; C000-C001  score: gem 10, heart or flask 5, key 25, door 50, great key 100, gate 200, the end 500
; C002       hearts left: 3 at first, 4 at most
; C003       game over: 0 playing, 1 over, by the last heart or by the last gate
; C004       floor, 1 to 3
; C005       0 title, 1 play, 2 over, 3 on the way to the next room or floor
; C006-C007  hero: x and y of the upper left corner in the room, 0 to 144 and 0 to 112
; C008-C009  rooms of this floor seen so far, a bit each
; C00A-C00D  buttons held, buttons pressed, random state
; C00E       frames for which nothing can hurt
; C00F       games begun since power-on
; C010       keys, C011 1 with the great key, C012 flasks of oil
; C013       room, C014 rooms in a row of the floor
; C015       the hero looks 0 right, 1 left, 2 up, 3 down; C016 pixels until the next place
; C017       frames for which creatures are dazzled
; C018       spikes: 0 down, 1 half up, 2 up; C019 their beat
; C01A       1 when the game is won
; C020-C05F  eight creatures, eight bytes each: kind (0 none, 16 guard, 17 hound, 18 bat, 19 and 20
;            blade), x, y, direction, pixels left, speed / 16, rest of speed, unused
; C100-C4BF  rooms of the floor, 80 bytes each, row by row: the kinds below

    title "KEEP OF KEYS"

FLOOR       equ 0               ; kinds of places
SPIKES      equ 1
KEY         equ 2
GREAT_KEY   equ 3
GEM         equ 4
HEART       equ 5
FLASK       equ 6
RUG         equ 7
WALL        equ 8               ; from here on nobody walks
WALL_FRONT  equ 9               ; only a picture, but in the title
TORCH       equ 10
PILLAR      equ 11
WATER       equ 12
DOOR        equ 13
GATE        equ 14
NIGHT       equ 15
GUARD       equ 16              ; from here on floor, where a creature begins
HOUND       equ 17
BAT         equ 18
BLADE       equ 19
BLADE_DOWN  equ 20

STATE_SCROLL equ 3
FAST        equ 1               ; variant: creatures are twice as fast
HEARTS      equ 3
MOST_HEARTS equ 4
MERCY       equ 90              ; frames after a hit
DAZZLE      equ 180
BAR         equ $9C00
BAR_Y       equ 128
SCENERY     equ $80             ; first tile
LOGO        equ $C0
LETTERS     equ 11              ; of the name

; hl = table \1 + a. Changes a.
macro index
    add low(\1)
    ld l, a
    adc high(\1)
    sub l
    ld h, a
endm

    org $0040
    jp VBlank
    org $0048                   ; the picture begins
    reti

    org $0150
    include "game/memory.inc"

    ram $C00E
Mercy:      ds 1
    ram $C010
Keys:       ds 1
HasGreatKey: ds 1
Oil:        ds 1
Room:       ds 1
FloorWidth: ds 1
HeroDir:    ds 1
HeroLeft:   ds 1
Dazzled:    ds 1
SpikePhase: ds 1
Beat:       ds 1
Won:        ds 1
    ram $C020
Creatures:  ds 64
CreaturesEnd:
RoomBase:   ds 2                ; address of the room's places
FloorRooms: ds 1
Pairs:      ds 1                ; of blocks that are still to be swapped
OriginX:    ds 1                ; the room's first column and row on the background map
OriginY:    ds 1
ScrollStep: ds 1
Wish:       ds 1                ; direction of the direction pad pressed last
Clock:      ds 1
BarChanged: ds 1
Message:    ds 2
MessageTime: ds 1
BarShows:   ds 1                ; 1 if the lower row is a message
Flash:      ds 1                ; frames of light by the lantern
Kind:       ds 1                ; the creature at hand, as in Creatures
CreatureX:  ds 1
CreatureY:  ds 1
Dir:        ds 1
Left:       ds 1
Speed:      ds 1
Rest:       ds 1
            ds 1
Tiles:      ds 20               ; a row or column on its way to the queue
    ram $C100
Map:        ds 960
    rom

    include "game/video.inc"
    include "game/objects.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/level.inc"
    include "game/chance.inc"
    include "game/variant.inc"
    include "game/text.inc"
    include "game/logo.inc"

Seed:       dw $4B1D            ; all chance of the game begins here

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    call InitPictureStart
    call SeedRandom
    call SoundInit
    call LoadTiles
    ld a, %11100100
    ldh [OBP1], a
    ld a, %11010000             ; the hero is bright
    ldh [OBP0], a
    ld a, 7
    ldh [WX], a
    call ShowTitle

Main:
    call NextFrame
    call SoundFrame
    call EndVBlank
    call ReadButtons
    call StirBetweenGames
    ld hl, Clock
    inc [hl]
    call RunState
    jr Main

RunState:
    ld a, [State]
    add a
    index States
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    jp hl
States:
    dw TitleFrame, PlayFrame, OverFrame, ScrollFrame

LoadTiles:
    ld hl, $9000 + BOX * 16     ; the background takes tiles 0 to $7F from $9000
    ld b, $FF
    call LoadFont
    ld hl, IconTiles
    ld de, $9000 + 16
    ld bc, 16
    call Copy
    ld hl, SceneryTiles
    ld de, $8000 + SCENERY * 16
    ld bc, SceneryTilesEnd - SceneryTiles
    call Copy
    ld hl, FigureTiles
    ld de, $8000
    ld bc, FigureTilesEnd - FigureTiles
    jp Copy

ShowTitle:
    call ScreenOff
    ld hl, $9800
    ld bc, $0400
    ld d, ' '
    call Fill
    xor a
    ld [OriginX], a
    ld [OriginY], a
    ldh [ScrollX], a
    ldh [ScrollY], a
    ld [State], a
    ld [GameOver], a
    ld [Room], a
    ld hl, TitleRoom
    ld b, 1
    call LoadRooms
    call EnterRoom
    call DrawRoom
    ld hl, $9800 + 12 * 32
    ld bc, $0080
    ld d, ' '
    call Fill
    ld hl, Name
    ld de, $8000 + LOGO * 16
    call LoadLogo
    ld hl, $8000 + LOGO * 16
    ld bc, LETTERS * 64
.letter:                        ; light on dark
    ld a, [hl]
    cpl
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .letter
    ld de, $9800 + 12 * 32 + 3
    ld a, LOGO
    ld b, 7
    call PlaceLogo
    ld de, $9800 + 14 * 32 + 6
    ld a, LOGO + 28
    ld b, 4
    call PlaceLogo
    call BeginObjects
    call EndObjects
    ld a, 144
    ldh [WindowY], a
    ld a, %11100100
    ldh [BGP], a
    ld hl, TitleTune
    call PlayTune
    ld a, %11100111
    ld b, $03
    jp ScreenOn

TitleFrame:
    ld a, [Pressed]
    bit BUTTON_START, a
    jp nz, NewGame
    call AnimateScenery
    ld a, [Clock]
    and $1F
    ret nz
    ld a, [Clock]
    and $20
    ld hl, PressStart
    jr z, .shown
    ld hl, NoText
.shown:
    ld de, $9800 + 17 * 32 + 4
    jp PrintText

Name:       db "KEEP OFKEYS", 0
PressStart: db "PRESS START ", 0
NoText:     db "            ", 0

NewGame:
    ld a, STATE_SCROLL          ; on the way
    ld [State], a
    ld hl, Score
    xor a
    ld [hl+], a
    ld [hl+], a
    ld [hl], HEARTS
    ld [GameOver], a
    ld [Won], a
    inc a
    ld [Level], a
    inc a
    ld [Oil], a
    call BeginVariant
    ld hl, Games
    inc [hl]
    ld hl, FloorTune
    call PlayTune

; The floor in Level from its beginning.
BeginFloor:
    call DarkenScreen
    ld a, [Level]
    call LoadFloor
    xor a
    ld [Keys], a
    ld [HasGreatKey], a
    ld [HeroLeft], a
    ld [Progress], a
    ld [Progress + 1], a
    ld [OriginX], a
    ld [OriginY], a
    ldh [ScrollX], a
    ldh [ScrollY], a
    ld [Flash], a
    ld a, 3
    ld [HeroDir], a
    ld a, 30
    ld [Mercy], a
    call EnterRoom
    call DrawRoom
    call FloorName
    call Say
    call BeginBar
    call DrawBar
    ld a, BAR_Y
    ldh [WindowY], a
    call DrainQueue
    ld a, STATE_PLAY
    ld [State], a
    call DrawFigures
    call NextFrame
    ld a, %11100100
    ldh [BGP], a
    ret

; One frame of play.
PlayFrame:
    call Timers
    call AnimateScenery
    call HeroFrame
    ld a, [State]
    cp STATE_PLAY
    ret nz
    call MoveCreatures
    call Dangers
    call DrawFigures
    ld a, [BarChanged]
    or a
    call nz, DrawBar
    ret

Timers:
    ld hl, Beat
    inc [hl]
    ld hl, Mercy
    call .down
    ld hl, Dazzled
    call .down
    ld hl, Flash
    call .down
    jr nz, .message
    ld a, %11100100
    ldh [BGP], a
.message:
    ld hl, MessageTime
    ld a, [hl]
    or a
    ret z
    dec [hl]
    ret nz
    ld a, 1
    ld [BarChanged], a
    ret
.down:                          ; z if it stands at zero
    ld a, [hl]
    or a
    ret z
    dec [hl]
    ret

; The end: lost, or with Won set. START begins anew.
EndGame:
    ld a, 1
    ld [GameOver], a
    ld a, STATE_OVER
    ld [State], a
    xor a
    ld [Flash], a
    ld a, %11100100             ; the lantern shines no more
    ldh [BGP], a
    ld hl, OverText
    ld a, [Won]
    or a
    jr z, .lost
    ld hl, WonText
.lost:
    call Say
    call StopTune
    ld a, [Won]
    or a
    ret nz
    ld a, EFFECT_OVER
    jp PlayEffect

OverFrame:
    ld a, [Pressed]
    bit BUTTON_START, a
    jp nz, NewGame
    ld a, 2                     ; the text stays
    ld [MessageTime], a
    call AnimateScenery
    call DrawFigures
    ld a, [BarChanged]
    or a
    call nz, DrawBar
    ret

OverText:   db "GAME OVER: HIT START", 0
WonText:    db "YOU WON! PRESS START", 0

    include "keep_of_keys/floor.inc"
    include "keep_of_keys/shape.inc"
    include "keep_of_keys/hero.inc"
    include "keep_of_keys/creatures.inc"
    include "keep_of_keys/screen.inc"
    include "keep_of_keys/rooms.inc"
    include "game/sound.inc"
    include "keep_of_keys/music.inc"

    bank 1
    include "keep_of_keys/scenery.inc"
    include "keep_of_keys/figures.inc"
