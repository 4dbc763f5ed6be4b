//! One end of a cable: the machine's time on the clock that both ends share, and the use of the
//! port by its next instruction. Times are T-cycles before (negative) or after the end of the
//! pair's present frame.

use crate::cpu::Mode;
use crate::interrupts::SERIAL;
use crate::link::look::next_look;
use crate::link::look::{Look, Target};
use crate::link::{NEAR_TCYCLES, NEVER};
use crate::machine::{COLOR, FRAME_MCYCLES, Machine, is_before};
use crate::serial::Serial;

/// T-cycles of a frame of a pair.
pub const FRAME_TCYCLES: u32 = 4 * FRAME_MCYCLES;
/// The first frame of a pair is two lines longer than a frame of a single machine, so that the last
/// picture of a step is complete.
pub const LEAD_TCYCLES: i32 = 2 * 456;

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Port {
    /// No transfer has begun.
    Idle = 0,
    /// A transfer waits for the other end's clock.
    Waiting = 1,
    /// A transfer runs by this port's clock.
    Clocking = 2,
}

/// State of one end of the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CableEnd {
    /// Time at which the pair's present frame ends, in T-cycles of the machine.
    goal_tcycles: u32,
    /// Time at which the port was last opened, if this is recent.
    opened_at: i32,
    /// True if an interrupt came after the next instruction had begun.
    pub(crate) wakes: bool,
    /// Frames of the machine that begin now are drawn.
    draw: bool,
    /// The machine's time.
    pub(crate) time: i32,
    /// The machine's port.
    pub(crate) port: Port,
    /// The time at which the port shifts next by its own clock.
    pub(crate) next_shift: i32,
    /// The next instruction's use of the port.
    look: Look,
    /// Time of the first use in `look`, or the machine's time without a use.
    pub(crate) key: i32,
    /// Time of the last use in `look`.
    last_look: i32,
    /// Time of the shift that the next instruction causes by a write to DIV or SC.
    pub(crate) forced_at: i32,
}

impl CableEnd {
    /// Makes an end whose machine is `ahead` T-cycles beyond the end of the pair's last frame.
    pub fn new(machine: &Machine, ahead: i32) -> CableEnd {
        CableEnd {
            goal_tcycles: cable_tcycles(machine).wrapping_sub(ahead as u32),
            opened_at: -NEVER,
            wakes: false,
            draw: false,
            time: ahead,
            port: Port::Idle,
            next_shift: NEVER,
            look: Look::none(),
            key: ahead,
            last_look: -NEVER,
            forced_at: NEVER,
        }
    }

    /// Starts a frame of the pair.
    pub(crate) fn begin(&mut self, machine: &mut Machine, draw: bool) {
        self.goal_tcycles = self.goal_tcycles.wrapping_add(FRAME_TCYCLES);
        self.opened_at = (self.opened_at - FRAME_TCYCLES as i32).max(-NEVER);
        self.draw = draw;
        machine.deadline = machine.now;
    }

    /// The time of a machine.
    pub(crate) fn time_of_machine(&self, machine: &Machine) -> i32 {
        cable_tcycles(machine).wrapping_sub(self.goal_tcycles) as i32
    }

    /// Converts a time on the machine's clock to the shared clock.
    fn time_of(&self, machine: &Machine, moment: u32) -> i32 {
        let mcycles = moment.wrapping_sub(machine.now) as i32;
        self.time_of_machine(machine) + (mcycles << machine.tcycle_shift())
    }

    /// Updates `time`, `port` and `next_shift` from the machine.
    pub(crate) fn refresh(&mut self, machine: &Machine) {
        self.time = self.time_of_machine(machine);
        self.port = port_of(machine);
        self.next_shift = NEVER;
        if self.port == Port::Clocking {
            let moment = next_shift(&machine.serial, machine.timer.div_base);
            self.next_shift = self.time_of(machine, moment);
        }
        self.key = self.time;
        self.last_look = -NEVER;
        self.forced_at = NEVER;
    }

    /// Time up to which the other end neither sends nor receives a bit, so that this end can run
    /// there at once.
    pub(crate) fn alone_until(&self, other: &CableEnd) -> i32 {
        if self.wakes {
            -NEVER
        } else if self.port == Port::Idle {
            // An idle port neither receives nor sends until its program opens it.
            0
        } else if other.port == Port::Idle {
            other.time.min(0) - NEAR_TCYCLES
        } else {
            other.opened_at.min(0) - NEAR_TCYCLES
        }
    }

