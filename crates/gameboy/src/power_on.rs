//! The state in which the DMG boot ROM hands over to the cartridge (host side, not translated).
//!
//! Pan Docs "Power Up Sequence" and the mooneye boot_* tests of the DMG revisions A to C.

use crate::apu::Apu;
use crate::cart::Cart;
use crate::cpu::{C, Cpu, H, Mode, Z};
use crate::dma::Dma;
use crate::header::Cartridge;
use crate::interrupts::{Interrupts, VBLANK};
use crate::joypad::Joypad;
use crate::machine::Machine;
use crate::ppu::{FINE_SCROLL_UNUSED, Pipeline, Ppu, Scan, Stage};
use crate::serial::Serial;
use crate::timer::{FAR_MCYCLES, Timer};

/// The system counter at the first instruction of the cartridge, in M-cycles.
const BOOT_COUNTER_MCYCLES: u32 = 0xabcc / 4;
/// Where the boot ROM leaves the PPU: in the last line of VBlank.
/// GBMicrotest and gambatte `display_startstate` count from here, and pass at this dot alone.
const BOOT_DOT: u16 = 404;

/// The registered-trademark tile comes from the boot ROM itself.
const TRADEMARK_ROWS: [u8; 8] = [0x3c, 0x42, 0xb9, 0xa5, 0xb9, 0xa5, 0x42, 0x3c];

/// Contents of work RAM, high RAM and wave RAM at power-on. The hardware leaves them as they happen
/// to be; the boot ROM clears video RAM alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerOnMemory {
    /// All zeros.
    #[default]
    Zero,
    /// FF in pages of 256 bytes that have an even address, 00 in the others. Cold work RAM of a DMG
    /// looks much like it; gambatte's tests of OAM DMA from FE00 and FF00 expect it.
    Pattern,
    /// Bytes that a seed gives.
    Random(u64),
}

impl PowerOnMemory {
    /// Fills the memory that begins at an address.
    fn fill(self, address: u16, memory: &mut [u8]) {
        for (index, byte) in memory.iter_mut().enumerate() {
            let address = address + index as u16;
            *byte = match self {
                PowerOnMemory::Zero => 0,
                PowerOnMemory::Pattern if address & 0x100 == 0 => 0xff,
                PowerOnMemory::Pattern => 0,
                PowerOnMemory::Random(seed) => random_byte(seed, address),
            };
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014), jumped to the address.
fn random_byte(seed: u64, address: u16) -> u8 {
    let state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(address as u64 + 1));
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 56) as u8
}

impl Machine {
    /// A machine about to execute the cartridge's first instruction at 0100, its memory zero.
    pub fn power_on(cartridge: &Cartridge) -> Machine {
        Machine::power_on_with(cartridge, PowerOnMemory::Zero)
    }

    /// A machine about to execute the cartridge's first instruction, with this in its memory.
    pub fn power_on_with(cartridge: &Cartridge, memory: PowerOnMemory) -> Machine {
        let mut machine = Machine {
            now: 0,
            deadline: 0,
            frame_start: 0,
            dark_start: 0,
            frame_done: false,
            cpu: boot_cpu(cartridge),
            interrupts: Interrupts { requested: VBLANK, enabled: 0 },
            timer: Timer {
                div_base: 0u32.wrapping_sub(BOOT_COUNTER_MCYCLES),
                tima: 0,
                tma: 0,
                tac: 0,
                synced_at: 0,
                overflowed: false,
                overflow_at: FAR_MCYCLES,
                reload_at: FAR_MCYCLES,
                deadline: FAR_MCYCLES,
            },
            ppu: boot_ppu(),
            apu: Apu::post_boot(),
            rom_base: [0; 4],
            wram_reach: 0,
            dma: Dma {
                page: 0xff,
                active: false,
                start: 0,
                previous_active: false,
                previous_start: 0,
                previous_page: 0xff,
                copied: 0,
                deadline: 0,
            },
            serial: Serial {
                sb: 0,
                sc: 0,
                bits: 0,
                clock_high: false,
                synced_at: 0,
                deadline: FAR_MCYCLES,
            },
            joypad: Joypad { pressed: 0, select: 0 },
            cart: Cart::new(cartridge),
            wram: [0; 0x2000],
            vram: [0; 0x2000],
            oam: [0; 0xa0],
            hram: [0; 0x80],
            frame: [0; 5760],
        };
        memory.fill(0xc000, &mut machine.wram);
        memory.fill(0xff80, &mut machine.hram[..0x7f]);
        memory.fill(0xff30, &mut machine.apu.wave_ram);
        machine.open_bus(true);
        machine.leave_logo(cartridge);
        machine.schedule_ppu();
        machine
    }

    fn leave_logo(&mut self, cartridge: &Cartridge) {
        for (index, byte) in cartridge.logo.iter().enumerate() {
            for (half, nibble) in [byte >> 4, byte & 0xf].into_iter().enumerate() {
                let mut row = 0;
                for bit in 0..4 {
                    row |= ((nibble >> bit & 1) * 3) << (bit * 2);
                }
                let at = 0x10 + index * 8 + half * 4;
                self.vram[at] = row;
                self.vram[at + 2] = row;
            }
        }
        for (index, row) in TRADEMARK_ROWS.into_iter().enumerate() {
            self.vram[0x190 + index * 2] = row;
        }
        for column in 0..12 {
            self.vram[0x1904 + column] = column as u8 + 1;
            self.vram[0x1924 + column] = column as u8 + 13;
        }
        self.vram[0x1910] = 0x19;
    }
}

fn boot_cpu(cartridge: &Cartridge) -> Cpu {
    let mut cpu = Cpu {
        now: 0,
        a: 0x01,
        zero: 0,
        carries: 0,
        b: 0x00,
        c: 0x13,
        d: 0x00,
        e: 0xd8,
        h: 0x01,
        l: 0x4d,
        sp: 0xfffe,
        pc: 0x0100,
        ime: false,
        ime_delayed: false,
        mode: Mode::Running,
        just_halted: false,
        halt_bug: false,
        stop_skips: false,
    };
    // The boot ROM's last subtraction adds up the header: H and C are clear only if it is zero.
    cpu.set_f(if cartridge.header_checksum == 0 { Z } else { Z | H | C });
    cpu
}

fn boot_ppu() -> Ppu {
    Ppu {
        lcdc: 0x91,
        stat: 0,
        scy: 0,
        scx: 0,
        lyc: 0,
        bgp: 0xfc,
        obp0: 0xff,
        obp1: 0xff,
        wy: 0,
        wx: 0,
        line: 153,
        dot: BOOT_DOT,
        line_start: 0u32.wrapping_sub(BOOT_DOT as u32),
        first_line: false,
        stat_line: false,
        lyc_line: true,
        lyc_frozen: false,
        wy_met: false,
        window_line: 0,
        draw: false,
        frame_blank: false,
        entered_vblank: false,
        frame_over: false,
        deadline: 0,
        used_fine_scroll: FINE_SCROLL_UNUSED,
        stage: Stage::Untouched,
        mode3_end: 0,
        scan: Scan::idle(),
        pipeline: Pipeline::idle(),
    }
}
