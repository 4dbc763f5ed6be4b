//! BESS, the emulators' common format (version 1, documented with SameBoy): a footer points to
//! blocks that follow the emulator's own data.
//!
//! BESS holds neither the PPU's position in the line nor the lower half of the divider.

use gbxcule_gameboy::Model;
use gbxcule_gameboy::cart::ClockRegisters;
use gbxcule_gameboy::cpu::Mode;

use super::bytes::Bytes;
use super::color::{BEHIND_OAM_BYTES, ColorMemories, Transfer};
use super::{Clock, ForeignState, ForeignStateError, LINE_TCYCLES};
use crate::Rom;
use crate::machine::model_name;

const FORMAT: &str = "BESS";
const FOOTER_BYTES: usize = 8;
const CORE_BYTES: usize = 0xD0;
const RTC_BYTES: usize = 0x30;

pub(super) fn matches_magic(bytes: &[u8]) -> bool {
    bytes.len() >= FOOTER_BYTES && bytes.ends_with(b"BESS")
}

fn damaged(what: impl Into<String>) -> ForeignStateError {
    ForeignStateError::Damaged { format: FORMAT, what: what.into() }
}

pub(super) fn read(bytes: &[u8], rom: &Rom) -> Result<ForeignState, ForeignStateError> {
    let footer = bytes.len() - FOOTER_BYTES;
    let first = Bytes::new(&bytes[footer..], FORMAT).u32()? as usize;
    let blocks = bytes.get(first..footer).ok_or_else(|| damaged("its blocks lie outside"))?;
    let mut blocks = Bytes::new(blocks, FORMAT);
    let mut foreign_state = None;
    loop {
        let name: [u8; 4] = blocks.array()?;
        let length = blocks.u32()? as usize;
        let block = blocks.take(length)?;
        match (&name, &mut foreign_state) {
            (b"NAME", _) => {}
            (b"INFO", None) => check_rom(block, rom)?,
            (b"CORE", None) => foreign_state = Some(read_core(block, bytes, rom)?),
            (b"CORE", Some(_)) => return Err(damaged("two CORE blocks")),
            (b"MBC ", Some(foreign_state)) => foreign_state.mapper_writes = read_mapper(block)?,
            (b"RTC ", Some(foreign_state)) => foreign_state.clock = Some(read_clock(block)?),
            (b"XOAM", Some(ForeignState { color: Some(color), .. })) => {
                color.behind_oam = Some(read_behind_oam(block)?);
            }
            (b"HDMA", Some(ForeignState { color: Some(color), .. })) => {
                color.transfer = Some(read_transfer(block)?);
            }
            (b"END ", Some(_)) => break,
            (b"END ", None) => return Err(damaged("no CORE block")),
            _ => {}
        }
    }
    foreign_state.ok_or_else(|| damaged("no CORE block"))
}

fn check_rom(block: &[u8], rom: &Rom) -> Result<(), ForeignStateError> {
    let title = block.get(..16).ok_or_else(|| damaged("a short INFO block"))?;
    if *title == rom.bytes()[0x134..0x144] {
        return Ok(());
    }
    let end = title.iter().position(|byte| *byte == 0).unwrap_or(title.len());
    Err(ForeignStateError::OtherRom {
        format: FORMAT,
        title: title[..end].escape_ascii().to_string(),
    })
}

