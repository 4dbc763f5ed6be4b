//! The state of a machine after the boot ROM, or at the beginning of a boot ROM (host side, not
//! translated).
//!
//! Pan Docs "Power Up Sequence" and the mooneye boot_* tests of the DMG revisions A to C, and of
//! CGB.

use crate::apu::Apu;
use crate::boot_rom::{leave_logo, map_logo};
use crate::cart::Cart;
#[cfg(color)]
use crate::color::Color;
#[cfg(not(color))]
use crate::cpu::{C, H};
use crate::cpu::{Cpu, Mode, Z};
use crate::dma::Dma;
#[cfg(color)]
use crate::hdma::Hdma;
use crate::header::{Cartridge, Model};
use crate::interrupts::{Interrupts, VBLANK};
use crate::joypad::Joypad;
use crate::machine::{COLOR, Machine, WRAM_BYTES};
#[cfg(color)]
use crate::ppu::Palettes;
#[cfg(color)]
use crate::ppu::color_palette::MODE2_MCYCLES;
use crate::ppu::timing::schedule_ppu;
use crate::ppu::{
    Beam, FINE_SCROLL_UNUSED, FRAME_BYTES, LineProgress, Pipeline, Ppu, Scan, VRAM_BYTES,
};
use crate::serial::Serial;
#[cfg(color)]
use crate::speed::Speed;
use crate::timer::Timer;
use crate::{PowerOnMemory, Revision};

/// The system counter at the first instruction of the cartridge, in M-cycles.
#[cfg(not(color))]
const BOOT_COUNTER_MCYCLES: u32 = 0xabcc / 4;
/// DIV on a Super Game Boy (mooneye boot_div-S).
// UNVERIFIED: DIV depends on the header's bits, which the boot ROM sends; this is the value for the
// test's header.
#[cfg(not(color))]
const SUPER_BOOT_COUNTER_MCYCLES: u32 = 0xd860 / 4;
/// Dot of the PPU when the boot ROM ends, in the last line of VBlank. GBMicrotest and gambatte
/// `display_startstate` count from here, and pass with this dot alone.
const BOOT_DOT: u16 = 404;
/// Line of a DMG, and of a Color with a program for the original.
const BOOT_LINE: u8 = 153;
/// Line of the PPU when a Color's boot ROM starts a program for the Color (gambatte
/// `display_startstate`).
#[cfg(color)]
const COLOR_BOOT_LINE: u8 = 144;
#[cfg(color)]
const COLOR_BOOT_DOT: u16 = 172;

impl Machine {
    /// Makes a machine that is about to execute the cartridge's first instruction at 0100, or the
    /// boot ROM's at 0000. Work RAM, high RAM and wave RAM are zero.
    pub fn power_on(cartridge: &Cartridge) -> Machine {
        Machine::power_on_with(cartridge, PowerOnMemory::Zero)
    }

