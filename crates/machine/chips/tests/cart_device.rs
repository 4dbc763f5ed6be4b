//! Cartridges with devices: HuC1, HuC3, MBC7 and rumble, as programs see them.

use gbxcule_chips::cart::{Cart, GRAVITY, set_tilt};
use gbxcule_chips::header::Cartridge;
use proptest::prelude::*;

const MINUTE_MCYCLES: u32 = 60 << 20;

struct Cartridges {
    cart: Cart,
    ram: Vec<u8>,
    now: u32,
}

impl Cartridges {
    /// A cartridge of a type, with 64 banks of ROM and four of RAM.
    fn new(type_code: u8) -> Self {
        let mut rom = vec![0; 0x8000 << 5];
        (rom[0x147], rom[0x148], rom[0x149]) = (type_code, 5, 3);
        let cartridge = Cartridge::from_rom(&rom).expect("a good header");
        let ram = vec![0xff; cartridge.ram_bytes as usize];
        Self { cart: Cart::new(&cartridge), ram, now: 0 }
    }

    fn control(&mut self, address: u16, value: u8) -> &mut Self {
        self.cart.write_control(self.now, address, value);
        self
    }

    fn write(&mut self, address: u16, value: u8) {
        self.cart.write_ram(&mut self.ram, self.now, address, value);
    }

    fn read(&self, address: u16) -> u8 {
        self.cart.read_ram(&self.ram, address)
    }

    /// Sends a command to the HuC3 as Pan Docs describes it; returns the result.
    fn command(&mut self, command: u8) -> u8 {
        self.control(0, 0x0d);
        assert_eq!(self.read(0xa000) & 1, 1, "ready");
        self.control(0, 0x0b).write(0xa000, command);
        self.control(0, 0x0d).write(0xa000, 0xfe);
        assert_eq!(self.read(0xa000) & 1, 1, "done");
        self.control(0, 0x0c);
        let response = self.read(0xa000);
        assert_eq!(response & 0xf0, 0x80 | command & 0x70);
        response & 0x0f
    }

    fn go_to(&mut self, address: u8) {
        self.command(0x40 | address & 0x0f);
        self.command(0x50 | address >> 4);
    }

    /// Three half-bytes of the HuC3's memory, the lowest first.
    fn three(&mut self, address: u8) -> u16 {
        self.go_to(address);
        (0..3).fold(0, |sum, place| sum | u16::from(self.command(0x10)) << (4 * place))
    }

    fn put_three(&mut self, address: u8, value: u16) {
        self.go_to(address);
        for place in 0..3 {
            self.command(0x30 | (value >> (4 * place)) as u8 & 0x0f);
        }
    }

    /// Minute and day that the HuC3's clock shows.
    fn time(&mut self) -> (u16, u16) {
        self.command(0x60);
        (self.three(0x00), self.three(0x03))
    }

    fn set_time(&mut self, minute: u16, day: u16) {
        self.put_three(0x00, minute);
        self.put_three(0x03, day);
        self.command(0x61);
    }

    /// Runs the clock, one frame at a time.
    fn wait_minutes(&mut self, minutes: u32) {
        for _ in 0..minutes {
            self.now = self.now.wrapping_add(MINUTE_MCYCLES);
            self.cart.sync(self.now);
        }
    }

    /// Shifts bits into the MBC7's EEPROM, the highest first; returns the bits shifted out.
    fn shift(&mut self, bits: u32, count: u32) -> u32 {
        (0..count).rev().fold(0, |out, place| {
            let data = ((bits >> place & 1) << 1) as u8;
            self.write(0xa080, 0x80 | data);
            self.write(0xa080, 0xc0 | data);
            out << 1 | u32::from(self.read(0xa080) & 1)
        })
    }

    /// Sends a command with its start bit, then a word; returns the word that the EEPROM sent.
    fn eeprom(&mut self, command: u32, word: u16) -> u16 {
        self.write(0xa080, 0x00);
        self.write(0xa080, 0x80);
        self.shift(command, 12);
        let out = self.shift(word.into(), 16) as u16;
        self.write(0xa080, 0x00);
        self.write(0xa080, 0x80);
        assert_eq!(self.read(0xa080) & 1, 1, "it is ready");
        out
    }
}

