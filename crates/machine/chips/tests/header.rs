//! Headers: what is read from them, and how ROMs are refused.

use gbxcule_chips::cart::{Cart, Mapper};
use gbxcule_chips::header::{Cartridge, Model, RomError};
use insta::assert_snapshot;
use proptest::prelude::*;

const LOGO: [u8; 48] = [
    0xce, 0xed, 0x66, 0x66, 0xcc, 0x0d, 0x00, 0x0b, 0x03, 0x73, 0x00, 0x83, 0x00, 0x0c, 0x00, 0x0d,
    0x00, 0x08, 0x11, 0x1f, 0x88, 0x89, 0x00, 0x0e, 0xdc, 0xcc, 0x6e, 0xe6, 0xdd, 0xdd, 0xd9, 0x99,
    0xbb, 0xbb, 0x67, 0x63, 0x6e, 0x0e, 0xec, 0xcc, 0xdd, 0xdc, 0x99, 0x9f, 0xbb, 0xb9, 0x33, 0x3e,
];

/// A ROM of `bytes` with a title, the given type and size codes, and a valid checksum.
fn rom(bytes: usize, type_code: u8, rom_code: u8, ram_code: u8) -> Vec<u8> {
    let mut rom = vec![0; bytes];
    rom[0x134..0x138].copy_from_slice(b"TEST");
    rom[0x147] = type_code;
    rom[0x148] = rom_code;
    rom[0x149] = ram_code;
    let sum = rom[0x134..0x14d].iter().fold(0u8, |sum, b| sum.wrapping_sub(*b).wrapping_sub(1));
    rom[0x14d] = sum;
    rom
}

fn refusal(rom: &[u8]) -> String {
    let runs = Cartridge::from_rom(rom).and_then(|it| it.check_model(Model::Original));
    runs.unwrap_err().to_string()
}

#[test]
fn a_good_header_says_what_the_cartridge_has() {
    let cartridge = Cartridge::from_rom(&rom(0x10000, 0x10, 1, 3)).unwrap();
    assert_eq!(cartridge.title(), "TEST");
    assert_eq!(cartridge.mapper, Mapper::Mbc3);
    assert_eq!(cartridge.padded_len(), 0x10000);
    assert_eq!(cartridge.ram_bytes, 0x8000);
    assert!(cartridge.has_battery && cartridge.has_rtc);
    assert!(cartridge.header_checksum_ok);
    assert!(!cartridge.logo_ok);
}

#[test]
fn a_wrong_header_checksum_is_reported_but_accepted() {
    let mut rom = rom(0x8000, 0, 0, 0);
    rom[0x14d] ^= 1;
    assert!(!Cartridge::from_rom(&rom).unwrap().header_checksum_ok);
}

#[test]
fn the_logo_is_recognised() {
    let mut rom = rom(0x8000, 0, 0, 0);
    rom[0x104..0x134].copy_from_slice(&LOGO);
    assert!(Cartridge::from_rom(&rom).unwrap().logo_ok);
}

#[test]
fn a_title_keeps_only_printable_characters() {
    let mut rom = rom(0x8000, 0, 0, 0);
    rom[0x134..0x144].copy_from_slice(b"A\xffB\x01567890123456");
    assert_eq!(Cartridge::from_rom(&rom).unwrap().title(), "A?B?567890123456");
    rom[0x143] = 0x80;
    assert_eq!(Cartridge::from_rom(&rom).unwrap().title(), "A?B?56789012345");
}

#[test]
fn a_longer_file_is_padded_to_whole_chips() {
    let mut rom = rom(0x8000, 1, 0, 0);
    rom.resize(0x8200, 0);
    assert_eq!(Cartridge::from_rom(&rom).unwrap().padded_len(), 0x10000);
}

#[test]
fn ram_codes_count_where_the_type_has_ram_or_a_mapper() {
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x00, 0, 2)).unwrap().ram_bytes, 0);
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x19, 0, 3)).unwrap().ram_bytes, 0x8000);
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x01, 0, 0x77)).unwrap().ram_bytes, 0);
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x06, 0, 0)).unwrap().ram_bytes, 512);
}

