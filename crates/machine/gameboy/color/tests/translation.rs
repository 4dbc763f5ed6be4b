//! The Color's sources go through the front end with the flag `color`, and its machine lies in
//! memory as rustc lays it out, so that compiled programs read it where it is.

use gbxcule_gameboy_color::apu::{Apu, Noise, Voices};
use gbxcule_gameboy_color::color::Color;
use gbxcule_gameboy_color::hdma::Hdma;
use gbxcule_gameboy_color::ppu::{Palettes, Pipeline, Ppu};
use gbxcule_gameboy_color::speed::Speed;
use gbxcule_gameboy_color::{FLAGS, Machine, SOURCES};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::layout::field_offsets;
use gbxcule_ir::source::SourceMap;

fn lowered(entries: &[&str]) -> Valid<Module> {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower_with_flags(SOURCES, FLAGS, entries, &mut sources)
        .and_then(check::module);
    module.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

#[test]
fn every_function_of_the_color_lowers_to_valid_ir() {
    let entries = gbxcule_front_rust::functions(SOURCES, FLAGS);
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    for name in ["run_hdma", "change_speed", "Ppu::queue_object"] {
        assert!(entries.iter().any(|entry| entry.ends_with(name)), "{name}");
    }
    let module = lowered(&entries);
    assert_eq!(module.functions.len(), entries.len());
}

macro_rules! offsets {
    ($($type:ident { $($field:ident)* })*) => {
        vec![$((
            stringify!($type),
            vec![$((stringify!($field), std::mem::offset_of!($type, $field))),*],
        )),*]
    };
}

#[test]
fn the_color_lies_in_memory_as_its_translation_has_it() {
    let natives = offsets! {
        Machine { wram now frame_done cpu ppu apu dma cart speed hdma color vram oam hram frame }
        Ppu { lcdc beam deadline scan pipeline palettes compatible sorts_by_x }
        Pipeline { dot object_palette object_palette_1 object_palette_2 object_entries
            background_attributes tile_attributes tile_line leaves_8000 enters_8000 last_high
            misses_fetch scrolls_finely object_behind object_data_high }
        Palettes { background object background_index object_index }
        Apu { synced_at registers written double_speed voices }
        Voices { phase pulses envelopes late noise wave_byte }
        Noise { due register counter left runs just_counted has_counted }
        Speed { double armed since tcycles steady_mcycles }
        Hdma { source target left active due }
        Color { vram_bank wram_bank wram_offset infrared undocumented behind_oam stopped_in_mode3 }
    };
    let module = lowered(&["Machine::run_frame"]);
    let types = &module.types;
    for (name, native) in natives {
        let found = types.structs().iter().find(|(_, it)| it.name == name);
        let (_, structure) = found.unwrap_or_else(|| panic!("`{name}` is not reached"));
        let offsets = field_offsets(types, structure).expect("a layout");
        for (field, offset) in native {
            let at = structure.fields.iter().position(|it| it.name == field).expect(field);
            assert_eq!(offsets[at] as usize, offset, "{name}.{field}");
        }
    }
}
