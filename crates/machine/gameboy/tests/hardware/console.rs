//! A machine whose CPU only makes single accesses, each in its own M-cycle.

use std::rc::Rc;

use gbxcule_gameboy::{Cartridge, Machine};

pub(crate) const IF: u16 = 0xff0f;
pub(crate) const LCDC: u16 = 0xff40;
pub(crate) const STAT: u16 = 0xff41;
pub(crate) const LY: u16 = 0xff44;
pub(crate) const LYC: u16 = 0xff45;

/// M-cycles of one line.
pub(crate) const LINE: u32 = 114;

#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) machine: Machine,
    pub(crate) rom: Rc<[u8]>,
    pub(crate) ram: Vec<u8>,
}

impl Console {
    /// 32 KiB of ROM and 8 KiB of RAM without a mapper, at power-on.
    pub(crate) fn new() -> Console {
        let mut rom: Vec<u8> = (0..0x8000u32).map(|at| (at ^ at >> 8) as u8).collect();
        (rom[0x143], rom[0x147], rom[0x148], rom[0x149]) = (0, 0x08, 0, 2);
        let cartridge = Cartridge::from_rom(&rom).unwrap();
        let ram = vec![0x5a; cartridge.ram_bytes as usize];
        Console { machine: Machine::power_on(&cartridge), rom: rom.into(), ram }
    }

    /// Makes what `new` does, with the LCD off.
    pub(crate) fn dark() -> Console {
        let mut console = Console::new();
        console.write(LCDC, 0);
        console
    }

    /// Makes a machine one M-cycle after its LCD is switched on; the given registers are set
    /// before.
    pub(crate) fn lit(registers: &[(u16, u8)]) -> Console {
        let mut console = Console::dark();
        for &(address, value) in registers {
            console.write(address, value);
        }
        console.write(LCDC, 0x80);
        console
    }

    /// Reads in one M-cycle.
    pub(crate) fn read(&mut self, address: u16) -> u8 {
        let mut cpu = self.machine.cpu;
        cpu.now = self.machine.now;
        let value = cpu.read(&mut self.machine, &self.rom, &mut self.ram, address);
        self.wait(1);
        value
    }

    /// Writes in one M-cycle.
    pub(crate) fn write(&mut self, address: u16, value: u8) {
        let mut cpu = self.machine.cpu;
        cpu.now = self.machine.now;
        cpu.write(&mut self.machine, &self.rom, &mut self.ram, address, value);
        self.wait(1);
    }

    /// Waits for M-cycles without an access.
    pub(crate) fn wait(&mut self, mcycles: u32) -> &mut Console {
        self.machine.now = self.machine.now.wrapping_add(mcycles);
        self
    }

    /// Returns the value that a read some M-cycles from now would give.
    pub(crate) fn after(&self, mcycles: u32, address: u16) -> u8 {
        self.clone().wait(mcycles).read(address)
    }

    /// Returns the values that reads in each of the M-cycles from now on would give, as runs of
    /// equal values.
    pub(crate) fn timeline(&self, mcycles: u32, address: u16) -> Vec<(u8, u32)> {
        let mut runs: Vec<(u8, u32)> = Vec::new();
        for at in 0..mcycles {
            let value = self.after(at, address);
            match runs.last_mut() {
                Some(run) if run.0 == value => run.1 += 1,
                _ => runs.push((value, 1)),
            }
        }
        runs
    }

    /// Returns the M-cycles from now on in which IF shows a new request of one interrupt; each
    /// request is cleared at once.
    pub(crate) fn requests(&self, mcycles: u32, line: u8) -> Vec<u32> {
        let mut machine = self.machine;
        machine.interrupts.requested &= !line;
        let mut at = Vec::new();
        for mcycle in 0..mcycles {
            let now = self.machine.now.wrapping_add(mcycle);
            if machine.requested_at(now) & line != 0 {
                at.push(mcycle);
            }
            machine.interrupts.requested &= !line;
        }
        at
    }
}
