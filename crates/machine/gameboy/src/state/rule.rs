//! Rules that hold in every machine. They ensure that a loaded state can't cause an index out of
//! range, an overflow, or an endless frame.
//!
//! Fields without rules (memory, most registers) don't appear. Times are checked by their distance
//! from `now`.

use gbxcule_chips::state::{RuleResult, check_cart, rule};

use crate::apu::check_apu;
use crate::cart::Cart;
use crate::joypad::Joypad;
use crate::machine::{COLOR, Machine};
use crate::ppu::{FINE_SCROLL_UNUSED, LAST_LINE, LINE_TCYCLES, LineProgress, Ppu, VBLANK_LINE};
use crate::timer::FAR_MCYCLES;

/// Maximum age of a chip's last sync. Chips are synced at least once a frame, and frames are
/// shorter than this.
const MAX_LAG_MCYCLES: u32 = 1 << 17;
/// Maximum by which the PPU can be ahead of `now`, because some writes take effect after `now`.
const PPU_LEAD_TCYCLES: u32 = 8;

/// Checks all rules; `fresh` is the cartridge at power-on.
pub(super) fn check(machine: &Machine, fresh: &Cart) -> RuleResult {
    check_times(machine)?;
    check_cpu(machine)?;
    check_small_chips(machine)?;
    check_ppu(&machine.ppu, machine.tcycles())?;
    check_pipeline(&machine.ppu)?;
    #[cfg(color)]
    check_color(machine)?;
    check_apu(&machine.apu)?;
    check_cart(&machine.cart, fresh)
}

/// Returns true if a moment lies in the near past.
fn is_recent(now: u32, moment: u32) -> bool {
    now.wrapping_sub(moment) <= MAX_LAG_MCYCLES
}

/// Returns true if a moment lies in the near past, or ahead by no more than `lead`.
fn is_near(now: u32, moment: u32, lead: u32) -> bool {
    now.wrapping_add(lead).wrapping_sub(moment) <= MAX_LAG_MCYCLES + lead
}

fn check_times(machine: &Machine) -> RuleResult {
    let now = machine.now;
    let Machine { timer, serial, apu, dma, cart, .. } = machine;
    rule(is_recent(now, machine.frame_start), "frame_start must lie in the last frames")?;
    rule(is_recent(now, machine.lcd_off_since), "lcd_off_since must lie in the last frames")?;
    rule(is_recent(now, timer.synced_at), "timer.synced_at must lie in the last frames")?;
    rule(is_recent(now, serial.synced_at), "serial.synced_at must lie in the last frames")?;
    rule(is_recent(now, apu.synced_at), "apu.synced_at must lie in the last frames")?;
    rule(
        !cart.has_rtc || is_recent(machine.mcycles_at_single_speed(), cart.rtc.synced_at),
        "cart.rtc.synced_at must lie in the last frames",
    )?;
    let since_div = now.wrapping_sub(timer.div_base);
    rule(since_div <= 2 * MAX_LAG_MCYCLES, "timer.div_base must lie in the last frames")?;
    for synced_at in [timer.synced_at, serial.synced_at, apu.synced_at] {
        rule(
            now.wrapping_sub(synced_at) <= since_div,
            "timer.div_base must not be later than what is counted from it",
        )?;
    }
    rule(is_near(now, machine.deadline, FAR_MCYCLES), "deadline must be near")?;
    // The overflow itself comes first, TMA and the interrupt one M-cycle later.
    rule(
        !timer.overflowed || is_recent(now, timer.overflow_at),
        "timer.overflow_at must lie in the last frames",
    )?;
    let lead = 2 * FAR_MCYCLES;
    rule(is_near(now, timer.deadline, lead), "timer.deadline must be near")?;
    rule(is_near(now, serial.deadline, lead), "serial.deadline must be near")?;
    rule(!dma.active || is_near(now, dma.deadline, 0x200), "dma.deadline must be near")?;
    rule(dma.copied <= 160, "dma.copied must be at most 160")?;
    rule(
        !machine.ppu.is_on() || is_near(now, machine.ppu.deadline, MAX_LAG_MCYCLES),
        "ppu.deadline must be near",
    )
}

fn check_cpu(machine: &Machine) -> RuleResult {
    rule(machine.cpu.now == machine.now, "cpu.now must equal now")?;
    let mut opened = *machine;
    opened.set_fast_path(!machine.dma.active);
    rule(
        opened.rom_base == machine.rom_base && opened.fast_wram_bytes == machine.fast_wram_bytes,
        "rom_base and fast_wram_bytes must be as cart and dma have them",
    )?;
    rule(machine.interrupts.requested & 0xe0 == 0, "interrupts.requested has no bits 5 to 7")
}

