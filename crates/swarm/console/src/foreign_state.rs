//! The state of a machine as emulators exchange it: registers, memories, the mapper, a place in the
//! frame.
//!
//! State that is private to an emulator (the pipeline, sound in the middle of a note) is left out.
//! A `ForeignState` becomes a machine by accesses that a program could make: a new machine's
//! registers are written, it idles up to the place in the frame, and then memory and CPU registers
//! are set. So any foreign state gives a machine that can run.

pub mod battery;
mod bess;
mod bytes;
mod color;
mod pyboy;

use gbxcule_gameboy::cart::{ClockRegisters, Mapper};
use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::{FRAME_MCYCLES, PowerOnMemory};

use self::color::ColorMemories;
use crate::{AnyMachine, ConsoleError, Rom, of_either};

const LINE_TCYCLES: u32 = 456;
/// Maximum of T-cycles by which an idling machine's instruction may run past the wanted place, or a
/// frame may begin late.
const MAX_PAST_TCYCLES: u32 = 16;
/// Address at which idling machines execute NOPs: a ROM of zeros.
const IDLE_PC: u16 = 0x0150;

/// A machine's state as another emulator's file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ForeignState {
    /// PC, AF, BC, DE, HL, SP.
    registers: [u16; 6],
    ime: bool,
    /// True if EI was the last instruction.
    ime_delayed: bool,
    mode: Mode,
    requested: u8,
    enabled: u8,
    /// FF00-FF7F as a program reads them; other fields hold some of these registers more exactly.
    io: [u8; 0x80],
    /// The system counter, whose upper half is DIV.
    divider: u16,
    /// T-cycles since the PPU began line 0; without meaning while the LCD is off.
    frame_tcycles: u32,
    wram: Vec<u8>,
    vram: Vec<u8>,
    oam: Vec<u8>,
    hram: Vec<u8>,
    cart_ram: Vec<u8>,
    /// Writes to 0000-7FFF that bring the mapper to where it is.
    mapper_writes: Vec<(u16, u8)>,
    clock: Option<Clock>,
    /// Memories that only a Game Boy Color has.
    color: Option<ColorMemories>,
}

/// MBC3's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clock {
    running: ClockRegisters,
    latched: ClockRegisters,
    subsecond_mcycles: u32,
}

/// Reasons why the state of another emulator is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ForeignStateError {
    #[error(
        "it is neither a state of this program, nor of PyBoy, nor does it end as BESS states do: \
         give a file that one of them saved"
    )]
    UnknownFormat,
    #[error("{format} state of version {found}; this program reads {allowed}")]
    OtherVersion { format: &'static str, found: u32, allowed: &'static str },
    #[error("{format} state of another machine: {found}; this machine is {machine}")]
    OtherModel { format: &'static str, found: String, machine: &'static str },
    #[error("{format} state made with another ROM, titled `{title}`")]
    OtherRom { format: &'static str, title: String },
    #[error("{format} state that is cut off or damaged: {what}")]
    Damaged { format: &'static str, what: String },
    #[error(
        "it has {found} bytes, the cartridge {}", allowed_sizes(*size, *has_clock)
    )]
    Battery { found: usize, size: usize, has_clock: bool },
    #[error("PyBoy has no cartridge with {mapper}: use a state of this program, or BESS")]
    NoSuchCartridge { mapper: &'static str },
    #[error("{format} state from within the boot ROM; save it later")]
    Booting { format: &'static str },
}

impl ForeignStateError {
    /// Name of the refused file or state, with which messages begin.
    pub(crate) fn subject(&self) -> &'static str {
        match self {
            Self::Battery { .. } => "the battery file",
            _ => "the state",
        }
    }
}

/// Describes the sizes that a cartridge's battery file may have, for messages.
fn allowed_sizes(size: usize, has_clock: bool) -> String {
    if size == 0 && !has_clock {
        return "has no RAM".to_owned();
    }
    let clock = if has_clock { ", and 44 or 48 of a clock may follow" } else { "" };
    format!("has {size} bytes of RAM{clock}: give this game's save file")
}

