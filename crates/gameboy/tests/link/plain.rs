//! Two machines and a cable in the plainest loop there is: each instruction is tried on a copy
//! first, and one into which a shift falls waits until the other machine has come as far. A port
//! that clocks is a little ahead, so that what it does by a write to DIV finds the other behind.

use gbxcule_gameboy::link::{FRAME_TCYCLES, LEAD_TCYCLES};
use gbxcule_gameboy::serial::Serial;
use gbxcule_gameboy::{COLOR, Machine};

const SERIAL: u8 = 8;

/// A shift that the next instruction of a side has to wait for, and how it goes.
#[derive(Clone, Copy, PartialEq)]
enum Wait {
    /// The instruction does not read the port after the shift.
    After,
    /// The instruction reads the port at the shift or after it.
    Before,
    /// The instruction causes the shift at this time, by a write to DIV or SC.
    Causes(i64),
}

#[derive(Clone, Copy)]
struct Side {
    machine: Machine,
    /// T-cycles before the end of the frame, as negative numbers.
    time: i64,
    /// The port waits since then.
    waits_since: i64,
    /// Time at which the program used the port last, and what the other end heard before.
    last_look: (i64, u8),
    wait: Option<Wait>,
}

pub(crate) struct PlainPair<'r> {
    rom: &'r [u8],
    sides: [Side; 2],
}

impl<'r> PlainPair<'r> {
    pub(crate) fn new(rom: &'r [u8], machines: [Machine; 2]) -> Self {
        let time = -i64::from(LEAD_TCYCLES);
        let (waits_since, last_look, wait) = (i64::MIN, (i64::MIN, 1), None);
        let side = |machine| Side { machine, time, waits_since, last_look, wait };
        Self { rom, sides: machines.map(side) }
    }

    pub(crate) fn run_frame(&mut self) {
        for side in &mut self.sides {
            side.time -= i64::from(FRAME_TCYCLES);
            for time in [&mut side.waits_since, &mut side.last_look.0] {
                *time = time.saturating_sub(i64::from(FRAME_TCYCLES));
            }
            side.machine.deadline = side.machine.now;
        }
        loop {
            let shift = self.sides.iter().filter_map(Side::shift).min();
            let is_there = |side: &Side, at| side.wait.is_some() || side.time >= at;
            if let Some(at) = shift
                && self.sides.iter().all(|side| is_there(side, at))
            {
                self.exchange(at);
                continue;
            }
            let next = (0..2)
                .filter(|side| {
                    let Side { time, wait, .. } = self.sides[*side];
                    time < shift.unwrap_or(0).min(0) && wait.is_none()
                })
                .min_by_key(|side| {
                    let Side { machine, time, .. } = &self.sides[*side];
                    time - if machine.serial.sc & 0x81 == 0x81 { 64 } else { 0 }
                });
            if let Some(side) = next {
                self.sides[side].step(self.rom, shift);
            } else if let Some(side) = self.sides.iter_mut().find(|side| {
                side.wait == Some(Wait::After) && (shift.is_none() || side.own_shift() != shift)
            }) {
                // The other side has stopped at the end of the frame; the shift comes behind it.
                side.wait = None;
                side.run(self.rom);
            } else if let Some(at) = shift
                && self.sides.iter().any(|side| {
                    side.wait.is_some() || side.shift().is_some_and(|at| at <= side.time)
                })
                && let Some(side) = self.sides.iter_mut().find(|side| !is_there(side, at))
            {
                // An instruction of the other side lies across the end of the frame.
                side.step(self.rom, shift);
            } else {
                return;
            }
        }
    }

    fn exchange(&mut self, at: i64) {
        for side in &mut self.sides {
            if side.wait == Some(Wait::After) {
                side.run(self.rom);
            }
        }
        let levels = self.sides.map(|side| side.level(at));
        let clocks = self.sides.map(|side| side.shift() == Some(at));
        for index in 0..2 {
            let (side, bit) = (&mut self.sides[index], levels[1 - index]);
            let wait = side.wait.take();
            if let Some(Wait::Causes(own)) = wait {
                if own != at {
                    side.wait = wait;
                    continue;
                }
                side.run(self.rom);
                side.machine.serial.sb = side.machine.serial.sb & !1 | bit;
                side.machine.deadline = side.machine.now;
                continue;
            }
            let requested = side.machine.interrupts.requested;
            side.shift_in(at, bit, clocks[index], clocks[1 - index]);
            let ended = side.machine.interrupts.requested != requested;
            if wait == Some(Wait::Before) {
                side.run(self.rom);
            }
            // An interrupt that nothing else looks for: not always, for after EI comes one
            // instruction first.
            if ended {
                side.machine.deadline = side.machine.now;
            }
        }
    }

    /// The machines, every chip brought up to now.
    pub(crate) fn sync_for_observers(self) -> [Machine; 2] {
        self.sides.map(|side| {
            let mut machine = side.machine;
            machine.requested_at(machine.now);
            machine.apu.sync(machine.now, machine.timer.div_base);
            machine.serial.schedule(machine.now, machine.timer.div_base);
            machine.deadline = machine.now;
            machine
        })
    }
}

