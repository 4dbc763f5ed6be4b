//! Colors whose speed changes beside requests of interrupts and running transfers.

use crate::{cases, check_with_room};
use proptest::prelude::*;

/// Executes the bytes at C100 as commands, chosen by their lower three bits, in an endless loop,
/// and records at D000 the registers of port and timer after each change of speed.
const SCRIPT: &str = r#"
    title "SPEED"

    org $0040
    inc b
    reti
    org $0048
    inc b
    reti
    org $0050
    inc b
    reti
    org $0058
    inc b
    reti
    org $0060
    inc b
    reti

    org $0150
Start:
    ld sp, $DFF0
    ld a, $30
    ldh [P1], a
    ld a, $08
    ldh [STAT], a
    ld hl, $C100
    ld de, $D000
Next:
    ld a, [hl]
    inc l
    ld c, a
    and $07
    jr z, Wait
    dec a
    jr z, Put
    dec a
    jr z, Listen
    dec a
    jr z, Clock
    dec a
    jr z, Enable
    dec a
    jr z, Request
    dec a
    jr z, Count
    jr Change
Wait:
    srl c
    srl c
.again:
    dec c
    jr nz, .again
    jr Next
Put:
    ld a, c
    ldh [SB], a
    jr Next
Listen:
    ld a, $80
    ldh [SC], a
    jr Next
Clock:
    ld a, c
    rrca
    rrca
    and $02
    or $81
    ldh [SC], a
    jr Next
Enable:
    di
    ld a, c
    rrca
    rrca
    rrca
    ldh [IE], a
    jr Next
Request:
    ld a, c
    rrca
    rrca
    rrca
    ldh [IF], a
    jr Next
Count:
    ld a, c
    or $E0
    ldh [TIMA], a
    bit 7, c
    jr z, Next
    ld a, $05
    ldh [TAC], a
    jr Next
Change:
    ld a, $01
    ldh [KEY1], a
    di
    bit 3, c
    jr z, .disabled
    ei
.disabled:
    bit 4, c
    jr z, .even
    nop
.even:
    bit 5, c
    jr z, .calm
    ld a, c
    rlca
    rlca
    rlca
    and $0C
    ldh [IF], a
.calm:
    stop
    ldh a, [DIV]
    call Keep
    ldh a, [TIMA]
    call Keep
    ldh a, [SC]
    call Keep
    ldh a, [SB]
    call Keep
    ldh a, [IF]
    call Keep
    jp Next
Keep:
    ld [de], a
    inc e
    ret
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_pair_changes_its_speed_beside_requests(
        one in proptest::collection::vec(any::<u8>(), 1..24),
        other in proptest::collection::vec(any::<u8>(), 1..24),
    ) {
        check_with_room(SCRIPT, one, other)?;
    }
}
