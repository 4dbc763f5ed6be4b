//! The list of the machine's fields, in the order of the structs and of a state.
//!
//! Storing, fetching and comparing are generated from the list. A field that only the struct or
//! only the list has is a compile error. A change of the list changes the format: raise `VERSION`.

use super::codec::{Field, Reader, Unreadable, Writer};
use super::{Difference, Path};
use crate::apu::{Apu, LastWrites, PowerOnGlitch, Sequencer, Sweep, Wave};
#[cfg(color)]
use crate::apu::{Envelope, Noise, Pulse, Voices};
use crate::cart::{Cart, ClockRegisters, Mapper, RamPort, Rtc};
#[cfg(color)]
use crate::color::Color;
use crate::cpu::{Cpu, Mode};
use crate::dma::Dma;
#[cfg(color)]
use crate::hdma::{HaltedAt, Hdma};
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use crate::machine::Machine;
#[cfg(color)]
use crate::ppu::Palettes;
#[cfg(keeps_lines)]
use crate::ppu::kept_line::KeptLines;
use crate::ppu::{Beam, LineProgress, Pipeline, Ppu, Scan};
use crate::serial::Serial;
#[cfg(color)]
use crate::speed::Speed;
use crate::timer::Timer;

macro_rules! fields {
    ($type:ident { $($(#[$flag:meta])? $field:ident),* $(,)? }) => {
        impl Field for $type {
            fn store(&self, out: &mut Writer<'_>) {
                let $type { $($(#[$flag])? $field),* } = self;
                $( $(#[$flag])? { $field.store(out); } )*
            }

            fn fetch(input: &mut Reader<'_>) -> Result<$type, Unreadable> {
                Ok($type { $( $(#[$flag])? $field: input.field(stringify!($field))? ),* })
            }

            fn first_difference(&self, other: &$type, path: &mut Path) -> Option<Difference> {
                $(
                    $(#[$flag])?
                    {
                        path.enter(stringify!($field));
                        let difference = self.$field.first_difference(&other.$field, path);
                        path.leave();
                        if difference.is_some() {
                            return difference;
                        }
                    }
                )*
                None
            }
        }
    };
}

macro_rules! codes {
    ($type:ident { $($variant:ident),* $(,)? }) => {
        impl Field for $type {
            fn store(&self, out: &mut Writer<'_>) {
                let code = match self { $( $type::$variant => $type::$variant as u8 ),* };
                code.store(out);
            }

            fn fetch(input: &mut Reader<'_>) -> Result<$type, Unreadable> {
                let code = u8::fetch(input)?;
                $( if code == $type::$variant as u8 { return Ok($type::$variant); } )*
                Err(input.unreadable(code))
            }

            fn first_difference(&self, other: &$type, path: &mut Path) -> Option<Difference> {
                (*self as u8).first_difference(&(*other as u8), path)
            }
        }
    };
}

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

fields!(Interrupts { requested, enabled });

fields!(Timer {
    div_base,
    tima,
    tma,
    tac,
    synced_at,
    overflowed,
    overflow_at,
    reload_at,
    deadline,
});

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

fields!(Apu {
    synced_at,
    registers,
    wave_ram,
    powered,
    active,
    lengths,
    sequencer,
    sweep,
    wave,
    written,
    #[cfg(color)]
    double_speed,
    #[cfg(color)]
    is_cgb_c,
    #[cfg(color)]
    voices,
});

#[cfg(color)]
fields!(Voices {
    phase,
    pulses,
    envelopes,
    late,
    counts_late,
    count_due,
    noise,
    wave_byte,
    reads_on_bus
});

#[cfg(color)]
fields!(Pulse { left, delay, step, level, silent, just_stepped, has_stepped });

#[cfg(color)]
fields!(Envelope { volume, countdown, armed, ends, ended });

#[cfg(color)]
impl Default for Pulse {
    fn default() -> Pulse {
        Pulse::idle()
    }
}

#[cfg(color)]
impl Default for Envelope {
    fn default() -> Envelope {
        Envelope::idle()
    }
}

#[cfg(color)]
fields!(Noise { due, register, counter, left, runs, just_counted, has_counted });

fields!(LastWrites { count, address, value, previous_address, previous_value });

fields!(Sequencer { clocks, glitch });

codes!(PowerOnGlitch { None, LoseEdge, RepeatClock });

fields!(Sweep {
    shadow,
    change,
    added,
    pace_left,
    reload_ticks,
    trigger_ticks,
    check_wait,
    check_waited,
    check_shifts,
    check_due,
    first_check,
    rewrites,
    has_written,
});

fields!(Wave { countdown_ticks, position, just_read });

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

fields!(Serial { sb, sc, bits, clock_high, synced_at, deadline });

fields!(Joypad { pressed, select, is_super, controller, last_controller, advances, unseen });

fields!(Cart {
    mapper,
    boot_rom,
    rom_low,
    rom_high,
    rom_mask,
    ram_offset,
    ram_mask,
    ram_port,
    has_ram,
    has_rtc,
    ram_enabled,
    rom_bank,
    ram_bank,
    banking_mode,
    rtc,
});

codes!(Mapper {
    RomOnly,
    Mbc1,
    Mbc1Multicart,
    Mbc2,
    Mbc3,
    Mbc30,
    Mbc5,
    Mbc5Rumble,
    Huc1,
    Huc3,
    Mbc7
});

codes!(RamPort { Closed, Bytes, Nibbles, Clock, Infrared, Huc3, Sensor });

fields!(Rtc { synced_at, subsecond_mcycles, running, latched, latch_armed });

fields!(ClockRegisters { seconds, minutes, hours, days_low, days_high });

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
