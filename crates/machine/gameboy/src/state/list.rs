//! The list of the machine's fields, in the order of the structs and of a state; the chips' and the
//! audio unit's are in their own crates.
//!
//! Storing, fetching and comparing are generated from the list. A change of the list changes the
//! format: raise `VERSION`.

#[cfg(keeps_lines)]
use gbxcule_chips::state::{Difference, Field, Path, Reader, Unreadable, Writer};
use gbxcule_chips::{codes, fields};

#[cfg(color)]
use crate::color::Color;
use crate::cpu::{Cpu, Mode};
use crate::dma::Dma;
#[cfg(color)]
use crate::hdma::{HaltedAt, Hdma};
use crate::machine::Machine;
#[cfg(keeps_lines)]
use crate::ppu::KeptLines;
#[cfg(color)]
use crate::ppu::Palettes;
use crate::ppu::{Beam, LineProgress, Pipeline, Ppu, Scan};
#[cfg(color)]
use crate::speed::Speed;

fields!(Machine {
    wram,
    now,
    deadline,
    frame_start,
    lcd_off_since,
    frame_done,
    rom_base,
    fast_wram_bytes,
    cpu,
    interrupts,
    timer,
    ppu,
    apu,
    dma,
    serial,
    joypad,
    cart,
    #[cfg(color)]
    speed,
    #[cfg(color)]
    hdma,
    #[cfg(color)]
    color,
    vram,
    oam,
    hram,
    frame,
    #[cfg(keeps_lines)]
    kept,
});

/// Kept lines are no part of a state.
#[cfg(keeps_lines)]
impl Field for KeptLines {
    fn store(&self, _out: &mut Writer<'_>) {}

    fn fetch(_input: &mut Reader<'_>) -> Result<KeptLines, Unreadable> {
        Ok(KeptLines::none())
    }

    fn first_difference(&self, _other: &KeptLines, _path: &mut Path) -> Option<Difference> {
        None
    }
}

fields!(Cpu {
    now,
    a,
    zero,
    carries,
    b,
    c,
    d,
    e,
    h,
    l,
    sp,
    pc,
    ime,
    ime_delayed,
    mode,
    just_halted,
    halt_bug,
    stop_skips,
});

codes!(Mode { Running, Halted, Stopped, Locked });

fields!(Ppu {
    lcdc,
    stat,
    scy,
    scx,
    lyc,
    bgp,
    obp0,
    obp1,
    wy,
    wx,
    beam,
    stat_line,
    lyc_line,
    lyc_frozen,
    wy_met,
    window_line,
    draw,
    frame_blank,
    entered_vblank,
    frame_over,
    deadline,
    #[cfg(not(color))]
    stops_at,
    used_fine_scroll,
    stage,
    mode3_end,
    #[cfg(color)]
    hblank_ahead,
    scan,
    pipeline,
    #[cfg(color)]
    palettes,
    #[cfg(color)]
    compatible,
    #[cfg(color)]
    sorts_by_x,
    #[cfg(color)]
    double_speed,
    #[cfg(color)]
    is_cgb_e,
    #[cfg(color)]
    drawn_wy,
    #[cfg(color)]
    lyc_request,
    #[cfg(color)]
    lyc_release,
    #[cfg(color)]
    lyc_request_at,
    #[cfg(color)]
    hblank_until,
});

fields!(Beam { line, dot, line_start, first_line });

codes!(LineProgress { Untouched, Rendering, Done });

fields!(Scan { x, y, entry, entries, count });

fields!(Pipeline {
    dot,
    position,
    column,
    background_low,
    background_high,
    background_count,
    object_low,
    object_high,
    object_palette,
    #[cfg(color)]
    object_palette_1,
    #[cfg(color)]
    object_palette_2,
    #[cfg(color)]
    object_entries,
    #[cfg(color)]
    background_attributes,
    #[cfg(color)]
    tile_attributes,
    #[cfg(color)]
    tile_line,
    #[cfg(color)]
    leaves_8000,
    #[cfg(color)]
    enters_8000,
    #[cfg(color)]
    last_high,
    #[cfg(color)]
    misses_fetch,
    #[cfg(color)]
    scrolls_finely,
    #[cfg(color)]
    holds_pixels,
    #[cfg(color)]
    last_pixel_dots,
    #[cfg(color)]
    window_allowed,
    object_behind,
    fetch_step,
    tile,
    data_low,
    data_high,
    window_active,
    window_column,
    window_just_started,
    window_cut_short,
    stall,
    inserts_pixel,
    wx_just_changed,
    object,
    object_step,
    object_aborted,
    object_flags,
    object_tile,
    object_data_low,
    object_data_high,
});

fields!(Dma {
    page,
    active,
    start,
    previous_active,
    previous_start,
    seen_y,
    seen_x,
    copied,
    deadline
});

#[cfg(color)]
fields!(Speed { double, armed, changing, resume_at, since, tcycles, gained, steady_mcycles });

#[cfg(color)]
codes!(HaltedAt { Outside, Inside, Due });
#[cfg(color)]
fields!(Hdma {
    source,
    target,
    source_bytes,
    target_bytes,
    left,
    active,
    due,
    rest,
    holds_opcode,
    opcode,
});

#[cfg(color)]
fields!(Color {
    vram_bank,
    wram_bank,
    wram_offset,
    infrared,
    undocumented,
    behind_oam,
    stopped_in_mode3,
    opri,
    drives_outside,
});

#[cfg(color)]
fields!(Palettes { background, object, background_index, object_index });