    /// Makes a machine that is about to execute its first instruction, with these contents of work
    /// RAM, high RAM and wave RAM.
    #[expect(clippy::too_many_lines, reason = "one field of the machine in each line")]
    pub fn power_on_with(cartridge: &Cartridge, memory: PowerOnMemory) -> Machine {
        let mut machine = Machine {
            now: 0,
            deadline: 0,
            frame_start: 0,
            lcd_off_since: 0,
            frame_done: false,
            cpu: boot_cpu(cartridge),
            interrupts: Interrupts { requested: VBLANK, enabled: 0 },
            timer: Timer::stopped(0u32.wrapping_sub(boot_counter_mcycles(cartridge))),
            ppu: boot_ppu(cartridge),
            apu: Apu::post_boot(),
            rom_base: [0; 4],
            fast_wram_bytes: 0,
            dma: Dma {
                page: 0xff,
                active: false,
                start: 0,
                previous_active: false,
                previous_start: 0,
                seen_y: 0,
                seen_x: 0,
                copied: 0,
                deadline: 0,
            },
            serial: Serial::idle(),
            joypad: Joypad {
                is_super: !COLOR && cartridge.revision.is_super() && cartridge.commands_super,
                ..Joypad::released(boot_buttons(cartridge))
            },
            cart: Cart::new(cartridge),
            wram: [0; WRAM_BYTES],
            vram: [0; VRAM_BYTES],
            oam: [0; 0xa0],
            hram: [0; 0x80],
            frame: [0; FRAME_BYTES],
            #[cfg(keeps_lines)]
            kept: crate::ppu::KeptLines::none(),
            #[cfg(color)]
            speed: Speed {
                double: false,
                armed: false,
                changing: false,
                resume_at: 0,
                since: 0,
                tcycles: 0,
                gained: 0,
                steady_mcycles: 0,
            },
            #[cfg(color)]
            hdma: Hdma::idle(),
            #[cfg(color)]
            color: Color {
                vram_bank: 0,
                wram_bank: 0,
                wram_offset: 0x1000,
                infrared: 0,
                undocumented: [0; 4],
                behind_oam: [0; 24],
                stopped_in_mode3: false,
                opri: (cartridge.model() == Model::Original) as u8,
                drives_outside: cartridge.key0() & 8 != 0,
            },
        };
        for bank in machine.wram.chunks_mut(0x2000) {
            memory.fill(0xc000, bank);
        }
        #[cfg(color)]
        {
            machine.apu.is_cgb_c = cartridge.revision == Revision::CgbC;
        }
        memory.fill(0xff80, &mut machine.hram[..0x7f]);
        memory.fill(0xff30, &mut machine.apu.wave_ram);
        if cartridge.has_boot_rom {
            reset(&mut machine);
            return machine;
        }
        #[cfg(color)]
        {
            // The boot ROM writes wave RAM.
            machine.apu.wave_ram = [0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255];
        }
        if cartridge.revision.is_super() {
            // No chime has played (mooneye boot_hwio-S).
            machine.apu.active = 0;
        }
        machine.set_fast_path(true);
        leave_logo(&mut machine.vram, &cartridge.logo);
        // The Color's boot ROM clears the logo from the map again (gambatte's `vram_dumper`).
        if !COLOR {
            map_logo(&mut machine.vram);
        }
        schedule_ppu(&mut machine);
        machine
    }
}

/// Puts every chip into the state before the boot ROM's first instruction: as if a program had
/// switched it off.
// UNVERIFIED: the CPU's registers and the initial DIV are taken as zero; no boot ROM shows them.
fn reset(machine: &mut Machine) {
    machine.cpu = Cpu { a: 0, b: 0, c: 0, d: 0, e: 0, h: 0, l: 0, sp: 0, pc: 0, ..machine.cpu };
    machine.cpu.set_f(0);
    machine.timer.div_base = 0;
    machine.interrupts.requested = 0;
    machine.joypad.select = 0;
    machine.set_fast_path(true);
    schedule_ppu(machine);
    let off = [0x26, 0x40, 0x47, 0x48, 0x49];
    off.into_iter().for_each(|low| machine.poke(&[], &mut [], 0xff00 | low, 0));
    machine.interrupts.requested = 0;
    #[cfg(color)]
    {
        (machine.ppu.compatible, machine.ppu.sorts_by_x) = (false, false);
        (machine.color.opri, machine.color.drives_outside) = (0, false);
        (machine.ppu.palettes.background_index, machine.ppu.palettes.object_index) = (0, 0);
    }
}

/// Rows of buttons that the boot ROM leaves selected: both, but none if the Color's looked for a
/// combination of buttons that chooses a palette, or the Super Game Boy's sent the header (mooneye
/// boot_hwio-S).
fn boot_buttons(cartridge: &Cartridge) -> u8 {
    let has_used_lines = COLOR && cartridge.model() == Model::Original;
    if has_used_lines || cartridge.revision.is_super() { 0x30 } else { 0 }
}

#[cfg(not(color))]
fn boot_counter_mcycles(cartridge: &Cartridge) -> u32 {
    if cartridge.revision.is_super() { SUPER_BOOT_COUNTER_MCYCLES } else { BOOT_COUNTER_MCYCLES }
}

#[cfg(color)]
fn boot_counter_mcycles(cartridge: &Cartridge) -> u32 {
    cartridge.color_divider as u32 / 4
}

#[cfg(not(color))]
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
    // Mooneye boot_regs-mgb, boot_regs-sgb, boot_regs-sgb2.
    if matches!(cartridge.revision, Revision::Mgb | Revision::Sgb2) {
        cpu.a = 0xff;
    }
    if cartridge.revision.is_super() {
        cpu.set_f(0);
        return Cpu { c: 0x14, e: 0, h: 0xc0, l: 0x60, ..cpu };
    }
    // The boot ROM's last operation sums the header: H and C are clear only if the checksum is
    // zero.
    cpu.set_f(if cartridge.header_checksum == 0 { Z } else { Z | H | C });
    cpu
}

