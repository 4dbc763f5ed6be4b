//! Everything that interrupts a program: interrupts, HALT, STOP and the opcodes that hang.

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::ppu::write_ppu;
use gbxcule_gameboy::{Cartridge, FRAME_MCYCLES, Machine};

const BUTTON: u8 = 0x01;

/// A machine about to execute `code` at 0200, without the LCD. B and C count, and handlers count D
/// and E.
struct Program {
    machine: Machine,
    rom: Vec<u8>,
}

impl Program {
    fn new(code: &[u8]) -> Program {
        let mut rom = vec![0; 0x8000];
        for handler in (0x40..0x68).step_by(8) {
            rom[handler..handler + 2].copy_from_slice(&[0x14, 0xd9]);
        }
        rom[0x200..0x200 + code.len()].copy_from_slice(code);
        rom[0x200 + code.len()..][..2].copy_from_slice(&[0x18, 0xfe]);
        let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).unwrap());
        write_ppu(&mut machine, 0x40, 0);
        machine.interrupts.requested = 0;
        machine.cpu.set_bc(0);
        machine.cpu.set_de(0);
        (machine.cpu.pc, machine.cpu.sp) = (0x200, 0xdff0);
        machine.begin_frame(false);
        Program { machine, rom }
    }

    fn pending(mut self, requested: u8, enabled: u8) -> Program {
        self.machine.interrupts.requested = requested;
        self.machine.interrupts.enabled = enabled;
        self.machine.deadline = self.machine.now;
        self
    }

    fn ime(mut self) -> Program {
        self.machine.cpu.ime = true;
        self
    }

    /// Runs long enough for all programs that do not wait.
    fn run(&mut self) -> &mut Program {
        for _ in 0..40 {
            if self.machine.run_instruction(&self.rom, &mut []) {
                self.machine.begin_frame(false);
            }
        }
        self
    }

    fn counts(&self) -> [u8; 3] {
        [self.machine.cpu.b, self.machine.cpu.c, self.machine.cpu.d]
    }
}

// Pan Docs "The bizarre case of the Game Boy STOP instruction", its chart. The second byte, INC B,
// is skipped unless something is pending; INC C follows.
#[test]
fn stop_waits_for_a_button_and_takes_two_bytes_unless_an_interrupt_is_pending() {
    for (requested, enabled, b) in
        [(0x00, 0x00, 0), (0x01, 0x02, 0), (0x04, 0x04, 1), (0x10, 0x1f, 1)]
    {
        let mut program = Program::new(&[0x10, 0x04, 0x0c]).pending(requested, enabled);
        program.machine.now += 5000;
        program.machine.cpu.now = program.machine.now;
        program.run();
        assert_eq!((program.counts(), program.machine.cpu.mode), ([0, 0, 0], Mode::Stopped));
        let since_reset = program.machine.now.wrapping_sub(program.machine.timer.div_base);
        assert!(since_reset < 20 * FRAME_MCYCLES && program.machine.timer.div_base > 5000);
        let pressed_at = program.machine.now;
        program.machine.set_buttons(BUTTON);
        program.run();
        assert_eq!(program.counts(), [b, 1, 0], "{requested:02x} {enabled:02x}");
        assert_eq!(program.machine.timer.div_base, pressed_at, "DIV begins at zero");
    }
}

#[test]
fn stop_with_a_button_held_is_a_halt_or_with_an_interrupt_pending_nothing() {
    let mut program = Program::new(&[0x10, 0x04, 0x0c]);
    program.machine.set_buttons(BUTTON);
    program.machine.interrupts.requested = 0;
    let div_base = program.machine.timer.div_base;
    program.run();
    assert_eq!((program.counts(), program.machine.cpu.mode), ([0, 0, 0], Mode::Halted));
    assert_eq!(program.machine.timer.div_base & 0x3fff, div_base & 0x3fff, "DIV is not reset");
    let mut program = program.pending(0x08, 0x08);
    assert_eq!(program.run().counts(), [0, 1, 0]);

    let mut program = Program::new(&[0x10, 0x04, 0x0c]);
    program.machine.set_buttons(BUTTON);
    let mut program = program.pending(0x02, 0x02);
    assert_eq!((program.run().counts(), program.machine.timer.div_base), ([1, 1, 0], div_base));
}

// Pan Docs "halt".
#[test]
fn halt_waits_until_something_enabled_is_requested() {
    for (ime, handled) in [(false, 0), (true, 1)] {
        let mut program = Program::new(&[0x76, 0x04]);
        program.machine.cpu.ime = ime;
        for (requested, enabled) in [(0x00, 0x1f), (0x1f, 0x00), (0x01, 0x02), (0x1f, 0xe0)] {
            program = program.pending(requested, enabled);
            assert_eq!(program.run().counts(), [0, 0, 0], "{requested:02x} {enabled:02x}");
            assert_eq!(program.machine.cpu.mode, Mode::Halted);
        }
        let mut program = program.pending(0x10, 0x10);
        assert_eq!(program.run().counts(), [1, 0, handled]);
    }
}

