; PEARL_HEIST: a game for two with a cable. Each gathers pearls on a reef of its own, sends eels to
; steal the other's, and shuts its shell against them. Without a cable one gathers alone.
;
; Whoever presses A or START calls the other machine; the one that is called answers. From then on
; they exchange a byte in each frame by the caller's clock, and both reckon from the same two bytes
; who loses pearls to whom, so that a pearl is never doubled or lost. An eel is launched by A, takes
; 48 frames, and takes three pearls, or as many as there are. If the shell is shut as it strikes (B
; is held, and nobody swims meanwhile), it loses as many to the one that it came for. Twenty pearls
; win, or most of them after a minute.
;
; C000-C001  pearls, low byte first
; C002       pearls of the other one, as of the last exchange
; C003       game over: 0 playing, 1 over
; C004       the end: 1 won, 2 lost, 3 neither
; C005       0 title, 1 play, 2 over
; C006-C007  diver: x of its left edge on the screen plus 8, y of its upper edge plus 16
; C008-C009  seconds left, frames left of the second at hand: exchanges, where there is a cable
; C00A-C00B  buttons held, pressed: A B SELECT START in bits 0-3, right left up down in 4-7
; C00C-C00D  random state, stirred by the buttons held
; C00E       frames until the next eel can be launched
; C00F       games begun since power-on
; C010       1 this machine called, 2 the other one did, 0 before
; C011       1 if the other one answers, 0 if nobody does
; C012       1 while the shell is shut
; C013-C014  frames until one's own eel strikes, until the other's does; 0 for none
; C015-C016  pearls taken from the other one in this game, pearls lost to it
; C017-C01C  three pearls on the reef: x and y as of the diver
;
; The byte: pearls in bits 0-4, bit 5 the shell is shut, bit 6 an eel is launched, bit 7 it strikes.

    title "PEARL HEIST"

CALL     equ $7D                ; bytes that no game sends
READY    equ $7E
NOBODY   equ $FF

SHUT     equ 5                  ; bits of the byte
LAUNCHED equ 6
STRIKES  equ 7
COUNT    equ $1F

PEARLS_TO_WIN equ 20
LOOT     equ 3                  ; pearls that an eel takes at most
SECONDS  equ 60
FLIGHT   equ 48
REST     equ 120
PATIENCE equ 120                ; frames without the caller's clock, after which one goes on alone
PAUSE    equ 60                 ; frames after a game before the next can be called for

LEFT     equ 8
RIGHT    equ 152
TOP      equ 34
BOTTOM   equ 142

DIVER    equ 0                  ; tiles of objects
SHELL    equ 4
EEL      equ 8
PEARL    equ 12
SEA      equ $80                ; tiles of the background

CATCH    equ 1                  ; sounds
WARNING  equ 2
LOSS     equ 3
GAIN     equ 4

    org $0040
    jp VBlank
    org $0048                   ; the picture begins
    reti
    org $0058
    jp Exchanged
    org $0150
    include "game/memory.inc"
    include "game/video.inc"
    include "game/joypad.inc"
    include "game/random.inc"
    include "game/objects.inc"
    include "game/text.inc"

    ram $C00E
Rest:       ds 1
    ram $C010
Role:       ds 1
HasRival:   ds 1
IsShut:     ds 1
OwnEel:     ds 1
RivalsEel:  ds 1
Taken:      ds 1
Lost:       ds 1
Pearls:     ds 6
    ram $C020
Sent:       ds 1                ; the byte that the port has or had last
Launch:     ds 1                ; 1 until a byte has said so
Strike:     ds 1
Quiet:      ds 1                ; frames since the last exchange
Retry:      ds 1                ; frames until the next call, if both called at once
Pause:      ds 1
Noise:      ds 1                ; sound to begin
Shown:      ds 3                ; pearls, the other's, seconds as the screen has them
IsShown:    ds 1                ; the screen says how the game ended
Shade:      ds 1                ; frames for which the screen is dark after a loss
    rom

