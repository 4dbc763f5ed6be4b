//! MBC3's clock.

use gbxcule_chips::cart::{Cart, ClockRegisters};
use gbxcule_chips::header::Cartridge;
use proptest::prelude::*;

const SECOND: u32 = 1 << 20;

/// A cartridge with a clock, and the time.
struct Clock {
    cart: Cart,
    now: u32,
}

impl Clock {
    fn new() -> Clock {
        let mut rom = vec![0; 0x8000];
        rom[0x147] = 0x0f;
        let mut cart = Cart::new(&Cartridge::from_rom(&rom).unwrap());
        cart.write_control(0, 0x0000, 0x0a);
        Clock { cart, now: 0 }
    }

    fn at(registers: [u8; 5]) -> Clock {
        let mut clock = Clock::new();
        for (select, value) in (8..).zip(registers) {
            clock.write(select, value);
        }
        clock
    }

    fn write(&mut self, select: u8, value: u8) {
        self.cart.write_control(self.now, 0x4000, select);
        self.cart.write_ram(&mut [], self.now, 0xa000, value);
    }

    fn wait(&mut self, mcycles: u32) -> &mut Clock {
        self.now = self.now.wrapping_add(mcycles);
        self.cart.sync(self.now);
        self
    }

    fn latch(&mut self) {
        self.cart.write_control(self.now, 0x6000, 0);
        self.cart.write_control(self.now, 0x6000, 1);
    }

    /// S, M, H, DL, DH as a program reads them now.
    fn read(&mut self) -> [u8; 5] {
        self.latch();
        [8, 9, 10, 11, 12].map(|select| {
            self.cart.write_control(self.now, 0x4000, select);
            self.cart.read_ram(&[], 0xa000)
        })
    }
}

#[test]
fn a_second_is_two_to_the_twentieth_mcycles() {
    let mut clock = Clock::new();
    assert_eq!(clock.wait(SECOND - 1).read()[0], 0);
    assert_eq!(clock.wait(1).read()[0], 1);
}

#[test]
fn the_ninth_day_bit_overflows_into_a_carry_that_stays() {
    let mut clock = Clock::at([59, 59, 23, 0xff, 0x00]);
    assert_eq!(clock.wait(SECOND).read(), [0, 0, 0, 0, 0x01]);
    let mut clock = Clock::at([59, 59, 23, 0xff, 0x01]);
    assert_eq!(clock.wait(SECOND).read(), [0, 0, 0, 0, 0x80]);
    for _ in 0..2 {
        clock.write(8, 59);
        clock.write(9, 59);
        clock.write(10, 23);
        clock.wait(SECOND);
    }
    assert_eq!(clock.read(), [0, 0, 0, 2, 0x80]);
    clock.write(12, 0);
    assert_eq!(clock.read()[4], 0);
}

#[test]
fn halting_keeps_the_fraction_of_a_second() {
    let mut clock = Clock::new();
    clock.wait(SECOND * 3 / 4).write(12, 0x40);
    clock.wait(10 * SECOND).write(12, 0x00);
    assert_eq!(clock.wait(SECOND / 4 - 1).read()[0], 0);
    assert_eq!(clock.wait(1).read()[0], 1);
}

#[test]
fn writing_seconds_restarts_the_second_and_no_other_register_does() {
    for (select, seconds) in [(8, 0), (9, 1), (10, 1), (11, 1), (12, 1)] {
        let mut clock = Clock::new();
        clock.wait(SECOND / 2).write(select, 0);
        assert_eq!(clock.wait(SECOND / 2).read()[0], seconds, "register {select:02x}");
    }
}

#[test]
fn registers_keep_only_the_bits_that_exist() {
    assert_eq!(Clock::at([0xff; 5]).read(), [0x3f, 0x3f, 0x1f, 0xff, 0xc1]);
}

#[test]
fn illegal_values_count_on_and_wrap_without_a_carry() {
    assert_eq!(Clock::at([62, 0, 0, 0, 0]).wait(SECOND).read(), [63, 0, 0, 0, 0]);
    assert_eq!(Clock::at([62, 0, 0, 0, 0]).wait(2 * SECOND).read(), [0, 0, 0, 0, 0]);
    assert_eq!(Clock::at([59, 63, 0, 0, 0]).wait(SECOND).read(), [0, 0, 0, 0, 0]);
    assert_eq!(Clock::at([59, 59, 31, 0, 0]).wait(SECOND).read(), [0, 0, 0, 0, 0]);
    assert_eq!(Clock::at([59, 59, 24, 0, 0]).wait(SECOND).read(), [0, 0, 25, 0, 0]);
}

#[test]
fn reads_see_the_latched_time_until_zero_then_one_is_written() {
    let mut clock = Clock::new();
    clock.latch();
    clock.wait(5 * SECOND);
    clock.cart.write_control(clock.now, 0x4000, 8);
    assert_eq!(clock.cart.read_ram(&[], 0xbfff), 0);
    clock.cart.write_control(clock.now, 0x6000, 1);
    assert_eq!(clock.cart.read_ram(&[], 0xbfff), 0);
    clock.latch();
    assert_eq!(clock.cart.read_ram(&[], 0xbfff), 5);
}

// cpp's latch-rtc-test, docboy mbc3_rtc_latch_*.
#[test]
fn the_time_is_latched_when_bit_0_of_what_is_written_rises() {
    let latches = |first: u8, second: u8| {
        let mut clock = Clock::new();
        clock.latch();
        clock.wait(5 * SECOND);
        clock.cart.write_control(clock.now, 0x6000, first);
        clock.cart.write_control(clock.now, 0x6000, second);
        clock.cart.write_control(clock.now, 0x4000, 8);
        clock.cart.read_ram(&[], 0xa000) == 5
    };
    assert!(latches(0, 1) && latches(0, 3) && latches(4, 3));
    assert!(!latches(0, 2) && !latches(1, 1) && !latches(1, 3));
}

#[test]
fn a_closed_gate_hides_the_clock() {
    let mut clock = Clock::at([7, 0, 0, 0, 0]);
    clock.latch();
    clock.cart.write_control(clock.now, 0x0000, 0);
    clock.write(8, 9);
    assert_eq!(clock.cart.read_ram(&[], 0xa000), 0xff);
    clock.cart.write_control(clock.now, 0x0000, 0x0a);
    assert_eq!(clock.read()[0], 7);
}

#[test]
fn time_survives_the_wrap_of_the_cycle_counter() {
    let mut clock = Clock::new();
    clock.now = u32::MAX - SECOND / 2;
    clock.cart.rtc.synced_at = clock.now;
    assert_eq!(clock.wait(SECOND).read()[0], 1);
}

proptest! {
    #[test]
    fn how_often_the_clock_is_synced_changes_nothing(
        registers: [u8; 5],
        waits in prop::collection::vec(0u32..1 << 23, 1..20),
    ) {
        let (mut often, mut once) = (Clock::at(registers), Clock::at(registers));
        for wait in &waits {
            often.wait(*wait);
        }
        once.wait(waits.iter().sum());
        prop_assert_eq!(often.cart, once.cart);
    }

    #[test]
    fn legal_times_stay_legal(seconds in 0u8..60, minutes in 0u8..60, hours in 0u8..24, wait: u32) {
        let mut clock = Clock::at([seconds, minutes, hours, 0, 0]);
        clock.wait(wait);
        let ClockRegisters { seconds, minutes, hours, .. } = clock.cart.rtc.running;
        prop_assert!(seconds < 60 && minutes < 60 && hours < 24);
    }
}
