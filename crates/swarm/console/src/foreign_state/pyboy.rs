//! States of PyBoy 2.5.0 to 2.8.1 of either model; `early` reads states of PyBoy 1.4.1 to 2.4.1,
//! versions 7 to 12, of an original Game Boy, and `write` writes states for PyBoy 2.8.
//!
//! | version | PyBoy | what it has beside the version before |
//! |---|---|---|
//! | 14 | 2.5.0 | sound, three flags of the LCD, the timer's next interrupt |
//! | 15 | 2.6.0 | the link port |
//! | 29 | 2.8.0 | a delayed EI, OAM DMA, a 16-bit divider, the clock's time, the Super Game Boy |
//!
//! No release has another version. The format has neither lengths nor names: each part begins where
//! the preceding part ends. Sound, in the middle, has an unknown length, so the parts after it are
//! read from the end of the file.
//!
//! A Color has the registers of its DMA before the CPU, palettes and the second bank of video RAM
//! behind the LCD's clocks, and four times the work RAM. FF56 and FF72-FF75 are not in a state.

mod color;
mod early;
mod write;

pub(super) use write::write;

use gbxcule_gameboy::Model;
use gbxcule_gameboy::cart::{ClockRegisters, Mapper};
use gbxcule_gameboy::cpu::Mode;

use self::color::{Transfers, VideoParts};
use super::bytes::Bytes;
use super::color::BEHIND_OAM_BYTES;
use super::{Clock, ForeignState, ForeignStateError, mapper_writes};
use crate::Rom;
use crate::machine::model_name;

const FORMAT: &str = "PyBoy";
/// The versions that are read below.
const VERSIONS: [u8; 3] = [14, 15, 29];
const NEWEST: u8 = 29;

/// Position of our PPU in line 0 when PyBoy's frame begins. Measured: with this number alone
/// programs that never read a clock continue as in PyBoy.
const AHEAD_TCYCLES: u64 = 8;

const FRAME_TCYCLES: u64 = 70_224;
const VRAM_BYTES: usize = 0x2000;
const OAM_BYTES: usize = 0xA0;
const LINE_PARAMETER_BYTES: usize = 144 * 5;
const PIXEL_BYTES: usize = 160 * 144 * 5;
const WRAM_BYTES: usize = 0x2000;
const IO_BYTES: usize = 0x4C;
const HRAM_BYTES: usize = 0x7F;
const RAM_BANK_BYTES: usize = 0x2000;
const BUTTON_BYTES: usize = 2;
const SERIAL_BYTES: usize = 36;
/// Bytes of the sound without its buffer: up to version 15, and in version 29.
const SOUND_BYTES: usize = 353;
const NEWEST_SOUND_BYTES: usize = 422;
/// Upper bound of the samples of a frame at any rate.
const MAX_SAMPLES: u64 = 1 << 20;

/// Lengths of a version's parts between sound and the end of the file.
struct Layout {
    version: u8,
    wram_bytes: usize,
    screen_bytes: usize,
    unused_high_bytes: usize,
    timer_bytes: usize,
    rtc_bytes: usize,
    serial_bytes: usize,
    super_game_boy_bytes: usize,
}

impl Layout {
    fn new(version: u8, model: Model) -> Self {
        let is_newest = version == NEWEST;
        Self {
            version,
            wram_bytes: match model {
                Model::Original => WRAM_BYTES,
                Model::Color => 4 * WRAM_BYTES,
            },
            screen_bytes: PIXEL_BYTES + usize::from(is_newest),
            // The newest version has the selected bank of work RAM there.
            unused_high_bytes: if is_newest { 1 } else { 0x34 },
            timer_bytes: if is_newest { 25 } else { 24 },
            rtc_bytes: if is_newest { 33 } else { 10 },
            serial_bytes: if version >= 15 { SERIAL_BYTES } else { 0 },
            super_game_boy_bytes: if is_newest { 11 + 0x2000 + 0x800 + 0x80 } else { 0 },
        }
    }