// Pan Docs "0147 — Cartridge type".
#[test]
fn every_supported_type_has_the_parts_of_its_name() {
    const TYPES: [(u8, &str); 22] = [
        (0x00, "RomOnly"),
        (0x01, "Mbc1"),
        (0x02, "Mbc1+RAM"),
        (0x03, "Mbc1+RAM+BATTERY"),
        (0x05, "Mbc2+RAM"),
        (0x06, "Mbc2+RAM+BATTERY"),
        (0x08, "RomOnly+RAM"),
        (0x09, "RomOnly+RAM+BATTERY"),
        (0x0f, "Mbc3+TIMER+BATTERY"),
        (0x10, "Mbc3+TIMER+RAM+BATTERY"),
        (0x11, "Mbc3"),
        (0x12, "Mbc3+RAM"),
        (0x13, "Mbc3+RAM+BATTERY"),
        (0x19, "Mbc5"),
        (0x1a, "Mbc5+RAM"),
        (0x1b, "Mbc5+RAM+BATTERY"),
        (0x1c, "Mbc5Rumble"),
        (0x1d, "Mbc5Rumble+RAM"),
        (0x1e, "Mbc5Rumble+RAM+BATTERY"),
        (0x22, "Mbc7+RAM+BATTERY"),
        (0xfe, "Huc3+TIMER+RAM+BATTERY"),
        (0xff, "Huc1+RAM+BATTERY"),
    ];
    let parts = |type_code, ram_code| {
        let cartridge = Cartridge::from_rom(&rom(0x8000, type_code, 0, ram_code)).ok()?;
        let mut name = format!("{:?}", cartridge.mapper);
        for (has, part) in [
            (cartridge.has_rtc, "+TIMER"),
            (cartridge.ram_bytes > 0, "+RAM"),
            (cartridge.has_battery, "+BATTERY"),
        ] {
            name += if has { part } else { "" };
        }
        Some(name)
    };
    for type_code in 0..=0xff {
        let named = TYPES.iter().find(|row| row.0 == type_code).map(|row| row.1.to_owned());
        let ram_code = named.as_ref().map_or(0, |name| u8::from(name.contains("+RAM")) * 2);
        assert_eq!(parts(type_code, ram_code), named, "type {type_code:02x}");
    }
}

// Pan Docs "0148 — ROM size" and "0149 — RAM size".
#[test]
fn size_codes_stand_for_powers_of_two() {
    for code in 0..=8u8 {
        let bytes = 0x8000 << code;
        let cartridge = Cartridge::from_rom(&rom(bytes, 0x19, code, 0)).unwrap();
        assert_eq!((cartridge.rom_bytes as usize, cartridge.padded_len()), (bytes, bytes));
    }
    for (code, kib) in [(0, 0), (1, 2), (2, 8), (3, 32), (4, 128), (5, 64)] {
        assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x1a, 0, code)).unwrap().ram_bytes, kib << 10);
    }
}

#[test]
fn only_the_two_upper_bits_of_the_color_flag_together_need_a_color() {
    for (flag, runs) in [(0x00, true), (0x40, true), (0x80, true), (0xc0, false), (0xff, false)] {
        let mut rom = rom(0x8000, 0, 0, 0);
        rom[0x143] = flag;
        let cartridge = Cartridge::from_rom(&rom).unwrap();
        assert_eq!(cartridge.check_model(Model::Original).is_ok(), runs, "{flag:02x}");
        assert_eq!(cartridge.check_model(Model::Color), Ok(()));
        assert_eq!(cartridge.model() == Model::Color, flag >= 0x80, "{flag:02x}");
    }
}

#[test]
fn checksums_and_logo_are_kept_as_they_stand() {
    let mut rom = rom(0x8000, 0, 0, 0);
    (rom[0x14e], rom[0x14f]) = (0x12, 0x34);
    rom[0x104..0x134].copy_from_slice(&LOGO);
    let cartridge = Cartridge::from_rom(&rom).unwrap();
    assert_eq!((cartridge.global_checksum, cartridge.header_checksum), (0x1234, rom[0x14d]));
    assert_eq!(cartridge.logo, LOGO);
    for at in [0x104, 0x11b, 0x133] {
        let mut other = rom.clone();
        other[at] ^= 0x10;
        assert!(!Cartridge::from_rom(&other).unwrap().logo_ok, "{at:04x}");
    }
}

#[test]
fn multicarts_are_known_by_the_second_header_in_bank_10() {
    let mut rom = rom(1 << 20, 1, 5, 0);
    rom[0x104..0x134].copy_from_slice(&LOGO);
    assert_eq!(Cartridge::from_rom(&rom).unwrap().mapper, Mapper::Mbc1);
    rom[0x40104..0x40134].copy_from_slice(&LOGO);
    assert_eq!(Cartridge::from_rom(&rom).unwrap().mapper, Mapper::Mbc1Multicart);
}

#[test]
fn a_type_without_a_mapper_means_an_mbc3_where_rom_has_more_than_two_banks() {
    let mapper = |bytes, type_code, rom_code| {
        Cartridge::from_rom(&rom(bytes, type_code, rom_code, 0)).unwrap().mapper
    };
    assert_eq!([mapper(0x8000, 0, 0), mapper(0x8000, 9, 0)], [Mapper::RomOnly; 2]);
    assert_eq!([mapper(0x10000, 0, 1), mapper(0x40000, 9, 3)], [Mapper::Mbc3; 2]);
    // The file is longer than its header says.
    assert_eq!(mapper(0xc000, 0, 0), Mapper::Mbc3);
}

