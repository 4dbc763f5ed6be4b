; LAST_BEACON: a small adventure. The beacon's three embers were carried off, and the fog came back.
; Walk the island, talk, find, buy, fight by turns, grow; bring the embers home and light the beacon.
;
; Direction pad: walk, one cell a step, and the cursor of menus. A: talk, open, choose. B: back.
; START: begins the game, and opens the pack. The game is won at the altar and lost without hit points.
;
; C000-C001  score: experience, 5 for each room, 10 for each chest, 100 for each ember and for the
;            Fog King, 500 for the light
; C002       hit points
; C003       game over: 0 playing, 1 over, won (bit 7 of C008) or lost
; C004       room: 0 to 15 are the island, four in a row from the north-west, 16 to 21 its caves
; C005       0 title, 1 walking, 2 over, 3 a text, 4 a menu, 5 a battle
; C006-C007  column 0 to 9 and row 0 to 7 of the cell in which the hero stands
; C008       bits: embers of marsh, crypt and tide, lantern, key, sword, shield, the light
; C009       rooms seen, 1 to 22
; C00A-C00D  buttons held and pressed, random state; C00E frames, C00F games begun
; C010-C011  coins                      C018       sparks that he can hold
; C012-C013  experience                 C019-C01A  steps
; C014       hit points at most         C01B       looks down, up, left, right: 0 to 3
; C015       the hero's level, 1 to 9   C01C       cursor of the menu
; C016       flasks                     C01D       foe in battle plus 1, else 0
; C017       sparks                     C01E-C01F  its hit points, and how many it had
; C020-C022  rooms seen, a bit each     C023-C024  chests, gates and the King, a bit each
; C025       embers, 0 to 3             C026-C027  best score since power-on

    title "LAST BEACON"
    cartridge mbc5
    banks 4

    org $0040
    jp VBlank
    org $0150
    include "game/memory.inc"

STATE_TEXT   equ 3
STATE_MENU   equ 4
STATE_BATTLE equ 5

NIGHT equ 1                     ; variants: night on the island, twice as many foes
WILDER equ 2

DOWN  equ 0
UP    equ 1
LEFT  equ 2
RIGHT equ 3

; Flags 0 to 7 are the bits of Progress, 8 to 23 those of Opened.
TIDE_EMBER  equ 2
LANTERN     equ 3
KEY         equ 4
SWORD       equ 5
SHIELD      equ 6
LIGHT       equ 7
ALWAYS      equ $FF             ; no flag: never over

HIT_LIMIT   equ 99              ; hit points have two digits
HITS        equ 20              ; at first
EASY_HITS   equ 60
TREASURES   equ 8               ; in chests of the island, whose flags are 8 to 15
DRAW_ISLAND equ 1               ; kinds of draws; those of chance have none
DRAW_GRASS  equ 64

    ram $C00E
Clock:      ds 1                ; frames
    ram $C010
Coins:      ds 2
Learned:    ds 2
MostHits:   ds 1
HeroLevel:  ds 1
Flasks:     ds 1
Sparks:     ds 1
MostSparks: ds 1
Steps:      ds 2
Facing:     ds 1
Cursor:     ds 1
Foe:        ds 1
FoeHits:    ds 1
FoeMost:    ds 1
Seen:       ds 3
Opened:     ds 2
Embers:     ds 1
Best:       ds 2

    ram $C030
HeroX:      ds 1                ; of the hero's left object, and y: what objects want
HeroY:      ds 1
Stride:     ds 1                ; frames of the step at hand
Palette:    ds 1                ; row of Palettes
Zone:       ds 1
TuneNow:    ds 2                ; the tune that plays
EventAt:    ds 2                ; the room's events
EventKind:  ds 1                ; the event at hand
EventFlag:  ds 1
EventValue: ds 2
TextReturn: ds 2                ; behind the name or number in the text, 0 outside of one
Amount:     ds 2                ; the number that texts show
Digits:     ds 6                ; as text
FoeAttack:  ds 1
FoeDefence: ds 1
FoeLearn:   ds 1
FoeCoins:   ds 1
FoeName:    ds 2
MenuRows:   ds 1
MenuAt:     ds 2
Mirrored:   ds 1                ; 1 if east is west on this island
Treasures:  ds TREASURES        ; of each chest of the island: number in TreasureList
    ram $C100