    /// Returns the number of bytes of sound, which begins with the length of its buffer: as many
    /// samples as a frame has, and one more, left and right.
    fn sound_bytes(&self, sound: &[u8]) -> Result<usize, ForeignStateError> {
        let mut sound = Bytes::new(sound, FORMAT);
        let (_head, samples) = (sound.u64()?, sound.u64()?);
        let fixed = if self.version == NEWEST { NEWEST_SOUND_BYTES } else { SOUND_BYTES };
        if samples > MAX_SAMPLES {
            let what = format!("{samples} samples of sound in a frame");
            return Err(ForeignStateError::Damaged { format: FORMAT, what });
        }
        Ok(fixed + 2 * (samples as usize + 1))
    }

    /// Checks that only sound and the screen lie between the LCD and the tail.
    fn check_length(&self, behind_lcd: &[u8], tail_bytes: usize) -> Result<(), ForeignStateError> {
        let expected = self.sound_bytes(behind_lcd)? + self.screen_bytes + tail_bytes;
        if behind_lcd.len() != expected {
            let found = behind_lcd.len();
            let what = format!("{found} bytes behind the LCD, expected {expected}");
            return Err(ForeignStateError::Damaged { format: FORMAT, what });
        }
        Ok(())
    }

    /// Returns the number of bytes from work RAM to the end.
    fn tail_bytes(&self, rom: &Rom) -> usize {
        let rtc_bytes = if has_clock(rom) { self.rtc_bytes } else { 0 };
        let cart_bytes = 4 + ram_bytes(rom) + rtc_bytes + self.mapper_bytes(mapper(rom));
        self.wram_bytes
            + BEHIND_OAM_BYTES
            + IO_BYTES
            + HRAM_BYTES
            + self.unused_high_bytes
            + self.timer_bytes
            + cart_bytes
            + BUTTON_BYTES
            + self.serial_bytes
            + self.super_game_boy_bytes
    }

    /// Returns the bytes of a mapper's own state, without banks and RAM.
    fn mapper_bytes(&self, mapper: Mapper) -> usize {
        match mapper {
            Mapper::Mbc1 | Mapper::Mbc1Multicart => 2,
            Mapper::Mbc5 if self.version == NEWEST => 1,
            Mapper::Mbc5Rumble if self.version == NEWEST => 2,
            _ => 0,
        }
    }
}

const ALLOWED_VERSIONS: &str = "versions 7 to 12, 14, 15 and 29, those of PyBoy 1.4.1 to 2.8.1";

pub(super) fn matches_magic(bytes: &[u8]) -> bool {
    // Versions count up by one. Callers have ruled out gbxcule's own format and BESS.
    bytes.first().is_some_and(|version| (1..=2 * NEWEST).contains(version))
        && bytes.len() > PIXEL_BYTES
}

pub(super) fn read(bytes: &[u8], rom: &Rom) -> Result<ForeignState, ForeignStateError> {
    let mut state = Bytes::new(bytes, FORMAT);
    let version = state.u8()?;
    if early::VERSIONS.contains(&version) {
        return early::read(state, version, rom);
    }
    if !VERSIONS.contains(&version) {
        let (found, allowed) = (version.into(), ALLOWED_VERSIONS);
        return Err(ForeignStateError::OtherVersion { format: FORMAT, found, allowed });
    }
    let layout = Layout::new(version, rom.model());
    check_running(&mut state)?;
    let key0 = if version == NEWEST { Some(state.u8()?) } else { None };
    let [key1, _double_speed, is_color] = state.array()?;
    check_model(is_color, rom.model())?;
    let transfers = match rom.model() {
        Model::Original => None,
        Model::Color => Some(Transfers::read(&mut state)?),
    };
    let cpu = Cpu::read(&mut state, version)?;
    let dma_page = if version == NEWEST {
        let [_dma_active, _dma_reading, page, _dma_index] = state.array()?;
        state.u64()?;
        Some(page)
    } else {
        None
    };
    let lcd = Lcd::read(&mut state, version, cpu.cycles)?;
    let tail = Tail::read(bytes, state.left(), &layout, rom, cpu.cycles)?;
    let mut io = ports(&tail, &lcd, dma_page);
    let color = transfers.map(|transfers| {
        let is_compatible = match key0 {
            Some(key0) => key0 & color::COMPATIBLE != 0,
            None => rom.bytes()[0x143] & 0x80 == 0,
        };
        color::set_ports(&mut io, key1, is_compatible, tail.wram_bank, &transfers, &lcd.color);
        color::memories(&transfers, &lcd.color, tail.behind_oam)
    });
    Ok(ForeignState {
        registers: cpu.registers,
        ime: cpu.ime,
        ime_delayed: cpu.ime_delayed,
        mode: cpu.mode,
        requested: cpu.requested,
        enabled: cpu.enabled,
        io,
        divider: tail.divider,
        frame_tcycles: ((lcd.clock + AHEAD_TCYCLES) % FRAME_TCYCLES) as u32,
        wram: tail.wram.to_vec(),
        vram: [lcd.vram, lcd.color.second_bank].concat(),
        oam: lcd.oam.to_vec(),
        hram: tail.hram.to_vec(),
        cart_ram: tail.cart_ram.to_vec(),
        mapper_writes: tail.mapper_writes,
        clock: tail.clock,
        color,
    })
}

