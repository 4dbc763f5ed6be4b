//! A state as PyBoy 2.8 reads it, version 29, of either model.
//!
//! The state has the sound registers, and all channels are off. The picture is white until PyBoy
//! draws its next frame. PyBoy loads a state only at the sample rate with which the state was
//! saved; we write its usual rate.

use gbxcule_gameboy::Model;
use gbxcule_gameboy::cart::Mapper;
use gbxcule_gameboy::cpu::Mode;

use super::super::color::{ColorMemories, Transfer};
use super::color::{COMPATIBLE, PALETTE_BYTES};
use super::{
    AHEAD_TCYCLES, BEHIND_OAM_BYTES, BUTTON_BYTES, FRAME_TCYCLES, HRAM_BYTES, IO_BYTES,
    LINE_PARAMETER_BYTES, NEWEST, OAM_BYTES, PIXEL_BYTES, VRAM_BYTES, WRAM_BYTES, has_clock,
    mapper, ram_bytes,
};
use crate::Rom;
use crate::foreign_state::{Clock, ForeignState, LINE_TCYCLES};

/// PyBoy's usual samples in a second, and those of a frame, rounded up.
const SAMPLE_RATE: f64 = 48_000.0;
const SAMPLES_PER_FRAME: u64 = 804;
/// T-cycles of a second, and between two steps of the sound's sequencer.
const TCYCLES_PER_SECOND: f64 = 4_194_304.0;
const SEQUENCER_TCYCLES: u64 = 8192;
/// Time that PyBoy uses for an event that never comes.
const NEVER: u64 = 1 << 31;
/// Lines of the picture.
const LINES: u32 = 144;
/// A host's time in the far future, so that PyBoy finds no time passed.
const NO_TIME_PASSED: f64 = 1e15;

/// Bytes written one after the other, little endian.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn flag(&mut self, flag: bool) {
        self.bytes(&[u8::from(flag)]);
    }

    fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.bytes(&value.to_le_bytes());
    }

    fn zeros(&mut self, count: usize) {
        self.0.resize(self.0.len() + count, 0);
    }

    /// A memory of a fixed size, filled up with zeros.
    fn memory(&mut self, memory: &[u8], size: usize) {
        self.bytes(&memory[..size.min(memory.len())]);
        self.zeros(size.saturating_sub(memory.len()));
    }
}

/// The state that is written, and facts that several parts use.
struct Source<'a> {
    state: &'a ForeignState,
    rom: &'a Rom,
    /// True for a Color that runs a program for the original.
    is_compatible: bool,
    is_double_speed: bool,
}