/// Makes a machine that continues another emulator's state, and its cartridge RAM.
///
/// # Errors
/// The bytes are no such state, or one of another cartridge or model.
pub fn imported(bytes: &[u8], rom: &Rom) -> Result<(AnyMachine, Vec<u8>), ConsoleError> {
    let foreign_state = if bess::matches_magic(bytes) {
        bess::read(bytes, rom)?
    } else if pyboy::matches_magic(bytes) {
        pyboy::check_cartridge(rom)?;
        pyboy::read(bytes, rom)?
    } else {
        return Err(ForeignStateError::UnknownFormat.into());
    };
    foreign_state.machine(rom)
}

/// A format that other emulators read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// The blocks that many emulators append to their own states.
    Bess,
    /// PyBoy 2.8's state.
    PyBoy,
}

/// Returns a machine's state in a format of other emulators.
///
/// # Errors
/// The format has no such cartridge.
pub fn exported(
    machine: &AnyMachine,
    cart_ram: &[u8],
    rom: &Rom,
    format: ForeignFormat,
) -> Result<Vec<u8>, ForeignStateError> {
    let foreign_state = ForeignState::of(machine, rom, cart_ram);
    match format {
        ForeignFormat::Bess => Ok(bess::write(&foreign_state, rom)),
        ForeignFormat::PyBoy => {
            pyboy::check_cartridge(rom)?;
            Ok(pyboy::write(&foreign_state, rom))
        }
    }
}

impl ForeignState {
    fn of(machine: &AnyMachine, rom: &Rom, cart_ram: &[u8]) -> Self {
        let mut machine = machine.clone();
        let place = place(&machine);
        let mcycles = machine.mcycles_at_single_speed();
        let mut foreign_state = of_either!(&mut machine, machine => {
            machine.cart.sync(mcycles);
            let (cpu, cart) = (&machine.cpu, &machine.cart);
            let io =
                std::array::from_fn(|low| machine.peek(rom.bytes(), cart_ram, 0xFF00 | low as u16));
            let clock = cart.has_rtc.then_some(Clock {
                running: cart.rtc.running,
                latched: cart.rtc.latched,
                subsecond_mcycles: cart.rtc.subsecond_mcycles,
            });
            Self {
                registers: [cpu.pc, cpu.af(), cpu.bc(), cpu.de(), cpu.hl(), cpu.sp],
                ime: cpu.ime,
                ime_delayed: cpu.ime_delayed,
                mode: Mode::Running,
                requested: machine.peek(rom.bytes(), cart_ram, 0xFF0F) & 0x1F,
                enabled: machine.interrupts.enabled,
                io,
                divider: machine.timer.counter(machine.now),
                frame_tcycles: place,
                wram: machine.wram.to_vec(),
                vram: machine.vram.to_vec(),
                oam: machine.oam.to_vec(),
                hram: machine.hram[..0x7F].to_vec(),
                cart_ram: cart_ram[..rom.cartridge().battery_bytes() as usize].to_vec(),
                mapper_writes: mapper_writes(
                    cart.mapper,
                    cart.ram_enabled,
                    cart.rom_bank,
                    cart.ram_bank,
                    cart.banking_mode,
                ),
                clock,
                color: None,
            }
        });
        match &machine {
            AnyMachine::Original(machine) => foreign_state.mode = machine.cpu.mode,
            AnyMachine::Color(machine) => foreign_state.add_color(machine),
        }
        foreign_state
    }