/// Returns the registers from FF00 on that both models have.
fn ports(tail: &Tail<'_>, lcd: &Lcd<'_>, dma_page: Option<u8>) -> [u8; 0x80] {
    let mut io = [0xFF; 0x80];
    io[..IO_BYTES].copy_from_slice(tail.io);
    if let Some(serial) = tail.serial {
        io[0x01..0x03].copy_from_slice(&serial);
    }
    let dma_page = dma_page.unwrap_or(io[0x46]);
    io[0x04] = (tail.divider >> 8) as u8;
    io[0x05..0x08].copy_from_slice(&tail.timer);
    let [lcdc, bgp, obp0, obp1, stat, ly, lyc, scy, scx, wy, wx] = lcd.registers;
    io[0x40..0x4C]
        .copy_from_slice(&[lcdc, stat, scy, scx, ly, lyc, dma_page, bgp, obp0, obp1, wy, wx]);
    io
}

/// Checks that the boot ROM is no longer in place.
fn check_running(state: &mut Bytes<'_>) -> Result<(), ForeignStateError> {
    if state.flag()? { Err(ForeignStateError::Booting { format: FORMAT }) } else { Ok(()) }
}

fn check_model(is_color: u8, model: Model) -> Result<(), ForeignStateError> {
    let found = match (is_color, model) {
        (0, Model::Original) | (1, Model::Color) => return Ok(()),
        (0, _) => "an original Game Boy (save again under `PyBoy(.., cgb=True)`)",
        (1, _) => {
            "a Game Boy Color, as which PyBoy runs games that know it (save again under \
             `PyBoy(.., cgb=False)`)"
        }
        (other, _) => {
            let what = format!("{other} where 0 or 1 is needed");
            return Err(ForeignStateError::Damaged { format: FORMAT, what });
        }
    };
    let machine = model_name(model);
    Err(ForeignStateError::OtherModel { format: FORMAT, found: found.to_owned(), machine })
}

struct Cpu {
    registers: [u16; 6],
    ime: bool,
    ime_delayed: bool,
    mode: Mode,
    requested: u8,
    enabled: u8,
    cycles: u64,
}

impl Cpu {
    fn read(state: &mut Bytes<'_>, version: u8) -> Result<Self, ForeignStateError> {
        let [a, f, b, c, d, e] = state.array()?;
        let (hl, sp, mut pc) = (state.u16()?, state.u16()?, state.u16()?);
        let ime = state.flag()?;
        let ime_delay = if version == NEWEST { state.u8()? } else { 0 };
        let (halted, stopped) = (state.flag()?, state.flag()?);
        let (enabled, _queued, requested) = (state.u8()?, state.u8()?, state.u8()?);
        let mode = mode(halted, stopped);
        if halted {
            // While halted, PyBoy's PC points at HALT; this machine's points after it.
            pc = pc.wrapping_add(1);
        }
        let pair = |high, low| u16::from_be_bytes([high, low]);
        let registers = [pc, pair(a, f & 0xF0), pair(b, c), pair(d, e), hl, sp];
        let cycles = state.u64()?;
        Ok(Self { registers, ime, ime_delayed: ime_delay != 0, mode, requested, enabled, cycles })
    }
}