    /// Returns true if the end has work left before the frame is over: a shift that lies in its
    /// past, a shift at which the other end's port was closed, or an instruction that comes before
    /// an interrupt.
    pub(crate) fn is_behind(&self, other: &CableEnd) -> bool {
        self.wakes
            || self.next_shift <= self.time
            || other.port != Port::Idle && self.next_shift <= other.opened_at
    }

    /// Finds the next instruction's use of the port, if the instruction begins before a shift.
    pub(crate) fn predict(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &[u8],
        shift: i32,
    ) {
        if self.time >= shift {
            return;
        }
        if machine.frame_done {
            // The machine's next frame begins with a service.
            machine.deadline = machine.now;
        }
        self.look = next_look(machine, rom, cart_ram);
        if !self.look.is_any {
            return;
        }
        let mcycle_shift = machine.tcycle_shift();
        self.key = self.time + ((self.look.first as i32) << mcycle_shift);
        self.last_look = self.time + ((self.look.last as i32) << mcycle_shift);
        if self.port == Port::Clocking && self.look.may_shift(machine) {
            self.forced_at = self.last_look;
        }
    }

    /// Returns true if the machine has reached a time, or its next instruction uses the port at or
    /// after that time.
    pub(crate) fn is_at(&self, at: i32) -> bool {
        self.time >= at || self.last_look >= at
    }

    /// Returns true if the port shifts at a time, by its clock or because of a write.
    pub(crate) fn clocks_at(&self, at: i32) -> bool {
        self.next_shift == at || self.forced_at == at
    }

    /// The level of this end's output line, just before a time that the end has reached.
    pub(crate) fn level(&self, machine: &Machine, at: i32) -> u8 {
        if self.port == Port::Idle || at <= self.opened_at { 1 } else { machine.serial.sb >> 7 }
    }

    /// Shifts a bit in at a time, if the port clocks then or receives the other's clock.
    pub(crate) fn exchange(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        at: i32,
        bit: u8,
        other_clocks: bool,
    ) {
        let clocks = self.clocks_at(at);
        let waits = self.port == Port::Waiting && self.opened_at < at;
        if !(clocks || other_clocks && waits) {
            return;
        }
        if self.forced_at == at || self.key < at && at <= self.last_look {
            self.run_across(machine, rom, cart_ram, bit, clocks);
        } else if clocks {
            let moment = next_shift(&machine.serial, machine.timer.div_base);
            machine.serial.sync(&mut machine.interrupts, moment, machine.timer.div_base);
            // The time may lie in the future; no access to the port comes before it.
            machine.serial.schedule(machine.serial.synced_at, machine.timer.div_base);
            machine.serial.sb = machine.serial.sb & 0xfe | bit;
        } else {
            machine.serial.shift(&mut machine.interrupts, bit);
        }
        if self.time_of_machine(machine) >= at {
            machine.deadline = machine.now;
        } else {
            self.wakes = true;
        }
    }

    /// Executes the instruction into which a shift falls. The instruction causes the shift, or it
    /// uses the port before the shift and, at the earliest in the same M-cycle, after it.
    fn run_across(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        bit: u8,
        clocks: bool,
    ) {
        let bits = machine.serial.bits;
        let target = self.look.target;
        self.run_instruction(machine, rom, cart_ram);
        if clocks {
            if COLOR && target == Target::Dispatch {
                // A cancelled dispatch reads no chip in its last M-cycle.
                machine.serial.sync(&mut machine.interrupts, machine.now, machine.timer.div_base);
            }
            // The machine has already shifted a one in. A value written to SB in the same M-cycle
            // stays.
            if target != Target::Data {
                machine.serial.sb = machine.serial.sb & 0xfe | bit;
            }
            return;
        }
        let ends = bits == 7;
        if target != Target::Data {
            machine.serial.sb = machine.serial.sb << 1 | bit;
        }
        if target != Target::Control {
            machine.serial.bits = (bits + 1) & 7;
            if ends {
                machine.serial.sc &= 0x7f;
            }
        }
        // The Color's dispatch clears a request of its last M-cycle.
        let is_taken =
            target == Target::Requests || target == Target::Dispatch && machine.cpu.pc == 0x58;
        if ends && !is_taken {
            machine.interrupts.request(SERIAL);
        }
    }

