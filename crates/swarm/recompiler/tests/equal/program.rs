//! Programs that blocks are made of, and machines that run them.

use gbxcule_gameboy::{Cartridge, Machine};
use proptest::prelude::*;

/// A padded ROM and a machine that runs it.
#[derive(Clone)]
pub(crate) struct Subject {
    #[cfg(not(color))]
    pub(crate) cartridge: Cartridge,
    pub(crate) rom: Vec<u8>,
    pub(crate) machine: Machine,
    pub(crate) cart_ram: Vec<u8>,
}

impl Subject {
    /// After power-on.
    pub(crate) fn new(rom: &[u8]) -> Option<Self> {
        let cartridge = Cartridge::from_rom(rom).ok()?;
        let mut rom = rom.to_vec();
        rom.resize(cartridge.padded_len(), 0xff);
        let machine = Machine::power_on(&cartridge);
        let cart_ram = vec![0; cartridge.ram_bytes as usize];
        Some(Self {
            #[cfg(not(color))]
            cartridge,
            rom,
            machine,
            cart_ram,
        })
    }

    /// Fails with the first difference if there is one.
    pub(crate) fn assert_equals(&self, other: &Self, when: &str) {
        if let Some(difference) = self.machine.first_difference(&other.machine) {
            panic!("{when}: {difference}");
        }
        assert!(self.machine == other.machine, "{when}: a picture or a byte of RAM differs");
        assert!(self.cart_ram == other.cart_ram, "{when}: cartridge RAM differs");
    }
}

/// Opcodes that end a random program early: the undefined ones, STOP and HALT.
const ENDS: [u8; 13] =
    [0xd3, 0xdb, 0xdd, 0xe3, 0xe4, 0xeb, 0xec, 0xed, 0xf4, 0xfc, 0xfd, 0x10, 0x76];

/// A ROM of random instructions for some mapper, with few that end a program at once.
pub(crate) fn random_rom() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop::sample::select(vec![0x00u8, 0x03, 0x06, 0x13, 0x1b]);
    (kinds, 0u8..3, prop::collection::vec(any::<u8>(), 0x300)).prop_map(
        |(kind, rom_size, mut bytes)| {
            bytes.iter_mut().filter(|byte| ENDS.contains(byte)).for_each(|byte| *byte &= 0x47);
            // Each repetition of the 0x301 bytes begins at another place of its bank.
            let turn = bytes.iter().copied().chain([0x18]);
            let mut rom: Vec<u8> = turn.cycle().take(0x8000 << rom_size).collect();
            rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
            (rom[0x143], rom[0x147], rom[0x148], rom[0x149]) = (0, kind, rom_size, 3);
            rom
        },
    )
}

/// First address of high RAM.
const HIGH_RAM: u16 = 0xff80;

/// Random registers, deadline and RAM.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    registers: [u8; 8],
    sp: u16,
    pub(crate) pc: u16,
    deadline_mcycles: u32,
    /// OAM DMA has just begun, if the program is in high RAM.
    dma: bool,
    seed: u64,
}

pub(crate) fn scene() -> impl Strategy<Value = Scene> {
    let sp = prop_oneof![0xc000..0xdffeu16, 0xff80..0xfffeu16, any::<u16>()];
    let address = prop_oneof![Just(0xc0u8), Just(0xff), Just(0x40), any::<u8>()];
    let deadline = prop_oneof![0..40u32, 40..400u32];
    let pc = prop_oneof![4 => 0x150..0x7ff8u16, 1 => HIGH_RAM..0xfff8u16];
    (any::<[u8; 8]>(), address, sp, pc, deadline, any::<bool>(), any::<u64>()).prop_map(
        |(mut registers, high, sp, pc, deadline_mcycles, dma, seed)| {
            registers[5] = high;
            Scene { registers, sp, pc, deadline_mcycles, dma, seed }
        },
    )
}

impl Scene {
    /// Puts a machine into the scene.
    pub(crate) fn apply(&self, machine: &mut Machine) {
        let cpu = &mut machine.cpu;
        [cpu.a, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l, _] = self.registers;
        cpu.set_f(self.registers[7]);
        (cpu.sp, cpu.pc) = (self.sp, self.pc);
        let bytes = machine.wram.iter_mut().chain(&mut machine.hram);
        for (index, byte) in bytes.enumerate() {
            *byte = (self.seed.rotate_left(index as u32 & 63) >> 3) as u8 ^ index as u8;
        }
        if self.dma && self.pc >= HIGH_RAM {
            machine.poke(&[], &mut [], 0xff46, 0xc1);
        }
        machine.deadline = machine.now.wrapping_add(self.deadline_mcycles);
        // A machine's deadline never lies after the PPU's.
        machine.ppu.deadline = machine.deadline;
    }
}