    /// Makes a machine that continues this state, and its cartridge RAM.
    fn machine(&self, rom: &Rom) -> Result<(AnyMachine, Vec<u8>), ConsoleError> {
        let cartridge = rom.cartridge();
        // Programs in foreign states have left the boot ROM.
        let mut machine = AnyMachine::power_on(&rom.without_boot_rom(), PowerOnMemory::Zero);
        let mut cart_ram = vec![0xFF; rom.cart_ram_bytes()];
        fill(&mut cart_ram, &self.cart_ram);
        of_either!(&mut machine, machine => {
            fill(&mut machine.vram, &self.vram);
            fill(&mut machine.oam, &self.oam);
        });
        self.idle_to_the_place(&mut machine, rom, &mut cart_ram);
        if let AnyMachine::Color(machine) = &mut machine {
            self.set_transfer(machine);
        }
        let mcycles = machine.mcycles_at_single_speed();
        of_either!(&mut machine, machine => {
            fill(&mut machine.wram, &self.wram);
            fill(&mut machine.hram[..0x7F], &self.hram);
            for &(address, value) in &self.mapper_writes {
                machine.cart.write_control(mcycles, address, value);
            }
            machine.set_fast_path(true);
        });
        self.set_clocks(&mut machine);
        self.set_cpu(&mut machine);
        // The rules of saved states decide whether this machine can run.
        let mut state = vec![0; machine.state_len(cartridge)];
        machine.save_state(cartridge, &cart_ram, &mut state)?;
        AnyMachine::load_state(rom, &state, &mut cart_ram.clone())?;
        Ok((machine, cart_ram))
    }

    /// Writes the chips' registers, then lets the PPU run, and draw, to its place.
    fn idle_to_the_place(&self, machine: &mut AnyMachine, rom: &Rom, cart_ram: &mut [u8]) {
        let nops = vec![0; rom.bytes().len()];
        let lcdc = self.io[0x40];
        of_either!(machine, machine => machine.cpu.ime = false);
        if let AnyMachine::Color(machine) = machine {
            self.set_color(machine, &nops, cart_ram);
        }
        let mut write = |machine: &mut AnyMachine, low: u8, value: u8| {
            machine.poke_place(&nops, cart_ram, 0xFF00 | u32::from(low), value);
        };
        write(machine, 0xFF, 0);
        write(machine, 0x40, lcdc & 0x7F);
        for low in [0x00, 0x01, 0x05, 0x06, 0x41, 0x42, 0x43, 0x45, 0x47, 0x48, 0x49, 0x4A, 0x4B] {
            write(machine, low, self.io[usize::from(low)]);
        }
        // Must not start a serial transfer by the internal clock, nor trigger a channel. A transfer
        // that waits for another machine's clock keeps waiting.
        let control = self.io[0x02];
        write(machine, 0x02, if control & 1 == 0 { control } else { control & 3 });
        write(machine, 0x26, self.io[0x26]);
        for low in (0x10..0x26).chain(0x30..0x40) {
            let is_trigger = matches!(low, 0x14 | 0x19 | 0x1E | 0x23);
            let value = self.io[usize::from(low)];
            write(machine, low, if is_trigger { value & 0x7F } else { value });
        }
        of_either!(machine, machine => machine.dma.page = self.io[0x46]);
        write(machine, 0x40, lcdc);
        if lcdc & 0x80 == 0 {
            return;
        }
        // The first frame after the LCD was switched on is shorter; the second is a usual one.
        for _ in 0..2 {
            of_either!(machine, machine => machine.begin_frame(true));
            while !idle(machine, &nops, cart_ram) {}
        }
        of_either!(machine, machine => machine.begin_frame(true));
        let wanted = self.frame_tcycles % (4 * FRAME_MCYCLES);
        while !reached(machine, wanted) {
            idle(machine, &nops, cart_ram);
        }
        // An event at exactly this time is already part of the foreign state, so its interrupt must
        // not be requested twice.
        of_either!(machine, machine => machine.settle_ppu());
    }

    fn set_clocks(&self, machine: &mut AnyMachine) {
        let mcycles = machine.mcycles_at_single_speed();
        of_either!(machine, machine => {
            let now = machine.now;
            let (timer, interrupts) = (&mut machine.timer, &mut machine.interrupts);
            timer.sync(interrupts, now);
            machine.serial.sync(interrupts, now, timer.div_base);
            machine.apu.sync(now, timer.div_base);
            timer.div_base = now.wrapping_sub(u32::from(self.divider) / 4);
            timer.tima = self.io[0x05];
            timer.tma = self.io[0x06];
            timer.tac = self.io[0x07] & 7;
            timer.schedule(now);
            machine.serial.schedule(now, timer.div_base);
            if let Some(clock) = &self.clock {
                let rtc = &mut machine.cart.rtc;
                rtc.running = clock.running;
                rtc.latched = clock.latched;
                rtc.subsecond_mcycles = clock.subsecond_mcycles;
                rtc.synced_at = mcycles;
            }
        });
    }