fn read_core(block: &[u8], file: &[u8], rom: &Rom) -> Result<ForeignState, ForeignStateError> {
    let mut core = Bytes::new(block, FORMAT);
    let (major, _minor) = (core.u16()?, core.u16()?);
    if major != 1 {
        let found = u32::from(major);
        return Err(ForeignStateError::OtherVersion {
            format: FORMAT,
            found,
            allowed: "version 1",
        });
    }
    check_model(core.array()?, rom.model())?;
    let mut registers = [0; 6];
    for register in &mut registers {
        *register = core.u16()?;
    }
    let (ime, enabled) = (core.flag()?, core.u8()?);
    let mode = mode(core.u8()?)?;
    core.u8()?;
    let io: [u8; 0x80] = core.array()?;
    if io[0x50] == 0 {
        return Err(ForeignStateError::Booting { format: FORMAT });
    }
    let mut part = || -> Result<Vec<u8>, ForeignStateError> {
        let (size, offset) = (core.u32()? as usize, core.u32()? as usize);
        let end = offset.checked_add(size);
        let part = end.and_then(|end| file.get(offset..end));
        part.map(<[u8]>::to_vec).ok_or_else(|| damaged("memory that lies outside"))
    };
    let (wram, vram, cart_ram, oam, hram) = (part()?, part()?, part()?, part()?, part()?);
    let color = match rom.model() {
        Model::Original => None,
        Model::Color => Some(ColorMemories {
            background: part()?,
            object: part()?,
            behind_oam: None,
            transfer: None,
        }),
    };
    Ok(ForeignState {
        registers,
        ime,
        ime_delayed: false,
        mode,
        requested: io[0x0F] & 0x1F,
        enabled,
        io,
        divider: u16::from(io[0x04]) << 8,
        frame_tcycles: frame_tcycles(io[0x44], io[0x41] & 3),
        wram,
        vram,
        oam,
        hram,
        cart_ram,
        mapper_writes: Vec::new(),
        clock: None,
        color,
    })
}

fn mode(execution_state: u8) -> Result<Mode, ForeignStateError> {
    match execution_state {
        0 => Ok(Mode::Running),
        1 => Ok(Mode::Halted),
        2 => Ok(Mode::Stopped),
        other => Err(damaged(format!("execution state {other}"))),
    }
}

fn check_model(identifier: [u8; 4], machine: Model) -> Result<(), ForeignStateError> {
    let model = match identifier[0] {
        b'G' => Some(Model::Original),
        b'C' => Some(Model::Color),
        _ => None,
    };
    if model == Some(machine) {
        return Ok(());
    }
    let name = match (model, identifier[0]) {
        (Some(model), _) => model_name(model),
        (None, b'S') => "a Super Game Boy",
        (None, _) => "unknown",
    };
    let found = format!("model `{}`, {name}", identifier.escape_ascii());
    Err(ForeignStateError::OtherModel { format: FORMAT, found, machine: model_name(machine) })
}

fn read_behind_oam(block: &[u8]) -> Result<[u8; BEHIND_OAM_BYTES], ForeignStateError> {
    block.try_into().map_err(|_| damaged(format!("an XOAM block of {} bytes", block.len())))
}

/// Reads gbxcule's extra block: FF55 as a program reads it, and the number of blocks that are due.
fn read_transfer(block: &[u8]) -> Result<Transfer, ForeignStateError> {
    match *block {
        [control, due @ 0..=0x80] => Ok(Transfer { control, due }),
        _ => Err(damaged("an HDMA block that says nothing")),
    }
}

/// Returns a place in the frame with this LY and mode. The dot is unknown, so the place is early in
/// the mode.
fn frame_tcycles(line: u8, mode: u8) -> u32 {
    let (line, dot) = match (line, mode) {
        // LY reads 0 in line 153, except at the line's beginning.
        (0, 1) => (153, 12),
        (line, 0) => (line, 300),
        (line, 3) => (line, 100),
        (line, _) => (line, 8),
    };
    u32::from(line) * LINE_TCYCLES + dot
}

fn read_mapper(block: &[u8]) -> Result<Vec<(u16, u8)>, ForeignStateError> {
    if !block.len().is_multiple_of(3) {
        return Err(damaged("an MBC block that is not made of threes"));
    }
    let writes =
        block.chunks_exact(3).map(|write| (u16::from_le_bytes([write[0], write[1]]), write[2]));
    writes
        .map(|(address, value)| match address {
            0x0000..=0x7FFF => Ok((address, value)),
            _ => Err(damaged(format!("an MBC register at {address:04X}"))),
        })
        .collect()
}

