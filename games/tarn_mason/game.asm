; TARN_MASON: a game. Loads of stone fall and crumble into heaps; build bowls of them, for the next
; rain fills every bowl that is open to the sky, and what stands under water dissolves.
;
; A heap column never has holes: each stone of a load falls until it lies on its column. Rain stands
; where both sides are higher, runs off at both ends of the ground, and seeps away wherever a tarn's
; bottom is bare ground. A tarn earns its volume times its greatest depth. Then it digs: as many
; stones below each column of water as the water is deep, and the stones on its shores that the
; water touches. Granite is turned into plain stone first. A column of more than twelve stones
; starts a landslide, which costs a cart and levels the ground.
;
; C000-C001  score, low byte first
; C002       carts left, 3 at first
; C003       game over: 0 playing, 1 over
; C004       level, 1 to 9: one more every three rains
; C005       0 title, 1 a load falls, 2 over, 3 it crumbles, 4 rain, 5 stone dissolves, 6 landslide
; C006-C007  load: column of its left edge (0 to 11), y of its upper edge in pixels
; C008-C009  loads laid in this game
; C00A-C00B  buttons held, pressed: A B SELECT START in bits 0-3, right left up down in 4-7
; C00C-C00D  random state: the level seed while a game is played
; C00E       loads until it rains
; C00F       games begun since power-on
; C010-C012  shape that falls (0 pebble, 1 brick, 2 beam, 3 hook, 4 feet, 5 yoke, 6 granite), its
;            turn (0 to 3), shape that comes next
; C013-C014  points that rain would bring now
; C015       rains in this game
; C020-C02B  heights of the twelve columns, C030-C03B water that would stand on each, C040-C04B the
;            greatest depth of its tarn
; C100-C1FF  stones, 16 bytes a row, the top row first: 0 none, 1 to 3 stone, 4 granite

    title "TARN MASON"

STATE_CRUMBLE  equ 3
STATE_RAIN     equ 4
STATE_DISSOLVE equ 5
STATE_SLIDE    equ 6

COLUMNS  equ 12
ROWS     equ 16
BRIM     equ 12                 ; more stones than that on a column bring a landslide
LEVELLED equ 4                  ; what it leaves of a column
CARTS    equ 3
GRANITE  equ 4
MARK     equ 7                  ; bit of a stone that is about to dissolve
FAST     equ 1                  ; variant: loads fall as in the last level; as in the first where it is easy

    org $0040
    jp VBlank
    org $0048                   ; the picture begins
    reti
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
RainIn:     ds 1
    ram $C010
Shape:      ds 1
Turn:       ds 1
NextShape:  ds 1
Worth:      ds 2
Rains:      ds 1
Drawn:      ds 2                ; shapes of this game so far
    ram $C020
Heights:    ds 16
Water:      ds 16
Depth:      ds 16
Dirty:      ds 16               ; columns to be drawn anew
    ram $C060
FallPart:   ds 1                ; the load's y, 1/256 pixels
Dropping:   ds 1                ; 1 once the player has let go of the load
Rest:       ds 1                ; frames for which it has lain on something
Repeat:     ds 1                ; until a direction that is held counts again
Crumbs:     ds 1                ; stones that still fall to their columns
CrumbList:  ds 20               ; column, y, last y, kind of each
Timer:      ds 1                ; frames of the state at hand
Stage:      ds 1                ; rows of water that have come down so far, 0 while it's dry
Deepest:    ds 1                ; of all tarns
Palette:    ds 1                ; for BGP, from the next frame on
IsBare:     ds 1                ; no stone below some column of the tarn at hand
PanelIsOld: ds 1
Best:       ds 2
Wave:       ds 1                ; frames, for what moves all the time
ColumnRow:  ds 16               ; tiles of a column
    ram $C100
Stones:     ds 256
    rom

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    call InitPictureStart
    call SeedRandom
    call SoundInit
    ld hl, VRAM + BOX * 16
    ld b, $FF
    call LoadFont
    ld hl, ObjectTiles
    ld de, VRAM
    ld bc, ObjectTilesEnd - ObjectTiles
    call Copy
    ld hl, Tiles
    ld de, VRAM + FIRST * 16
    ld bc, TilesEnd - Tiles
    call Copy
    ld hl, Name
    ld de, VRAM + LOGO * 16
    ld b, 0
    call LoadLogo
    ld a, %11100100
    ld [Palette], a
    ldh [OBP0], a
    ld a, PANEL_X + 7
    ldh [WX], a
    call ShowTitle