impl Side {
    /// The shift that is to come by this side's clock, or by a write.
    fn shift(&self) -> Option<i64> {
        match self.wait {
            Some(Wait::Causes(at)) => Some(at),
            _ => self.own_shift(),
        }
    }

    fn own_shift(&self) -> Option<i64> {
        let Machine { serial, timer, .. } = &self.machine;
        let passed = serial.synced_at.wrapping_sub(timer.div_base) / period(serial);
        let edges = passed + 2 - u32::from(serial.clock_high);
        let moment = timer.div_base.wrapping_add(edges * period(serial));
        (serial.sc & 0x81 == 0x81).then(|| self.time_of(moment))
    }

    fn time_of(&self, moment: u32) -> i64 {
        let mcycles = moment.wrapping_sub(self.machine.now).cast_signed();
        self.time + i64::from(mcycles) * tcycles_of(&self.machine)
    }

    fn level(&self, at: i64) -> u8 {
        match self.last_look {
            (looked_at, before) if looked_at >= at => before,
            _ => self.level_now(),
        }
    }

    fn level_now(&self) -> u8 {
        if self.machine.serial.sc & 0x80 != 0 { self.machine.serial.sb >> 7 } else { 1 }
    }

    /// Executes an instruction, or tries it if a shift falls into it.
    fn step(&mut self, rom: &[u8], shift: Option<i64>) {
        let mut tried = *self;
        tried.run(rom);
        let looked_at = tried.machine.serial.synced_at;
        let looked = (looked_at != self.machine.serial.synced_at).then(|| tried.time_of(looked_at));
        let before = &self.machine.serial;
        if let Some(at) = looked
            && before.sc & 0x81 == 0x81
            && is_high(before, looked_at, self.machine.timer.div_base)
            && !tried.machine.serial.clock_high
        {
            self.wait = Some(Wait::Causes(at));
            return;
        }
        // The Color's dispatch of an interrupt looks twice. Where the second look shifts, the
        // machine does that itself.
        let dispatches = self.machine.deadline.wrapping_sub(self.machine.now).cast_signed() <= 0;
        if COLOR && dispatches && looked.is_some() && looked == shift {
            let clocks = self.own_shift().is_some();
            self.wait = looked.map(|at| if clocks { Wait::Causes(at) } else { Wait::After });
            return;
        }
        self.wait = shift.and_then(|at| match looked {
            Some(looked) if looked >= at => Some(Wait::Before),
            _ => (tried.time > at).then_some(Wait::After),
        });
        if self.wait.is_none() {
            *self = tried;
        }
    }

    fn run(&mut self, rom: &[u8]) {
        let (level, looked_at) = (self.level_now(), self.machine.serial.synced_at);
        let machine = &mut self.machine;
        if machine.frame_done {
            machine.begin_frame(false);
        }
        let did_wait = machine.serial.sc & 0x81 == 0x80;
        let before = time(machine);
        // A halted machine goes no further than one M-cycle.
        machine.serial.deadline = machine.now.wrapping_add(1);
        machine.run_instruction(rom, &mut []);
        self.time += i64::from(time(machine).wrapping_sub(before).cast_signed());
        let Serial { sc, synced_at, .. } = self.machine.serial;
        if synced_at != looked_at {
            self.last_look = (self.time_of(synced_at), level);
        }
        if !did_wait && sc & 0x81 == 0x80 {
            self.waits_since = self.time_of(synced_at);
        }
    }

    fn shift_in(&mut self, at: i64, bit: u8, own: bool, others: bool) {
        let div_base = self.machine.timer.div_base;
        let moment = (at - self.time) / tcycles_of(&self.machine);
        let moment = self.machine.now.wrapping_add_signed(i32::try_from(moment).expect("near"));
        let Machine { serial, interrupts, .. } = &mut self.machine;
        if own {
            serial.sync(interrupts, moment, div_base);
            serial.sb = serial.sb & !1 | bit;
            serial.schedule(moment, div_base);
        } else if others && serial.sc & 0x81 == 0x80 && self.waits_since < at {
            serial.sb = serial.sb << 1 | bit;
            serial.bits = (serial.bits + 1) % 8;
            if serial.bits == 0 {
                serial.sc &= 0x7f;
                interrupts.requested |= SERIAL;
            }
        }
    }
}

fn period(serial: &Serial) -> u32 {
    if serial.sc & 2 != 0 { 2 } else { 64 }
}

/// The bit clock at a moment, if nothing is written.
fn is_high(serial: &Serial, moment: u32, div_base: u32) -> bool {
    let edges = |moment: u32| moment.wrapping_sub(div_base) / period(serial);
    serial.clock_high ^ (edges(moment).wrapping_sub(edges(serial.synced_at)) & 1 != 0)
}

#[cfg(not(color))]
fn tcycles_of(_: &Machine) -> i64 {
    4
}

#[cfg(color)]
fn tcycles_of(machine: &Machine) -> i64 {
    if machine.speed.double { 2 } else { 4 }
}

#[cfg(not(color))]
fn time(machine: &Machine) -> u32 {
    machine.tcycles()
}

#[cfg(color)]
fn time(machine: &Machine) -> u32 {
    machine.tcycles().wrapping_sub(machine.speed.gained)
}