fn check_small_chips(machine: &Machine) -> RuleResult {
    rule(machine.timer.tac & !7 == 0, "timer.tac has no bits 3 to 7")?;
    rule(machine.serial.bits < 8, "serial.bits must be less than 8")?;
    if crate::COLOR {
        rule(machine.serial.sc & !0x83 == 0, "serial.sc has only bits 0, 1 and 7")?;
    } else {
        rule(machine.serial.sc & !0x81 == 0, "serial.sc has only bits 0 and 7")?;
    }
    let Joypad { select, is_super, controller, last_controller, .. } = machine.joypad;
    rule(select & !0x30 == 0, "joypad.select has only bits 4 and 5")?;
    rule(
        controller < 4 && last_controller < 4 && (is_super || controller == 0),
        "joypad.controller and last_controller must be less than 4, and 0 unless joypad.is_super",
    )
}

fn check_ppu(ppu: &Ppu, tcycles: u32) -> RuleResult {
    rule(ppu.beam.line <= LAST_LINE, "ppu.beam.line must be at most 153")?;
    rule(ppu.beam.dot < LINE_TCYCLES, "ppu.beam.dot must be less than 456")?;
    rule(ppu.mode3_end <= LINE_TCYCLES, "ppu.mode3_end must be at most 456")?;
    rule(ppu.stat & !0x78 == 0, "ppu.stat has only bits 3 to 6")?;
    rule(!ppu.beam.first_line || ppu.beam.line == 0, "ppu.beam.first_line is line 0")?;
    rule(
        ppu.used_fine_scroll < 8 || ppu.used_fine_scroll == FINE_SCROLL_UNUSED,
        "ppu.used_fine_scroll must be less than 8, or ff",
    )?;
    rule(
        ppu.beam.line < VBLANK_LINE || ppu.stage == LineProgress::Untouched,
        "ppu.stage must be Untouched in VBlank",
    )?;
    if !ppu.is_on() {
        return rule(
            ppu.stage != LineProgress::Rendering,
            "ppu.stage can't be Rendering while off",
        );
    }
    rule(
        ppu.stage != LineProgress::Done || ppu.mode3_end != 0,
        "ppu.mode3_end must be known when ppu.stage is Done",
    )?;
    let elapsed = tcycles.wrapping_sub(ppu.beam.line_start).wrapping_add(PPU_LEAD_TCYCLES);
    rule(elapsed <= 4 * MAX_LAG_MCYCLES, "ppu.beam.line_start must lie in the last frames")?;
    rule(ppu.beam.dot as u32 <= elapsed, "ppu.beam.dot must not be ahead of the time")
}

fn check_pipeline(ppu: &Ppu) -> RuleResult {
    let Ppu { scan, pipeline, .. } = ppu;
    rule(COLOR || scan.entries <= 40, "ppu.scan.entries must be at most 40")?;
    rule(scan.count <= 10, "ppu.scan.count must be at most 10")?;
    rule(scan.entry.iter().all(|&entry| entry < 40), "ppu.scan.entry must be less than 40")?;
    rule(pipeline.dot <= LINE_TCYCLES, "ppu.pipeline.dot must be at most 456")?;
    rule(
        (-16..=160).contains(&pipeline.position),
        "ppu.pipeline.position must be between -16 and 160",
    )?;
    rule(pipeline.column <= 160, "ppu.pipeline.column must be at most 160")?;
    rule(pipeline.background_count <= 8, "ppu.pipeline.background_count must be at most 8")?;
    rule(pipeline.fetch_step <= 6, "ppu.pipeline.fetch_step must be at most 6")?;
    rule(pipeline.window_column < 32, "ppu.pipeline.window_column must be less than 32")?;
    rule(pipeline.stall <= 8, "ppu.pipeline.stall must be at most 8")?;
    rule(pipeline.object <= 10, "ppu.pipeline.object must be at most 10")?;
    rule(pipeline.object_step <= 8, "ppu.pipeline.object_step must be at most 8")?;
    rule(
        ppu.stage != LineProgress::Rendering
            || pipeline.object_step == 0
            || pipeline.object < scan.count,
        "ppu.pipeline.object must be less than ppu.scan.count while it is fetched",
    )
}

#[cfg(color)]
fn check_color(machine: &Machine) -> RuleResult {
    let Machine { color, hdma, speed, .. } = machine;
    rule(color.vram_bank < 2, "color.vram_bank must be less than 2")?;
    rule(color.wram_bank < 8, "color.wram_bank must be less than 8")?;
    rule(
        color.wram_offset == u16::from(color.wram_bank.max(1)) << 12,
        "color.wram_offset must be where color.wram_bank begins",
    )?;
    rule(color.infrared & !0xc1 == 0, "color.infrared has only bits 0, 6 and 7")?;
    rule(hdma.target & 0xf == 0, "hdma.target must be a multiple of 10")?;
    rule(
        machine.ppu.double_speed == speed.double,
        "ppu.double_speed must be what speed.double is",
    )?;
    rule(hdma.left < 0x80 && hdma.due <= 0x80, "hdma.left and hdma.due must be at most 80")?;
    rule(is_recent(machine.now, speed.since), "speed.since must lie in the last frames")?;
    rule(
        is_near(machine.now, machine.ppu.hblank_until, LINE_TCYCLES as u32 / 2),
        "ppu.hblank_until must be at most a line ahead",
    )?;
    rule(machine.apu.double_speed == speed.double, "apu.double_speed must be what speed.double is")
}