Main:
    call NextFrame
    ld a, [Palette]
    ldh [BGP], a
    call Ripple
    call EndVBlank
    call ReadButtons
    call StirBetweenGames
    call SoundFrame
    ld hl, Wave
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
    ld a, [State]
    or a
    call nz, DrawChanges
    jr Main
CallHl:
    jp hl

States:
    dw Title, Play, Over, Crumble, Rain, Dissolve, Slide

; The seed of all chance.
Seed:
    dw $A35D

Title:
    ld a, [Wave]
    and $1F
    jr nz, .waiting
    ld de, $9800 + 16 * 32 + 4
    ld a, [Wave]
    bit 5, a
    jr z, .text
    ld a, BEDROCK
    ld b, 11
    call FillRow
    jr .waiting
.text:
    ld hl, PressText
    call PrintText
.waiting:
    ld a, [Pressed]
    bit BUTTON_START, a
    ret z

; A new game on ground of chance, from the title or after the end.
NewGame:
    call ScreenOff
    ld hl, Score
    ld bc, 2
    call Clear
    ld [GameOver], a
    ld [Progress], a
    ld [Progress + 1], a
    ld [Rains], a
    ld [Drawn], a
    ld [Drawn + 1], a
    ld [Stage], a
    ldh [ScrollY], a
    ld hl, Heights
    ld bc, $40
    call Clear
    ld hl, Stones
    ld bc, 256
    call Clear
    ld a, CARTS
    ld [Lives], a
    ld a, FIRST_REPEAT
    ld [Repeat], a
    ld a, 1
    ld [Level], a
    ld hl, Games
    inc [hl]
    call BeginVariant
    call LayGround
    call ShowWell
    ld hl, WellTune
    call PlayTune
    call Forecast
    call SetRainIn
    call RandomShape
    ld [NextShape], a

; The next load enters.
NewLoad:
    ld a, STATE_PLAY
    ld [State], a
    ld a, [NextShape]
    ld [Shape], a
    call RandomShape
    ld [NextShape], a
    ld a, 5
    ld [PlayerX], a
    xor a
    ld [PlayerY], a
    ld [FallPart], a
    ld [Turn], a
    ld [Dropping], a
    ld [Rest], a
    inc a
    ld [PanelIsOld], a
    ret

; One to three stones on each column.
LayGround:
    ld de, 0
    ld a, DRAW_GROUND
    call BeginDraw
    ld b, COLUMNS
.column:
    push bc
    ld a, 3
    call RandomBelow
    pop bc
    inc a
    ld c, a
.stone:
    push bc
    ld a, b
    dec a
    ld b, a
    ld a, c
    and 1
    inc a
    call AddStone
    pop bc
    dec c
    jr nz, .stone
    dec b
    jr nz, .column
    jp EndDraw

; Puts a stone of kind a on column b. Changes a, d, e, hl.
AddStone:
    ld e, a
    ld a, b
    add low(Heights)
    ld l, a
    ld h, high(Heights)
    ld a, [hl]
    inc [hl]
    cpl
    and $0F                     ; 15 - height: its row
    swap a
    or b
    ld l, a
    ld h, high(Stones)
    ld [hl], e
    ret

; Loads between two rains: six at first, ten in the last level.
SetRainIn:
    ld a, [Level]
    dec a
    srl a
    add 6
    ld [RainIn], a
    ret

; a = the next shape by chance, of those of the level.
RandomShape:
    ld hl, Drawn
    ld e, [hl]
    inc [hl]
    inc hl
    ld d, [hl]
    jr nz, .drawn
    inc [hl]
.drawn:
    ld a, DRAW_SHAPE
    call BeginDraw
    ld a, 16
    call RandomBelow
    ld e, a
    call EndDraw
    ld d, 0
    ld hl, EarlyShapes
    ld a, [Variant]
    bit EASY, a
    jr nz, .found
    ld a, [Level]
    cp 3
    jr c, .found
    ld hl, MiddleShapes
    cp 6
    jr c, .found
    ld hl, LateShapes
.found:
    add hl, de
    ld a, [hl]
    ret

DRAW_GROUND equ 1               ; kinds of what is drawn
DRAW_SHAPE  equ 64

EarlyShapes:
    db 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5
MiddleShapes:
    db 0, 6, 1, 1, 1, 6, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5
LateShapes:
    db 0, 6, 6, 1, 1, 6, 2, 2, 2, 3, 3, 3, 6, 4, 5, 5

    include "tarn_mason/load.inc"
    include "tarn_mason/rain.inc"
    include "tarn_mason/draw.inc"
    include "tarn_mason/music.inc"
    include "tarn_mason/tiles.inc"