pub(super) fn read_clock(block: &[u8]) -> Result<Clock, ForeignStateError> {
    if block.len() != RTC_BYTES {
        return Err(damaged(format!("an RTC block of {} bytes", block.len())));
    }
    let registers = |first: usize| ClockRegisters {
        seconds: block[first] & 0x3F,
        minutes: block[first + 4] & 0x3F,
        hours: block[first + 8] & 0x1F,
        days_low: block[first + 12],
        days_high: block[first + 16] & 0xC1,
    };
    Ok(Clock { running: registers(0), latched: registers(20), subsecond_mcycles: 0 })
}

/// The memories, then the blocks.
pub(super) fn write(foreign_state: &ForeignState, rom: &Rom) -> Vec<u8> {
    let mut file = Vec::new();
    let no_palettes = ColorMemories::default();
    let color = foreign_state.color.as_ref().unwrap_or(&no_palettes);
    let memories = [
        &foreign_state.wram,
        &foreign_state.vram,
        &foreign_state.cart_ram,
        &foreign_state.oam,
        &foreign_state.hram,
        &color.background,
        &color.object,
    ];
    let mut parts = Vec::new();
    for memory in memories {
        let first = if memory.is_empty() { 0 } else { file.len() as u32 };
        parts.extend((memory.len() as u32).to_le_bytes());
        parts.extend(first.to_le_bytes());
        file.extend(memory.iter());
    }
    let first = file.len() as u32;
    let name = concat!("gbxcule ", env!("CARGO_PKG_VERSION"));
    put(&mut file, b"NAME", name.as_bytes());
    let header = rom.bytes();
    put(&mut file, b"INFO", &[&header[0x134..0x144], &header[0x14E..0x150]].concat());
    put(&mut file, b"CORE", &core(foreign_state, &parts));
    if let Some(bytes) = &color.behind_oam {
        put(&mut file, b"XOAM", bytes);
    }
    if let Some(Transfer { control, due }) = color.transfer {
        put(&mut file, b"HDMA", &[control, due]);
    }
    if !foreign_state.mapper_writes.is_empty() {
        let writes = foreign_state.mapper_writes.iter();
        let block: Vec<u8> = writes
            .flat_map(|(address, value)| [*address as u8, (*address >> 8) as u8, *value])
            .collect();
        put(&mut file, b"MBC ", &block);
    }
    if let Some(clock) = &foreign_state.clock {
        put(&mut file, b"RTC ", &clock_block(clock));
    }
    put(&mut file, b"END ", &[]);
    file.extend(first.to_le_bytes());
    file.extend(b"BESS");
    file
}

fn put(file: &mut Vec<u8>, name: &[u8; 4], block: &[u8]) {
    file.extend(name);
    file.extend((block.len() as u32).to_le_bytes());
    file.extend(block);
}

fn core(foreign_state: &ForeignState, parts: &[u8]) -> Vec<u8> {
    let mut core = vec![1, 0, 1, 0];
    // The Color here is a CPU CGB C.
    core.extend(if foreign_state.color.is_some() { b"CCC " } else { b"GD  " });
    core.extend(foreign_state.registers.iter().flat_map(|register| register.to_le_bytes()));
    let mode = match foreign_state.mode {
        Mode::Halted => 1,
        Mode::Stopped | Mode::Locked => 2,
        Mode::Running => 0,
    };
    core.extend([u8::from(foreign_state.ime), foreign_state.enabled, mode, 0]);
    let mut io = foreign_state.io;
    // Bit 0 alone: the boot ROM is gone.
    io[0x50] &= 1;
    core.extend(io);
    core.extend(parts);
    debug_assert_eq!(core.len(), CORE_BYTES);
    core
}

pub(super) fn clock_block(clock: &Clock) -> Vec<u8> {
    let mut block = Vec::new();
    for registers in [&clock.running, &clock.latched] {
        let ClockRegisters { seconds, minutes, hours, days_low, days_high } = *registers;
        for register in [seconds, minutes, hours, days_low, days_high] {
            block.extend(u32::from(register).to_le_bytes());
        }
    }
    // Our clocks count emulated time, and no such time has passed since.
    block.extend([0; 8]);
    block
}
