//! DIV and TIMA against a timer that is stepped M-cycle by M-cycle, as Pan Docs "Timer obscure
//! behaviour" draws its circuit.

use proptest::prelude::*;

use gbxcule_gameboy::interrupts::{Interrupts, TIMER};
use gbxcule_gameboy::timer::Timer;

use crate::console::Console;

#[derive(Default)]
struct Circuit {
    counter: u16,
    tima: u8,
    tma: u8,
    tac: u8,
    /// TIMA overflowed in this M-cycle: it reads 0, TMA is loaded in the next one.
    overflowed: bool,
    /// TMA was loaded in this M-cycle.
    reloading: bool,
    requests: u32,
}

impl Circuit {
    /// The counter's bit that TAC selects, if it is enabled.
    fn input(&self) -> bool {
        let bit = [9, 3, 5, 7][usize::from(self.tac & 3)];
        self.tac & 4 != 0 && self.counter >> bit & 1 != 0
    }

    /// Applies a change; TIMA counts if its input falls.
    fn change(&mut self, change: impl FnOnce(&mut Circuit)) {
        let before = self.input();
        change(self);
        if before && !self.input() {
            self.tima = self.tima.wrapping_add(1);
            self.overflowed |= self.tima == 0;
        }
    }

    fn step(&mut self) {
        self.reloading = std::mem::take(&mut self.overflowed);
        if self.reloading {
            self.tima = self.tma;
            self.requests += 1;
        }
        self.change(|circuit| circuit.counter = circuit.counter.wrapping_add(4));
    }

    fn write(&mut self, address: u16, value: u8) {
        match address {
            0xff04 => self.change(|circuit| circuit.counter = 0),
            0xff05 if self.reloading => {}
            0xff05 => (self.tima, self.overflowed) = (value, false),
            0xff06 => {
                self.tma = value;
                if self.reloading {
                    self.tima = value;
                }
            }
            _ => self.change(|circuit| circuit.tac = value & 7),
        }
    }

    fn read(&self) -> [u8; 4] {
        [(self.counter >> 8) as u8, self.tima, self.tma, self.tac | 0xf8]
    }
}

/// A wait, then a write to one of FF04-FF07. With short waits, writes come in the M-cycles around
/// an overflow.
fn writes() -> impl Strategy<Value = Vec<(u32, u16, u8)>> {
    let wait = prop_oneof![3 => 0u32..6, 2 => 0u32..40, 1 => 0u32..2_500];
    let value = prop_oneof![1 => 0xfcu8..=0xff, 1 => 4u8..8, 1 => any::<u8>()];
    prop::collection::vec((wait, 0xff04u16..0xff08, value), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_timer_is_its_circuit(writes in writes()) {
        let mut console = Console::dark();
        console.write(0xff04, 0);
        console.machine.interrupts.requested = 0;
        let mut circuit = Circuit::default();
        circuit.step();
        for (wait, address, value) in writes {
            for _ in 0..wait {
                circuit.step();
                let due = console.machine.now + 1;
                console.wait(1);
                if circuit.requests != 0 {
                    prop_assert!(console.machine.timer.deadline <= due, "nobody would look in time");
                }
                if circuit.requests != 0 {
                    prop_assert_eq!(console.machine.requested_at(due), TIMER);
                    console.machine.interrupts.requested = 0;
                    console.machine.timer.schedule(due);
                    circuit.requests = 0;
                }
            }
            let seen = [0xff04, 0xff05, 0xff06, 0xff07].map(|address| console.after(0, address));
            prop_assert_eq!(seen, circuit.read());
            prop_assert_eq!(console.after(0, 0xff0f), 0xe0);
            console.write(address, value);
            circuit.write(address, value);
            circuit.step();
            if circuit.requests != 0 {
                prop_assert_eq!(console.machine.requested_at(console.machine.now), TIMER);
                console.machine.interrupts.requested = 0;
                console.machine.timer.schedule(console.machine.now);
                circuit.requests = 0;
            }
        }
    }

    #[test]
    fn how_rarely_the_timer_is_synced_changes_nothing(tima: u8, tma: u8, tac: u8, waits in prop::collection::vec(0u32..3_000, 1..20)) {
        let fresh = Console::new().machine.timer;
        let mut often = Timer { tima, tma, tac: tac & 7, ..fresh };
        let mut once = often;
        let mut seen = [Interrupts { requested: 0, enabled: 0 }; 2];
        let mut now = 0;
        for wait in waits {
            for _ in 0..wait {
                now += 1;
                often.sync(&mut seen[0], now);
            }
            once.sync(&mut seen[1], now);
            once.schedule(now);
            often.schedule(now);
            prop_assert_eq!(once, often);
            prop_assert_eq!(seen[0], seen[1]);
            prop_assert!(once.deadline.wrapping_sub(now) as i32 > 0);
        }
    }
}