#[test]
fn halt_with_something_pending_reads_the_next_byte_twice_or_returns_to_itself() {
    let mut program = Program::new(&[0x76, 0x04, 0x0c]).pending(0x01, 0x01);
    assert_eq!(program.run().counts(), [2, 1, 0]);
    // EI, HALT: the handler returns to the HALT, which then waits.
    let mut program = Program::new(&[0xfb, 0x76, 0x04]).pending(0x01, 0x01);
    assert_eq!((program.run().counts(), program.machine.cpu.mode), ([0, 0, 1], Mode::Halted));
}

// Pan Docs "Interrupt Handling" and "Interrupt priorities".
#[test]
fn the_lowest_bit_is_served_first_in_five_mcycles_and_taken_back() {
    for bit in 0..5 {
        let mut program = Program::new(&[0x04]).ime().pending(0x1f << bit & 0x1f, 0xff);
        let before = program.machine.now;
        program.machine.run_instruction(&program.rom, &mut []);
        let machine = &program.machine;
        assert_eq!((machine.cpu.pc, machine.now - before), (0x40 + 8 * bit as u16, 5));
        assert_eq!(machine.interrupts.requested, 0x1f << bit & 0x1f & !(1 << bit));
        assert_eq!((machine.cpu.ime, machine.cpu.sp), (false, 0xdfee));
        assert_eq!([machine.wram[0x1fee], machine.wram[0x1fef]], [0x00, 0x02]);
    }
    let mut program = Program::new(&[0x04]).pending(0x1f, 0x1f);
    assert_eq!(program.run().counts(), [1, 0, 0], "without IME nothing is served");
}

// mooneye interrupts/ie_push: PC's upper byte, pushed onto IE, changes which interrupt is served;
// the lower byte comes too late.
#[test]
fn a_push_onto_ie_changes_or_cancels_what_is_served() {
    for (requested, sp, pc, left) in [
        (0x01, 0x0000, 0x0000, 0x01),
        (0x03, 0x0000, 0x0048, 0x01),
        (0x02, 0x0000, 0x0048, 0x00),
        (0x01, 0x0001, 0x0040, 0x00),
    ] {
        let mut program = Program::new(&[0x04]).ime().pending(requested, 0xff);
        program.machine.cpu.sp = sp;
        program.machine.run_instruction(&program.rom, &mut []);
        let machine = &program.machine;
        assert_eq!((machine.cpu.pc, machine.interrupts.requested), (pc, left), "{requested:02x}");
        assert!(!machine.cpu.ime);
    }
}

// Pan Docs "CPU Instruction Set": these opcodes lock the CPU up until the power is switched off.
#[test]
fn missing_opcodes_hang_while_everything_else_goes_on() {
    for opcode in [0xd3, 0xdb, 0xdd, 0xe3, 0xe4, 0xeb, 0xec, 0xed, 0xf4, 0xfc, 0xfd] {
        let mut program = Program::new(&[opcode, 0x04]).ime();
        program.machine.interrupts.enabled = 0x1f;
        let before = program.machine.now;
        for frame in 0..3 {
            program.machine.set_buttons(frame);
            program.machine.run_frame(&program.rom, &mut [], false);
        }
        assert_eq!((program.counts(), program.machine.cpu.mode), ([0, 0, 0], Mode::Locked));
        let took = program.machine.now - before;
        assert!(took.abs_diff(3 * FRAME_MCYCLES) < 5, "{opcode:02x}: {took}");
    }
}

#[test]
fn ei_acts_after_the_next_instruction_and_di_at_once() {
    for (code, b) in [
        (&[0xfb, 0x04, 0x04][..], 1),
        (&[0xfb, 0xf3, 0x04], 1),
        (&[0xfb, 0xfb, 0x04], 0),
        (&[0x04, 0xfb, 0x00], 1),
    ] {
        let mut program = Program::new(code).pending(0x04, 0x04);
        let mut steps = 0;
        while program.machine.cpu.pc != 0x50 && steps < 20 {
            program.machine.run_instruction(&program.rom, &mut []);
            steps += 1;
        }
        assert_eq!((program.machine.cpu.b, steps < 20), (b, code[1] != 0xf3), "{code:02x?}");
    }
}

// daid's `stop_instr`: the screen of a DMG in STOP is empty, whatever LCDC says.
#[test]
fn stop_empties_the_screen_of_a_lcd_that_is_on() {
    let mut program = Program::new(&[0x10, 0x00]);
    write_ppu(&mut program.machine, 0x47, 0xff);
    write_ppu(&mut program.machine, 0x40, 0x91);
    let Program { machine, rom } = &mut program;
    machine.run_frame(rom, &mut [], true);
    machine.run_frame(rom, &mut [], true);
    assert!(machine.frame.iter().all(|&four| four == 0));
}