RoomCells:  ds 128              ; kinds of cells, sixteen to a row of ten

STATUS equ $9C00                ; the window: two rows of status, or six of text
BOX_ROWS equ 6
SCREEN equ %11100111            ; window at $9C00, tiles at $8800, 8x16 objects, all on

; use n: ROM bank n at $4000. Bank 3 is the usual one.
macro use
    ld a, \1
    ld [$2000], a
endm

    rom
    include "game/video.inc"
    include "game/objects.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/level.inc"
    include "game/chance.inc"
    include "game/variant.inc"
    include "game/sound.inc"
    include "game/text.inc"
    include "game/logo.inc"

Seed: dw $B5A3

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    use 3
    call SoundInit
    call SeedRandom

Title:
    ld hl, TitleTune
    call Music
    xor a
    ld [State], a
    call BlankScreen
    use 1
    ld hl, Picture
    ld de, $8800
    ld bc, PictureEnd - Picture
    call Copy
    use 3
    ld hl, LogoUpper
    ld de, $9000
    call LoadLogo
    ld hl, LogoLower
    ld de, $9600                ; where small letters are
    call LoadLogo
    ld de, $9800 + 32 + 6
    ld a, 0
    ld b, 4
    call PlaceLogo
    ld de, $9800 + 3 * 32 + 4
    ld a, $60
    ld b, 6
    call PlaceLogo
    ld de, $9800 + 6 * 32
    call PlacePicture
    ld hl, BestText
    ld de, $9800 + 16 * 32 + 5
    call PrintText
    ld hl, Best
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld bc, $0530
    call PrintNumber
    call Reveal
.wait:
    call Frame
    ld a, [Clock]
    and 31
    jr nz, .blank
    ld hl, StartText
    ld de, $9800 + 14 * 32 + 4
    call PrintText
.blank:
    ld a, [Clock]
    and 31
    cp 20
    ld a, ' '
    ld b, 11
    ld de, $9800 + 14 * 32 + 4
    call z, FillRow
    ld a, [Pressed]
    bit BUTTON_START, a
    jr z, .wait

NewGame:
    ld sp, STACK
    ld a, STATE_TEXT            ; from now on the random state rests
    ld [State], a
    call BeginVariant
    call Hide
    call ScreenOff
    ld hl, Score
    ld bc, Held - Score
    call Clear
    ld hl, Coins
    ld bc, Best - Coins
    call Clear
    ld hl, Games
    inc [hl]
    call DrawIsland
    ld a, 20
    ld [Coins], a
    ld a, [Variant]
    bit EASY, a
    ld a, HITS
    jr z, .hits
    ld a, EASY_HITS
.hits:
    ld [Lives], a
    ld [MostHits], a
    ld a, 1
    ld [HeroLevel], a
    ld [Flasks], a
    ld a, HOME
    ld [Level], a
    ld a, 5
    call OnIsland
    ld [PlayerX], a
    ld a, 4
    ld [PlayerY], a
    call BlankScreen
    jp Play

; Lost, or won: what is left waits for START.
Over:
    ld sp, STACK
    call Hide
    ld a, STATE_OVER
    ld [State], a
    ld a, 1
    ld [GameOver], a
    xor a
    ld [Foe], a
    ld hl, Score + 1            ; the better of two scores
    ld a, [Best + 1]
    cp [hl]
    jr c, .better
    jr nz, .draw
    dec hl
    ld a, [Best]
    cp [hl]
    jr nc, .draw
.better:
    ld a, [Score]
    ld [Best], a
    ld a, [Score + 1]
    ld [Best + 1], a
.draw:
    call BlankScreen
    use 1
    ld hl, Picture
    ld de, $8800
    ld bc, PictureEnd - Picture
    call Copy
    use 3
    ld a, 1
    ld [Palette], a             ; night, unless the light is back
    ld hl, LostText
    ld bc, LostTune
    ld a, [Progress]
    rlca
    jr nc, .lost
    xor a
    ld [Palette], a
    ld hl, WonText
    ld bc, TitleTune
.lost:
    push bc
    ld de, $9800 + 8 * 32 + 1
    call PrintText
    pop hl
    call Music
    ld de, $9800
    call PlacePicture
    ld hl, ScoreText
    ld de, $9800 + 14 * 32 + 4
    call PrintText
    ld hl, Score
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld bc, $0530
    call PrintNumber
    ld hl, StartText
    ld de, $9800 + 16 * 32 + 4
    call PrintText
    call Reveal
