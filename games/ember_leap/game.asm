; EMBER_LEAP: a game. Ember, a spark on two legs, runs over the roofs of a cold town and lights its
; beacons. Five levels of 2048 pixels, whose roofs are drawn anew in each game; it takes a run-up for wide
; gaps and a long press for high jumps.
;
; Left and right walk, with B faster, A jumps, the higher the longer it is held. Coals are worth ten
; points, slugs and moths that one jumps on twenty, a beacon 200 and what is left of the time. Shards,
; water, drips, steam, slugs and moths from the side, a fall, and the end of the time cost a life.
; Ember goes on from the last lamp. START begins, at the title and after the end.
;
; C000-C001  score
; C002       lives left: 3 at first, one more for every 32 coals
; C003       game over: 0 playing, 1 over, by the last life or by the last beacon
; C004       level, 1 to 5
; C005       0 title, 1 play, 2 over, 3 a life is lost, 4 the beacon is lit
; C006-C007  Ember: x and y of the upper left corner on the screen
; C008-C009  the farthest x in this level, in pixels
; C00A-C00D  buttons held, buttons pressed, random state
; C00E       1 on the ground, else 0
; C00F       games begun since power-on
; C010       coals, 0 to 31
; C011-C012  time left in this level
; C013       1 when the game is won
; C014-C016  x in the level: 1/256 pixel, low, high; C017 y: 1/256 pixel
; C018-C019  speed to the right, C01A-C01B downwards, in 1/256 pixel, two's complement
; C01C       looks 0 right, 1 left
; C01D-C01E  x of the picture's left edge in the level
; C020-C05F  eight creatures, eight bytes each: kind (0 none, 1 slug, 2 moth, 3 pipe, 4 vent, 5 drop,
;            6 splat), rest, x low, x high, y, direction (0 right, 1 left), timer, first y
; C100-C4FF  places of the level, eight rows of 128: the kinds below

    title "EMBER LEAP"
    cartridge mbc1
    banks 4

AIR         equ 0               ; kinds of places
COAL        equ 1
SHARDS      equ 2
WATER       equ 3
LAMP        equ 4
LAMP_LIT    equ 5
BEACON      equ 6
POLE        equ 7
GONE        equ 8               ; a ledge that has crumbled
SLUG_PLACE  equ 9               ; where a slug begins, or a moth
MOTH_PLACE  equ 10
GROUND      equ 11              ; from here on solid
EARTH       equ 12
BRICK       equ 13
PIPE        equ 14
VENT        equ 15
GIRDER      equ 16              ; from here on only from above
CRUMBLY     equ 17
SPRING      equ 18
BEACON_LIT  equ 19

SLUG        equ 1               ; creatures
MOTH        equ 2
DRIPPER     equ 3
STEAM       equ 4
DROP        equ 5
SPLAT       equ 6

STATE_LOST  equ 3
STATE_LIT   equ 4
NIGHT       equ 1               ; variants: night in all levels, half the gravity
MOON        equ 2
LIVES       equ 3
TIME        equ 150             ; a unit is 24 frames
COALS       equ 32              ; for a life
BAR         equ $9C00
BAR_Y       equ 128
SCENERY     equ $80             ; first tile
LOGO        equ $DC
LETTERS     equ 9               ; of the name, without the blank
ROM_BANK    equ $2000
LAST_X      equ 2048 - 16
LAST_CAMERA equ 2048 - 160
ROOFS       equ 8               ; of a level, 16 places each
AHEAD       equ 15              ; places are made so many columns right of the picture's left edge
LAMP_COLUMN equ 65

; hl = table \1 + a. Changes a.
macro index
    add low(\1)
    ld l, a
    adc high(\1)
    sub l
    ld h, a
endm

; hl = the word in memory. Changes a.
macro load_hl
    ld a, [\1]
    ld l, a
    ld a, [\1 + 1]
    ld h, a
endm

; The word in memory = hl. Changes a.
macro store_hl
    ld a, l
    ld [\1], a
    ld a, h
    ld [\1 + 1], a
endm

    org $0040
    jp VBlank
    org $0048                   ; the picture begins
    reti

    org $0150
    include "game/memory.inc"

    ram $C00E
OnGround:   ds 1
    ram $C010
Coals:      ds 1
TimeLeft:   ds 2
Won:        ds 1
WorldX:     ds 3                ; 1/256, low, high
FractionY:  ds 1
SpeedX:     ds 2
SpeedY:     ds 2
Facing:     ds 1
Camera:     ds 2
    ram $C020