Start:
    di
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    call InitObjects
    call InitPictureStart
    call SeedRandom
    ld hl, VRAM + BOX * 16
    ld b, $FF
    call LoadFont
    ld hl, ObjectTiles
    ld de, VRAM
    ld bc, ObjectTilesEnd - ObjectTiles
    call Copy
    ld hl, SeaTiles
    ld de, VRAM + SEA * 16
    ld bc, SeaTilesEnd - SeaTiles
    call Copy
    ld hl, Reef
    ld de, $9800
    ld b, 18
    ld c, 20
    call CopyRows
    ld hl, TitleText
    ld de, $9800 + 6 * 32 + 3
    call PrintText
    ld a, %11100100
    ldh [BGP], a
    ldh [OBP0], a
    ld a, $80
    ldh [NR52], a
    ld a, $77
    ldh [NR50], a
    ld a, $FF
    ldh [NR51], a
    call Listen
    ld a, $97
    ld b, $0B
    call ScreenOn

Main:
    call NextFrame
    call EndVBlank
    call Clock
    call ReadButtons
    call StirRandom
    call BeginObjects
    ld a, [State]
    cp STATE_PLAY
    jr z, .play
    call Wait
    jr .drawn
.play:
    call Play
    call DrawReef
    call DrawNumbers
.drawn:
    call EndObjects
    call Sound
    jr Main

; The seed of all chance.
Seed:
    dw $51C3

; --- The cable ------------------------------------------------------------------------------------

; Waits for a call.
Listen:
    ld a, READY
    ldh [SB], a
    ld a, $80
    ldh [SC], a
    ret

; The caller's clock: an exchange in each frame. The other side goes on alone if none comes.
Clock:
    ld a, [Role]
    or a
    ret z
    dec a
    jr nz, .listens
    ld a, $81
    ldh [SC], a
    ret
.listens:
    ld hl, Quiet
    inc [hl]
    ld a, [hl]
    cp PATIENCE
    ret c
    di
    xor a
    ld [HasRival], a
    ldh [SC], a
    inc a
    ld [Role], a
    reti

; Calls the other machine, unless it has called. Flag Z: a game begins.
CallOther:
    di
    ld a, [Role]
    or a
    jr nz, .begun
    ld a, CALL
    ldh [SB], a
    ld a, $81
    ldh [SC], a
.busy:
    ldh a, [SC]
    add a
    jr c, .busy
    ldh a, [IF]
    and %11110111
    ldh [IF], a
    ldh a, [SB]
    ld b, 0
    cp NOBODY
    jr z, .alone
    cp READY
    jr z, .answered
    call Listen                 ; both called at once
    ei
    ld a, [Random]
    and 15
    inc a
    ld [Retry], a
    ret
.answered:
    inc b
.alone:
    ld a, 1
    call BeginExchange
.begun:
    ei
    xor a
    ret

; The numbers of a new game, as the first byte is sent: a = role, b = 1 if there is another one.
BeginExchange:
    ld [Role], a
    ld a, b
    ld [HasRival], a
    xor a
    ld [Score], a
    ld [Score + 1], a
    ld [Lives], a
    ld [Taken], a
    ld [Lost], a
    ld [OwnEel], a
    ld [RivalsEel], a
    ld [Launch], a
    ld [Strike], a
    ld [IsShut], a
    ld [Quiet], a
    ld [Sent], a
    ldh [SB], a
    ld a, SECONDS
    ld [Progress], a
    xor a
    ld [Progress + 1], a
    ret

; The interrupt: a byte has come.
Exchanged:
    push af
    push bc
    push de
    push hl
    ldh a, [SB]
    ld c, a
    ld a, [Role]
    or a
    jr nz, .game
    ld a, c
    cp CALL
    jr nz, .listen
    ld a, 2
    ld b, 1
    call BeginExchange
    ld a, $80
    ldh [SC], a
    jr .end
.game:
    call Settle
    ld a, [Role]
    or a
    jr z, .listen
    call Compose
    ld a, [Role]
    dec a
    jr z, .end
    ld a, $80
    ldh [SC], a
    jr .end
.listen:
    call Listen
.end:
    pop hl
    pop de
    pop bc
    pop af
    reti

; The next byte into the port.
Compose:
    ld a, [Score]
    ld b, a
    ld a, [IsShut]
    or a
    jr z, .open
    set SHUT, b
.open:
    ld hl, Launch
    ld a, [hl]
    or a
    jr z, .stays
    ld [hl], 0
    set LAUNCHED, b
.stays:
    ld hl, Strike
    ld a, [hl]
    or a
    jr z, .set
    ld [hl], 0
    set STRIKES, b
.set:
    ld a, b
    ld [Sent], a
    ldh [SB], a
    ret