/// Writes a state in which all clocks are 0.
pub(in super::super) fn write(state: &ForeignState, rom: &Rom) -> Vec<u8> {
    let is_color = state.color.is_some();
    let is_compatible = is_color && state.io[0x4C] & COMPATIBLE != 0;
    // Programs for the original read KEY1 as ones.
    let key1 = if is_color && !is_compatible { state.io[0x4D] & 0x81 } else { 0 };
    let source = Source { state, rom, is_compatible, is_double_speed: key1 & 0x80 != 0 };
    let mut file = Writer::default();
    file.bytes(&[NEWEST]);
    file.flag(false);
    file.bytes(&[if is_compatible { COMPATIBLE } else { 0 }, key1]);
    file.flag(source.is_double_speed);
    file.flag(is_color);
    source.transfers(&mut file);
    source.cpu(&mut file);
    // No OAM DMA runs.
    file.bytes(&[0, 0, state.io[0x46], 0]);
    file.u64(0);
    source.lcd(&mut file);
    source.sound(&mut file);
    for _ in 0..PIXEL_BYTES / 5 {
        file.bytes(&[0xFF, 0xFF, 0xFF, 0xFF, 0]);
    }
    let place = source.place();
    file.flag(place.line < LINES && u32::from(state.io[0x4A]) <= place.line);
    source.memories(&mut file);
    source.timer(&mut file);
    source.cartridge(&mut file);
    // No button is held.
    file.bytes(&[0x0F; BUTTON_BYTES]);
    source.serial(&mut file);
    // No Super Game Boy: one player, whose buttons are up.
    file.bytes(&[0, 0, 1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
    file.zeros(0x2000 + 0x800 + 0x80);
    file.0
}

/// A place in the frame, as PyBoy counts clocks.
struct Place {
    clock: u64,
    line: u32,
    dot: u32,
}

impl Source<'_> {
    fn speed_shift(&self) -> u32 {
        u32::from(self.is_double_speed)
    }

    fn color(&self) -> Option<&ColorMemories> {
        self.state.color.as_ref()
    }

    fn place(&self) -> Place {
        let tcycles = u64::from(self.state.frame_tcycles);
        let is_on = self.state.io[0x40] & 0x80 != 0;
        // PyBoy's frame begins `AHEAD_TCYCLES` later, so a frame that has just begun here begins
        // now there.
        let clock = if is_on { tcycles.saturating_sub(AHEAD_TCYCLES) } else { 0 };
        let (line, dot) = (clock as u32 / LINE_TCYCLES, clock as u32 % LINE_TCYCLES);
        Place { clock, line, dot }
    }

    fn transfers(&self, file: &mut Writer) {
        let Some(color) = self.color() else { return };
        let registers: [u8; 4] = std::array::from_fn(|at| self.state.io[0x51 + at]);
        let [source_high, source_low, target_high, target_low] = registers;
        let Transfer { control, .. } = color.transfer.unwrap_or(Transfer { control: 0xFF, due: 0 });
        file.bytes(&registers);
        file.bytes(&[control]);
        file.flag(control & 0x80 == 0);
        file.u16(u16::from_be_bytes([source_high, source_low & 0xF0]));
        file.u16(u16::from_be_bytes([target_high & 0x1F | 0x80, target_low & 0xF0]));
    }

    fn cpu(&self, file: &mut Writer) {
        let state = self.state;
        let [pc, af, bc, de, hl, sp] = state.registers;
        let is_halted = state.mode == Mode::Halted;
        for pair in [af, bc, de] {
            file.bytes(&pair.to_be_bytes());
        }
        // While halted, PyBoy's PC points at HALT; this machine's points after it.
        for register in [hl, sp, if is_halted { pc.wrapping_sub(1) } else { pc }] {
            file.u16(register);
        }
        file.flag(state.ime);
        file.flag(state.ime_delayed);
        file.flag(is_halted);
        file.flag(matches!(state.mode, Mode::Stopped | Mode::Locked));
        file.bytes(&[state.enabled, 0, state.requested & 0x1F]);
        file.u64(0);
    }

    fn lcd(&self, file: &mut Writer) {
        let (state, io) = (self.state, &self.state.io);
        let is_color = state.color.is_some();
        let place = self.place();
        let is_on = io[0x40] & 0x80 != 0;
        file.memory(&state.vram, VRAM_BYTES);
        file.memory(&state.oam, OAM_BYTES);
        let mode = self.next_mode(&place);
        let ly = place.line as u8;
        let stat = 0x80 | io[0x41] & 0x78 | u8::from(ly == io[0x45]) << 2 | mode.mode;
        file.bytes(&[io[0x40], io[0x47], io[0x48], io[0x49], stat, ly]);
        file.bytes(&[io[0x45], io[0x42], io[0x43], io[0x4A], io[0x4B]]);
        file.bytes(&[if is_color { io[0x6C] & 1 } else { 0xFF }]);
        file.zeros(LINE_PARAMETER_BYTES);
        file.flag(is_color && !self.is_compatible);
        file.flag(self.is_compatible);
        file.flag(self.is_double_speed);
        // Flags: no frame has just ended, and the LCD was not just switched on.
        file.bytes(&[0, 0, 0]);
        file.u64(0);
        file.u64(place.clock);
        file.u64(if is_on { mode.target } else { FRAME_TCYCLES });
        file.bytes(&[mode.next, mode.transition]);
        if let (Some(color), false) = (self.color(), self.is_compatible) {
            file.memory(state.vram.get(VRAM_BYTES..).unwrap_or_default(), VRAM_BYTES);
            file.bytes(&[io[0x4F] & 1]);
            for (index, palettes) in [(io[0x68], &color.background), (io[0x6A], &color.object)] {
                file.bytes(&[index & 0xBF, index >> 7, index >> 1 & 0x1F, index & 1]);
                file.memory(palettes, PALETTE_BYTES);
            }
        }
    }

    /// Returns the mode and its end. PyBoy computes the length of mode 3 when the mode begins, so
    /// the state says that mode 3 is about to begin.
    fn next_mode(&self, place: &Place) -> Ending {
        let line_begin = u64::from(place.line * LINE_TCYCLES);
        let line_end = line_begin + u64::from(LINE_TCYCLES);
        let is_color = self.state.color.is_some();
        let was_read = self.state.io[0x41] & 3;
        if self.state.io[0x40] & 0x80 == 0 {
            return Ending { mode: 0, target: FRAME_TCYCLES, next: 2, transition: 0 };
        }
        if place.line >= LINES {
            return Ending { mode: 1, target: line_end, next: 1, transition: 0 };
        }
        if place.dot < 80 || was_read != 0 {
            return Ending { mode: 2, target: line_begin + 80, next: 3, transition: 0 };
        }
        if place.line == LINES - 1 {
            return Ending { mode: 0, target: line_end, next: 1, transition: 0 };
        }
        if is_color {
            return Ending { mode: 0, target: line_end, next: 2, transition: 0 };
        }
        // The original shows the next line's number four dots before mode 2.
        Ending { mode: 0, target: line_end - 4, next: 2, transition: 1 }
    }

    fn sound(&self, file: &mut Writer) {
        let io = &self.state.io;
        let samples = TCYCLES_PER_SECOND / SAMPLE_RATE;
        let counter = u64::from(self.state.divider) >> self.speed_shift();
        let to_sequencer = SEQUENCER_TCYCLES - counter % SEQUENCER_TCYCLES;
        file.u64(0);
        file.u64(SAMPLES_PER_FRAME);
        file.f64(samples);
        file.zeros(2 * (SAMPLES_PER_FRAME as usize + 1));
        file.flag(self.is_double_speed);
        file.f64(samples);
        file.f64(to_sequencer as f64);
        file.u64((samples.ceil() as u64).min(to_sequencer) << self.speed_shift());
        for _ in 0..4 {
            file.u64(0);
        }
        file.bytes(&[0, io[0x26] & 0x80, 0]);
        for bit in (0..8).rev() {
            file.bytes(&[io[0x25] & 1 << bit]);
        }
        file.bytes(&[io[0x24]]);
        self.tone(file, 0x11);
        file.bytes(&[io[0x10] >> 4 & 7, io[0x10] >> 3 & 1, io[0x10] & 7]);
        file.zeros(4 * 8 + 2 + 8);
        self.tone(file, 0x16);
        self.wave(file);
        self.noise(file);
    }

    /// Writes a silent tone channel, whose registers begin with its duty.
    fn tone(&self, file: &mut Writer, low: usize) {
        let io = &self.state.io;
        let (duty, envelope, control) = (io[low] >> 6, io[low + 1], io[low + 3]);
        file.bytes(&[duty, io[low] & 0x3F, envelope >> 4, envelope >> 3 & 1, envelope & 7]);
        // The pitch reads as ones.
        file.u16(0x7FF);
        file.bytes(&[control & 0x40, 0]);
        for timer in [0, 0, 4, 4, 0, 0] {
            file.u64(timer);
        }
        file.bytes(&[0, duty, 0]);
    }

    fn wave(&self, file: &mut Writer) {
        let io = &self.state.io;
        file.bytes(&io[0x30..0x40]);
        file.bytes(&[io[0x1A] & 0x80, 0, io[0x1C] >> 5 & 3]);
        file.u16(0x7FF);
        file.bytes(&[io[0x1E] & 0x40, 0]);
        for timer in [0, 2, 2, 0] {
            file.u64(timer);
        }
        file.flag(false);
        file.u64(0);
        file.bytes(&[0, 0]);
        file.u64(0);
    }

    fn noise(&self, file: &mut Writer) {
        let io = &self.state.io;
        let (envelope, shape) = (io[0x21], io[0x22]);
        file.bytes(&[0, envelope >> 4, envelope >> 3 & 1, envelope & 7]);
        file.bytes(&[shape >> 4, shape >> 3 & 1, shape & 7, io[0x23] & 0x40, 0]);
        let period = match shape & 7 {
            0 => 8,
            divider => 16 * u64::from(divider),
        } << (shape >> 4);
        let feedback = if shape & 8 != 0 { 0x4040 } else { 0x4000 };
        for value in [0, period, 0, period, 0x7FFF, feedback, 0, 0, 0, 0] {
            file.u64(value);
        }
        file.bytes(&[0]);
    }

    fn memories(&self, file: &mut Writer) {
        let state = self.state;
        let (banks, behind_oam) = match self.color() {
            Some(color) => (4, color.behind_oam.unwrap_or([0; BEHIND_OAM_BYTES])),
            None => (1, [0; BEHIND_OAM_BYTES]),
        };
        // A program for the original reads FF70 as FF, which is not a bank.
        let has_banks = banks > 1 && !self.is_compatible;
        let wram_bank = if has_banks { state.io[0x70] & 7 } else { 0 };
        file.memory(&state.wram, banks * WRAM_BYTES);
        file.bytes(&behind_oam);
        file.bytes(&state.io[..IO_BYTES]);
        file.memory(&state.hram, HRAM_BYTES);
        file.bytes(&[wram_bank]);
    }

    fn timer(&self, file: &mut Writer) {
        let (io, divider) = (&self.state.io, self.state.divider);
        file.bytes(&[(divider >> 8) as u8, io[0x05]]);
        file.u16(divider);
        file.u16(0);
        let control = io[0x07] & 7;
        file.bytes(&[io[0x06], control, 0]);
        file.u64(0);
        let period = 1_u64 << [10, 4, 6, 8][usize::from(control & 3)];
        let to_edge = period - u64::from(divider) % period;
        let is_running = control & 4 != 0;
        file.u64(if is_running { to_edge + u64::from(0xFF - io[0x05]) * period } else { NEVER });
    }

    fn cartridge(&self, file: &mut Writer) {
        let banks = Banks::new(self.state, self.rom);
        file.bytes(&[banks.rom, banks.ram]);
        file.flag(banks.ram_enabled);
        file.flag(banks.banking_mode);
        file.memory(&self.state.cart_ram, ram_bytes(self.rom));
        if has_clock(self.rom) {
            self.clock(file);
        }
        match mapper(self.rom) {
            Mapper::Mbc1 | Mapper::Mbc1Multicart => file.bytes(&banks.registers),
            Mapper::Mbc5 => file.bytes(&[0]),
            Mapper::Mbc5Rumble => file.bytes(&[1, 0]),
            _ => {}
        }
    }

    fn clock(&self, file: &mut Writer) {
        let Some(Clock { running, subsecond_mcycles, .. }) = &self.state.clock else {
            unreachable!("the state of a cartridge with a clock has it");
        };
        let [halt, carry] = [running.days_high >> 6 & 1, running.days_high >> 7];
        file.f64(NO_TIME_PASSED);
        file.bytes(&[halt, carry, running.seconds, running.minutes, running.hours]);
        file.bytes(&[running.days_low, running.days_high & 1, halt, carry]);
        file.u64(4 * u64::from(*subsecond_mcycles));
        file.f64(NO_TIME_PASSED);
    }

    /// Writes the link port, without a transfer.
    fn serial(&self, file: &mut Writer) {
        let control = self.state.io[0x02];
        let unused = match self.rom.model() {
            Model::Original => 0x7E,
            Model::Color => 0x7C,
        };
        let is_clocked = control & 0x81 == 0x81;
        file.bytes(&[self.state.io[0x01], control & if is_clocked { 0x7F } else { 0xFF } | unused]);
        file.bytes(&[0, control & 1]);
        file.u64(0);
        file.u64(NEVER);
        file.u64(0);
        file.u64(NEVER);
    }
}

/// A mode of the LCD, its end, and the next mode.
struct Ending {
    mode: u8,
    target: u64,
    next: u8,
    transition: u8,
}

/// Banks as PyBoy saves them: the mapped banks, and an MBC1's two registers.
struct Banks {
    rom: u8,
    ram: u8,
    ram_enabled: bool,
    banking_mode: bool,
    registers: [u8; 2],
}

impl Banks {
    fn new(state: &ForeignState, rom: &Rom) -> Self {
        let written = |address: u16| {
            state.mapper_writes.iter().rev().find(|(at, _)| *at == address).map_or(0, |it| it.1)
        };
        let mapper = mapper(rom);
        let ram_register = written(0x4000);
        let banking_mode = written(0x6000) & 1 != 0;
        let low = written(0x2000);
        let at_least_one = |bank: u8| if bank == 0 { 1 } else { bank };
        let (mapped, ram) = match mapper {
            Mapper::RomOnly => (1, 0),
            Mapper::Mbc1 => {
                let bank = u16::from(ram_register & 3) << 5 | u16::from(at_least_one(low & 0x1F));
                (bank, if banking_mode { ram_register & 3 } else { 0 })
            }
            Mapper::Mbc1Multicart => {
                let low = if low & 0x1F == 0 { 1 } else { low & 0x0F };
                let bank = u16::from(ram_register & 3) << 4 | u16::from(low);
                (bank, if banking_mode { ram_register & 3 } else { 0 })
            }
            Mapper::Mbc2 => (u16::from(at_least_one(written(0x2100) & 0x0F)), 0),
            Mapper::Mbc3 => (u16::from(at_least_one(low & 0x7F)), ram_register),
            Mapper::Mbc30 => (u16::from(at_least_one(low)), ram_register),
            Mapper::Mbc5 | Mapper::Mbc5Rumble => {
                (u16::from(written(0x3000) & 1) << 8 | u16::from(low), ram_register & 0x0F)
            }
            Mapper::Huc1 | Mapper::Huc3 | Mapper::Mbc7 => unreachable!("`check_cartridge`"),
        };
        let rom_banks = (rom.chip().len() / 0x4000).max(2);
        Self {
            // PyBoy saves one byte of the bank's number.
            rom: (usize::from(mapped) % rom_banks) as u8,
            ram,
            ram_enabled: written(0x0000) & 0x0F == 0x0A,
            banking_mode,
            registers: [at_least_one(low & 0x1F), ram_register & 3],
        }
    }
}