#[test]
fn mbc30_is_an_mbc3_with_more_memory_than_mbc3_addresses() {
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x13, 0, 3)).unwrap().mapper, Mapper::Mbc3);
    assert_eq!(Cartridge::from_rom(&rom(0x8000, 0x13, 0, 5)).unwrap().mapper, Mapper::Mbc30);
    assert_eq!(Cartridge::from_rom(&rom(4 << 20, 0x13, 7, 3)).unwrap().mapper, Mapper::Mbc30);
}

#[test]
fn devices_have_their_registers_behind_the_ram() {
    for (type_code, ram_code, battery, all) in [
        (0x22, 0, 256, 512),
        (0xfe, 3, 32 << 10, 64 << 10),
        (0xfe, 0, 0, 1024),
        (0xff, 3, 32 << 10, 32 << 10),
    ] {
        let cartridge = Cartridge::from_rom(&rom(0x8000, type_code, 0, ram_code)).unwrap();
        assert_eq!([cartridge.battery_bytes(), cartridge.ram_bytes], [battery, all]);
    }
}

#[test]
fn a_file_may_be_shorter_than_its_header_says() {
    for (file_bytes, size_code, rom_bytes) in
        [(0x150, 0, 0x8000), (0x8000, 2, 0x20000), (0x1_f00d, 2, 0x20000), (0x8001, 0, 0x10000)]
    {
        let cartridge = Cartridge::from_rom(&rom(file_bytes, 1, size_code, 0)).unwrap();
        assert_eq!(cartridge.padded_len(), rom_bytes);
        let missing = (0x8000_usize << size_code).saturating_sub(file_bytes);
        assert_eq!(cartridge.missing_bytes as usize, missing);
    }
}

#[test]
fn refusals_say_what_the_header_said_and_what_to_do() {
    assert_snapshot!(refusal(&[0; 0x14f]), @r"not a Game Boy ROM: the file has 335 bytes, a cartridge's header alone ends at byte 336; check that this is the right file");
    assert_snapshot!(refusal(&rom((8 << 20) + 1, 0x19, 8, 0)), @r"the file has 8388609 bytes, the largest Game Boy ROM has 8388608; check that this is the right file");
    assert_snapshot!(refusal(&rom(0x8000, 1, 0x52, 0)), @r"the header's ROM size code 52 at 0148 is unknown; 00 to 08 (32 KiB to 8 MiB) are known, so the header is damaged or this is not a Game Boy ROM");
    assert_snapshot!(refusal(&rom(0x8000, 3, 0, 6)), @r"the header's RAM size code 06 at 0149 is unknown; 00 to 05 (up to 128 KiB) are known, so the header is damaged or this is not a Game Boy ROM");
    assert_snapshot!(refusal(&rom(0x8000, 0x04, 0, 0)), @r"the header's cartridge type 04 at 0147 is unknown; supported are ROM ONLY, MBC1, MBC2, MBC3, MBC5, MBC7, HuC1 and HuC3, so the header is damaged or this is not a Game Boy ROM");
    let mut color = rom(0x8000, 0, 0, 0);
    color[0x143] = 0xc0;
    assert_snapshot!(refusal(&color), @r"the program runs only on a Game Boy Color (flag C0 at 0143); ask for that model, or use a version with flag 80 or 00");
    assert_snapshot!(refusal(&rom(0x8000, 0x20, 0, 0)), @r"the cartridge is of type 20 at 0147, MBC6, which is not supported; supported are ROM ONLY, MBC1, MBC2, MBC3, MBC5, MBC7, HuC1 and HuC3");
}

#[test]
fn mappers_that_exist_but_are_not_supported_are_named() {
    let mut names = String::new();
    for type_code in 0..=0xff {
        if let Err(RomError::UnsupportedMapper { name, .. }) =
            Cartridge::from_rom(&rom(0x8000, type_code, 0, 0))
        {
            names += &format!("{type_code:02X} {name}\n");
        }
    }
    assert_snapshot!(names, @r"
    0B MMM01
    0C MMM01+RAM
    0D MMM01+RAM+BATTERY
    20 MBC6
    FC POCKET CAMERA
    FD BANDAI TAMA5
    ");
}

proptest! {
    #[test]
    fn any_bytes_load_or_are_refused(
        mut header in prop::collection::vec(any::<u8>(), 0..0x160),
        codes in any::<Option<(u8, u8, u8)>>(),
        length in 0usize..0x20000,
    ) {
        if let Some((type_code, rom_code, ram_code)) = codes {
            header.resize(0x160, 0);
            header[0x147] = type_code & 0x1f;
            header[0x148] = rom_code & 0x0f;
            header[0x149] = ram_code & 0x07;
            header.resize(length.max(0x160), 0);
        }
        match Cartridge::from_rom(&header) {
            Ok(cartridge) => {
                prop_assert!(cartridge.padded_len() >= header.len().max(0x8000));
                prop_assert!(cartridge.padded_len().is_power_of_two());
                prop_assert!(cartridge.ram_bytes == 0 || cartridge.ram_bytes.is_power_of_two());
                Cart::new(&cartridge);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