; What the byte sent and the byte c that came mean. Both machines reckon alike.
Settle:
    xor a
    ld [Quiet], a
    ld a, [Sent]
    ld b, a
    ld a, c
    cp NOBODY
    jr nz, .together
    xor a
    ld [HasRival], a
    ld c, a
.together:
    ld hl, Progress + 1
    ld a, [hl]
    or a
    jr nz, .second
    ld [hl], 60
    dec l
    ld a, [hl]
    or a
    jr z, .over
    dec [hl]
    inc l
.second:
    dec [hl]
    ld a, b
    and COUNT
    cp PEARLS_TO_WIN
    jr nc, .over
    ld a, c
    and COUNT
    cp PEARLS_TO_WIN
    jr nc, .over

    ld de, 0                    ; d = losses of this side, e = losses of the other one
    bit STRIKES, c
    jr z, .own
    bit SHUT, b
    jr nz, .caught
    inc d
    jr .own
.caught:
    inc e
.own:
    bit STRIKES, b
    jr z, .reckon
    bit SHUT, c
    jr nz, .wasCaught
    inc e
    jr .reckon
.wasCaught:
    inc d
.reckon:
    ld l, d
    ld a, b
    call Losses
    ld d, a
    ld l, e
    ld a, c
    call Losses
    ld e, a
    ld hl, Lost
    ld a, [hl]
    add d
    ld [hl], a
    ld hl, Taken
    ld a, [hl]
    add e
    ld [hl], a
    ld hl, Score
    ld a, [hl]
    add e
    sub d
    ld [hl], a
    ld a, c
    and COUNT
    add d
    sub e
    ld [Lives], a
    bit LAUNCHED, c
    jr z, .noEel
    ld a, FLIGHT
    ld [RivalsEel], a
    ld a, WARNING
    ld [Noise], a
.noEel:
    ld a, e
    or a
    jr z, .noGain
    ld a, GAIN
    ld [Noise], a
.noGain:
    ld a, d
    or a
    ret z
    ld a, LOSS
    ld [Noise], a
    ld a, 12
    ld [Shade], a
    ret

.over:
    xor a
    ld [Role], a
    ld [Progress + 1], a
    ld [IsShown], a
    inc a
    ld [GameOver], a
    inc a
    ld [State], a
    ld a, PAUSE
    ld [Pause], a
    ld a, c
    and COUNT
    ld [Lives], a
    ld e, a
    ld a, b
    and COUNT
    ld [Score], a
    cp e
    ld a, 1
    jr z, .draw
    jr nc, .set
    inc a
    jr .set
.draw:
    ld a, 3
.set:
    ld [Level], a
    ret

; a = pearls that a side loses, whose byte is a, by l hits.
Losses:
    and COUNT
    ld h, a
    ld a, l
    add a
    add l
    cp h
    ret c
    ld a, h
    ret

; --- Title and end --------------------------------------------------------------------------------

Wait:
    ld a, [Role]
    or a
    jr nz, NewGame
    ld a, [State]
    or a
    call nz, ShowEnd
    ld hl, Pause
    ld a, [hl]
    or a
    jr z, .ready
    dec [hl]
    ret
.ready:
    ld hl, Retry
    ld a, [hl]
    or a
    jr z, .asked
    dec [hl]
    jr z, .call
.asked:
    ld a, [Pressed]
    and %00001001               ; A or START
    ret z
.call:
    xor a
    ld [Retry], a
    call CallOther
    ret nz

NewGame:
    xor a
    ld [GameOver], a
    ld [Level], a
    ld [Rest], a
    ld [Retry], a
    ld [Shade], a
    dec a
    ld hl, Shown
    ld [hl+], a
    ld [hl+], a
    ld [hl], a
    ld hl, Games
    inc [hl]
    ld a, 80
    ld [PlayerX], a
    ld a, 88
    ld [PlayerY], a
    ld hl, Pearls
    ld b, 3
.pearl:
    push bc
    push hl
    call Lay
    pop hl
    inc l
    inc l
    pop bc
    dec b
    jr nz, .pearl
    ld a, STATE_PLAY
    ld [State], a
    ld hl, BarText
    ld de, $9800
    call PrintText
    ld hl, Reef + 6 * 20
    ld de, $9800 + 6 * 32
    ld b, 5
