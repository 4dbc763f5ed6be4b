//! The next instruction's use of the link port: the M-cycles in which it reads or writes SB, SC or
//! IF, or changes the port's clock by a write to DIV. The instruction's bytes and the CPU's
//! registers determine this use before the instruction runs.

use crate::cpu::{Cpu, Mode};
use crate::dma;
use crate::machine::{COLOR, Machine, is_before};
use crate::serial::Serial;
use crate::view;

/// The kinds of access that a shift in the same M-cycle distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Target {
    /// A read of any of the registers.
    Read = 0,
    /// A write to SB.
    Data = 1,
    /// A write to SC.
    Control = 2,
    /// A write to DIV.
    Divider = 3,
    /// A write to IF.
    Requests = 4,
    /// The dispatch of an interrupt.
    Dispatch = 5,
}

/// M-cycles of an instruction's first and last use of the port, counted from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Look {
    /// True if the instruction uses the port.
    pub(crate) is_any: bool,
    /// The M-cycle of the first use.
    pub(crate) first: u32,
    /// The M-cycle of the last use.
    pub(crate) last: u32,
    /// The last use.
    pub(crate) target: Target,
}

impl Look {
    /// Makes a look without a use.
    pub(crate) fn none() -> Look {
        Look { is_any: false, first: 0, last: 0, target: Target::Read }
    }

    /// Adds an access in a later M-cycle, if the address belongs to the port.
    fn add(&mut self, address: u16, mcycle: u32, writes: bool) {
        let target = match address {
            0xff01 => Target::Data,
            0xff02 => Target::Control,
            0xff0f => Target::Requests,
            _ => Target::Divider,
        };
        let is_port = address == 0xff01 || address == 0xff02 || address == 0xff0f;
        if is_port || address == 0xff04 && writes {
            self.add_use(mcycle, if writes { target } else { Target::Read });
        }
    }

    fn add_use(&mut self, mcycle: u32, target: Target) {
        if !self.is_any {
            self.first = mcycle;
        }
        self.is_any = true;
        self.last = mcycle;
        self.target = target;
    }

    /// Returns true if the last use may make the bit clock of a clocking port fall: the clock is
    /// high then.
    pub(crate) fn may_shift(&self, machine: &Machine) -> bool {
        let moment = machine.now.wrapping_add(self.last);
        let div_base = machine.timer.div_base;
        let divides = moment.wrapping_sub(div_base) & (machine.serial.edge_mcycles() / 2) != 0;
        let falls = match self.target {
            Target::Control => true,
            Target::Divider => divides,
            _ => false,
        };
        falls && is_high_at(&machine.serial, moment, div_base)
    }
}

/// Returns the use of the port by the next instruction or service. Chips that are due are
/// brought up to now, which the service would do first.
pub(crate) fn next_look(machine: &mut Machine, rom: &[u8], cart_ram: &[u8]) -> Look {
    let mut look = Look::none();
    if is_before(machine.now, machine.deadline) {
        add_instruction(machine, &mut look, rom, cart_ram);
    } else if machine.cpu.mode == Mode::Running {
        machine.sync_due(rom, cart_ram, 0);
        if dispatches(machine) {
            // The push may write to the port.
            look.add(machine.cpu.sp.wrapping_sub(1), 3, true);
            look.add_use(4, Target::Dispatch);
            if COLOR {
                // The M-cycle in which the dispatch clears the request.
                look.add_use(5, Target::Dispatch);
            }
        }
    } else if machine.cpu.mode == Mode::Stopped && machine.wakes_from_stop() {
        look.add_use(0, Target::Divider);
    }
    look
}

/// Returns true if the service that is due dispatches an interrupt.
fn dispatches(machine: &Machine) -> bool {
    let ends_frame = machine.ppu.frame_over || machine.is_lcd_off_frame_over();
    #[cfg(color)]
    let ends_change = machine.speed.ends_change(machine.now);
    #[cfg(not(color))]
    let ends_change = false;
    !ends_frame
        && !ends_change
        && !machine.is_hdma_due()
        && machine.cpu.ime
        && machine.interrupts.pending() != 0
}

