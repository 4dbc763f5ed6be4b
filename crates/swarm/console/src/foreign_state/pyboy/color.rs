//! Parts of a state that PyBoy saves only for a Color.

use super::super::ForeignStateError;
use super::super::bytes::Bytes;
use super::super::color::{ColorMemories, Transfer};
use super::BEHIND_OAM_BYTES;

/// Bit of KEY0 that is set while a Color runs a program for the original.
pub(super) const COMPATIBLE: u8 = 0x04;
/// Value of KEY0 for a program for the Color.
pub(super) const COLOR: u8 = 0x80;
pub(super) const PALETTE_BYTES: usize = 64;
const VRAM_BANK_BYTES: usize = 0x2000;

/// The registers of VRAM DMA.
pub(super) struct Transfers {
    source: u16,
    target: u16,
    control: u8,
}

impl Transfers {
    pub(super) fn read(state: &mut Bytes<'_>) -> Result<Self, ForeignStateError> {
        let [_, _, _, _, control, active] = state.array()?;
        let (source, target) = (state.u16()?, state.u16()?);
        // PyBoy shows the end of a transfer that was broken off as 80.
        let control = if active != 0 { control & 0x7F } else { control | 0x80 };
        Ok(Self { source, target, control })
    }
}

/// Parts behind the LCD's clocks.
#[derive(Default)]
pub(super) struct VideoParts<'a> {
    pub(super) second_bank: &'a [u8],
    /// VBK, BCPS, OCPS.
    registers: [u8; 3],
    background: &'a [u8],
    object: &'a [u8],
}

impl<'a> VideoParts<'a> {
    pub(super) fn read(state: &mut Bytes<'a>) -> Result<Self, ForeignStateError> {
        let second_bank = state.take(VRAM_BANK_BYTES)?;
        let bank = state.u8()?;
        let [background_index, _, _, _] = state.array()?;
        let background = state.take(PALETTE_BYTES)?;
        let [object_index, _, _, _] = state.array()?;
        let object = state.take(PALETTE_BYTES)?;
        let registers = [bank, background_index, object_index];
        Ok(Self { second_bank, registers, background, object })
    }
}

/// Sets the registers of a Color to the values that a program reads.
pub(super) fn set_ports(
    io: &mut [u8; 0x80],
    key1: u8,
    is_compatible: bool,
    wram_bank: u8,
    transfers: &Transfers,
    video: &VideoParts<'_>,
) {
    let [vbk, background_index, object_index] = video.registers;
    io[0x4C] = if is_compatible { COMPATIBLE } else { COLOR };
    io[0x4D] = key1;
    io[0x4F] = vbk;
    io[0x51..0x53].copy_from_slice(&transfers.source.to_be_bytes());
    io[0x53..0x55].copy_from_slice(&transfers.target.to_be_bytes());
    io[0x55] = transfers.control;
    io[0x56] = 0;
    io[0x68] = background_index;
    io[0x6A] = object_index;
    io[0x70] = wram_bank;
    // The values after power-on.
    io[0x72..0x76].copy_from_slice(&[0; 4]);
}

pub(super) fn memories(
    transfers: &Transfers,
    video: &VideoParts<'_>,
    behind_oam: [u8; BEHIND_OAM_BYTES],
) -> ColorMemories {
    ColorMemories {
        background: video.background.to_vec(),
        object: video.object.to_vec(),
        behind_oam: Some(behind_oam),
        transfer: Some(Transfer { control: transfers.control, due: 0 }),
    }
}