/// An MBC7 whose registers are open.
fn mbc7() -> Cartridges {
    let mut cartridge = Cartridges::new(0x22);
    cartridge.control(0x0000, 0x0a).control(0x4000, 0x40);
    cartridge
}

const READ: u32 = 0b0110 << 8;
const WRITE: u32 = 0b0101 << 8;
const ERASE: u32 = 0b0111 << 8;
const ENABLE: u32 = 0b0100_1100_0000;
const DISABLE: u32 = 0b0100_0000_0000;
const ERASE_ALL: u32 = 0b0100_1000_0000;
const WRITE_ALL: u32 = 0b0100_0100_0000;

#[test]
fn rumble_is_bit_3_of_an_mbc5_s_ram_bank() {
    for (type_code, shakes) in [(0x1b, false), (0x1e, true)] {
        let mut cartridge = Cartridges::new(type_code);
        assert!(!cartridge.cart.rumbles());
        assert_eq!(cartridge.control(0x4000, 0x0a).cart.rumbles(), shakes, "{type_code:02x}");
        assert!(!cartridge.control(0x4000, 0x02).cart.rumbles());
    }
}

#[test]
fn a_huc1_has_ram_without_a_gate_or_an_infrared_port() {
    let mut huc1 = Cartridges::new(0xff);
    for bank in 0..4 {
        huc1.control(0x4000, bank).write(0xa123, 0x50 | bank);
    }
    huc1.control(0x0000, 0x00).control(0x2000, 0x3f);
    assert_eq!([huc1.cart.rom_low >> 14, huc1.cart.rom_high >> 14], [0, 0x3f]);
    huc1.control(0x4000, 2);
    assert_eq!(huc1.read(0xa123), 0x52);
    huc1.control(0x0000, 0x0e).write(0xa123, 1);
    assert_eq!(huc1.read(0xa123), 0xc0, "no light");
    huc1.control(0x0000, 0x0a);
    assert_eq!(huc1.read(0xa123), 0x52);
}

#[test]
fn a_huc3_selects_ram_registers_or_nothing() {
    let mut huc3 = Cartridges::new(0xfe);
    huc3.control(0x0000, 0x0a).control(0x4000, 1).write(0xa000, 0x77);
    huc3.control(0x0000, 0x00).write(0xa000, 0x11);
    assert_eq!(huc3.read(0xa000), 0x77, "RAM that can't be written");
    assert_eq!(huc3.ram[0x2000], 0x77);
    for (selected, value) in [(0x0e, 0xc0), (0x0f, 0xff), (0x01, 0xff), (0x0a, 0x77)] {
        assert_eq!(huc3.control(0x0000, selected).read(0xa000), value, "{selected:02x}");
    }
    assert_eq!(huc3.control(0x2000, 0x3c).cart.rom_high >> 14, 0x3c);
    assert_eq!(huc3.command(0x62), 1, "games do not begin without");
}

#[test]
fn a_huc3_s_clock_counts_minutes_and_days() {
    let mut huc3 = Cartridges::new(0xfe);
    assert_eq!(huc3.time(), (0, 0));
    huc3.wait_minutes(61);
    assert_eq!(huc3.time(), (61, 0));
    // A day ends; the count of days goes on beyond the nine bits of an MBC3's clock.
    huc3.set_time(1439, 511);
    huc3.wait_minutes(1);
    assert_eq!(huc3.time(), (0, 512));
    huc3.set_time(1438, 4095);
    huc3.wait_minutes(3);
    assert_eq!(huc3.time(), (1, 0));
    assert_eq!((huc3.three(0x10), huc3.three(0x13)), (1, 0), "the running time");
    huc3.put_three(0x13, 0x3ab);
    assert_eq!(huc3.time(), (1, 0x3ab));
}

#[test]
fn a_huc3_s_event_stays_as_far_away_when_the_time_is_set() {
    let mut huc3 = Cartridges::new(0xfe);
    huc3.set_time(100, 7);
    huc3.put_three(0x58, 130);
    huc3.put_three(0x5b, 7);
    huc3.set_time(1430, 1);
    assert_eq!((huc3.three(0x58), huc3.three(0x5b)), (20, 2));
}