fn add_instruction(machine: &Machine, look: &mut Look, rom: &[u8], cart_ram: &[u8]) {
    let cpu = machine.cpu;
    let pc = cpu.pc;
    look.add(pc, 0, false);
    let opcode = code_at(machine, rom, cart_ram, pc, 0);
    let operand = if cpu.halt_bug { pc } else { pc.wrapping_add(1) };
    let stack = cpu.sp;
    match opcode {
        0xe0 | 0xe2 | 0xea | 0xf0 | 0xf2 | 0xfa | 0x08 => {
            add_far(machine, look, rom, cart_ram, opcode, operand);
        }
        0x02 => look.add(cpu.bc(), 1, true),
        0x12 => look.add(cpu.de(), 1, true),
        0x0a => look.add(cpu.bc(), 1, false),
        0x1a => look.add(cpu.de(), 1, false),
        0x10 => {
            let resets = machine.joypad.lines() == 0x0f;
            look.add_use(1, if resets { Target::Divider } else { Target::Read });
        }
        0x76 => look.add_use(1, Target::Read),
        0xcb => {
            let prefixed = code_at(machine, rom, cart_ram, operand, 1);
            if prefixed & 7 == 6 {
                look.add(cpu.hl(), 2, false);
                if prefixed < 0x40 || prefixed >= 0x80 {
                    look.add(cpu.hl(), 3, true);
                }
            }
        }
        0xc1 | 0xd1 | 0xe1 | 0xf1 | 0xc9 | 0xd9 => {
            add_stack(look, stack, stack.wrapping_add(1), 1, false);
        }
        0xc0 | 0xc8 | 0xd0 | 0xd8 => add_stack(look, stack, stack.wrapping_add(1), 2, false),
        0xc4 | 0xcc | 0xcd | 0xd4 | 0xdc => {
            add_stack(look, stack.wrapping_sub(1), stack.wrapping_sub(2), 4, true);
        }
        0xc5 | 0xd5 | 0xe5 | 0xf5 | 0xc7 | 0xcf | 0xd7 | 0xdf | 0xe7 | 0xef | 0xf7 | 0xff => {
            add_stack(look, stack.wrapping_sub(1), stack.wrapping_sub(2), 2, true);
        }
        _ => add_hl(look, opcode, cpu),
    }
}

/// Adds the access of an instruction whose address is an immediate, or FF00+C.
fn add_far(
    machine: &Machine,
    look: &mut Look,
    rom: &[u8],
    cart_ram: &[u8],
    opcode: u8,
    operand: u16,
) {
    let writes = opcode < 0xf0;
    if opcode == 0xe2 || opcode == 0xf2 {
        look.add(0xff00 | machine.cpu.c as u16, 1, writes);
        return;
    }
    let low = code_at(machine, rom, cart_ram, operand, 1) as u16;
    if opcode == 0xe0 || opcode == 0xf0 {
        look.add(0xff00 | low, 2, writes);
        return;
    }
    let high = code_at(machine, rom, cart_ram, operand.wrapping_add(1), 2) as u16;
    let address = high << 8 | low;
    look.add(address, 3, writes);
    if opcode == 0x08 {
        look.add(address.wrapping_add(1), 4, true);
    }
}

/// A byte of the program, as the CPU fetches it some M-cycles from now.
fn code_at(machine: &Machine, rom: &[u8], cart_ram: &[u8], address: u16, mcycle: u32) -> u8 {
    if address >= 0xff80 && address < 0xffff {
        return machine.hram[(address & 0x7f) as usize];
    }
    let moment = machine.now.wrapping_add(mcycle);
    if address < 0xff00 && machine.dma.is_moving(moment) {
        let source = machine.dma.source(moment);
        if address >= 0xfe00 {
            return 0xff;
        }
        if dma::meets_dma(address, source) {
            if COLOR && address >= 0xc000 && source & 0xe000 != 0xc000 {
                let at = 0xc000 | source & 0x1000 | address & 0x0fff;
                return machine.wram[machine.wram_index(at)];
            }
            if COLOR && source >= 0xe000 {
                return 0xff;
            }
            return view::read(machine, rom, cart_ram, source);
        }
    }
    view::read(machine, rom, cart_ram, address)
}

fn add_stack(look: &mut Look, one: u16, other: u16, mcycle: u32, writes: bool) {
    look.add(one, mcycle, writes);
    look.add(other, mcycle + 1, writes);
}

/// Adds the accesses of an instruction with `(HL)`.
fn add_hl(look: &mut Look, opcode: u8, cpu: Cpu) {
    let hl = cpu.hl();
    match opcode {
        0x22 | 0x32 | 0x70..=0x75 | 0x77 => look.add(hl, 1, true),
        0x34 | 0x35 => {
            look.add(hl, 1, false);
            look.add(hl, 2, true);
        }
        0x36 => look.add(hl, 2, true),
        0x2a | 0x3a => look.add(hl, 1, false),
        _ => {
            let reads_hl = opcode >= 0x40 && opcode < 0xc0 && opcode & 7 == 6;
            if reads_hl {
                look.add(hl, 1, false);
            }
        }
    }
}

/// Returns true if the bit clock is high at a later moment.
pub(crate) fn is_high_at(serial: &Serial, moment: u32, div_base: u32) -> bool {
    let period = serial.edge_mcycles();
    let passed = serial.synced_at.wrapping_sub(div_base) / period;
    let edges = (moment.wrapping_sub(div_base) / period).wrapping_sub(passed);
    serial.clock_high != (edges & 1 != 0)
}
