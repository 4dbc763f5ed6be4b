//! Events of one machine, in the order in which a lane of a warp goes through the step's loops.

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::machine::is_before;
use gbxcule_swarm::{Codec, Rom, Schedule};

/// A turn of a loop of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Of `run_until_deadline`: an instruction.
    Opcode(Access),
    /// Of `run_frame`: the deadline had come.
    Service(Service),
}

/// An instruction, and the memory it touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) opcode: u8,
    pub(crate) pc: u16,
    /// Of its data, if it has any; the first of two bytes.
    pub(crate) data: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// Lines that the PPU went on by.
    pub(crate) lines: u8,
    /// The frame is drawn.
    pub(crate) draws: bool,
}

/// A machine that a random player plays.
pub(crate) struct Lane {
    machine: Machine,
    cart_ram: Vec<u8>,
    random: u64,
}

impl Lane {
    pub(crate) fn new(rom: &Rom, number: u64) -> Self {
        Self {
            machine: Machine::power_on(rom.cartridge()),
            cart_ram: vec![0; rom.cart_ram_bytes()],
            random: number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    /// Runs a step, whose last frame is drawn; gives the events of each frame.
    pub(crate) fn step(&mut self, rom: &Rom, schedule: Schedule) -> Vec<Vec<Event>> {
        let buttons = self.choose();
        self.machine.set_buttons(buttons);
        let frames = schedule.frames_per_step();
        let frame = |frame| {
            if frame == schedule.release_after_frames() {
                self.machine.set_buttons(0);
            }
            self.frame(rom, frame + 1 == frames)
        };
        (0..frames).map(frame).collect()
    }

    fn choose(&mut self) -> u8 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let actions = Codec::FULL_V1.actions;
        actions[(self.random >> 33) as usize % actions.len()].buttons
    }

    fn frame(&mut self, rom: &Rom, draw: bool) -> Vec<Event> {
        self.machine.begin_frame(draw);
        let mut events = Vec::new();
        let mut is_over = false;
        while !is_over {
            let machine = &self.machine;
            let is_opcode = is_before(machine.now, machine.deadline);
            let (access, line) = (is_opcode.then(|| self.access(rom)), machine.ppu.line);
            is_over = self.machine.run_instruction(rom.bytes(), &mut self.cart_ram);
            events.push(match access {
                Some(access) => Event::Opcode(access),
                None => {
                    let gone = u16::from(self.machine.ppu.line) + 154 - u16::from(line);
                    let lines = (gone % 154) as u8;
                    Event::Service(Service { lines, draws: draw })
                }
            });
        }
        events
    }

    /// The instruction that comes next.
    fn access(&self, rom: &Rom) -> Access {
        let cpu = &self.machine.cpu;
        let byte = |offset| {
            let address = cpu.pc.wrapping_add(offset);
            self.machine.peek(rom.bytes(), &self.cart_ram, address)
        };
        let high = |low: u8| 0xff00 | u16::from(low);
        let opcode = byte(0);
        let data = match opcode {
            0x02 | 0x0a => Some(cpu.bc()),
            0x12 | 0x1a => Some(cpu.de()),
            0x22 | 0x2a | 0x32 | 0x3a | 0x34..=0x36 | 0x70..=0x75 | 0x77 => Some(cpu.hl()),
            0x40..=0xbf if opcode & 7 == 6 && opcode != 0x76 => Some(cpu.hl()),
            0xcb if byte(1) & 7 == 6 => Some(cpu.hl()),
            0x08 | 0xea | 0xfa => Some(u16::from_le_bytes([byte(1), byte(2)])),
            0xe0 | 0xf0 => Some(high(byte(1))),
            0xe2 | 0xf2 => Some(high(cpu.c)),
            0xc1 | 0xd1 | 0xe1 | 0xf1 | 0xc9 | 0xd9 => Some(cpu.sp),
            0xc5 | 0xd5 | 0xe5 | 0xf5 | 0xcd => Some(cpu.sp.wrapping_sub(1)),
            _ if opcode & 0xc7 == 0xc7 => Some(cpu.sp.wrapping_sub(1)),
            _ => None,
        };
        Access { opcode, pc: cpu.pc, data }
    }
}