fn mode(halted: bool, stopped: bool) -> Mode {
    match (halted, stopped) {
        (_, true) => Mode::Stopped,
        (true, _) => Mode::Halted,
        _ => Mode::Running,
    }
}

struct Lcd<'a> {
    vram: &'a [u8],
    oam: &'a [u8],
    /// LCDC, BGP, OBP0, OBP1, STAT, LY, LYC, SCY, SCX, WY, WX.
    registers: [u8; 11],
    /// T-cycles since the frame began.
    clock: u64,
    /// Parts that a Color alone has, empty for an original.
    color: VideoParts<'a>,
}

impl<'a> Lcd<'a> {
    fn read(state: &mut Bytes<'a>, version: u8, cycles: u64) -> Result<Self, ForeignStateError> {
        let is_newest = usize::from(version == NEWEST);
        let (vram, oam) = (state.take(VRAM_BYTES)?, state.take(OAM_BYTES)?);
        let registers = state.array()?;
        // The newest version has the objects' priority, and a flag for a Color in the original's
        // mode.
        state.take(is_newest + LINE_PARAMETER_BYTES)?;
        let is_color = state.u8()? != 0;
        state.take(is_newest)?;
        let speed_shift = u32::from(state.flag()?);
        state.take(3)?;
        let (last_cycles, clock, _clock_target) = (state.u64()?, state.u64()?, state.u64()?);
        state.take(1 + is_newest)?;
        let color = if is_color { VideoParts::read(state)? } else { VideoParts::default() };
        // PyBoy's LCD may be a little behind its CPU: it catches up only when needed.
        let clock = clock.wrapping_add(cycles.wrapping_sub(last_cycles) >> speed_shift);
        Ok(Self { vram, oam, registers, clock, color })
    }
}

/// The part of a state that follows the sound registers.
struct Tail<'a> {
    wram: &'a [u8],
    behind_oam: [u8; BEHIND_OAM_BYTES],
    wram_bank: u8,
    io: &'a [u8],
    hram: &'a [u8],
    /// TIMA, TMA, TAC.
    timer: [u8; 3],
    divider: u16,
    cart_ram: &'a [u8],
    mapper_writes: Vec<(u16, u8)>,
    clock: Option<Clock>,
    /// SB and SC, if they are not among the ports.
    serial: Option<[u8; 2]>,
}

impl<'a> Tail<'a> {
    fn read(
        bytes: &'a [u8],
        behind_lcd: usize,
        layout: &Layout,
        rom: &Rom,
        cycles: u64,
    ) -> Result<Self, ForeignStateError> {
        let mapper = mapper(rom);
        let length = layout.tail_bytes(rom);
        layout.check_length(&bytes[bytes.len() - behind_lcd..], length)?;
        let start = bytes.len() - length;
        let mut tail = Bytes::new(&bytes[start..], FORMAT);
        let wram = tail.take(layout.wram_bytes)?;
        let behind_oam = tail.array()?;
        let (io, hram) = (tail.take(IO_BYTES)?, tail.take(HRAM_BYTES)?);
        let unused = tail.take(layout.unused_high_bytes)?;
        // FF70, among the unused registers from FF4C on.
        let wram_bank = *unused.get(0x24).unwrap_or(&unused[0]);

        let (div, tima, counter, _tima_counter) =
            (tail.u8()?, tail.u8()?, tail.u16()?, tail.u16()?);
        let is_newest = layout.version == NEWEST;
        // In older versions the counter holds the lower byte alone, and DIV the upper byte.
        let counter = if is_newest { counter } else { u16::from_be_bytes([div, counter as u8]) };
        let [tma, tac] = tail.array()?;
        tail.take(usize::from(is_newest))?;
        let (last_cycles, _to_interrupt) = (tail.u64()?, tail.u64()?);
        let divider = counter.wrapping_add(cycles.wrapping_sub(last_cycles) as u16);

        let banks = Banks::read(&mut tail, rom)?;
        let clock = match has_clock(rom) {
            true if is_newest => Some(read_clock(&mut tail)?),
            // The host's time at which the clock was 0 has no meaning here.
            true => tail.take(layout.rtc_bytes).map(|_| None)?,
            false => None,
        };
        let mapper_writes = banks.selecting(&mut tail, rom)?;
        if !matches!(mapper, Mapper::Mbc1 | Mapper::Mbc1Multicart) {
            tail.take(layout.mapper_bytes(mapper))?;
        }
        tail.take(BUTTON_BYTES)?;
        let serial = if layout.serial_bytes > 0 { Some(tail.array()?) } else { None };
        Ok(Self {
            wram,
            behind_oam,
            wram_bank,
            io,
            hram,
            timer: [tima, tma, tac],
            divider,
            cart_ram: banks.ram,
            mapper_writes,
            clock,
            serial,
        })
    }
}

