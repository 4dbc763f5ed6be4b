//! Two machines and the cable between them. On every device `pair::run_pair_frames` runs the frames
//! of a pair's step.
//!
//! The times at which a clocking port shifts are known as soon as its transfer begins. Both ends
//! must reach such a time before the shift, because each end shifts in the top bit of the other's
//! SB. `look.rs` finds the M-cycle in which the next instruction reads or writes the port; the
//! instruction waits until the other end has reached that time. All other instructions run freely,
//! so idle ports cost nothing.
//!
//! | port | hears the other | is heard |
//! |---|---|---|
//! | no transfer begun | never | as ones |
//! | waiting for the other's clock | at the other's shifts | at the other's shifts |
//! | clocking | at its own shifts | at the other's shifts, if it clocks too |
//!
//! A port without a transfer ignores the other's clock (gbdev/pandocs issue 398).
//!
//! A frame of a pair has 70,224 T-cycles, whatever the LCDs do, so both machines reach its end at
//! the same time. Each machine stops on the first instruction boundary after that time, or a few
//! instructions later if the other's last instruction depends on them. The frames of each machine,
//! which its LCD ends, are independent of the pair's frames.

pub(crate) mod end;
pub(crate) mod look;

use crate::link::end::sync_cable_end;
use crate::machine::Machine;
pub use end::{CableEnd, FRAME_TCYCLES, LEAD_TCYCLES};

/// Longer than any instruction and any dispatch of an interrupt: 32 T-cycles are eight M-cycles.
const NEAR_TCYCLES: i32 = 32;
/// A time that never comes.
const NEVER: i32 = 0x3fff_ffff;

/// The cable between a pair of machines that run the same ROM.
///
/// ```
/// use gbxcule_gameboy::{Cartridge, Machine};
/// use gbxcule_link::{LEAD_TCYCLES, Link};
///
/// let rom = gbxcule_assembler::by_name("SERIAL_HELLO").expect("a built-in ROM").bytes();
/// let cartridge = Cartridge::from_rom(rom).expect("a good header");
/// let [mut one, mut other] = [Machine::power_on(&cartridge); 2];
/// let mut link = Link::new(&one, &other, [-LEAD_TCYCLES; 2]);
/// link.run_frame(&mut one, &mut other, rom, &mut [], &mut []);
/// link.sync_for_observers(&mut one, &mut other);
/// let [ahead, _] = link.ahead(&one, &other);
/// assert!(ahead >= 0); // at most some instructions
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Link {
    /// State of each end.
    pub ends: [CableEnd; 2],
    /// True if frames of the machines that begin now are drawn.
    pub draw: bool,
}

impl Link {
    /// Connects two machines that are `ahead` T-cycles beyond the end of the pair's last frame.
    pub fn new(one: &Machine, other: &Machine, ahead: [i32; 2]) -> Link {
        Link { ends: [CableEnd::new(one, ahead[0]), CableEnd::new(other, ahead[1])], draw: false }
    }

    /// T-cycles by which each machine is beyond the end of the pair's last frame.
    pub fn ahead(&self, one: &Machine, other: &Machine) -> [i32; 2] {
        [self.ends[0].time_of_machine(one), self.ends[1].time_of_machine(other)]
    }

    /// Runs both machines to the end of a frame.
    pub fn run_frame(
        &mut self,
        one: &mut Machine,
        other: &mut Machine,
        rom: &[u8],
        one_ram: &mut [u8],
        other_ram: &mut [u8],
    ) {
        self.ends[0].begin(one, self.draw);
        self.ends[1].begin(other, self.draw);
        let mut is_over = false;
        while !is_over {
            self.ends[0].refresh(one);
            self.ends[1].refresh(other);
            let one_alone = self.ends[0].alone_until(&self.ends[1]);
            let other_alone = self.ends[1].alone_until(&self.ends[0]);
            if self.ends[0].time < one_alone {
                self.ends[0].run_alone(one, rom, one_ram, one_alone);
            } else if self.ends[1].time < other_alone {
                self.ends[1].run_alone(other, rom, other_ram, other_alone);
            } else if self.is_over() {
                is_over = true;
            } else {
                self.advance(one, other, rom, one_ram, other_ram);
            }
        }
    }

    /// Brings the chips up to now for observers. Must be called if no frame follows at once.
    pub fn sync_for_observers(&self, one: &mut Machine, other: &mut Machine) {
        sync_cable_end(one);
        sync_cable_end(other);
    }

    /// Returns true if both machines have reached the end of the frame, and all shifts and
    /// instructions before their times are done.
    fn is_over(&self) -> bool {
        self.ends[0].time >= 0
            && self.ends[1].time >= 0
            && !self.ends[0].is_behind(&self.ends[1])
            && !self.ends[1].is_behind(&self.ends[0])
    }

    /// Runs one instruction of the pair, or executes the next shift.
    fn advance(
        &mut self,
        one: &mut Machine,
        other: &mut Machine,
        rom: &[u8],
        one_ram: &mut [u8],
        other_ram: &mut [u8],
    ) {
        let next_shift = self.ends[0].next_shift.min(self.ends[1].next_shift);
        self.ends[0].predict(one, rom, one_ram, next_shift);
        self.ends[1].predict(other, rom, other_ram, next_shift);
        let shift = next_shift.min(self.ends[0].forced_at).min(self.ends[1].forced_at);
        let (is_one_there, is_other_there) = (self.ends[0].is_at(shift), self.ends[1].is_at(shift));
        if is_one_there && is_other_there {
            self.exchange(one, other, rom, one_ram, other_ram, shift);
        } else if is_other_there || !is_one_there && self.is_one_first() {
            let limit = shift.min(self.ends[1].key + 1);
            self.ends[0].run_one(one, rom, one_ram, limit);
        } else {
            let limit = shift.min(self.ends[0].key + 1);
            self.ends[1].run_one(other, rom, other_ram, limit);
        }
    }

    /// Returns true if the next instruction of the first machine comes before the other's. The
    /// result must not depend on which machine is called the first: at the end of a frame the
    /// machine that is behind runs first.
    fn is_one_first(&self) -> bool {
        if self.ends[0].key != self.ends[1].key {
            return self.ends[0].key < self.ends[1].key;
        }
        if self.ends[0].time != self.ends[1].time {
            return self.ends[0].time < self.ends[1].time;
        }
        self.ends[0].wakes || !self.ends[1].wakes
    }

    /// Shifts a bit in each direction, at a time that both ends have reached.
    fn exchange(
        &mut self,
        one: &mut Machine,
        other: &mut Machine,
        rom: &[u8],
        one_ram: &mut [u8],
        other_ram: &mut [u8],
        at: i32,
    ) {
        let one_level = self.ends[0].level(one, at);
        let other_level = self.ends[1].level(other, at);
        let one_clocks = self.ends[0].clocks_at(at);
        let other_clocks = self.ends[1].clocks_at(at);
        self.ends[0].exchange(one, rom, one_ram, at, other_level, other_clocks);
        self.ends[1].exchange(other, rom, other_ram, at, one_level, one_clocks);
    }
}