Creatures:  ds 64
CreaturesEnd:
Kind:       ds 1                ; the creature at hand, as in Creatures
Rest:       ds 1
CreatureX:  ds 2
CreatureY:  ds 1
Dir:        ds 1
Timer:      ds 1
FirstY:     ds 1
ScreenX:    ds 1                ; of that creature
OldY:       ds 1                ; Ember's, before the move
Coyote:     ds 1                ; frames since the ground in which a jump still counts
JumpWish:   ds 1                ; frames for which A counts as pressed
Clock:      ds 1
Tick:       ds 1                ; frames until the time goes down
CameraTile: ds 1                ; the picture's first column of tiles
SpawnColumn: ds 1               ; creatures of the places left of it have appeared
LampX:      ds 2                ; where Ember goes on
LampY:      ds 1
Wait:       ds 1                ; frames of a state other than play
Crumbling:  ds 12               ; four ledges: address, frames left (0 none)
CrumblingEnd:
BarChanged: ds 1
Message:    ds 2
MessageTime: ds 1
BarShows:   ds 1                ; 1 if the lower row is a message
Tiles:      ds 16               ; a column on its way to the queue
Roofs:      ds 8                ; of the level, by number
Made:       ds 1                ; columns of places that are made
AwaitsSeed: ds 1                ; 1 until the game has its level seed
LevelSeed:  ds 2
    ram $C100
Map:        ds 1024
    rom

    include "game/video.inc"
    include "game/objects.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/variant.inc"
    include "game/text.inc"
    include "game/logo.inc"

Seed:       dw $7C31            ; all chance of the game begins here

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    call InitPictureStart
    call SeedRandom
    ld a, 1
    ld [ROM_BANK], a
    call SoundInit
    call LoadTiles
    ld a, %11010000             ; Ember glows
    ldh [OBP0], a
    ld a, 7
    ldh [WX], a
    call ShowTitle

Main:
    call NextFrame
    call SoundFrame
    call EndVBlank
    call ReadButtons
    ld a, [AwaitsSeed]          ; the level seed is the random state in which the game began
    or a
    call z, StirRandom
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
    dw TitleFrame, PlayFrame, OverFrame, LostFrame, LitFrame

LoadTiles:
    ld hl, $9000 + BOX * 16     ; the background takes tiles 0 to $7F from $9000
    ld b, $FF
    call LoadFont
    ld a, bank(SceneryTiles)
    ld [ROM_BANK], a
    ld hl, SceneryTiles
    ld de, $8000 + SCENERY * 16
    ld bc, SceneryTilesEnd - SceneryTiles
    call Copy
    ld hl, FigureTiles
    ld de, $8000
    ld bc, FigureTilesEnd - FigureTiles
    call Copy
    ld a, 1
    ld [ROM_BANK], a
    ld hl, Name
    ld de, $8000 + LOGO * 16
    call LoadLogo
    ld hl, $8000 + LOGO * 16
    ld bc, LETTERS * 32
.line:                          ; what is white around the letters becomes sky
    ld a, [hl+]
    or [hl]
    cpl
    dec hl
    or [hl]
    ld [hl+], a
    inc hl
    dec bc
    ld a, b
    or c
    jr nz, .line
    ret

Name:       db "EMBERLEAP", 0

ShowTitle:
    call ScreenOff
    ld a, 1
    ld [Level], a
    call LoadLevel
    call SetPalettes
    call BeginAtLamp
    xor a
    ld [State], a
    ld [GameOver], a
    ld [Camera], a
    ld [Camera + 1], a
    call DrawPicture
    ld de, $9800 + 2 * 32 + 2
    ld a, LOGO
    ld b, 5
    call PlaceLogo
    ld de, $9800 + 5 * 32 + 9
    ld a, LOGO + 20
    ld b, 4
    call PlaceLogo
    ld hl, $9C00
    ld bc, $0040
    ld d, ' '
    call Fill
    call DrawFigures
    ld a, BAR_Y
    ldh [WindowY], a
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
    ld de, BAR + 4
    jp PrintText

PressStart: db "PRESS START ", 0
NoText:     db "            ", 0

NewGame:
    ld a, STATE_LOST            ; on the way
    ld [State], a
    xor a
    ld hl, Score
    ld [hl+], a
    ld [hl+], a
    ld [hl], LIVES
    ld [GameOver], a
    ld [Won], a
    ld [Coals], a
    inc a
    ld [Level], a
    ld [AwaitsSeed], a
    call BeginVariant
    ld hl, Games
    inc [hl]
    ld hl, PlayTuneData
    call PlayTune

; The level in Level from its beginning.
BeginLevel:
    call DarkenScreen
    call LoadLevel
    call LevelName
    call Say