/// Cartridge RAM, and the selected banks of RAM and ROM.
struct Banks<'a> {
    ram: &'a [u8],
    rom_bank: u8,
    ram_bank: u8,
    ram_enabled: bool,
    banking_mode: bool,
}

impl<'a> Banks<'a> {
    fn read(state: &mut Bytes<'a>, rom: &Rom) -> Result<Self, ForeignStateError> {
        let [rom_bank, ram_bank] = state.array()?;
        let (ram_enabled, banking_mode) = (state.flag()?, state.flag()?);
        let ram = state.take(ram_bytes(rom))?;
        Ok(Self { ram, rom_bank, ram_bank, ram_enabled, banking_mode })
    }

    /// Returns the writes that select these banks. An MBC1's registers come after the clock.
    fn selecting(
        &self,
        state: &mut Bytes<'_>,
        rom: &Rom,
    ) -> Result<Vec<(u16, u8)>, ForeignStateError> {
        let mapper = mapper(rom);
        let [rom_bank, ram_bank] = match mapper {
            Mapper::Mbc1 | Mapper::Mbc1Multicart => state.array()?,
            _ => [self.rom_bank, self.ram_bank],
        };
        let rom_bank = u16::from(rom_bank);
        Ok(mapper_writes(mapper, self.ram_enabled, rom_bank, ram_bank, self.banking_mode))
    }
}

/// Checks that PyBoy supports the cartridge.
pub(super) fn check_cartridge(rom: &Rom) -> Result<(), ForeignStateError> {
    let mapper = match mapper(rom) {
        Mapper::Huc1 => "HuC1",
        Mapper::Huc3 => "HuC3",
        Mapper::Mbc7 => "MBC7",
        _ => return Ok(()),
    };
    Err(ForeignStateError::NoSuchCartridge { mapper })
}

fn mapper(rom: &Rom) -> Mapper {
    gbxcule_gameboy::cart::Cart::new(rom.cartridge()).mapper
}

fn has_clock(rom: &Rom) -> bool {
    matches!(rom.bytes()[0x147], 0x0F | 0x10)
}

/// PyBoy keeps whole banks, and one bank for a cartridge without RAM.
fn ram_bytes(rom: &Rom) -> usize {
    let banks = match rom.bytes()[0x149] {
        3 => 4,
        4 => 16,
        5 => 8,
        _ => 1,
    };
    banks * RAM_BANK_BYTES
}

fn read_clock(state: &mut Bytes<'_>) -> Result<Clock, ForeignStateError> {
    state.u64()?;
    let [_halt, _carry, seconds, minutes, hours, days_low, day_high, halt, carry] =
        state.array()?;
    let tcycles = state.u64()?;
    state.u64()?;
    let days_high = day_high & 1 | (halt & 1) << 6 | (carry & 1) << 7;
    let running = ClockRegisters {
        seconds: seconds & 0x3F,
        minutes: minutes & 0x3F,
        hours: hours & 0x1F,
        days_low,
        days_high,
    };
    // PyBoy does not save the latched time.
    Ok(Clock { running, latched: running, subsecond_mcycles: (tcycles / 4) as u32 % (1 << 20) })
}
