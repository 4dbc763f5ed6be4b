//! Bank switching: the banks that each mapper selects for each value written.

use gbxcule_chips::cart::{Cart, Mapper};
use gbxcule_chips::header::Cartridge;
use proptest::prelude::*;

/// A cartridge as its header would describe it.
fn cart(type_code: u8, rom_code: u8, ram_code: u8) -> Cart {
    let mut rom = vec![0; 0x8000 << rom_code];
    rom[0x147] = type_code;
    rom[0x148] = rom_code;
    rom[0x149] = ram_code;
    Cart::new(&Cartridge::from_rom(&rom).unwrap())
}

fn banks(cart: &Cart) -> (u32, u32) {
    (cart.rom_low >> 14, cart.rom_high >> 14)
}

#[test]
fn power_on_shows_banks_0_and_1() {
    for type_code in [0x00, 0x01, 0x05, 0x11, 0x19] {
        assert_eq!(banks(&cart(type_code, 4, 0)), (0, 1), "type {type_code:02x}");
    }
}

#[test]
fn rom_only_ram_needs_no_gate() {
    let mut cart = cart(0x08, 0, 2);
    let mut ram = [0; 0x2000];
    cart.write_ram(&mut ram, 0, 0xa123, 7);
    cart.write_control(0, 0x0000, 0);
    assert_eq!(cart.read_ram(&ram, 0xa123), 7);
}

#[test]
fn mbc1_bank_0_reads_as_1_even_where_fewer_bits_are_connected() {
    let mut cart = cart(1, 3, 0);
    cart.write_control(0, 0x2000, 0xe0);
    assert_eq!(banks(&cart), (0, 1));
    cart.write_control(0, 0x2000, 0x10);
    assert_eq!(banks(&cart), (0, 0));
}

#[test]
fn mbc1_bank2_reaches_the_low_area_only_in_mode_1() {
    let mut cart = cart(1, 6, 0);
    cart.write_control(0, 0x2000, 0x12);
    cart.write_control(0, 0x4000, 0x01);
    assert_eq!(banks(&cart), (0, 0x32));
    cart.write_control(0, 0x6000, 1);
    assert_eq!(banks(&cart), (0x20, 0x32));
}

#[test]
fn mbc1_multicart_skips_bit_4_of_bank1() {
    let mut cart = cart(1, 5, 0);
    cart.mapper = Mapper::Mbc1Multicart;
    cart.write_control(0, 0x2000, 0x1d);
    cart.write_control(0, 0x4000, 3);
    cart.write_control(0, 0x6000, 1);
    assert_eq!(banks(&cart), (0x30, 0x3d));
}

#[test]
fn mbc1_ram_banks_switch_only_in_mode_1() {
    let mut cart = cart(3, 0, 3);
    let mut ram = [0; 0x8000];
    cart.write_control(0, 0x0000, 0x0a);
    cart.write_control(0, 0x4000, 2);
    cart.write_ram(&mut ram, 0, 0xb123, 1);
    cart.write_control(0, 0x6000, 1);
    cart.write_ram(&mut ram, 0, 0xb123, 2);
    assert_eq!((ram[0x1123], ram[0x5123]), (1, 2));
}

#[test]
fn a_closed_gate_reads_ff_and_loses_writes() {
    for (type_code, wrong_key) in [(0x03, 0x0b), (0x06, 0xfa ^ 1), (0x13, 0x05), (0x1b, 0x1a)] {
        let mut cart = cart(type_code, 0, 2);
        let mut ram = [0x05; 0x2000];
        cart.write_control(0, 0x0000, 0x0a);
        cart.write_control(0, 0x0000, wrong_key);
        cart.write_ram(&mut ram, 0, 0xa000, 9);
        assert_eq!((cart.read_ram(&ram, 0xa000), ram[0]), (0xff, 0x05), "type {type_code:02x}");
    }
}

#[test]
fn older_gates_compare_four_bits_of_the_key_and_mbc5_eight() {
    for (type_code, opens) in [(0x03, true), (0x06, true), (0x13, true), (0x1b, false)] {
        let mut cart = cart(type_code, 0, 2);
        cart.write_control(0, 0x0000, 0xfa);
        assert_eq!(cart.ram_enabled, opens, "type {type_code:02x}");
    }
}

