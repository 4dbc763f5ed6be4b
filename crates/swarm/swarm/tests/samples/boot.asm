; Counts for two frames, then hands over to the cartridge at 0100.
    ld sp, $fffe
    ld hl, $c000
    ld d, 40
Outer:
    ld b, 0
Inner:
    dec b
    jr nz, Inner
    inc [hl]
    dec d
    jr nz, Outer
    jp End
    org $00fc
End:
    ld a, 1
    ldh [$50], a
