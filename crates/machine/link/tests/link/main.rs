//! Pairs of machines with a cable: bits are exchanged in the right M-cycle, and running one machine
//! ahead of the other changes nothing.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;
#[cfg(color)]
extern crate gbxcule_link_color as gbxcule_link;

mod plain;
#[cfg(color)]
mod speed_change;

use gbxcule_gameboy::{COLOR, Cartridge, Machine};
use gbxcule_link::{LEAD_TCYCLES, Link};
use plain::PlainPair;
use proptest::prelude::*;

/// Executes the bytes at C100 as commands, chosen by their lower three bits, in an endless loop,
/// and records at D000 the port's registers between them.
const SCRIPT: &str = r#"
    title "SCRIPT"

    org $0050
    reti
    org $0058
    push af
    push hl
    ld hl, $C000
    inc [hl]
    ldh a, [SB]
    inc l
    ld [hl], a
    pop hl
    pop af
    reti

    org $0150
Start:
    ld sp, $DFF0
    ld a, $0C
    ldh [IE], a
    ld a, $05
    ldh [TAC], a
    ld hl, $C100
    ld de, $D000
    ei
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
    jr z, Close
    dec a
    jr z, Log
    dec a
    jr z, Other
    halt
    nop
    jr Next
Wait:
    srl c
    srl c
    srl c
    inc c
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
Close:
    ld a, c
    rrca
    rrca
    rrca
    and $01
    ldh [SC], a
    jr Next
Log:
    ldh a, [SB]
    call Keep
    ldh a, [SC]
    call Keep
    ldh a, [IF]
    call Keep
    jr Next
Keep:
    ld [de], a
    inc e
    ret
Other:
    bit 3, c
    jr z, .div
    bit 4, c
    jr z, .poll
    ldh a, [KEY1]
    bit 7, a
    ld a, $01
    ldh [KEY1], a
    ld a, $30
    ldh [P1], a
    di
    bit 5, c
    jr z, .slow
    stop
.slow:
    ei
    jr Next
.div:
    ldh [DIV], a
    jr Next
.poll:
    ld b, c
.more:
    ldh a, [SC]
    add a, a
    jr nc, .over
    dec b
    jr nz, .more
.over:
    ldh a, [SB]
    call Keep
    jp Next
"#;

/// Commands that the wider script has in place of a write to DIV: that, and further accesses to the
/// port and to IF.
const ACCESSES: &str = r#".div:
    bit 4, c
    jr nz, .rewrite
    ldh [DIV], a
    jp Next
.rewrite:
    push hl
    ld hl, $FF01
    bit 5, c
    jr nz, .requests
    bit 6, c
    jr nz, .control
    inc [hl]
    sla [hl]
    jr .rewritten
.control:
    inc l
    bit 7, c
    jr nz, .close
    ld a, [hl]
    add a, a
    jr .rewritten
.close:
    res 7, [hl]
    jr .rewritten
.requests:
    ld l, $0F
    bit 6, c
    jr nz, .put
    bit 7, c
    jr nz, .take
    set 3, [hl]
    jr .rewritten
.take:
    res 3, [hl]
    jr .rewritten
.put:
    ld a, c
    rlca
    rlca
    ld [hl], a
.rewritten:
    pop hl
    jp Next
"#;

/// A command of the widest script that stops the Color's CPU while blocks go into video RAM, at
/// once or in HBlanks.
const BLOCKS: &str = r#"
    bit 5, c
    jr z, .copy
    stop
    jr .slow
.copy:
    bit 6, c
    jr z, .slow
    ld a, $C1
    ldh [$FF51], a
    ldh [$FF53], a
    ld a, c
    and $81
    ldh [$FF55], a
.slow:
"#;

fn wide_script() -> String {
    replaced(SCRIPT, ".div:\n    ldh [DIV], a\n    jr Next\n", ACCESSES)
        .replace("jr Next", "jp Next")
}

fn widest_script() -> String {
    replaced(&wide_script(), "\n    bit 5, c\n    jr z, .slow\n    stop\n.slow:\n", BLOCKS)
}

