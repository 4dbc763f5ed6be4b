//! Two machines and the cable between them. `swarm` calls `Link::run_frame` for pairs; machines
//! without a cable never come here.
//!
//! A port that clocks shifts at moments which are known as soon as a transfer has begun. At each of
//! them both ends must be where they are then: what one has at the top of SB is what the other one
//! shifts in. Between these moments a machine is run far ahead of the other one wherever that
//! cannot change anything, so ports at rest cost nothing.
//!
//! | port | hears the other | is heard |
//! |---|---|---|
//! | no transfer begun | never | as ones |
//! | waiting for the other's clock | at the other's shifts | at the other's shifts |
//! | clocking | at its own shifts | at the other's shifts, if it clocks too |
//!
//! A port in which no transfer has begun is deaf to the other's clock (gbdev/pandocs issue 398).
//!
//! A frame of a pair is 70,224 T-cycles, whatever the LCDs do, so that both machines come to its
//! end at the same time. Each stops on the first instruction boundary there. Frames of each
//! machine, which end when its own LCD is done, go on beneath it.

mod end;

use crate::machine::Machine;
use end::Port;
pub use end::{CableEnd, FRAME_TCYCLES, LEAD_TCYCLES};

/// Longer than any instruction and any dispatch of an interrupt: 32 T-cycles are eight M-cycles.
const NEAR_TCYCLES: i32 = 32;

/// A pair of machines that run the same ROM.
///
/// ```
/// use gbxcule_gameboy::link::{CableEnd, LEAD_TCYCLES, Link};
/// use gbxcule_gameboy::{Cartridge, Machine};
///
/// let rom = gbxcule_roms::by_name("SERIAL_HELLO").expect("a built-in ROM").bytes();
/// let cartridge = Cartridge::from_rom(rom).expect("a good header");
/// let [mut one, mut other, mut spare] = [Machine::power_on(&cartridge); 3];
/// let ends = [&mut one, &mut other].map(|machine| CableEnd::new(machine, &mut [], -LEAD_TCYCLES));
/// let mut link = Link::new(rom, ends, &mut spare);
/// link.run_frame(false);
/// link.sync_for_observers();
/// assert!(link.ends[0].ahead() >= 0); // at most one instruction
/// ```
pub struct Link<'m> {
    rom: &'m [u8],
    /// The two machines.
    pub ends: [CableEnd<'m>; 2],
    /// Room for a machine as it was before an instruction.
    spare: &'m mut Machine,
}

