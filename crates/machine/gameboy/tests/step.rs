//! A step is some frames under one action.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

use gbxcule_gameboy::{Cartridge, FRAME_MCYCLES, Machine, Step, run_frame_pressing_at};

fn console() -> (Machine, Vec<u8>) {
    let rom = gbxcule_assembler::by_name("JOY_DIVERGE_PERSIST").expect("a ROM").bytes().to_vec();
    (Machine::power_on(&Cartridge::from_rom(&rom).expect("a ROM that runs")), rom)
}

#[test]
fn buttons_are_held_for_the_first_frames_and_only_the_last_is_drawn() {
    let (start, rom) = console();
    for frames in [0, 1, 2, 5] {
        for release_after in [0, 1, 3, 5, 9] {
            for draw_last in [false, true] {
                let (mut stepped, mut expected) = (start, start);
                let step = Step { frames, release_after, draw_last };
                let took = stepped.run_step(&rom, &mut [], 0x11, step);
                expected.set_buttons(if release_after > 0 { 0x11 } else { 0 });
                for frame in 0..frames {
                    if frame >= release_after {
                        expected.set_buttons(0);
                    }
                    expected.run_frame(&rom, &mut [], draw_last && frame == frames - 1);
                }
                assert_eq!(stepped.first_difference(&expected), None, "{step:?}");
                assert_eq!(took, expected.now - start.now);
                assert!(took.abs_diff(frames * FRAME_MCYCLES) < 30 * frames.max(1), "{took}");
            }
        }
    }
}

/// Machines in which steps begin, and their ROMs: on the Color also one at double speed, whose
/// `now` counts twice as many M-cycles in a frame.
fn starts() -> Vec<(Machine, Vec<u8>)> {
    let (start, rom) = console();
    #[cfg(color)]
    {
        // LD A,1; LDH (KEY1),A; STOP; JR to itself.
        let mut fast_rom = rom.clone();
        fast_rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
        fast_rom[0x143] = 0x80;
        fast_rom[0x150..0x158].copy_from_slice(&[0x3e, 1, 0xe0, 0x4d, 0x10, 0, 0x18, 0xfe]);
        let mut fast = Machine::power_on(&Cartridge::from_rom(&fast_rom).expect("a ROM that runs"));
        (0..8).for_each(|_| fast.run_frame(&fast_rom, &mut [], false));
        assert!(fast.speed.double);
        vec![(start, rom), (fast, fast_rom)]
    }
    #[cfg(not(color))]
    vec![(start, rom)]
}

#[test]
fn a_step_whose_frames_the_caller_runs_is_the_same_step_at_any_speed() {
    for (start, rom) in starts() {
        for (frames, release_after) in [(0, 0), (1, 0), (3, 2), (5, 9)] {
            let (mut stepped, mut by_caller) = (start, start);
            let step = Step { frames, release_after, draw_last: true };
            let expected = stepped.run_step(&rom, &mut [], 0x11, step);
            let mut drawn = 0;
            let took = by_caller.run_step_with(0x11, step, |machine, draw| {
                drawn += u32::from(draw);
                machine.run_frame(&rom, &mut [], draw);
            });
            assert_eq!(by_caller.first_difference(&stepped), None, "{step:?}");
            assert_eq!((took, drawn), (expected, frames.min(1)), "{step:?}");
            assert!(took.abs_diff(frames * FRAME_MCYCLES) < 40 * frames.max(1), "{took}");
        }
    }
}

/// A program that stores LY at C000 when a button is pressed; until then it halts, or runs.
fn storing_ly(halts: bool) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    // `LDH A,(44); LD (C000),A; RETI`
    rom[0x60..0x66].copy_from_slice(&[0xf0, 0x44, 0xea, 0x00, 0xc0, 0xd9]);
    // P1 = 00, IE = 10, `EI; HALT; JR`
    let wait = if halts { 0x76 } else { 0x00 };
    let program = [0xaf, 0xe0, 0x00, 0x3e, 0x10, 0xe0, 0xff, 0xfb, wait, 0x18, 0xfd];
    rom[0x150..][..program.len()].copy_from_slice(&program);
    rom
}

#[test]
fn buttons_change_at_a_line_of_a_frame() {
    for rom in [storing_ly(true), storing_ly(false)] {
        let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
        machine.run_frame(&rom, &mut [], false);
        for line in [1, 7, 90, 143, 144, 152] {
            let start = machine.now;
            run_frame_pressing_at(&mut machine, &rom, &mut [], false, (line, 0x10));
            assert_eq!(machine.wram[0], line);
            assert!((machine.now - start).abs_diff(FRAME_MCYCLES) < 8);
            machine.set_buttons(0);
            machine.run_frame(&rom, &mut [], false);
            assert_eq!(machine.wram[0], line);
        }
    }
}
