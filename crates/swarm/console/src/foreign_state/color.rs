//! Parts of a foreign state that only a Game Boy Color has.
//!
//! BESS has no field for an unfinished transfer of VRAM DMA: SameBoy neither writes FF55 nor reads
//! it. So we write an extra block, which other programs skip; a state without the block has no
//! unfinished transfer. The order of objects follows KEY0, as BESS asks for.

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy_color::Machine;
use gbxcule_gameboy_color::cpu::Mode as ColorMode;

use super::{ForeignState, fill};

/// Bytes from FEA0 to FEFF.
pub(super) const BEHIND_OAM_BYTES: usize = 0x60;
/// Bit of KEY0 that is set while a Color runs a program for the original.
const COMPATIBLE: u8 = 0x04;
/// Value of KEY0 for a program for the Color.
const COLOR: u8 = 0x80;
const DOUBLE_SPEED: u8 = 0x80;

/// Memories that the original lacks altogether.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ColorMemories {
    pub(super) background: Vec<u8>,
    pub(super) object: Vec<u8>,
    /// FEA0-FEFF, if it is known.
    pub(super) behind_oam: Option<[u8; BEHIND_OAM_BYTES]>,
    /// The transfer of VRAM DMA, if it is known.
    pub(super) transfer: Option<Transfer>,
}

/// A transfer of VRAM DMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    /// FF55 as a program reads it: bit 7 is clear while each HBlank copies a block.
    pub(super) control: u8,
    /// Number of blocks that are due now, at most 80.
    pub(super) due: u8,
}

impl ForeignState {
    /// Adds what a Color has beyond the original.
    pub(super) fn add_color(&mut self, machine: &Machine) {
        let palettes = &machine.ppu.palettes;
        self.color = Some(ColorMemories {
            background: palettes.background.to_vec(),
            object: palettes.object.to_vec(),
            behind_oam: Some(std::array::from_fn(|at| machine.color.behind_oam[cell(at)])),
            transfer: Some(Transfer { control: machine.hdma.read(), due: machine.hdma.due }),
        });
        self.io[0x4C] = if machine.ppu.compatible { COMPATIBLE } else { COLOR };
        // FF51-FF54 read as FF.
        let hdma = &machine.hdma;
        let source = hdma.source.wrapping_add(hdma.source_bytes).to_be_bytes();
        let target = hdma.target.wrapping_add(hdma.target_bytes).to_be_bytes();
        self.io[0x51..0x55].copy_from_slice(&[source, target].concat());
        self.mode = match machine.cpu.mode {
            // During a change of speed the CPU waits for its new clock, not for an interrupt.
            ColorMode::Halted if machine.speed.changing => Mode::Running,
            ColorMode::Running => Mode::Running,
            ColorMode::Halted => Mode::Halted,
            ColorMode::Stopped => Mode::Stopped,
            ColorMode::Locked => Mode::Locked,
        };
    }

    /// Sets what a Color has beyond the original, on a machine just switched on.
    pub(super) fn set_color(&self, machine: &mut Machine, nops: &[u8], cart_ram: &mut [u8]) {
        let Some(color) = &self.color else { return };
        let compatible = self.io[0x4C] & COMPATIBLE != 0;
        machine.ppu.compatible = compatible;
        machine.ppu.sorts_by_x = compatible;
        let palettes = &mut machine.ppu.palettes;
        fill(&mut palettes.background, &color.background);
        fill(&mut palettes.object, &color.object);
        palettes.background_index = self.io[0x68] & 0xBF;
        palettes.object_index = self.io[0x6A] & 0xBF;
        for (at, &byte) in color.behind_oam.iter().flatten().enumerate() {
            machine.color.behind_oam[cell(at)] = byte;
        }
        // Registers that are locked for programs for the original do not take these.
        for low in [0x4D, 0x4F, 0x51, 0x52, 0x53, 0x54, 0x56, 0x70, 0x72, 0x73, 0x74, 0x75] {
            machine.poke(nops, cart_ram, 0xFF00 | low, self.io[usize::from(low)]);
        }
        let double = !compatible && self.io[0x4D] & DOUBLE_SPEED != 0;
        machine.speed.double = double;
        machine.apu.double_speed = double;
        machine.ppu.double_speed = double;
    }

    /// Continues a transfer at the place in the frame.
    pub(super) fn set_transfer(&self, machine: &mut Machine) {
        let Some(Transfer { control, due }) = self.color.as_ref().and_then(|it| it.transfer) else {
            return;
        };
        machine.hdma.left = control & 0x7F;
        machine.hdma.active = control & 0x80 == 0;
        machine.hdma.due = due;
        if machine.ppu.is_on() {
            gbxcule_gameboy_color::ppu::schedule_ppu(machine);
        }
    }
}

/// A CPU's mode as the Color has it.
pub(super) fn mode(mode: Mode) -> ColorMode {
    match mode {
        Mode::Running => ColorMode::Running,
        Mode::Halted => ColorMode::Halted,
        Mode::Stopped => ColorMode::Stopped,
        Mode::Locked => ColorMode::Locked,
    }
}

/// The index in a machine's bytes of an address, counted from FEA0, whose bits 3 and 4 are ignored.
fn cell(at: usize) -> usize {
    (at >> 5) * 8 + (at & 7)
}