    fn set_cpu(&self, machine: &mut AnyMachine) {
        match machine {
            AnyMachine::Original(machine) => machine.cpu.mode = self.mode,
            AnyMachine::Color(machine) => machine.cpu.mode = color::mode(self.mode),
        }
        let [pc, af, bc, de, hl, sp] = self.registers;
        of_either!(machine, machine => {
            let cpu = &mut machine.cpu;
            (cpu.pc, cpu.sp) = (pc, sp);
            (cpu.ime, cpu.ime_delayed) = (self.ime, self.ime_delayed);
            cpu.set_af(af);
            cpu.set_bc(bc);
            cpu.set_de(de);
            cpu.set_hl(hl);
            machine.interrupts.requested = self.requested & 0x1F;
            machine.interrupts.enabled = self.enabled;
            machine.begin_frame(false);
        });
    }
}

fn idle(machine: &mut AnyMachine, nops: &[u8], cart_ram: &mut [u8]) -> bool {
    of_either!(machine, machine => {
        machine.cpu.pc = IDLE_PC;
        machine.run_instruction(nops, cart_ram)
    })
}

/// Returns the T-cycles since the PPU began line 0, up to now, even if the PPU lags behind.
fn place(machine: &AnyMachine) -> u32 {
    of_either!(machine, machine => {
        let elapsed = machine.tcycles().wrapping_sub(machine.ppu.beam.line_start).cast_signed();
        let dot = elapsed.max(i32::from(machine.ppu.beam.dot)).unsigned_abs();
        (u32::from(machine.ppu.beam.line) * LINE_TCYCLES + dot) % (4 * FRAME_MCYCLES)
    })
}

/// Returns true if the PPU is at the wanted place or a little past it.
fn reached(machine: &AnyMachine, wanted: u32) -> bool {
    let ahead = (place(machine) + 4 * FRAME_MCYCLES - wanted) % (4 * FRAME_MCYCLES);
    ahead <= MAX_PAST_TCYCLES
}

/// The writes that bring a mapper to these registers.
fn mapper_writes(
    mapper: Mapper,
    ram_enabled: bool,
    rom_bank: u16,
    ram_bank: u8,
    banking_mode: bool,
) -> Vec<(u16, u8)> {
    let gate = (0x0000, if ram_enabled { 0x0A } else { 0 });
    let low = rom_bank as u8;
    match mapper {
        Mapper::RomOnly => vec![],
        Mapper::Mbc1 | Mapper::Mbc1Multicart => {
            vec![gate, (0x2000, low), (0x4000, ram_bank), (0x6000, u8::from(banking_mode))]
        }
        Mapper::Mbc2 => vec![gate, (0x2100, low)],
        Mapper::Mbc3 | Mapper::Mbc30 => vec![gate, (0x2000, low), (0x4000, ram_bank)],
        Mapper::Mbc5 | Mapper::Mbc5Rumble => {
            vec![gate, (0x2000, low), (0x3000, (rom_bank >> 8) as u8), (0x4000, ram_bank)]
        }
        Mapper::Huc1 => {
            let selected = if banking_mode { 0x0E } else { 0x0A };
            vec![(0x0000, selected), (0x2000, low), (0x4000, ram_bank)]
        }
        Mapper::Huc3 => vec![(0x0000, ram_bank >> 4), (0x2000, low), (0x4000, ram_bank & 3)],
        Mapper::Mbc7 => vec![gate, (0x2000, low), (0x4000, if banking_mode { 0x40 } else { 0 })],
    }
}

/// Copies the bytes that fit; any further bytes of `room` stay as they are.
fn fill(room: &mut [u8], bytes: &[u8]) {
    let common = room.len().min(bytes.len());
    room[..common].copy_from_slice(&bytes[..common]);
}
