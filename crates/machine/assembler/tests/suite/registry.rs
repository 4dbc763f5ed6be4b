//! The registry: names, bytes, headers, and the page in the documentation.

use std::collections::BTreeSet;
use std::fmt::Write;

use gbxcule_assembler::{BuiltIn, by_name, for_color, global_checksum, header_checksum};
use gbxcule_games::GAMES;

/// FNV-1a of each micro-ROM, which a changed source or assembler changes. Games have digests in
/// their rows.
const HASHES: &[(&str, u64)] = &[
    ("ALU_LOOP", 0xF0C2FF38ACE7B3B6),
    ("MEM_RWB", 0xE56DF2D5A8CD97EF),
    ("JOY_DIVERGE_PERSIST", 0x3C3897DAA8E69574),
    ("LOADS_BASIC", 0x4791294970BC3726),
    ("ALU_FLAGS", 0x6651C6C71975AFB7),
    ("ALU16_SP", 0x30E424E02BB3EDD3),
    ("FLOW_STACK", 0x2C962877C9D612B0),
    ("CB_BITOPS", 0x786B82FB304AB741),
    ("TIMER_DIV_BASIC", 0x10A53D54ED337E7E),
    ("TIMER_IRQ_HALT", 0x82177F0A91977B50),
    ("EI_DELAY", 0x3055D0277EBB7047),
    ("DMA_OAM_COPY", 0xD354C56E6E507284),
    ("SERIAL_HELLO", 0xDDB232CC50A92C33),
    ("LINK_PING_PONG", 0x70B84E2CD39ABFCA),
    ("MBC1_SWITCH", 0x11713924A7B7E6C1),
    ("MBC1_RAM", 0xF24FC096AE77457A),
    ("MBC2_SWITCH", 0x10545B549924E7ED),
    ("MBC2_RAM", 0x881B055950D2C77E),
    ("MBC3_SWITCH", 0x50EC6FF20F31EA5E),
    ("MBC3_RAM", 0x543DADE44034072C),
    ("MBC3_RTC", 0x454781AD6D34292C),
    ("MBC5_SWITCH", 0xB188A1DDF7A579EB),
    ("MBC5_RAM", 0xFBF558C4711E7D8B),
    ("BG_STATIC", 0xCC628242EAEC1E41),
    ("BG_SCROLL", 0x9D7262C8FDC41565),
    ("PPU_WINDOW", 0x3A02E91DA94BA89B),
    ("PPU_SPRITES", 0xC1EA08CB755483B1),
    ("PPU_STAT_IRQ", 0x164B3BBE08D493D4),
    ("HALT_IDLE", 0xD3705BA2F394F975),
    ("COLOR_BANKS", 0x31EED4F70AAF01BC),
    ("COLOR_PALETTES", 0x052B87C07B2AE69C),
    ("COLOR_HDMA", 0xBFD19E8261906410),
    ("COLOR_HBLANK", 0xDBF67511D591F8E0),
    ("COLOR_SPEED", 0xDF9236E890728A2C),
    ("COLOR_PRIORITY", 0x32E6C960ADFF1230),
    ("COLOR_LINES", 0x886BC675B31D35E3),
];

/// Returns the ROMs of both models.
fn all() -> Vec<&'static BuiltIn> {
    gbxcule_assembler::all().iter().chain(for_color()).collect()
}

/// Returns the ROMs that are not games.
fn micro_roms() -> impl Iterator<Item = &'static BuiltIn> {
    all().into_iter().filter(|rom| GAMES.iter().all(|game| game.name != rom.name))
}

#[test]
fn headers_say_which_model_a_rom_needs() {
    assert!(gbxcule_assembler::all().iter().all(|rom| rom.bytes()[0x143] & 0xC0 != 0xC0));
    assert!(for_color().iter().all(|rom| rom.bytes()[0x143] == 0xC0));
}

fn fnv(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix)
}

#[test]
fn every_micro_rom_assembles_to_the_bytes_on_record() {
    let digests: Vec<(&str, u64)> = micro_roms().map(|rom| (rom.name, fnv(rom.bytes()))).collect();
    let mut record = String::new();
    for (name, hash) in &digests {
        let _ = writeln!(record, "    (\"{name}\", 0x{hash:016X}),");
    }
    assert_eq!(digests, HASHES, "on purpose? then the record is\n{record}");
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<&str> = all().iter().map(|rom| rom.name).collect();
    assert_eq!(names.len(), all().len());
    assert!(all().iter().all(|rom| by_name(rom.name).is_some_and(|found| found.name == rom.name)));
    assert!(by_name("NONE").is_none());
}

#[test]
fn every_header_is_valid() {
    for rom in all() {
        let bytes = rom.bytes();
        assert_eq!(bytes[0x14D], header_checksum(bytes), "{}", rom.name);
        let stored = u16::from_be_bytes([bytes[0x14E], bytes[0x14F]]);
        assert_eq!(stored, global_checksum(bytes), "{}", rom.name);
        assert_eq!(bytes.len(), 0x8000 << bytes[0x148], "{}", rom.name);
        assert!(!rom.rom().title.is_empty(), "{}", rom.name);
    }
}

#[test]
fn every_source_opens_with_its_name() {
    for rom in all() {
        assert!(rom.source.starts_with(&format!("; {}: ", rom.name)), "{}", rom.name);
    }
}

#[test]
fn the_documentation_lists_exactly_the_micro_roms() {
    let page = include_str!("../../../../../docs/roms.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |rom: &BuiltIn| format!("| `{}` | {} |", rom.name, rom.purpose);
    let expected: Vec<String> = micro_roms().map(row).collect();
    assert_eq!(rows, expected, "the table is\n{}\n", expected.join("\n"));
}