#[test]
fn an_mbc7_needs_both_gates() {
    let mut closed = Cartridges::new(0x22);
    assert_eq!(closed.read(0xa060), 0xff);
    assert_eq!(closed.control(0x0000, 0x0a).read(0xa060), 0xff);
    assert_eq!(closed.control(0x4000, 0x40).read(0xa060), 0x00);
    assert_eq!(closed.control(0x0000, 0x00).read(0xa060), 0xff);
    let open = mbc7();
    for (address, value) in [(0xa070, 0xff), (0xa090, 0xff), (0xb060, 0xff), (0xaf6f, 0x00)] {
        assert_eq!(open.read(address), value, "{address:04x}");
    }
}

#[test]
fn a_tilt_is_latched_after_the_last_one_was_erased() {
    let mut mbc7 = mbc7();
    let values = |mbc7: &Cartridges| {
        [0xa020, 0xa040].map(|at| u16::from_le_bytes([mbc7.read(at), mbc7.read(at + 0x10)]))
    };
    assert_eq!(values(&mbc7), [0x8000; 2]);
    let (erase, latch) = ((0xa000, 0x55), (0xa010, 0xaa));
    for (address, value) in [erase, latch] {
        mbc7.write(address, value);
    }
    assert_eq!(values(&mbc7), [0x81d0; 2], "level");
    set_tilt(&mut mbc7.ram, GRAVITY, -GRAVITY / 2);
    mbc7.write(latch.0, latch.1);
    assert_eq!(values(&mbc7), [0x81d0; 2], "latched before");
    mbc7.write(erase.0, erase.1);
    assert_eq!(values(&mbc7), [0x8000; 2]);
    mbc7.write(latch.0, latch.1);
    // A tilt to the right lowers the first value, a tilt to the top raises the second.
    assert_eq!(values(&mbc7), [0x81d0 - 0x70, 0x81d0 + 0x38]);
}

#[test]
fn the_eeprom_keeps_words_once_writing_is_enabled() {
    let mut mbc7 = mbc7();
    assert_eq!(mbc7.eeprom(READ | 5, 0), 0xffff);
    mbc7.eeprom(WRITE | 5, 0x1234);
    assert_eq!(mbc7.eeprom(READ | 5, 0), 0xffff, "not enabled");
    mbc7.eeprom(ENABLE, 0);
    mbc7.eeprom(WRITE | 5, 0x1234);
    mbc7.eeprom(WRITE | 0x7f, 0xbeef);
    assert_eq!([5, 0x7f, 6].map(|at| mbc7.eeprom(READ | at, 0)), [0x1234, 0xbeef, 0xffff]);
    assert_eq!(mbc7.ram[10..12], [0x34, 0x12]);
    mbc7.eeprom(ERASE | 5, 0);
    assert_eq!([5, 0x7f].map(|at| mbc7.eeprom(READ | at, 0)), [0xffff, 0xbeef]);
    mbc7.eeprom(WRITE_ALL, 0x5a5a);
    assert!(mbc7.ram[..256].iter().all(|&byte| byte == 0x5a));
    mbc7.eeprom(DISABLE, 0);
    mbc7.eeprom(ERASE_ALL, 0);
    assert_eq!(mbc7.eeprom(READ, 0), 0x5a5a);
    mbc7.eeprom(ENABLE, 0);
    mbc7.eeprom(ERASE_ALL, 0);
    assert!(mbc7.ram[..256].iter().all(|&byte| byte == 0xff));
}

proptest! {
    #[test]
    fn any_word_comes_back_from_any_address(words in prop::collection::vec((0u32..128, any::<u16>()), 1..20)) {
        let mut mbc7 = mbc7();
        mbc7.eeprom(ENABLE, 0);
        let mut expected = [0xffff; 128];
        for (address, word) in words {
            mbc7.eeprom(WRITE | address, word);
            expected[address as usize] = word;
        }
        for (address, word) in (0u32..).zip(expected) {
            prop_assert_eq!(mbc7.eeprom(READ | address, 0), word);
        }
    }
}
