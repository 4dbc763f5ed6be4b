//! States of PyBoy 1.4.1 to 2.4.1, versions 7 to 12, of an original Game Boy. These states hold no
//! sound, so every length is known.
//!
//! | version | PyBoy | what it has beside the version before |
//! |---|---|---|
//! | 7 | 1.4.1 | |
//! | 8 | 1.5.0 | the Color machine, the requested interrupts, the place in the frame |
//! | 9 | 1.5.6 | nothing for an original Game Boy |
//! | 10 | 2.0.0 | a fifth byte for each pixel |
//! | 11 | 2.2.2 | the lines' parameters before the LCD's clock, no longer before the pixels |
//! | 12 | 2.4.0 | clocks that are behind the CPU's |

use std::ops::RangeInclusive;

use gbxcule_gameboy::Model;
use gbxcule_gameboy::cpu::Mode;

use super::super::bytes::Bytes;
use super::{
    BEHIND_OAM_BYTES, Banks, FORMAT, FRAME_TCYCLES, HRAM_BYTES, IO_BYTES, LINE_PARAMETER_BYTES,
    OAM_BYTES, VRAM_BYTES, WRAM_BYTES, check_model, check_running, has_clock, mode,
};
use crate::Rom;
use crate::foreign_state::{ForeignState, ForeignStateError, LINE_TCYCLES};

/// Versions that are read here.
pub(super) const VERSIONS: RangeInclusive<u8> = 7..=12;

const PIXELS: usize = 160 * 144;
const UNUSED_HIGH_BYTES: usize = 0x34;
/// The host's time at which the clock was 0, and two flags that the registers do not need.
const RTC_BYTES: usize = 6;

/// Reads the state after its version.
pub(super) fn read(
    mut state: Bytes<'_>,
    version: u8,
    rom: &Rom,
) -> Result<ForeignState, ForeignStateError> {
    let state = &mut state;
    check_running(state)?;
    check_original(state, version, rom)?;
    let [a, f, b, c, d, e] = state.array()?;
    let (hl, sp, pc) = (state.u16()?, state.u16()?, state.u16()?);
    let ime = state.flag()?;
    let mode = mode(state.flag()?, state.flag()?);
    let enabled = state.u8()?;
    // Before version 8 pending interrupt requests were not saved.
    let [_queued, requested] = if version >= 8 { state.array()? } else { [0, 0] };
    let cycles = if version >= 12 { state.u64()? } else { 0 };

    let (vram, oam) = (state.take(VRAM_BYTES)?, state.take(OAM_BYTES)?);
    let lcd: [u8; 11] = state.array()?;
    let [_, _, _, _, stat, ly, ..] = lcd;
    let place = skip_lines(state, version, cycles, stat, ly)?;
    state.take(PIXELS * if version >= 10 { 5 } else { 4 })?;

    let wram = state.take(WRAM_BYTES)?;
    state.take(BEHIND_OAM_BYTES)?;
    let (ports, hram) = (state.take(IO_BYTES)?, state.take(HRAM_BYTES)?);
    state.take(UNUSED_HIGH_BYTES)?;
    let (div, tima, counter, _) = (state.u8()?, state.u8()?, state.u16()?, state.u16()?);
    let [tma, tac] = state.array()?;
    let behind = if version >= 12 { cycles.wrapping_sub(state.u64()?) } else { 0 };
    let divider = u16::from_be_bytes([div, counter as u8]).wrapping_add(behind as u16);
    let banks = Banks::read(state, rom)?;
    if has_clock(rom) {
        state.take(RTC_BYTES)?;
    }
    let mapper_writes = banks.selecting(state, rom)?;

    let pair = |high, low| u16::from_be_bytes([high, low]);
    // While halted, PyBoy's PC points at HALT; this machine's points after it.
    let pc = if mode == Mode::Halted { pc.wrapping_add(1) } else { pc };
    Ok(ForeignState {
        registers: [pc, pair(a, f & 0xF0), pair(b, c), pair(d, e), hl, sp],
        ime,
        ime_delayed: false,
        mode,
        requested,
        enabled,
        io: io(ports, [div, tima, tma, tac], lcd),
        divider,
        frame_tcycles: place,
        wram: wram.to_vec(),
        vram: vram.to_vec(),
        oam: oam.to_vec(),
        hram: hram.to_vec(),
        cart_ram: banks.ram.to_vec(),
        mapper_writes,
        clock: None,
        color: None,
    })
}

/// Skips the lines' parameters; returns T-cycles since line 0 began, 0 where they are not stored.
fn skip_lines(
    state: &mut Bytes<'_>,
    version: u8,
    cycles: u64,
    stat: u8,
    ly: u8,
) -> Result<u32, ForeignStateError> {
    let lines_come_first = version >= 11;
    if lines_come_first {
        state.take(LINE_PARAMETER_BYTES)?;
    }
    let place = if version >= 8 { place(state, version, cycles, stat, ly)? } else { 0 };
    if !lines_come_first {
        state.take(LINE_PARAMETER_BYTES)?;
    }
    Ok(place)
}

/// Checks that neither the ROM nor the state is of a Color.
fn check_original(state: &mut Bytes<'_>, version: u8, rom: &Rom) -> Result<(), ForeignStateError> {
    if rom.model() == Model::Color {
        return Err(ForeignStateError::OtherVersion {
            format: FORMAT,
            found: version.into(),
            allowed: "versions 14, 15 and 29 of a Game Boy Color, those of PyBoy 2.5.0 to 2.8.1",
        });
    }
    let is_color = if version >= 8 { state.array::<3>()?[2] } else { 0 };
    check_model(is_color, rom.model())
}

/// Returns the registers from FF00 on: the stored ports, with the timer's and the LCD's registers.
fn io(ports: &[u8], timer: [u8; 4], lcd: [u8; 11]) -> [u8; 0x80] {
    let [lcdc, bgp, obp0, obp1, stat, ly, lyc, scy, scx, wy, wx] = lcd;
    let mut io = [0xFF; 0x80];
    io[..IO_BYTES].copy_from_slice(ports);
    io[0x04..0x08].copy_from_slice(&timer);
    // The ports already hold the DMA register, which reads as the last byte written to it.
    io[0x40..0x46].copy_from_slice(&[lcdc, stat, scy, scx, ly, lyc]);
    io[0x47..0x4C].copy_from_slice(&[bgp, obp0, obp1, wy, wx]);
    io
}

/// Reads the LCD's clocks; returns T-cycles since line 0 began. The parts of a line are 80, 170 and
/// 206 T-cycles long; `next` is the end of the present part.
fn place(
    state: &mut Bytes<'_>,
    version: u8,
    cycles: u64,
    stat: u8,
    ly: u8,
) -> Result<u32, ForeignStateError> {
    let [_is_color, _double_speed] = state.array()?;
    let behind = if version >= 12 { cycles.wrapping_sub(state.u64()?) } else { 0 };
    let (clock, next) = (state.u64()?.wrapping_add(behind), state.u64()?);
    state.u8()?;
    let part_end = match stat & 3 {
        2 => 80,
        3 => 250,
        _ => LINE_TCYCLES,
    };
    let line_end = u64::from(u32::from(ly) * LINE_TCYCLES + part_end);
    let left = next.saturating_sub(clock).min(line_end);
    // Less than a frame.
    Ok(((line_end - left) % FRAME_TCYCLES) as u32)
}