.row:
    push bc
    push hl
    push de
    ld c, 20
    call QueueRow
    pop hl
    ld de, 32
    add hl, de
    ld d, h
    ld e, l
    pop hl
    ld bc, 20
    add hl, bc
    pop bc
    dec b
    jr nz, .row
    ret

; How it ended, once.
ShowEnd:
    ld hl, IsShown
    ld a, [hl]
    or a
    ret nz
    inc [hl]
    call DrawNumbers
    ld a, [HasRival]
    ld hl, AloneText
    or a
    jr z, .print
    ld a, [Level]
    ld hl, WonText
    dec a
    jr z, .print
    ld hl, LostText
    dec a
    jr z, .print
    ld hl, DrawText
.print:
    ld de, $9800 + 8 * 32 + 5
    jp PrintText

; --- Play -----------------------------------------------------------------------------------------

Play:
    ld hl, Rest
    ld a, [hl]
    or a
    jr z, .rested
    dec [hl]
.rested:
    ld hl, RivalsEel
    ld a, [hl]
    or a
    jr z, .noEel
    dec [hl]
.noEel:
    ld hl, OwnEel
    ld a, [hl]
    or a
    jr z, .home
    dec [hl]
    jr nz, .home
    ld a, 1
    ld [Strike], a
.home:
    ld a, [Held]
    bit BUTTON_B, a
    ld a, 0
    jr z, .open
    inc a
.open:
    ld [IsShut], a
    or a
    ret nz
    call Swim
    call Gather
    ld a, [Pressed]
    bit BUTTON_A, a
    ret z
    ld a, [HasRival]
    or a
    ret z
    ld hl, Rest
    ld a, [hl]
    or a
    ret nz
    ld [hl], REST
    ld a, FLIGHT
    ld [OwnEel], a
    ld a, 1
    ld [Launch], a
    ret

Swim:
    ld a, [Held]
    ld b, a
    ld hl, PlayerX
    bit BUTTON_RIGHT, b
    jr z, .left
    ld a, [hl]
    cp RIGHT
    jr nc, .left
    inc [hl]
    inc [hl]
.left:
    bit BUTTON_LEFT, b
    jr z, .down
    ld a, [hl]
    cp LEFT + 1
    jr c, .down
    dec [hl]
    dec [hl]
.down:
    ld hl, PlayerY
    bit BUTTON_DOWN, b
    jr z, .up
    ld a, [hl]
    cp BOTTOM
    jr nc, .up
    inc [hl]
    inc [hl]
.up:
    bit BUTTON_UP, b
    ret z
    ld a, [hl]
    cp TOP + 1
    ret c
    dec [hl]
    dec [hl]
    ret

; Pearls that the diver touches.
Gather:
    ld hl, Pearls
    ld b, 3
.pearl:
    ld a, [PlayerX]
    ld c, a
    ld a, [hl+]
    sub c
    add 6
    cp 20
    jr nc, .next
    ld a, [PlayerY]
    ld c, a
    ld a, [hl]
    sub c
    add 6
    cp 20
    jr nc, .next
    push bc
    push hl
    di                          ; the game may end in this moment
    ld a, [State]
    cp STATE_PLAY
    jr nz, .ended
    ld hl, Score
    inc [hl]
.ended:
    ei
    ld a, CATCH
    ld [Noise], a
    pop hl
    push hl
    dec l
    call Lay
    pop hl
    pop bc
.next:
    inc l
    dec b
    jr nz, .pearl
    ret

; A pearl at hl comes to lie anywhere. Changes all but hl.
Lay:
    push hl
    ld a, 138
    call RandomBelow
    add 12
    pop hl
    ld [hl+], a
    push hl
    ld a, 100
    call RandomBelow
    add 38
    pop hl
    ld [hl-], a
    ret

DrawReef:
    ld a, [PlayerY]
    ld b, a
    ld a, [PlayerX]
    ld c, a
    ld d, DIVER
    ld a, [IsShut]
    or a
    jr z, .diver
    ld d, SHELL
.diver:
    ld e, 0
    call PushWideObject
    ld a, [RivalsEel]           ; from the left
    or a
    jr z, .noEel
    ld c, a
    ld a, [PlayerY]
    ld b, a
    ld a, [PlayerX]
    sub c
    jr c, .noEel
    sub c
    jr c, .noEel
    ld c, a
    ld d, EEL
    call PushWideObject
