//! Checks that the translated machine has the same layout in memory as the native one, field by
//! field: code compiled from the translation reads native machines in place.

use gbxcule_gameboy::apu::{Apu, LastWrites, Sequencer, Sweep, Wave};
use gbxcule_gameboy::cart::{Cart, ClockRegisters, Rtc};
use gbxcule_gameboy::cpu::Cpu;
use gbxcule_gameboy::dma::Dma;
use gbxcule_gameboy::interrupts::Interrupts;
use gbxcule_gameboy::joypad::Joypad;
use gbxcule_gameboy::machine::Machine;
use gbxcule_gameboy::ppu::{Beam, Pipeline, Ppu, Scan};
use gbxcule_gameboy::serial::Serial;
use gbxcule_gameboy::timer::Timer;
use gbxcule_gameboy::view::StepNumbers;
use gbxcule_ir::Shape;
use gbxcule_ir::layout::field_offsets;

/// Layout that rustc gives a struct.
struct Native {
    name: &'static str,
    size: usize,
    align: usize,
    offsets: Vec<(&'static str, usize)>,
}

macro_rules! native {
    ($($type:ident { $($field:ident)* })*) => {
        vec![$(Native {
            name: stringify!($type),
            size: size_of::<$type>(),
            align: align_of::<$type>(),
            offsets: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),*],
        }),*]
    };
}

fn natives() -> Vec<Native> {
    native! {
        Machine { wram now deadline frame_start lcd_off_since frame_done rom_base fast_wram_bytes cpu interrupts
            timer ppu apu dma serial joypad cart vram oam hram frame }
        Cpu { now a zero carries b c d e h l sp pc ime ime_delayed mode just_halted halt_bug stop_skips }
        Interrupts { requested enabled }
        Timer { div_base tima tma tac synced_at overflowed overflow_at reload_at deadline }
        Ppu { lcdc stat scy scx lyc bgp obp0 obp1 wy wx beam stat_line lyc_line
            lyc_frozen wy_met window_line draw frame_blank entered_vblank frame_over deadline stops_at
            used_fine_scroll stage mode3_end scan pipeline }
        Beam { line dot line_start first_line }
        Scan { x y entry entries count }
        Pipeline { dot position column background_low background_high background_count object_low
            object_high object_palette object_behind fetch_step tile data_low data_high window_active
            window_column window_just_started window_cut_short stall inserts_pixel wx_just_changed object
            object_step object_aborted object_flags object_tile object_data_low object_data_high }
        Apu { synced_at registers wave_ram powered active lengths sequencer sweep wave written }
        Sequencer { clocks glitch }
        Sweep { shadow change added pace_left reload_ticks trigger_ticks check_wait check_waited check_shifts
            check_due first_check rewrites has_written }
        Wave { countdown_ticks position just_read }
        LastWrites { count address value previous_address previous_value }
        Dma { page active start previous_active previous_start seen_y seen_x copied deadline }
        Serial { sb sc bits clock_high synced_at deadline }
        Joypad { pressed select is_super controller last_controller advances unseen }
        Cart { mapper boot_rom rom_low rom_high rom_mask ram_offset ram_mask ram_port has_ram has_rtc ram_enabled
            rom_bank ram_bank banking_mode rtc }
        Rtc { synced_at subsecond_mcycles running latched latch_armed }
        ClockRegisters { seconds minutes hours days_low days_high }
        StepNumbers { frames seed env step_frames action buttons }
    }
}

#[test]
fn every_field_lies_where_rustc_puts_it() {
    let module = super::lowered(&["Machine::run_frame", "view::frames"]);
    let types = &module.types;
    let mut natives = natives();
    // The last field of the native machine is not translated.
    natives[0].size = Machine::TRANSLATED_BYTES;
    for native in &natives {
        let found = types.structs().iter().find(|(_, it)| it.name == native.name);
        let (id, structure) = found.unwrap_or_else(|| panic!("`{}` is not reached", native.name));
        for field in &structure.fields {
            if let Shape::Struct(inner) = types[field.ty] {
                let name = &types.structure(inner).name;
                assert!(natives.iter().any(|it| it.name == name), "`{name}` is missing here");
            }
        }
        let names = structure.fields.iter().map(|field| field.name.as_str());
        let offsets = field_offsets(types, structure).expect("a layout");
        let ours: Vec<(&str, usize)> =
            names.zip(offsets.iter().map(|&offset| offset as usize)).collect();
        assert_eq!(ours, native.offsets, "fields of `{}`", native.name);
        let ty = types.find(&Shape::Struct(id)).expect("its type");
        let layout = types.layout(ty).expect("a layout");
        let found = (layout.size as usize, layout.align as usize);
        assert_eq!(found, (native.size, native.align), "`{}`", native.name);
    }
}