impl<'m> Link<'m> {
    /// Puts the cable between two machines.
    pub fn new(rom: &'m [u8], ends: [CableEnd<'m>; 2], spare: &'m mut Machine) -> Self {
        Self { rom, ends, spare }
    }

    /// Runs both machines to the end of a frame. `draw` draws those frames of theirs that begin in
    /// it.
    pub fn run_frame(&mut self, draw: bool) {
        for end in &mut self.ends {
            end.begin(draw);
        }
        loop {
            let shift = self.next_shift();
            if let Some(shift) = shift
                && self.ends.iter().all(|end| end.is_at(shift))
            {
                self.exchange(shift);
            } else if let Some(idle) =
                self.ends.iter_mut().find(|end| end.is_idle() && end.time() < 0)
            {
                // An idle port neither hears nor is heard until its program opens it.
                idle.run_until_open(self.rom);
            } else if self.ends.iter().all(|end| end.time() >= 0) {
                // An instruction across the end may have come after a shift that the other end has
                // yet to come to.
                let late = |index: usize| {
                    let at = self.ends[index].next_shift()?;
                    let is_late = at <= self.ends[index].time() && !self.ends[1 - index].is_at(at);
                    is_late.then_some((1 - index, at))
                };
                let Some((index, at)) = late(0).or_else(|| late(1)) else { return };
                match self.ends[index].port() {
                    Port::Idle => self.ends[index].run_until_change(self.rom, at),
                    _ => self.ends[index].run_to_shift(self.rom, self.spare, at, at),
                }
            } else if let Some(idle) = self.ends.iter().position(CableEnd::is_idle) {
                self.run_alone(1 - idle);
            } else {
                self.run_linked();
            }
        }
    }

    /// Brings the chips up to now, for observers: to be called when no frame follows at once.
    pub fn sync_for_observers(&mut self) {
        self.ends.iter_mut().for_each(CableEnd::sync_for_observers);
    }

    /// Returns the time at which the next bit is exchanged, if both ports are open and one of them
    /// clocks.
    fn next_shift(&self) -> Option<i32> {
        let shift = |index: usize| {
            let (end, other) = (&self.ends[index], &self.ends[1 - index]);
            end.next_shift().filter(|_| end.has_forced() || !other.is_idle())
        };
        match (shift(0), shift(1)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Runs one end while the other one, whose port is idle, is at the end of the frame: nothing
    /// answers up to there.
    fn run_alone(&mut self, index: usize) {
        let idle_until = self.ends[1 - index].time();
        let end = &mut self.ends[index];
        if end.time() < -NEAR_TCYCLES {
            end.run_to(self.rom, -NEAR_TCYCLES);
            return;
        }
        match end.next_shift() {
            Some(shift) if shift < idle_until => end.run_to(self.rom, end.time() + 1),
            // The instruction that looks at this shift lies across the end of the frame.
            Some(shift) if end.is_at(shift) => {
                self.ends[1 - index].run_until_change(self.rom, shift + 1);
            }
            Some(shift) => end.run_to_shift(self.rom, self.spare, shift, 0),
            None => end.run_to(self.rom, 0),
        }
    }

    /// Brings the ends of a cable on which both ports are open closer to the next shift.
    fn run_linked(&mut self) {
        // An end was alone until the other one opened its port.
        for index in 0..2 {
            let alone = (self.ends[1 - index].opened_at() - NEAR_TCYCLES).min(0);
            if self.ends[index].time() < alone {
                self.ends[index].run_to(self.rom, alone);
                return;
            }
        }
        let Some(shift) = self.next_shift() else {
            let later = usize::from(self.ends[1].time() < self.ends[0].time());
            // Any of two that wait may begin to clock, and shift at once by a second write to SC.
            let limit = self.ends[1 - later].time() + 1;
            self.ends[later].run_until_change(self.rom, limit.min(0));
            return;
        };
        // The one that clocks goes first: what it does can bring a shift forward. Of two that
        // clock, none is ahead by more than an instruction.
        let first = usize::from(self.ends[0].port() != Port::Clocking);
        let both_clock = self.ends.iter().all(|end| end.port() == Port::Clocking);
        for index in [first, 1 - first] {
            let others_time = self.ends[1 - index].time();
            let end = &mut self.ends[index];
            let mut near = (shift - NEAR_TCYCLES).min(0);
            if both_clock {
                near = near.min(others_time + 1);
            }
            if end.time() < near {
                end.run_watched(self.rom, near);
                return;
            }
        }
        for index in [first, 1 - first] {
            let (others_time, other_is_at) =
                (self.ends[1 - index].time(), self.ends[1 - index].is_at(shift));
            let end = &mut self.ends[index];
            let mut limit = shift.min(0);
            if both_clock && !other_is_at {
                limit = limit.min(others_time + 1);
            }
            if !end.is_at(shift) && end.time() < limit {
                end.run_to_shift(self.rom, self.spare, shift, limit);
                return;
            }
        }
        // The instruction that the shift falls into lies across the end of the frame on one side
        // and after it on the other.
        if let Some(end) = self.ends.iter_mut().find(|end| !end.is_at(shift)) {
            end.run_to_shift(self.rom, self.spare, shift, shift);
        }
    }

    /// Shifts a bit each way, at a moment where both ends are.
    fn exchange(&mut self, at: i32) {
        let levels = [0, 1].map(|index: usize| self.ends[index].level(at));
        let clocks = [0, 1].map(|index: usize| self.ends[index].next_shift() == Some(at));
        for index in 0..2 {
            let end = &mut self.ends[index];
            if clocks[index] {
                end.shift_by_own_clock(levels[1 - index]);
            } else if clocks[1 - index] {
                end.shift_by_other_clock(at, levels[1 - index]);
            }
            end.run_deferred_instruction(self.rom, at);
        }
    }
}
