; CATCH: LEFT and RIGHT move a basket, stars fall, the third star that is missed ends the game.
    title "CATCH"
    include "screen.inc"

    ram $C010
Score:    ds 1
Missed:   ds 1
GameOver: ds 1
Random:   ds 1
BasketX:  ds 1
StarX:    ds 1
StarY:    ds 1
    rom

Start:
    begin
    copy Tiles, $8000, TilesEnd - Tiles
    ld a, 80
    ld [BasketX], a
    ld [StarX], a
    show %10010011, $01         ; LCD, tiles at $8000, objects, background; a VBlank each frame

VBlank:
    call CountFrame
    ld a, [GameOver]
    or a
    jr nz, .draw
    ld a, $20                   ; the direction pad: 0 is held, right in bit 0, left in bit 1
    ldh [P1], a
    ldh a, [P1]
    ld hl, BasketX
    rra
    jr c, .left
    inc [hl]
    inc [hl]
.left:
    rra
    jr c, .fall
    dec [hl]
    dec [hl]
.fall:
    ld hl, StarY
    inc [hl]
    inc [hl]
    ld a, [hl]
    cp 144
    jr c, .draw
    ld [hl], 0                  ; the star is down
    ld a, [StarX]
    ld hl, BasketX
    sub [hl]
    add 12
    ld hl, Score
    cp 24                       ; within 12 pixels of the basket?
    jr c, .caught
    inc hl
.caught:
    inc [hl]                    ; Score, or Missed behind it
    ld a, [Missed]
    cp 3
    jr c, .next
    ld a, 1
    ld [GameOver], a
.next:
    ld hl, Random               ; five times the last number, and one
    ld a, [hl]
    add a
    add a
    add [hl]
    inc a
    ld [hl], a
    and 127
    add 16
    ld [StarX], a
.draw:
    ld hl, OAM                  ; y, x, tile and attributes of the basket, then of the star
    ld [hl], 148
    inc l
    ld a, [BasketX]
    ld [hl+], a
    ld [hl], 1
    ld l, 4
    ld a, [StarY]
    ld [hl+], a
    ld a, [StarX]
    ld [hl+], a
    ld [hl], 2
    reti

Tiles:
    art
    ........#......#...##...
    ........#......#...##...
    ........#::::::#########
    ........#::::::#.######.
    ........#oooooo#..####..
    ........#oooooo#.######.
    .........######..##..##.
    ................##....##
    endart
TilesEnd:
