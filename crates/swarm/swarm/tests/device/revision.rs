//! Other revisions than the default behave on a device as on the CPU.

use gbxcule_assembler::Assembler;
use gbxcule_swarm::{DeviceConfig, DeviceSwarm, Model, NativeSwarm, Rom, SwarmError};

use crate::pair::{Pair, Subject, config, plain};

/// Records in C000 to C2FF what differs between revisions: the addresses behind OAM, LY around line
/// 153, and PCM12 after NR14 made a period longer, at double speed.
const PROGRAM: &str = "
    di
    ld a, $30
    ldh [$00], a
    ld a, 1
    ldh [$4d], a
    db $10, $00
    ld a, $f0
    ldh [$12], a
    ld a, $fc
    ldh [$13], a
    ld a, $87
    ldh [$14], a
    ld hl, $c200
    ld b, 255
Level:
    ldh a, [$76]
    ld [hl+], a
    dec b
    jr nz, Level
Line:
    ldh a, [$44]
    cp 152
    jr nz, Line
    ld hl, $c000
    ld b, 0
Lines:
    ldh a, [$44]
    ld [hl+], a
    dec b
    jr nz, Lines
Dark:
    ldh a, [$44]
    cp 145
    jr nz, Dark
    ld hl, $fea0
    ld de, $c100
    ld b, $60
Behind:
    ld a, [hl+]
    ld [de], a
    inc e
    dec b
    jr nz, Behind
Stay:
    jr Stay
";

/// The ROM for both models.
fn rom(console: &str) -> Rom {
    let code = Assembler::new("revision.asm", PROGRAM).code_at(0x150).expect("a program");
    let mut bytes = vec![0; 0x8000];
    bytes[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (bytes[0x143], bytes[0x146], bytes[0x14b]) = (0x80, 0x03, 0x33);
    bytes[0x150..][..code.len()].copy_from_slice(&code);
    Rom::for_console(&bytes, console).expect("a console's name")
}

pub(crate) fn consoles_of_other_revisions_do_the_same(subject: Subject) {
    let consoles: &[&str] = match subject.model {
        Model::Original => &["dmg", "mgb"],
        Model::Color => &["cgb", "cgb-c", "cgb-e"],
    };
    let mut states = Vec::new();
    for console in consoles {
        let native = NativeSwarm::new(rom(console), config(2)).expect("a swarm");
        let ours = plain(subject).swarm_of(rom(console), config(2));
        let mut pair = Pair { native, ours };
        for _ in 0..4 {
            pair.step(&[0, 1]);
        }
        pair.assert_equal(console);
        let machine = pair.native.machine(0).expect("an env");
        states.extend(machine.color().map(|machine| machine.wram[..0x300].to_vec()));
    }
    if subject.model == Model::Color {
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            let names = [consoles[first], consoles[second]];
            assert!(states[first] != states[second], "{names:?} do the same");
        }
        return;
    }
    let device = DeviceConfig { device: subject.device, ..DeviceConfig::default() };
    let refused = DeviceSwarm::new(rom("sgb"), config(1), device);
    assert!(matches!(refused, Err(SwarmError::SuperOnDevice { .. })));
}