    /// Runs up to a time independently of the other end; stops if the program opens an idle port.
    pub(crate) fn run_alone(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        limit: i32,
    ) {
        let was_idle = self.port == Port::Idle;
        let mut goes_on = true;
        while goes_on {
            if machine.frame_done {
                machine.begin_frame(self.draw);
            }
            self.limit_deadline(machine, limit);
            let port = port_of(machine);
            if is_before(machine.now, machine.deadline) {
                machine.run_until_deadline(rom, cart_ram);
            } else {
                machine.service(rom, cart_ram);
            }
            self.note_opening(machine, port);
            let is_open = port_of(machine) != Port::Idle;
            goes_on = self.time_of_machine(machine) < limit && !(was_idle && is_open);
        }
    }

    /// Runs one instruction or service; a waiting CPU waits up to a time.
    pub(crate) fn run_one(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        limit: i32,
    ) {
        if machine.frame_done {
            machine.begin_frame(self.draw);
        }
        if machine.cpu.mode != Mode::Running {
            let frame_end = if self.time < 0 { 0 } else { NEVER };
            self.limit_deadline(machine, limit.min(frame_end).max(self.time + 1));
        }
        self.run_instruction(machine, rom, cart_ram);
    }

    fn run_instruction(&mut self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
        let port = port_of(machine);
        machine.run_instruction(rom, cart_ram);
        self.note_opening(machine, port);
        if self.wakes {
            self.wakes = false;
            machine.deadline = machine.now;
        }
    }

    fn note_opening(&mut self, machine: &Machine, before: Port) {
        if before == Port::Idle && port_of(machine) != Port::Idle {
            self.opened_at = self.time_of(machine, machine.serial.synced_at);
        }
    }

    /// Makes the machine stop at a time, also while it halts. An earlier deadline does not affect
    /// chips that are not due.
    fn limit_deadline(&self, machine: &mut Machine, limit: i32) {
        let now = machine.now;
        if !is_before(now, machine.serial.deadline) {
            // An event that is due now must not move the deadline that is set here.
            machine.serial.sync(&mut machine.interrupts, now, machine.timer.div_base);
            machine.serial.schedule(now, machine.timer.div_base);
        }
        let shift = machine.tcycle_shift();
        let tcycles = (limit - self.time_of_machine(machine)) as u32;
        let moment = now.wrapping_add((tcycles + (1 << shift) - 1) >> shift);
        if is_before(moment, machine.serial.deadline) {
            machine.serial.deadline = moment;
        }
        if is_before(moment, machine.deadline) {
            machine.deadline = moment;
        }
    }
}

/// Brings the chips up to now, for observers.
pub(crate) fn sync_cable_end(machine: &mut Machine) {
    machine.sync_interrupts();
    machine.apu.sync(machine.now, machine.timer.div_base);
    machine.timer.schedule(machine.now);
    machine.serial.schedule(machine.now, machine.timer.div_base);
    machine.deadline = machine.now;
}

/// `now` in T-cycles that all machines count alike.
#[cfg(not(color))]
fn cable_tcycles(machine: &Machine) -> u32 {
    machine.tcycles()
}

/// `now` in T-cycles that all machines count alike. (The PPU's T-cycles jump when the speed
/// changes.)
#[cfg(color)]
fn cable_tcycles(machine: &Machine) -> u32 {
    machine.tcycles().wrapping_sub(machine.speed.gained)
}

fn port_of(machine: &Machine) -> Port {
    match machine.serial.sc & 0x81 {
        0x81 => Port::Clocking,
        0x80 => Port::Waiting,
        _ => Port::Idle,
    }
}

/// The moment of a port's next shift, if nothing is written to it.
fn next_shift(serial: &Serial, div_base: u32) -> u32 {
    let period = serial.edge_mcycles();
    let passed = serial.synced_at.wrapping_sub(div_base) / period;
    let edges = 2 - serial.clock_high as u32;
    div_base.wrapping_add((passed + edges).wrapping_mul(period))
}