.noEel:
    ld a, [OwnEel]              ; to the right
    or a
    jr z, .noOwn
    ld c, a
    ld a, FLIGHT
    sub c
    add a
    ld c, a
    ld a, [PlayerX]
    add 16
    add c
    jr c, .noOwn
    cp 176
    jr nc, .noOwn
    ld c, a
    ld a, [PlayerY]
    ld b, a
    ld d, EEL
    call PushWideObject
.noOwn:
    ld hl, Pearls
    ld d, PEARL
    ld e, 3
.pearl:
    ld a, [hl+]
    ld c, a
    ld a, [hl+]
    ld b, a
    push de
    ld e, 0
    call PushObject
    pop de
    dec e
    jr nz, .pearl
    ret

; The bar, where it is not true any more.
DrawNumbers:
    ld a, [Score]
    ld hl, Shown
    ld de, $9800 + 4
    call .number
    ld a, [Lives]
    ld hl, Shown + 1
    ld de, $9800 + 18
    call .number
    ld a, [Progress]
    ld hl, Shown + 2
    ld de, $9800 + 8
.number:
    cp [hl]
    ret z
    ld [hl], a
    ld l, a
    ld h, 0
    ld b, 2
    ld c, '0'
    jp PrintNumber

; The sound that was asked for, and the dark screen after a loss.
Sound:
    ld hl, Shade
    ld a, [hl]
    or a
    ld b, %11100100
    jr z, .lit
    dec [hl]
    ld b, %11111001
.lit:
    ld a, b
    ldh [BGP], a
    ld hl, Noise
    ld a, [hl]
    or a
    ret z
    ld [hl], 0
    dec a
    ld e, a
    ld d, 0
    ld hl, Sweeps
    add hl, de
    ld a, [hl]
    ldh [NR10], a
    ld a, $80
    ldh [NR11], a
    ld a, $93
    ldh [NR12], a
    ld a, $A0
    ldh [NR13], a
    ld a, $86
    ldh [NR14], a
    ret
Sweeps:
    db $00, $3F, $2B, $35       ; catch, warning, loss, gain

TitleText:
    db "              ", NEWLINE, " PEARL  HEIST ", NEWLINE, "              ", NEWLINE
    db "   PRESS  A   ", NEWLINE, "              ", 0
BarText:
    db "YOU 00  60  RIVAL 00", 0
WonText:
    db "  YOU WIN ", 0
LostText:
    db " YOU LOSE ", 0
DrawText:
    db "  A DRAW  ", 0
AloneText:
    db " TIME  UP ", 0

Reef:
    ds 20, ' '
    ds 20, SEA + 1
    ds 15 * 20, SEA
    ds 20, SEA + 2

SeaTiles:
    art                         ; water, its surface, the sea bed
    ::::::::..:....:::::::::
    :::::::::..:..::::::o:::
    :::o::::::..::::::ooo:::
    ::::::::.:::::.:o:::::oo
    ::::::o::::::::::ooo:::o
    :o::::::::::o:::ooooo:oo
    :::::::::::::::oooooooo:
    ::::o:::::o:::::o#ooo#oo
    endart
SeaTilesEnd:

ObjectTiles:
    art tall                    ; diver, shut shell, eel, pearl
    ........................................................
    .....####...............................................
    ....#::::##..........######.............................
    ...#::..:::#.......##::::::##.............####..........
    ...#:.##.::#......#::o::::o::#.....##....#::::#...####..
    ...#::..:::####..#::o:.::.:o::#...#::#..#:.#:::#.#:..:#.
    ....#::::##:::o#.#:o::.::.::o:#..#:oo:##:oo:::###:...::#
    .....####:::oo#.#::o:.::::.:o::#.#oo##::oo:####.#:..:::#
    ..###oo#o::oo#..#:o::.::::.::o:##oo#.#ooo##::::##:::::o#
    .#:::##:oooo#...#################o#...###..####.#::::oo#
    .#:oo#o:ooo#....#oooooooooooooo###...............#:ooo#.
    ..##.#oo#oo##....#:o::o::o::o:#...................####..
    .....#o#.#oo:#...#::o:o::o:o::#.........................
    ....#o#...#o::#...##::o::o::##..........................
    ....##.....###......########............................
    ........................................................
    endart
ObjectTilesEnd:
