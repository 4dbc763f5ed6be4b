//! Moments at which a Color's write, or its HALT, comes a dot or an M-cycle too late. gambatte's
//! tests measured them on consoles; these programs need no ROM from outside.

use gbxcule_gameboy_color::{Cartridge, Machine};

/// The line in which the programs do something.
const LINE: u8 = 5;
/// `JR -2`
const STAY: [u8; 2] = [0x18, 0xfe];

/// `LD A,value; LDH (low),A`
fn store(low: u8, value: u8) -> [u8; 4] {
    [0x3e, value, 0xe0, low]
}

/// `LDH A,(44); CP line; JR NZ` until LY is the line.
fn wait_for_line(line: u8) -> [u8; 6] {
    [0xf0, 0x44, 0xfe, line, 0x20, 0xfa]
}

/// A ROM with a program for the Color.
fn rom(program: &[u8]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    rom[0x150..][..program.len()].copy_from_slice(program);
    rom
}

/// A machine that has run a program for the Color for three frames.
fn run(program: &[u8]) -> Machine {
    run_rom(&rom(program))
}

fn run_rom(rom: &[u8]) -> Machine {
    let mut machine = Machine::power_on(&Cartridge::from_rom(rom).expect("a good header"));
    for _ in 0..3 {
        machine.run_frame(rom, &mut [], true);
    }
    machine
}

/// HBlank's interrupts in whole frames in which SCX is written all the time.
fn hblank_interrupts(wx: u8) -> u16 {
    let mut program = vec![0x01, 0x00, 0x00]; // LD BC,0000
    program.extend([store(0x4a, 0x00), store(0x4b, wx), store(0x40, 0xf1)].concat());
    program.extend(wait_for_line(145));
    program.extend([store(0x41, 0x08), store(0x0f, 0x00), store(0xff, 0x02)].concat());
    program.extend([0xfb, 0xe0, 0x43, 0x18, 0xfc]); // EI; LDH (43),A; JR -4
    let mut rom = rom(&program);
    rom[0x48..0x4a].copy_from_slice(&[0x03, 0xd9]); // INC BC; RETI
    run_rom(&rom).cpu.bc()
}

// The last pixel waits for the window's tile, and the interrupt does not (gambatte `*_wxA6_*`).
#[test]
fn a_write_at_the_last_pixel_takes_no_interrupt_away() {
    assert_eq!([7, 80, 166, 167].map(hblank_interrupts), [3 * 144; 4]);
}

/// Increments that a program executes whose `HALT` comes after some `NOP` and is followed by one
/// `INC A`, while HDMA waits for HBlank.
fn increments(nops: usize) -> u8 {
    let mut program = Vec::new();
    for low in 0x51..=0x54 {
        program.extend(store(low, 0));
    }
    program.extend(store(0xff, 0x04));
    program.extend(wait_for_line(LINE));
    // TIMA wakes the CPU, some lines later.
    program.extend(store(0x05, 0x80));
    program.extend(store(0x07, 0x05));
    program.extend(wait_for_line(LINE + 1));
    program.extend(store(0x55, 0x80));
    program.extend(std::iter::repeat_n(0x00, nops));
    // `XOR A; LDH (0F),A; HALT; INC A`
    program.extend([0xaf, 0xe0, 0x0f, 0x76, 0x3c]);
    program.extend(STAY);
    run(&program).cpu.a
}

// gambatte hdma_late_m3halt_m2unhalt_inc_*.
#[test]
fn in_one_mcycle_halt_meets_hdma_and_its_next_opcode_is_executed_twice() {
    let twice: Vec<usize> = (0..80).filter(|&nops| increments(nops) == 2).collect();
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!((0..80).all(|nops| increments(nops) == 1 || twice.contains(&nops)));
}

/// Returns true if a window at the left edge is shown on a line that scrolls finely, if it is
/// enabled there after some `NOP`.
fn shows_window(scx: u8, nops: usize) -> bool {
    let mut program = Vec::new();
    program.extend(store(0x40, 0x00));
    // The window's map is of tile 1, which is of colour 3; the background's is of tile 0.
    program.extend([0x21, 0x00, 0x9c, 0x06, 0x20, 0x3e, 0x01]); // LD HL,9C00; LD B,20; LD A,1
    program.extend([0x22, 0x05, 0x20, 0xfc]); // LD (HL+),A; DEC B; JR NZ
    program.extend([0x21, 0x10, 0x80, 0x06, 0x10, 0x3e, 0xff]); // LD HL,8010; LD B,10; LD A,FF
    program.extend([0x22, 0x05, 0x20, 0xfc]);
    program.extend(store(0x68, 0x86));
    program.extend(store(0x69, 0x00));
    program.extend(store(0x69, 0x00));
    program.extend(store(0x4a, 0x00));
    program.extend(store(0x4b, 0x07));
    program.extend(store(0x43, scx));
    program.extend(store(0x40, 0xf1));
    let begin = program.len();
    program.extend(wait_for_line(LINE - 1));
    program.extend(store(0x40, 0xd1));
    // The CPU wakes on dots of the line that do not depend on how long it waited.
    program.extend(store(0x45, LINE));
    program.extend(store(0x41, 0x40));
    program.extend(store(0xff, 0x02));
    program.extend([0xaf, 0xe0, 0x0f, 0x76]);
    program.extend(std::iter::repeat_n(0x00, nops));
    program.extend(store(0x40, 0xf1));
    let back = 256 + begin as i32 - program.len() as i32 - 2;
    program.extend([0x18, back as u8]);
    let machine = run(&program);
    let at = usize::from(LINE) * 320 + 300;
    machine.frame[at] == 0
}

// gambatte late_reenable_*.
#[test]
fn the_window_must_be_enabled_on_the_dot_before_it_begins() {
    let latest = |scx| (0..60).filter(|&nops| shows_window(scx, nops)).max();
    let moments: Vec<Option<usize>> = (0..8).map(latest).collect();
    assert!(moments[0].is_some_and(|nops| nops > 0 && nops < 59), "{moments:?}");
    assert!(moments[..4].iter().all(|moment| *moment == moments[0]), "{moments:?}");
    let later = moments[0].map(|nops| nops + 1);
    assert!(moments[4..].iter().all(|moment| *moment == later), "{moments:?}");
}

/// STAT on the first line of a lit LCD, some `NOP` behind the write that switches it on. Before,
/// the LCD was on with another SCX, which changed while it was off.
fn stat_on_first_line(before: u8, scx: u8, nops: usize) -> u8 {
    let mut program = Vec::from(store(0x43, before));
    program.extend(wait_for_line(145));
    program.extend(store(0x40, 0x11));
    program.extend(store(0x43, scx));
    program.extend(store(0x40, 0x91));
    program.extend(std::iter::repeat_n(0x00, nops));
    // `LDH A,(41); LD (C000),A`
    program.extend([0xf0, 0x41, 0xea, 0x00, 0xc0]);
    program.extend(STAY);
    run(&program).wram[0]
}

// SameBoy agrees.
#[test]
fn the_first_line_scrolls_as_scx_says_when_the_lcd_goes_on() {
    let line = |before, scx| -> Vec<u8> {
        (54..68).map(|nops| stat_on_first_line(before, scx, nops)).collect()
    };
    for (before, scx) in [(0, 5), (5, 0), (3, 7)] {
        assert_eq!(line(before, scx), line(scx, scx), "SCX {before} before {scx}");
    }
    assert_ne!(line(0, 0), line(5, 5));
}

/// A Color that is about to run a program whose header has these bytes at 0143, 0144 and 014B.
fn handed_over(flag: u8, new_licensee: u8, licensee: u8) -> Machine {
    let mut rom = vec![0; 0x8000];
    (rom[0x143], rom[0x144], rom[0x14b]) = (flag, new_licensee, licensee);
    Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"))
}

// docboy boot_div_*; the first column is mooneye's and gambatte's.
#[test]
fn div_after_the_boot_rom_depends_on_the_licensee() {
    let counter = |machine: Machine| 4 * machine.now.wrapping_sub(machine.timer.div_base);
    for (flag, new_licensee, licensee, expected) in [
        (0x80, 0, 0, 0x1ea0),
        (0x80, 0, 0x33, 0x1e9c),
        (0x80, b'0', 0x33, 0x1ec0),
        (0x80, 0, 1, 0x2fa8),
        (0, 0, 0, 0x267c),
        (0, 0, 0x33, 0x2678),
        (0, b'0', 0x33, 0x269c),
    ] {
        let seen = counter(handed_over(flag, new_licensee, licensee));
        assert_eq!(seen, expected, "{flag:02x} {new_licensee:02x} {licensee:02x}: {seen:04x}");
    }
}

// docboy boot_regs_audio.
#[test]
fn the_boot_rom_leaves_alternating_bytes_in_wave_ram() {
    assert_eq!(handed_over(0x80, 0, 0).apu.wave_ram, [0, 0xff].repeat(8)[..]);
}

/// Blocks that HDMA has copied when a program switches the LCD off again, some M-cycles after it
/// was switched on and HDMA started.
fn blocks_until_off(mcycles: usize) -> usize {
    let mut program = Vec::from(wait_for_line(145));
    program.extend(store(0x40, 0x00));
    // From ROM at 1000, which holds AB, to 8000.
    for (low, value) in [(0x51, 0x10), (0x52, 0x00), (0x53, 0x00), (0x54, 0x00)] {
        program.extend(store(low, value));
    }
    program.extend(store(0x40, 0x81));
    program.extend(store(0x55, 0x87));
    program.extend(std::iter::repeat_n(0x00, mcycles));
    program.extend(store(0x40, 0x00));
    program.extend(STAY);
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    rom[0x1000..0x1100].fill(0xab);
    rom[0x150..][..program.len()].copy_from_slice(&program);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    for _ in 0..4 {
        machine.run_frame(&rom, &mut [], false);
    }
    machine.vram[..0x100].chunks(16).take_while(|block| block[0] == 0xab).count()
}

// docboy hdma_remaining_length_ly0_*, hdma_ppu_on_turn_off_during_*.
#[test]
fn hdma_copies_a_block_at_once_on_the_first_line_and_none_more_when_the_lcd_goes_off_in_hblank() {
    // Mode 0 of the first line, mode 3 with the block that waits, HBlank, the next line's mode 3.
    assert_eq!([2, 30, 70, 130].map(blocks_until_off), [2, 2, 2, 3]);
}

/// DIV and LY after a change of speed, which an interrupt follows: a timer's that is pending or,
/// some `NOP` before line 144, VBlank's. `nops` follow the change.
fn after_change(to_double: bool, before_vblank: Option<usize>, nops: usize) -> [u8; 2] {
    let mut program = Vec::new();
    if !to_double {
        program.extend(store(0x4d, 0x01));
        program.extend([0x10, 0x00]);
    }
    program.extend(store(0x4d, 0x01));
    program.extend(wait_for_line(143));
    program.extend(store(0xff, 0x01));
    program.extend(store(0x0f, if before_vblank.is_some() { 0x00 } else { 0x01 }));
    program.extend(std::iter::repeat_n(0x00, before_vblank.unwrap_or(0)));
    program.extend([0x10, 0x00]);
    program.extend(std::iter::repeat_n(0x00, nops));
    // `LDH A,(04); LD (C000),A; LDH A,(44); LD (C001),A`
    program.extend([0xf0, 0x04, 0xea, 0x00, 0xc0, 0xf0, 0x44, 0xea, 0x01, 0xc0]);
    program.extend(STAY);
    let machine = run(&program);
    [machine.wram[0], machine.wram[1]]
}

/// Least number of `NOP` after the change with which DIV has counted once.
fn nops_to_div(to_double: bool, before_vblank: Option<usize>) -> Option<usize> {
    (0..80).find(|&nops| after_change(to_double, before_vblank, nops)[0] == 1)
}

// AGE spsw-interrupts, docboy stop_key1_joypad0_interrupt1_*.
#[test]
fn with_an_interrupt_pending_a_change_of_speed_clears_div_one_mcycle_after_the_cpu_goes_on() {
    assert_eq!([true, false].map(|to_double| nops_to_div(to_double, None)), [Some(62); 2]);
}

// docboy speed_switch_to_double_interrupt_vblank_aligned_with_stop_*.
#[test]
fn vblank_in_the_first_six_tcycles_of_a_change_to_double_speed_wakes_the_cpu_before_it() {
    let moments: Vec<Option<usize>> = (60..110).map(|nops| nops_to_div(true, Some(nops))).collect();
    let first = moments.iter().position(|&moment| moment == Some(62)).expect("one is pending");
    let early: Vec<usize> = moments[first - 4..first].iter().flatten().copied().collect();
    assert_eq!(early, [56, 58, 60, 61]);
}