fn replaced(script: &str, old: &str, new: &str) -> String {
    assert!(script.contains(old));
    script.replace(old, new)
}

struct Pair {
    rom: Vec<u8>,
    machines: [Machine; 2],
}

impl Pair {
    fn new(source: &str, scripts: [&[u8]; 2]) -> Self {
        let built = gbxcule_assembler::assemble(source).unwrap_or_else(|errors| panic!("{errors}"));
        let mut rom = built.bytes;
        if COLOR {
            rom[0x143] = 0x80;
        }
        let cartridge = Cartridge::from_rom(&rom).expect("a ROM that runs");
        let machines = scripts.map(|script| {
            let mut machine = Machine::power_on(&cartridge);
            for (cell, byte) in machine.wram[0x100..0x200].iter_mut().zip(script.iter().cycle()) {
                *cell = *byte;
            }
            machine
        });
        Self { rom, machines }
    }

    /// Returns the machines after this many frames with the cable.
    fn linked(&self, frames: u32) -> [Machine; 2] {
        self.linked_to(frames).0
    }

    /// Returns the machines after this many frames with the cable, and by how much each overran
    /// each frame.
    fn linked_to(&self, frames: u32) -> ([Machine; 2], Vec<[i32; 2]>) {
        let [mut one, mut other] = self.machines;
        let mut link = Link::new(&one, &other, [-LEAD_TCYCLES; 2]);
        let mut ahead = Vec::new();
        for _ in 0..frames {
            link.run_frame(&mut one, &mut other, &self.rom, &mut [], &mut []);
            ahead.push(link.ahead(&one, &other));
        }
        link.sync_for_observers(&mut one, &mut other);
        ([one, other], ahead)
    }

    /// Runs each machine separately, up to the same instruction boundaries.
    fn plain(&self, ahead: &[[i32; 2]]) -> [Machine; 2] {
        let mut pair = PlainPair::new(&self.rom, self.machines);
        for (frame, ahead) in (1..).zip(ahead) {
            pair.run_frame(ahead.map(|ahead| PlainPair::frame_end(frame) + i64::from(ahead)));
        }
        pair.sync_for_observers()
    }

    fn check(&self, frames: u32) -> Result<(), TestCaseError> {
        let (linked, ahead) = self.linked_to(frames);
        for ahead in ahead.iter().flatten() {
            prop_assert!((0..200).contains(ahead), "{} T-cycles beyond a frame", ahead);
        }
        let plain = self.plain(&ahead);
        for (side, (linked, plain)) in linked.iter().zip(&plain).enumerate() {
            let difference = linked.first_difference(plain);
            prop_assert_eq!(difference, None, "machine {}", side);
        }
        let [one, other] = self.machines;
        let swapped = Self { rom: self.rom.clone(), machines: [other, one] }.linked(frames);
        prop_assert!(swapped[0] == linked[1] && swapped[1] == linked[0], "the order matters");
        Ok(())
    }
}

/// Runs in a thread with a large stack: unoptimised code copies machines often.
fn check_with_room(source: &str, one: Vec<u8>, other: Vec<u8>) -> Result<(), TestCaseError> {
    let source = source.to_owned();
    let check = move || Pair::new(&source, [&one, &other]).check(3);
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check);
    thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[test]
fn an_idle_machine_comes_to_a_shift_across_the_end_of_a_frame() {
    check_with_room(SCRIPT, vec![20], vec![94, 114, 218, 203]).expect("the plain loop's machines");
}

#[test]
fn a_shift_comes_in_the_last_m_cycle_of_a_dispatch() {
    let one = vec![189, 51, 181, 30, 158];
    check_with_room(SCRIPT, one.clone(), vec![84, 0, 0]).expect("the plain loop's machines");
    // The other one listens.
    check_with_room(SCRIPT, one, vec![84, 0, 2, 7]).expect("the plain loop's machines");
}