; The level from the last lamp on.
Continue:
    call DarkenScreen
    call BeginAtLamp
    call RestoreLedges
    call DrawPicture
    ld hl, TIME
    store_hl TimeLeft
    call BeginBar
    call DrawBar
    call DrainQueue
    ld a, STATE_PLAY
    ld [State], a
    call DrawFigures
    call NextFrame
    jp SetPalettes

; Night falls with the fourth level.
SetPalettes:
    ld a, [Level]
    cp 4
    ld a, [Variant]
    jr nc, .night
    bit NIGHT, a
    ld a, %11100100
    ld b, a
    jr z, .evening
.night:
    ld a, %11011000             ; houses in the light of the moon
    ld b, %11010000
.evening:
    ldh [BGP], a
    ld a, b
    ldh [OBP1], a
    ret

; One frame of play.
PlayFrame:
    call CountTime
    call AnimateScenery
    call MoveEmber
    call FollowEmber
    call MakeAhead
    call SpawnCreatures
    call MoveCreatures
    call CrumbleLedges
    call DrawFigures
    jp UpdateBar

; The time, and how long a message is shown.
CountTime:
    ld hl, MessageTime
    ld a, [hl]
    or a
    jr z, .time
    dec [hl]
    jr nz, .time
    ld a, 1
    ld [BarChanged], a
.time:
    ld hl, Tick
    dec [hl]
    ret nz
    ld [hl], 24
    ld a, 1
    ld [BarChanged], a
    load_hl TimeLeft
    dec hl
    store_hl TimeLeft
    ld a, h
    or l
    ret nz
    jp LoseLife

LoseLife:
    ld a, [State]
    cp STATE_PLAY
    ret nz
    ld a, STATE_LOST
    ld [State], a
    ld a, 60
    ld [Wait], a
    ld a, EFFECT_LOST
    call PlayEffect
    ld hl, Lives
    dec [hl]
    ld a, 1
    ld [BarChanged], a
    ret

; A life is lost: Ember goes out in smoke.
LostFrame:
    call AnimateScenery
    call DrawFigures
    call UpdateBar
    ld hl, Wait
    dec [hl]
    ret nz
    ld a, [Lives]
    or a
    jp nz, Continue

; The end: lost, or with Won set. START begins anew.
EndGame:
    ld a, 1
    ld [GameOver], a
    ld a, STATE_OVER
    ld [State], a
    ld hl, OverText
    ld a, [Won]
    or a
    jr z, .lost
    ld hl, WonText
.lost:
    call Say
    call StopTune
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
    jp UpdateBar

OverText:   db "GAME OVER: HIT START", 0
WonText:    db "ALL LIT! PRESS START", 0

; Ember has reached the beacon.
LightBeacon:
    ld a, STATE_LIT
    ld [State], a
    ld a, 200
    ld [Wait], a
    call AddPoints
    ld a, EFFECT_LIT
    call PlayEffect
    ld hl, Map
.search:
    ld a, [hl]
    cp BEACON
    jr z, .found
    inc hl
    ld a, h
    cp high(Map + 1024)
    jr nz, .search
.found:
    ld [hl], BEACON_LIT
    call RedrawPlace
    ld hl, LitText
    jp Say

LitText:    db "THE BEACON IS LIT!  ", 0

; The time that is left is counted out, then the next level begins.
LitFrame:
    call AnimateScenery
    call DrawFigures
    call UpdateBar
    load_hl TimeLeft
    ld a, h
    or l
    jr z, .wait
    ld bc, -3
    add hl, bc
    ld a, 3
    jr c, .some
    ld a, l                     ; the last one or two
    add 3
    ld hl, 0
.some:
    push af
    store_hl TimeLeft
    pop af
    call AddPoints
    ld a, [Clock]
    and 3
    ld a, EFFECT_COUNT
    call z, PlayEffect
.wait:
    ld hl, Wait
    dec [hl]
    ret nz
    ld a, [Level]
    cp LEVELS
    jr z, .won
    inc a
    ld [Level], a
    jp BeginLevel
.won:
    ld a, 1
    ld [Won], a
    jp EndGame

; Adds a to the score. Changes a and hl.
AddPoints:
    ld hl, Score
    add [hl]
    ld [hl+], a
    jr nc, .same
    inc [hl]
.same:
    ld a, 1
    ld [BarChanged], a
    ret

    include "ember_leap/level.inc"
    include "ember_leap/ember.inc"
    include "ember_leap/creatures.inc"
    include "ember_leap/screen.inc"

    bank 1
    include "game/sound.inc"
    include "ember_leap/music.inc"

    bank 2
    include "ember_leap/levels.inc"

    bank 3
    include "ember_leap/scenery.inc"
    include "ember_leap/figures.inc"
