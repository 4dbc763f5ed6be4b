//! Results in memory after our machine has run each micro-ROM.

use std::collections::BTreeSet;

use gbxcule_assembler::{Assembler, by_name};

use crate::console::{ColorConsole, Console, RIGHT};

/// Number of frames within which every self-checking ROM reaches its verdict.
const PATIENCE: u32 = 400;

const SELF_CHECKING: [&str; 19] = [
    "LOADS_BASIC",
    "ALU_FLAGS",
    "ALU16_SP",
    "FLOW_STACK",
    "CB_BITOPS",
    "TIMER_DIV_BASIC",
    "TIMER_IRQ_HALT",
    "EI_DELAY",
    "DMA_OAM_COPY",
    "SERIAL_HELLO",
    "MBC1_SWITCH",
    "MBC1_RAM",
    "MBC2_SWITCH",
    "MBC2_RAM",
    "MBC3_SWITCH",
    "MBC3_RAM",
    "MBC3_RTC",
    "MBC5_SWITCH",
    "MBC5_RAM",
];

#[test]
fn self_checking_roms_pass_on_our_machine() {
    let mut failures = Vec::new();
    for name in SELF_CHECKING {
        let mut console = Console::with(name);
        let mut frames = 0;
        while !matches!(console.peek(0xC000), 0xA5 | 0x5A) && frames < PATIENCE {
            console.run(1);
            frames += 1;
        }
        let [verdict, case, found] = [0xC000, 0xC001, 0xC002].map(|address| console.peek(address));
        if verdict != 0xA5 {
            failures.push(format!("{name}: {verdict:02X}, case {case}, found {found:02X}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn self_checking_roms_pass_on_our_color() {
    let names = ["COLOR_BANKS", "COLOR_PALETTES", "COLOR_HDMA", "COLOR_HBLANK", "COLOR_SPEED"];
    let mut failures = Vec::new();
    for name in names {
        let mut console = ColorConsole::with(name);
        while !matches!(console.peek(0xC000), 0xA5 | 0x5A) && console.frames < PATIENCE {
            console.run(1);
        }
        let found = console.range(0xC000, 0xC006);
        if found[0] != 0xA5 {
            failures.push(format!("{name}: {found:02X?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn double_speed_has_twice_as_many_cycles_in_a_line() {
    let mut console = ColorConsole::with("COLOR_SPEED");
    console.run(20);
    let [once, double, again] = [0xC003, 0xC004, 0xC005].map(|at| u32::from(console.peek(at)));
    assert!(once.abs_diff(again) <= 1 && double.abs_diff(2 * once) <= 1, "{once} {double} {again}");
}

#[test]
fn each_line_has_its_colour() {
    let mut console = ColorConsole::with("COLOR_LINES");
    console.run(40);
    assert_eq!(console.range(0xC000, 0xC004), [0xA5, 38, 0, 144]);
    let colors = console.colors();
    let of_line = |line: usize| colors[line * 160..][..160].iter().map(|color| color >> 10).max();
    assert_eq!(of_line(1), Some(0));
    assert!((8..143).all(|line| of_line(line) >= Some((line as u16 - 1) >> 3)));
}

#[test]
fn a_wrong_machine_would_be_caught() {
    let text = by_name("ALU16_SP").unwrap().source;
    let broken =
        text.replace("addhl 1, $0FFF, $0001, $0000, $1000", "addhl 1, $0FFF, $0001, $0000, $1001");
    assert_ne!(text, broken);
    let rom = Assembler::new("broken.asm", &broken)
        .with_include("selfcheck.inc", include_str!("../../asm/selfcheck.inc"))
        .rom()
        .unwrap();
    let mut console = Console::of(&rom.bytes);
    console.run(4);
    assert_eq!(console.range(0xC000, 0xC003), [0x5A, 1, 0x00]);
}

#[test]
fn serial_hello_takes_the_time_of_five_bytes() {
    let mut console = Console::with("SERIAL_HELLO");
    console.run(10);
    assert_eq!(console.range(0xC000, 0xC008), [0xA5, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
    assert!((0x50..=0x58).contains(&console.peek(0xC008)), "{}", console.peek(0xC008));
}

#[test]
fn stat_interrupts_come_as_often_as_documented() {
    let mut console = Console::with("PPU_STAT_IRQ");
    console.run(40);
    let counts = console.range(0xC003, 0xC008);
    assert_eq!(console.peek(0xC000), 0xA5, "{counts:?}");
}

#[test]
fn endless_loops_keep_their_signature_moving() {
    for name in ["ALU_LOOP", "MEM_RWB", "JOY_DIVERGE_PERSIST"] {
        let mut console = Console::with(name);
        console.run(2);
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        let mut regions = BTreeSet::new();
        for _ in 0..300 {
            console.run(1);
            seen[0].insert(console.peek(0xC000));
            seen[1].insert(console.peek(0xC001));
            regions.insert(console.range(0xC000, 0xC100));
        }
        assert!(seen[0].len() > 60 && seen[1].len() > 60, "{name}: {seen:?}");
        assert!(regions.len() > 290, "{name}: {}", regions.len());
    }
}

#[test]
fn one_button_for_one_frame_changes_joy_diverge_for_good() {
    let [mut pressed, mut idle] = [(); 2].map(|()| Console::with("JOY_DIVERGE_PERSIST"));
    for console in [&mut pressed, &mut idle] {
        console.run(20);
    }
    assert_eq!(pressed.range(0xC000, 0xC011), idle.range(0xC000, 0xC011));
    pressed.hold(RIGHT);
    pressed.run(1);
    idle.run(1);
    pressed.hold(0);
    for _ in 0..100 {
        pressed.run(1);
        idle.run(1);
        assert_ne!(pressed.range(0xC000, 0xC011), idle.range(0xC000, 0xC011));
    }
}

#[test]
fn drawing_roms_count_their_frames() {
    for name in ["BG_STATIC", "BG_SCROLL", "PPU_WINDOW", "PPU_SPRITES"] {
        let mut console = Console::with(name);
        console.run(30);
        assert_eq!(console.peek(0xC000), 0xA5, "{name}");
        let before = console.word(0xC001);
        console.run(300);
        assert_eq!(console.word(0xC001), before + 300, "{name}");
    }
}

#[test]
fn halt_idle_wakes_once_a_frame() {
    let mut console = Console::with("HALT_IDLE");
    console.run(3);
    let before = console.word(0xC000);
    console.run(300);
    assert_eq!(console.word(0xC000), before + 300);
    assert_eq!(console.range(0xC002, 0xC004), [0x90, 0xA5]);
}
