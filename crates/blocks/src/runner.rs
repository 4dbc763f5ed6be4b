//! A machine run by blocks where they may run, and by the interpreter elsewhere.

use crate::block::{Block, MemoryMap};
use crate::code::Code;
use crate::translation::Translation;
use gbxcule_gameboy::machine::is_before;
use gbxcule_gameboy::{Machine, Step};

/// A place of ROM where blocks may begin.
#[derive(Default)]
enum Head {
    /// How often the interpreter came by.
    #[default]
    Cold,
    Counted(u16),
    Compiled(Box<Code>),
    /// Left to the interpreter.
    Refused,
}

/// Blocks of one ROM.
pub struct Blocks {
    heads: Vec<Head>,
    /// How often the interpreter runs an instruction before a block is made of it.
    threshold: u16,
    /// Blocks that were made.
    pub compiled: usize,
}

impl Blocks {
    /// No blocks yet.
    pub fn new(rom_bytes: usize, threshold: u16) -> Self {
        let heads = (0..rom_bytes).map(|_| Head::Cold).collect();
        Self { heads, threshold, compiled: 0 }
    }

    /// `Machine::run_step`
    pub fn run_step(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        buttons: u8,
        step: Step,
    ) -> u32 {
        let start = machine.now;
        machine.set_buttons(if step.release_after == 0 { 0 } else { buttons });
        for frame in 0..step.frames {
            if frame == step.release_after {
                machine.set_buttons(0);
            }
            let draw = step.draw_last && frame + 1 == step.frames;
            self.run_frame(machine, rom, cart_ram, draw);
        }
        machine.now.wrapping_sub(start)
    }

    /// `Machine::run_frame`
    pub fn run_frame(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
    ) {
        machine.begin_frame(draw);
        while !machine.frame_done {
            if is_before(machine.now, machine.deadline) {
                self.run_until_deadline(machine, rom, cart_ram);
            }
            machine.service(rom, cart_ram);
        }
    }

    /// `Machine::run_until_deadline`
    fn run_until_deadline(&mut self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
        if machine.cpu.halt_bug {
            machine.run_until_deadline(rom, cart_ram);
            return;
        }
        loop {
            let pc = machine.cpu.pc;
            let offset = machine.rom_base[usize::from(pc >> 14)].wrapping_add(u32::from(pc));
            let Some(head) = self.heads.get(offset as usize) else {
                machine.now = machine.cpu.now;
                machine.run_until_deadline(rom, cart_ram);
                return;
            };
            if let Head::Compiled(code) = head {
                let before = machine.cpu.now;
                code.run(machine, rom, cart_ram);
                if machine.cpu.now == before {
                    machine.now = before;
                    machine.run_until_deadline(rom, cart_ram);
                    return;
                }
            } else {
                self.visit(offset as usize, machine, rom);
                machine.now = machine.cpu.now;
                machine.run_instruction(rom, cart_ram);
            }
            if !is_before(machine.cpu.now, machine.deadline) {
                break;
            }
        }
        machine.now = machine.cpu.now;
    }

    /// Counts an instruction that the interpreter runs; makes a block of it when it is hot.
    #[cold]
    fn visit(&mut self, offset: usize, machine: &Machine, rom: &[u8]) {
        let head = &mut self.heads[offset];
        match head {
            Head::Cold => *head = Head::Counted(1),
            Head::Counted(count) if *count < self.threshold => *count += 1,
            Head::Counted(_) => {
                let Some(map) = MemoryMap::of(machine) else { return };
                let pc = machine.cpu.pc;
                let block = Block::new(Translation::get(), rom, map, pc);
                let code = block.ok().and_then(|block| Code::new(block, map, rom.len()).ok());
                *head = match code {
                    Some(code) => {
                        self.compiled += 1;
                        Head::Compiled(Box::new(code))
                    }
                    None => Head::Refused,
                };
            }
            Head::Compiled(_) | Head::Refused => {}
        }
    }
}
