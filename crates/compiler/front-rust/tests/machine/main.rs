//! Translates the machine's own sources and compares the result's behaviour with that of rustc's
//! code.

mod layout;
mod twin;

use gbxcule_gameboy::SOURCES;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Inline, Module};
use proptest::prelude::*;
use std::sync::OnceLock;
use twin::Twin;

const ENTRIES: [&str; 4] = [
    "Machine::run_frame",
    "Machine::run_instruction",
    "Machine::begin_frame",
    "Machine::set_buttons",
];

fn lowered(entries: &[&str]) -> Valid<Module> {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower(SOURCES, entries, &mut sources).and_then(check::module);
    module.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

fn machine() -> &'static Valid<Module> {
    static MODULE: OnceLock<Valid<Module>> = OnceLock::new();
    MODULE.get_or_init(|| lowered(&ENTRIES))
}

#[test]
fn every_function_of_the_sources_lowers_to_valid_ir() {
    let entries = gbxcule_front_rust::functions(SOURCES, &[]);
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let module = lowered(&entries);
    let values: usize = module.functions.iter().map(|(_, it)| it.body.values.len()).sum();
    println!("{} functions, {values} operations", module.functions.len());
    assert_eq!(module.functions.len(), entries.len());
}

#[test]
fn only_what_the_entry_points_reach_is_lowered() {
    let module = lowered(&["Machine::set_buttons"]);
    let mut names: Vec<&str> = module.functions.iter().map(|(_, it)| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "Interrupts::request",
            "Joypad::lines",
            "Joypad::press_shown",
            "Joypad::request_on_fall",
            "Joypad::set_pressed",
            "Machine::set_buttons"
        ]
    );
}

#[test]
fn wishes_about_inlining_come_along() {
    let wish = |name: &str| machine().functions[machine().find(name).expect("lowered")].inline;
    assert_eq!(wish("Cpu::execute"), Inline::Always);
    assert_eq!(wish("Machine::service"), Inline::Never);
    assert_eq!(wish("Apu::corrupt_wave_ram"), Inline::Never);
    assert_eq!(wish("Machine::run_frame"), Inline::Auto);
}

/// Draws registers, work RAM and an instruction at C100.
fn instruction() -> impl Strategy<Value = ([u8; 8], u16, [u8; 3], u64)> {
    let addresses = prop_oneof![0xc000..0xdffeu16, any::<u16>()];
    (any::<[u8; 8]>(), addresses, any::<[u8; 3]>(), any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn single_instructions_do_the_same((r, sp, code, seed) in instruction()) {
        let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a ROM");
        let mut twin = Twin::new(machine(), rom.bytes());
        let native = &mut twin.native;
        let cpu = &mut native.cpu;
        [cpu.a, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l] = [r[0], r[1], r[2], r[3], r[4], r[5], r[6]];
        cpu.set_f(r[7]);
        (cpu.sp, cpu.pc) = (sp, 0xc100);
        for (index, byte) in native.wram.iter_mut().enumerate() {
            *byte = (seed.rotate_left(index as u32 & 63) >> 3) as u8 ^ index as u8;
        }
        native.wram[0x100..0x103].copy_from_slice(&code);
        native.deadline = native.now.wrapping_add(100);
        twin.copy_native();
        twin.run_instruction();
        twin.assert_equal(&format!("after {code:02x?}"));
        twin.run_instruction();
        twin.assert_equal(&format!("after what follows {code:02x?}"));
    }
}

#[test]
fn programs_run_alike_instruction_by_instruction() {
    for rom in gbxcule_assembler::all() {
        let mut twin = Twin::new(machine(), rom.bytes());
        twin.begin_frame(true);
        for step in 0..1500u32 {
            if step % 300 == 299 {
                twin.set_buttons((step / 300).wrapping_mul(0x35) as u8);
            }
            if twin.run_instruction() {
                twin.begin_frame(true);
            }
            if step % 25 == 0 {
                twin.assert_equal(&format!("{} after {step} instructions", rom.name));
            }
        }
        twin.assert_equal(rom.name);
    }
}

#[test]
fn the_game_draws_alike() {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let mut twin = Twin::new(machine(), rom.bytes());
    for frame in 0..4 {
        twin.run_frame(frame == 3);
        twin.assert_equal(&format!("{} after frame {frame}", rom.name));
    }
}