.wait:
    call Frame
    ld a, [Pressed]
    bit BUTTON_START, a
    jr z, .wait
    jp NewGame

; The picture's six rows of tiles to the map at de.
PlacePicture:
    ld a, $80
    ld b, 6
.row:
    ld c, 20
.tile:
    ld [de], a
    inc a
    inc e
    dec c
    jr nz, .tile
    ld hl, 12
    add hl, de
    ld d, h
    ld e, l
    dec b
    ret z
    jr .row

; The screen off, the font in place, both maps blank, no objects, the window out of sight.
BlankScreen:
    call ScreenOff
    ld hl, $9180
    ld b, 0
    call LoadFont
    ld hl, $9800
    ld bc, $0800
    ld d, ' '
    call Fill
    call BeginObjects
    call EndObjects
    xor a
    ld [Palette], a
    ldh [ScrollX], a
    ldh [ScrollY], a
    ld a, 7
    ldh [WX], a
    ld a, 144
    ldh [WindowY], a
    ret

; One frame: waits for VBlank, reads the buttons, stirs chance, sounds.
Frame:
    call NextFrame
    ld hl, Clock
    inc [hl]
    call ReadButtons
    call StirBetweenGames
    jp SoundFrame

; b frames.
Frames:
    push bc
    call Frame
    pop bc
    dec b
    jr nz, Frames
    ret

; The screen on, from white to its palette.
Reveal:
    xor a
    ldh [BGP], a
    ldh [OBP0], a
    ldh [OBP1], a
    ld a, SCREEN
    ld b, 1
    call ScreenOn
    ld c, 3
.step:
    push bc
    ld b, 2
    call Frames
    pop bc
    call SetPalette
    dec c
    bit 7, c
    jr z, .step
    ret

; From the palette to white.
Hide:
    ld c, 1
.step:
    push bc
    call SetPalette
    ld b, 2
    call Frames
    pop bc
    inc c
    ld a, c
    cp 4
    jr nz, .step
    ret

; The palette, c steps towards white. Keeps bc.
SetPalette:
    ld a, [Palette]
    add a
    add a
    add c
    ld hl, Palettes
    call AddToHl
    ld a, [hl]
    ldh [BGP], a
    ld a, c
    add a
    ld hl, ObjectPalettes
    call AddToHl
    ld a, [hl+]
    ldh [OBP0], a
    ld a, [hl]
    ldh [OBP1], a
    ret

; hl + a.
AddToHl:
    add l
    ld l, a
    ret nc
    inc h
    ret

; Plays the tune at hl, unless it is the one that plays.
Music:
    ld a, [TuneNow]
    cp l
    jr nz, .other
    ld a, [TuneNow + 1]
    cp h
    ret z
.other:
    ld a, l
    ld [TuneNow], a
    ld a, h
    ld [TuneNow + 1], a
    jp PlayTune

; bc more points.
AddScore:
    ld hl, Score
    ld a, [hl]
    add c
    ld [hl+], a
    ld a, [hl]
    adc b
    ld [hl], a
    ret nc
    ld a, $FF                   ; it stays at its highest
    ld [hl-], a
    ld [hl], a
    ret

Palettes:                       ; day, night
    db $E4, $90, $40, $00
    db $F9, $A4, $50, $00
ObjectPalettes:
    db $E0, $D0, $90, $80, $40, $40, $00, $00

LogoUpper: db "LAST", 0
LogoLower: db "BEACON", 0
StartText: db "PRESS START", 0
BestText:  db "BEST ", 0
ScoreText: db "SCORE ", 0

    include "last_beacon/island.inc"
    include "last_beacon/walk.inc"
    include "last_beacon/event.inc"
    include "last_beacon/talk.inc"
    include "last_beacon/battle.inc"
    include "last_beacon/strike.inc"

    bank 1
    include "last_beacon/cells.inc"
    include "last_beacon/people.inc"
    include "last_beacon/picture.inc"
    bank 2
    include "last_beacon/beasts.inc"
    bank 3
    include "last_beacon/rooms.inc"
    include "last_beacon/texts.inc"
    include "last_beacon/music.inc"
    include "last_beacon/water.inc"
