//! Hooks of a swarm: addresses in the game's code. When an env arrives at one, the arrival is
//! counted, its step ends, or a function of a program is called, before the instruction there is
//! executed.
//!
//! A swarm without hooks runs whole steps, by code that does not look for hooks.

use gbxcule_gameboy::cart::{Cart, Mapper};
use gbxcule_gameboy::hook::HOOK_IN_RAM;

use crate::{Rom, SwarmError};

/// Bytes of a bank of ROM.
const BANK_BYTES: u32 = 0x4000;

/// An address in the game's code, and the effects of an arrival there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The bank of ROM, for an address below 8000.
    pub bank: u16,
    /// The address of an instruction.
    pub address: u16,
    /// True if the env's step ends with the frame of the arrival.
    pub ends_step: bool,
    /// The function of a program that is called on arrival.
    pub calls: Option<String>,
}

/// Number of an env's arrivals at a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HookCount {
    /// Count since the episode began; it saturates at 16,777,216.
    pub in_episode: u32,
    /// Count in the env's last step.
    pub in_step: u32,
}

impl Hook {
    /// Makes a hook that only counts.
    #[must_use]
    pub fn at(bank: u16, address: u16) -> Self {
        Self { bank, address, ends_step: false, calls: None }
    }

    /// Returns the place in the machine's form: an offset in ROM, or an address. Bank 0 is allowed
    /// at 4000, because some linkers give bank 0 to all of a ROM of 32 KiB.
    fn place(&self, rom: &Rom) -> u32 {
        let address = u32::from(self.address);
        match address >> 14 {
            0 | 1 if rom.chip().len() == 2 * BANK_BYTES as usize && self.bank == 0 => address,
            0 | 1 => u32::from(self.bank) * BANK_BYTES + (address & (BANK_BYTES - 1)),
            _ => HOOK_IN_RAM | address,
        }
    }

    /// Returns true if the bank of ROM can be mapped at the address. Below 4000 only an MBC1 maps
    /// banks other than 0.
    fn is_reachable(&self, rom: &Rom) -> bool {
        let mapper = Cart::new(rom.cartridge()).mapper;
        let moves_low = matches!(mapper, Mapper::Mbc1 | Mapper::Mbc1Multicart);
        self.address >= 0x4000 || self.bank == 0 || moves_low
    }
}

/// Hooks in the form in which a machine looks them up.
#[derive(Debug, Clone)]
pub(crate) struct HookTable {
    /// A bit for each address, set where a hook may be.
    pub(crate) marks: Vec<u8>,
    pub(crate) places: Vec<u32>,
    pub(crate) ends_step: Vec<bool>,
}

impl HookTable {
    /// Makes the table of hooks in a ROM.
    pub(crate) fn new(hooks: &[Hook], rom: &Rom) -> Result<Self, SwarmError> {
        let places: Vec<u32> = hooks.iter().map(|hook| hook.place(rom)).collect();
        let mut marks = vec![0; 0x2000];
        for (at, (hook, &place)) in hooks.iter().zip(&places).enumerate() {
            let Hook { bank, address, .. } = *hook;
            if place < HOOK_IN_RAM && place as usize >= rom.chip().len() {
                let banks = rom.chip().len() / BANK_BYTES as usize;
                return Err(SwarmError::NoSuchBank { bank, address, last: banks - 1 });
            }
            if !hook.is_reachable(rom) {
                return Err(SwarmError::HookOutOfReach { bank, address });
            }
            if places[..at].contains(&place) {
                return Err(SwarmError::TwoHooks { bank, address });
            }
            // The bank may be mapped in either window.
            let in_rom = [address & 0x3fff, address | 0x4000];
            for address in if place < HOOK_IN_RAM { in_rom } else { [address; 2] } {
                marks[usize::from(address >> 3)] |= 1 << (address & 7);
            }
        }
        let ends_step = hooks.iter().map(|hook| hook.ends_step).collect();
        Ok(Self { marks, places, ends_step })
    }
}