/// Registers by Pan Docs; for programs for the original they depend on the choice of colours.
#[cfg(color)]
fn boot_cpu(cartridge: &Cartridge) -> Cpu {
    let compatible = cartridge.model() == Model::Original;
    let has_map = matches!(cartridge.title_sum, 0x43 | 0x58);
    let (b, de, hl) = match (compatible, has_map) {
        (false, _) => (0, 0xff56, 0x000d_u16),
        (true, false) => (cartridge.title_sum, 0x0008_u16, 0x007c),
        (true, true) => (cartridge.title_sum, 0x0008, 0x991a),
    };
    let mut cpu = Cpu {
        now: 0,
        a: 0x11,
        zero: 0,
        carries: 0,
        b,
        c: 0,
        d: (de >> 8) as u8,
        e: de as u8,
        h: (hl >> 8) as u8,
        l: hl as u8,
        sp: 0xfffe,
        pc: 0x0100,
        ime: false,
        ime_delayed: false,
        mode: Mode::Running,
        just_halted: false,
        halt_bug: false,
        stop_skips: false,
    };
    cpu.set_f(Z);
    cpu
}

/// White for programs of the Color; for other programs the palettes that the boot ROM chose.
#[cfg(color)]
fn boot_palettes(cartridge: &Cartridge) -> Palettes {
    const WHITE: [u8; 2] = 0x7fff_u16.to_le_bytes();
    let mut palettes = Palettes {
        background: [0; 64],
        object: [0; 64],
        background_index: 0x88,
        object_index: 0x90,
    };
    palettes.background.as_chunks_mut().0.fill(WHITE);
    palettes.object.as_chunks_mut().0.fill(WHITE);
    if cartridge.model() == Model::Original {
        let [first, second, background] = cartridge.compatible_palettes;
        let objects = first.into_iter().chain(second).zip(palettes.object.as_chunks_mut().0);
        objects.for_each(|(color, cell)| *cell = color.to_le_bytes());
        let cells = background.into_iter().zip(palettes.background.as_chunks_mut().0);
        cells.for_each(|(color, cell)| *cell = color.to_le_bytes());
    }
    palettes
}

#[cfg(not(color))]
fn boot_position(_cartridge: &Cartridge) -> (u8, u16) {
    (BOOT_LINE, BOOT_DOT)
}

#[cfg(color)]
fn boot_position(cartridge: &Cartridge) -> (u8, u16) {
    match cartridge.model() {
        Model::Original => (BOOT_LINE, BOOT_DOT),
        Model::Color => (COLOR_BOOT_LINE, COLOR_BOOT_DOT),
    }
}

fn boot_ppu(_cartridge: &Cartridge) -> Ppu {
    let (line, dot) = boot_position(_cartridge);
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
        beam: Beam { line, dot, line_start: 0u32.wrapping_sub(dot as u32), first_line: false },
        stat_line: false,
        lyc_line: line == 153,
        lyc_frozen: false,
        wy_met: false,
        window_line: 0,
        draw: false,
        frame_blank: false,
        entered_vblank: false,
        frame_over: false,
        deadline: 0,
        #[cfg(not(color))]
        stops_at: 0,
        used_fine_scroll: FINE_SCROLL_UNUSED,
        stage: LineProgress::Untouched,
        mode3_end: 0,
        #[cfg(color)]
        hblank_ahead: 0,
        scan: Scan::idle(),
        pipeline: Pipeline::idle(),
        #[cfg(color)]
        palettes: boot_palettes(_cartridge),
        #[cfg(color)]
        compatible: _cartridge.key0() & 0x0c != 0,
        #[cfg(color)]
        sorts_by_x: _cartridge.model() == Model::Original,
        #[cfg(color)]
        double_speed: false,
        #[cfg(color)]
        is_cgb_e: _cartridge.revision == Revision::CgbE,
        #[cfg(color)]
        drawn_wy: 0,
        #[cfg(color)]
        lyc_request: false,
        #[cfg(color)]
        lyc_release: false,
        #[cfg(color)]
        lyc_request_at: 0,
        #[cfg(color)]
        hblank_until: 0u32.wrapping_sub(MODE2_MCYCLES),
    }
}