#[test]
fn mbc2_tells_its_registers_apart_by_address_bit_8() {
    let mut cart = cart(0x06, 3, 0);
    cart.write_control(0, 0x3eff, 0x0a);
    cart.write_control(0, 0x01ff, 0xf5);
    cart.write_control(0, 0x4100, 0x03);
    assert!(cart.ram_enabled);
    assert_eq!(banks(&cart), (0, 5));
}

#[test]
fn mbc2_ram_is_half_bytes_repeated() {
    let mut cart = cart(0x06, 0, 0);
    let mut ram = [0; 512];
    cart.write_control(0, 0x0000, 0x0a);
    cart.write_ram(&mut ram, 0, 0xa001, 0x5c);
    assert_eq!(ram[1], 0x0c);
    assert_eq!(cart.read_ram(&ram, 0xbe01), 0xfc);
}

#[test]
fn mbc3_has_seven_bank_bits_and_no_holes() {
    let mut cart = cart(0x11, 6, 0);
    for (written, shown) in [(0x20, 0x20), (0x00, 0x01), (0x80, 0x01), (0xff, 0x7f)] {
        cart.write_control(0, 0x2000, written);
        assert_eq!(banks(&cart), (0, shown));
    }
}

#[test]
fn mbc5_has_nine_bank_bits_and_bank_0_is_0() {
    let mut cart = cart(0x19, 8, 0);
    cart.write_control(0, 0x2fff, 0x00);
    assert_eq!(banks(&cart), (0, 0));
    cart.write_control(0, 0x3000, 0xff);
    cart.write_control(0, 0x2000, 0x23);
    assert_eq!(banks(&cart), (0, 0x123));
}

#[test]
fn mbc5_rumble_bit_is_no_ram_bank_bit() {
    for (type_code, offset) in [(0x1b, 0x9 << 13), (0x1e, 0x1 << 13)] {
        let mut cart = cart(type_code, 0, 4);
        cart.write_control(0, 0x4000, 0x09);
        assert_eq!(cart.ram_offset, offset);
    }
}

#[test]
fn banks_beyond_the_chip_wrap() {
    let mut cart = cart(0x19, 1, 2);
    cart.write_control(0, 0x2000, 0xfe);
    cart.write_control(0, 0x4000, 0x0f);
    assert_eq!((cart.rom_high, cart.ram_offset), (2 << 14, 0));
}

const TYPES: [u8; 22] = [
    0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x08, 0x09, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x19, 0x1a, 0x1b,
    0x1c, 0x1d, 0x1e, 0x22, 0xfe, 0xff,
];

proptest! {
    #[test]
    fn no_sequence_of_writes_leaves_the_chips(
        type_index in 0..TYPES.len(),
        rom_code in 0u8..6,
        ram_code in 0u8..6,
        multicart: bool,
        writes in prop::collection::vec(any::<(bool, u16, u8, u32)>(), 0..100),
    ) {
        let mut cart = cart(TYPES[type_index], rom_code, ram_code);
        if multicart && cart.mapper == Mapper::Mbc1 {
            cart.mapper = Mapper::Mbc1Multicart;
        }
        let mut ram = vec![0; 2 * if cart.has_ram { cart.ram_mask as usize + 1 } else { 0 }];
        for (control, address, value, now) in writes {
            if control {
                cart.write_control(now & 0xff_ffff, address & 0x7fff, value);
            } else {
                cart.write_ram(&mut ram, now & 0xff_ffff, 0xa000 | address & 0x1fff, value);
                cart.read_ram(&ram, 0xa000 | address & 0x1fff);
            }
            prop_assert_eq!(cart.rom_low & !cart.rom_mask, 0);
            prop_assert_eq!(cart.rom_high & !cart.rom_mask, 0);
            prop_assert_eq!((cart.rom_low | cart.rom_high) & 0x3fff, 0);
            prop_assert_eq!(cart.ram_offset & !cart.ram_mask, 0);
        }
    }
}
