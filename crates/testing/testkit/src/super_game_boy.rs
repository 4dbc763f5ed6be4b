//! Parts of programs in assembly for a Super Game Boy, and the ROM whose header unlocks it.

/// Subroutine that sends the packet at HL over P1 and points HL behind the packet; and its
/// subroutine that makes a pulse on the lines which A selects.
pub const SEND: &str = "
Send:
    xor a
    call Pulse
    ld b, 16
Byte:
    ld a, [hl]
    inc hl
    ld d, a
    ld e, 8
Bit:
    ld a, $20
    srl d
    jr nc, Zero
    ld a, $10
Zero:
    call Pulse
    dec e
    jr nz, Bit
    dec b
    jr nz, Byte
    ld a, $20
Pulse:
    ldh [$00], a
    ld a, $30
    ldh [$00], a
    ret
";

/// Code that writes what P1 shows of the directions of each controller to C000 to C003, for ever.
/// It needs `SEND`.
pub const POLL: &str = "
Poll:
    ldh a, [$00]
    and 3
    xor 3
    ld l, a
    ld h, $c0
    ld a, $20
    ldh [$00], a
    ldh a, [$00]
    and $0f
    ld [hl], a
    ld a, $10
    call Pulse
    jr Poll
";

/// Returns a ROM with code that begins at 0150.
pub fn rom(code: &[u8]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (rom[0x146], rom[0x14b]) = (0x03, 0x33);
    rom[0x150..][..code.len()].copy_from_slice(code);
    rom
}