/// The machine that drives the clock halts at the end of the frame, before the shift.
#[test]
fn an_instruction_goes_across_the_end_of_a_frame_and_a_shift() {
    let one = vec![247, 115, 227, 7, 102, 215, 23, 67, 38, 211, 68, 87];
    let other = vec![18, 189, 146, 82, 25, 176, 64];
    check_with_room(SCRIPT, one, other).expect("the plain loop's machines");
}

/// The eighth bit comes in the M-cycle in which `SET 3,[HL]` writes the IF that it has read before.
#[test]
fn a_request_is_lost_to_a_write_in_the_same_m_cycle() {
    let one = vec![12, 42, 83, 22, 221, 28, 3, 185, 249, 218, 138];
    check_with_room(&wide_script(), one, vec![0]).expect("the plain loop's machines");
}

#[test]
fn a_port_that_waits_closes_while_an_instruction_looks_at_it() {
    let [one, other] = [vec![122, 238, 0], vec![97, 107, 24]];
    check_with_room(SCRIPT, one, other).expect("the plain loop's machines");
    check_with_room(SCRIPT, vec![106, 29, 0], vec![107]).expect("the plain loop's machines");
}

#[test]
fn both_ends_clock_at_any_speed() {
    let [one, other] = [vec![217, 0, 0, 28, 0, 8, 0, 0, 203, 0, 57, 0, 0], vec![122, 69]];
    check_with_room(&wide_script(), one, other).expect("the plain loop's machines");
    let one = vec![0, 0, 0, 0, 0, 106, 0, 235, 48, 24];
    let other = vec![211, 253, 107, 145, 34, 244];
    check_with_room(SCRIPT, one.clone(), other.clone()).expect("the plain loop's machines");
    check_with_room(&wide_script(), one, other).expect("the plain loop's machines");
}

/// A dispatch ends a frame, and the shift that the Color's sees in its last M-cycle is the last.
#[test]
fn a_shift_comes_as_the_last_instruction_ends() {
    check_with_room(&wide_script(), vec![86, 122, 46, 145], vec![51])
        .expect("the plain loop's machines");
    let one = vec![109, 129, 158, 254, 61, 173, 0, 211, 56, 45, 7, 39, 105, 181];
    check_with_room(&wide_script(), one, vec![242, 3]).expect("the plain loop's machines");
    let one = vec![
        51, 182, 144, 107, 12, 245, 228, 4, 42, 29, 131, 129, 19, 233, 89, 6, 43, 40, 252, 129, 6,
        167,
    ];
    check_with_room(&wide_script(), one, vec![97, 26, 125, 16, 48, 96])
        .expect("the plain loop's machines");
}

/// Sends or waits, as the first byte of the script says, with requests and a stack that the third
/// and fourth byte give. Comes to the code at 0240 in fewer M-cycles, the higher the second byte.
const LATER: &str = r#"
    title "LATER"
    org $0000
    jp Forever
    org $0150
Start:
    di
    ld a, $01
    ldh [KEY1], a
    ld a, $30
    ldh [P1], a
    ld a, [$C102]
    ldh [IE], a
    ldh [IF], a
    ldh [SB], a
    ld hl, $C101
    ld l, [hl]
    ld h, $02
    ld a, [$C100]
    ldh [SC], a
    jp hl
    org $0200
    ds 64, $00
"#;

fn check_later(code: &str, requests: u8) {
    let source = format!("{LATER}{code}\nForever:\n    jr Forever\n");
    for skip in (0..40).step_by(8).chain(48..64) {
        for clock in [0x81, 0x83] {
            let [one, other] = [vec![clock, skip, requests], vec![0x80, 0, requests]];
            check_with_room(&source, one, other).expect("the plain loop's machines");
        }
    }
}

#[test]
fn a_port_clocks_while_the_speed_changes() {
    check_later("    stop", 0);
}

/// The upper byte of PC, 02, is pushed onto IE, which disables the timer's interrupt.
#[test]
fn a_port_clocks_while_a_dispatch_is_cancelled() {
    check_later("    ld sp, $0000\n    ei\n    nop", 4);
}

