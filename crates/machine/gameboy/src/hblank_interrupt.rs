//! The interrupt of the next line's HBlank in one step, for programs of the Color that have an
//! interrupt in each line. `machine::pass_deadline` asks here before it calls `service`.
//!
//! A property test compares this step with services.
#![cfg(color)]

use crate::bus::{FAST_WRAM_BYTES, is_quiet_at};
use crate::cpu::Mode;
use crate::hdma::HaltedAt;
use crate::interrupts::STAT;
use crate::machine::{Machine, earlier, is_before};
use crate::ppu::find_passed_hblank;
use crate::ppu::whole_or_by_dots::pass_to_next_hblank;

/// M-cycles of an interrupt's dispatch.
const DISPATCH_MCYCLES: u32 = 5;
/// First address of the stack for which both bytes of PC go to work RAM.
const LOWEST_STACK: u16 = 0xc002;
/// Address of the handler of STAT.
const HANDLER: u16 = 0x48;

/// Passes to the next line's HBlank and dispatches its interrupt. Returns false, and changes
/// nothing, if more is due. If a chip is due before the handler begins, only HBlank is passed, and
/// services go on from there.
#[inline(never)]
pub(crate) fn has_taken_next_hblank(machine: &mut Machine) -> bool {
    let before = machine.now;
    let cpu = &machine.cpu;
    let halts = cpu.mode == Mode::Halted && cpu.just_halted && machine.hdma.rest != HaltedAt::Due;
    let moment = if halts { machine.ppu.deadline } else { before };
    let handler_at = moment.wrapping_add(halts as u32 + DISPATCH_MCYCLES);
    let takes = cpu.ime
        && !cpu.ime_delayed
        && (halts || cpu.mode == Mode::Running)
        && machine.interrupts.pending() == 0
        && machine.interrupts.enabled & STAT != 0
        && cpu.pc < 0x8000
        && machine.fast_wram_bytes != 0
        && cpu.sp.wrapping_sub(LOWEST_STACK) < FAST_WRAM_BYTES - 2;
    let is_quiet = machine.ppu.is_on()
        && !machine.ppu.frame_over
        && !machine.speed.changing
        && !machine.apu.voices.reads_on_bus
        && machine.hdma.due == 0
        && is_before(handler_at, machine.timer.deadline)
        && is_before(handler_at, machine.serial.deadline)
        && machine.serial.sc & 0x80 == 0
        && !is_before(moment, machine.ppu.deadline)
        && (!halts || is_before(before.wrapping_add(1), moment));
    if !takes || !is_quiet {
        return false;
    }
    machine.now = moment;
    if !pass_to_next_hblank(machine) {
        machine.now = before;
        return false;
    }
    if halts {
        machine.cpu.just_halted = false;
        machine.cpu.now = moment;
        machine.deadline = moment;
    }
    if !is_quiet_at(machine, handler_at) {
        return true;
    }
    if halts {
        machine.cpu.mode = Mode::Running;
        machine.cpu.halt_bug = false;
        machine.hdma.rest = HaltedAt::Outside;
    }
    dispatch(machine);
    machine.now = handler_at;
    machine.cpu.now = handler_at;
    find_passed_hblank(machine);
    let chips = earlier(machine.timer.deadline, machine.serial.deadline);
    machine.deadline = earlier(chips, machine.ppu.deadline);
    true
}

/// Does what the dispatch of STAT's interrupt does to registers and memory.
#[inline(always)]
fn dispatch(machine: &mut Machine) {
    let (pc, sp) = (machine.cpu.pc, machine.cpu.sp);
    let (high, low) =
        (machine.wram_index(sp.wrapping_sub(1)), machine.wram_index(sp.wrapping_sub(2)));
    machine.wram[high] = (pc >> 8) as u8;
    machine.wram[low] = pc as u8;
    machine.interrupts.requested &= !STAT;
    let cpu = &mut machine.cpu;
    cpu.sp = sp.wrapping_sub(2);
    cpu.pc = HANDLER;
    cpu.ime = false;
}