/// Number of cases: few, because code is not optimised; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(if cfg!(debug_assertions) { 40 } else { 2000 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_pair_is_stepped_as_exactly_as_by_a_plain_loop(
        one in proptest::collection::vec(any::<u8>(), 1..24),
        other in proptest::collection::vec(any::<u8>(), 1..24),
    ) {
        check_with_room(SCRIPT, one.clone(), other.clone())?;
        check_with_room(&if COLOR { widest_script() } else { wide_script() }, one, other)?;
    }
}

/// The timer is due in the M-cycle with which the last frame ends.
#[test]
fn a_pair_ends_where_a_timer_is_due() {
    let (one, other) = (vec![74, 59, 150, 13, 21], vec![122, 72, 176, 8, 40, 193, 0]);
    check_with_room(SCRIPT, one, other).expect("the plain loop's machines");
}

/// Sends or waits, as the first byte of the script says, and reads SB a number of M-cycles later
/// that the next two bytes give.
const LOOK: &str = r#"
    title "LOOK"
    org $0150
Start:
    di
    xor a
    ldh [DIV], a
    ld a, [$C101]
    ld b, a
    ld a, [$C103]
    ldh [SB], a
    ld hl, $C102
    ld l, [hl]
    ld h, $02
    ld a, [$C100]
    ldh [SC], a
.loop:
    ld a, 3
.inner:
    dec a
    jr nz, .inner
    dec b
    jr nz, .loop
    jp hl
    org $0200
    ds 64, $00
    ldh a, [SB]
    ld [$C000], a
    ldh a, [SC]
    ld [$C001], a
    ldh a, [IF]
    ld [$C002], a
.forever:
    jr .forever
"#;

#[test]
fn both_ends_shift_in_one_m_cycle_also_in_the_midst_of_instructions() {
    let mut seen = std::collections::BTreeSet::new();
    for clock in [0x81, 0x83] {
        let loops = if clock == 0x83 && COLOR { 1..4 } else { 1..91 };
        for loops in loops.step_by(if clock == 0x83 { 1 } else { 9 }) {
            for skip in 0..64 {
                let scripts = [[clock, loops, skip, 0x3c], [0x80, loops, skip, 0xa5]];
                let [one, other] = Pair::new(LOOK, [&scripts[0], &scripts[1]]).linked(1);
                let bits = |machine: &Machine| machine.serial.bits;
                assert_eq!(bits(&one), bits(&other));
                // Both have received the same number of the other's bits.
                let [sent, waited] = [&one, &other].map(|machine| machine.wram[0]);
                let matches = |bits: u32| {
                    let both = |own: u8, its: u8| {
                        ((u32::from(own) << 8 | u32::from(its)) << bits >> 8) as u8
                    };
                    sent == both(0x3c, 0xa5) && waited == both(0xa5, 0x3c)
                };
                let bits = (0..9).find(|bits| matches(*bits));
                assert!(bits.is_some(), "{clock:x} {loops} {skip}: {sent:x} and {waited:x}");
                seen.insert(bits);
                let over = |machine: &Machine| (machine.wram[1] & 0x80, machine.wram[2] & 8);
                assert_eq!(over(&one), over(&other), "{clock:x} {loops} {skip}");
            }
        }
    }
    assert_eq!(seen.len(), 9);
}

#[test]
fn a_port_that_does_not_wait_hears_nothing_and_is_heard_as_ones() {
    let pair = Pair::new(LOOK, [&[0x81, 90, 60, 0x3c], &[0x00, 90, 60, 0xa5]]);
    let [one, other] = pair.linked(1);
    assert_eq!((one.serial.sb, other.serial.sb), (0xff, 0xa5));
    assert_eq!(other.interrupts.requested & 8, 0);
}

#[test]
fn two_ports_that_clock_hear_each_other() {
    let pair = Pair::new(LOOK, [&[0x81, 90, 60, 0x3c], &[0x81, 90, 60, 0xa5]]);
    let [one, other] = pair.linked(1);
    assert_eq!((one.serial.sb, other.serial.sb), (0xa5, 0x3c));
}
