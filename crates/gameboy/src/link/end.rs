//! One end of a cable: a machine, and its time on the clock that both ends share. Times are
//! T-cycles before (negative) or after the end of the pair's present frame.

use crate::COLOR;
use crate::cpu::Mode;
use crate::machine::{FRAME_MCYCLES, Machine, is_before};
use crate::serial::Serial;
use crate::view;

/// T-cycles of a frame of a pair.
pub const FRAME_TCYCLES: u32 = 4 * FRAME_MCYCLES;
/// A pair's frame ends two lines later than a single machine's whose LCD is always on, so that the
/// last picture is complete.
pub const LEAD_TCYCLES: i32 = 2 * 456;

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    /// No transfer has begun.
    Idle,
    /// A transfer waits for the other's clock.
    Waiting,
    /// A transfer runs by the own clock.
    Clocking,
}

/// Number of times that an instruction may read or write the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PortReads {
    Never,
    Once,
    Twice,
}

/// A shift that a program caused by a write, and the bit that it shifted out.
#[derive(Clone, Copy, Debug)]
struct Forced {
    at: i32,
    bit: u8,
}

/// A machine at one end.
pub struct CableEnd<'m> {
    machine: &'m mut Machine,
    cart_ram: &'m mut [u8],
    /// Time at which the pair's present frame ends, in T-cycles of the machine.
    goal_tcycles: u32,
    /// Time at which the port was opened, if that was lately.
    opened_at: i32,
    /// Time from which the port waits for the other's clock.
    waits_since: i32,
    /// Time at which the program used the port last, and what the other end heard before.
    last_look: (i32, u8),
    /// Time of the shift that must be done before the next instruction runs, because that
    /// instruction reads the port after it.
    early_for: Option<i32>,
    /// A shift that the machine has done and the other end has not.
    forced: Option<Forced>,
    /// Frames of the machine that begin now are drawn.
    draw: bool,
}

impl<'m> CableEnd<'m> {
    /// An end whose machine is `ahead` T-cycles beyond the end of the pair's last frame.
    pub fn new(machine: &'m mut Machine, cart_ram: &'m mut [u8], ahead: i32) -> Self {
        let goal_tcycles = machine.cable_tcycles().wrapping_sub(ahead.cast_unsigned());
        let long_ago = i32::MIN / 2;
        Self {
            machine,
            cart_ram,
            goal_tcycles,
            opened_at: long_ago,
            waits_since: long_ago,
            last_look: (long_ago, 1),
            early_for: None,
            forced: None,
            draw: false,
        }
    }

    /// Holds exactly these buttons from now on.
    pub fn set_buttons(&mut self, pressed: u8) {
        self.machine.set_buttons(pressed);
    }

    /// T-cycles by which the machine is beyond the end of the pair's last frame.
    pub fn ahead(&self) -> i32 {
        self.time()
    }

    /// Starts a frame of the pair.
    pub(super) fn begin(&mut self, draw: bool) {
        self.goal_tcycles = self.goal_tcycles.wrapping_add(FRAME_TCYCLES);
        let times = [&mut self.opened_at, &mut self.waits_since, &mut self.last_look.0];
        for time in times {
            *time = time.saturating_sub(FRAME_TCYCLES.cast_signed());
        }
        self.early_for = None;
        self.draw = draw;
        self.machine.deadline = self.machine.now;
    }

    /// The machine's time.
    pub(super) fn time(&self) -> i32 {
        self.machine.cable_tcycles().wrapping_sub(self.goal_tcycles).cast_signed()
    }

    /// The time of a moment on the machine's own clock.
    fn time_of(&self, moment: u32) -> i32 {
        let mcycles = moment.wrapping_sub(self.machine.now).cast_signed();
        self.time() + (mcycles << self.machine.tcycle_shift())
    }

    pub(super) fn opened_at(&self) -> i32 {
        self.opened_at
    }

    pub(super) fn port(&self) -> Port {
        match self.machine.serial.sc & 0x81 {
            0x81 => Port::Clocking,
            0x80 => Port::Waiting,
            _ => Port::Idle,
        }
    }

    /// Returns true if no transfer has begun, and no shift is left for the other end to do.
    pub(super) fn is_idle(&self) -> bool {
        self.port() == Port::Idle && self.forced.is_none()
    }

    /// Returns true if the other end has yet to do a shift that a write here has caused.
    pub(super) fn has_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Returns the time at which the port shifts next by its own clock, or shifted by a write.
    pub(super) fn next_shift(&self) -> Option<i32> {
        if let Some(forced) = self.forced {
            return Some(forced.at);
        }
        let moment = next_shift(&self.machine.serial, self.machine.timer.div_base);
        (self.port() == Port::Clocking).then(|| self.time_of(moment))
    }

    /// Returns true if nothing that the machine does can come before a moment any more.
    pub(super) fn is_at(&self, at: i32) -> bool {
        self.time() >= at || self.early_for.is_some_and(|shift| at <= shift)
    }

    /// The level of the line out of this end, at a moment where it is.
    pub(super) fn level(&self, at: i32) -> u8 {
        if let Some(forced) = self.forced {
            return forced.bit;
        }
        match self.last_look {
            // A shift comes before an access to the port in the same M-cycle.
            (looked_at, before) if looked_at >= at => before,
            _ => self.level_now(),
        }
    }

    fn level_now(&self) -> u8 {
        if self.port() == Port::Idle { 1 } else { self.machine.serial.sb >> 7 }
    }

    /// Notes what the last instructions did to the port.
    fn note_port(&mut self, port: Port, level: u8, synced_at: u32) {
        let looked_at = self.time_of(self.machine.serial.synced_at);
        if self.machine.serial.synced_at != synced_at {
            self.last_look = (looked_at, level);
        }
        let now = self.port();
        if port == Port::Idle && now != Port::Idle {
            self.opened_at = looked_at;
        }
        if port != Port::Waiting && now == Port::Waiting {
            self.waits_since = looked_at;
        }
    }

    /// Runs to a time.
    pub(super) fn run_to(&mut self, rom: &[u8], limit: i32) {
        while self.time() < limit {
            self.run_piece(rom, limit);
        }
    }

    /// Runs to a time, or until the port is something else than before.
    pub(super) fn run_until_change(&mut self, rom: &[u8], limit: i32) {
        let port = self.port();
        while self.time() < limit && self.port() == port {
            self.run_piece(rom, limit);
        }
    }

    /// Runs to the end of the frame, or until the program opens the port.
    pub(super) fn run_until_open(&mut self, rom: &[u8]) {
        self.run_until_change(rom, 0);
    }

    /// Does what `run_until_change` does, but ends after a shift that the program caused. Runs
    /// single instructions, to know what is shifted out then.
    pub(super) fn run_watched(&mut self, rom: &[u8], limit: i32) {
        let port = self.port();
        let next = self.next_shift();
        while self.time() < limit && self.port() == port && self.next_shift() == next {
            if self.machine.frame_done {
                self.machine.begin_frame(self.draw);
            }
            self.limit_deadline(limit);
            let before = (self.machine.serial, self.machine.timer.div_base);
            self.run_instruction(rom);
            self.forced = self.forced_shift(before);
        }
    }

    /// Runs instruction by instruction up to a time, at most to a shift. If an instruction looks at
    /// the port at the shift or after it, the machine stays before that instruction. Ends early
    /// where the port or its clock changes, or after a shift that the program caused.
    pub(super) fn run_to_shift(&mut self, rom: &[u8], spare: &mut Machine, shift: i32, limit: i32) {
        let port = self.port();
        let next = self.next_shift();
        while self.time() < limit && self.port() == port && self.next_shift() == next {
            if self.machine.frame_done {
                self.machine.begin_frame(self.draw);
            }
            self.limit_deadline(limit);
            let looks = self.port_reads(rom);
            if looks != PortReads::Never {
                *spare = *self.machine;
            }
            let before = (self.machine.serial, self.machine.timer.div_base);
            let noted = (self.opened_at, self.waits_since, self.last_look);
            self.run_instruction(rom);
            let looked_at = self.machine.serial.synced_at;
            let has_looked = looks != PortReads::Never && looked_at != before.0.synced_at;
            let forced = self.forced_shift(before);
            let is_same = forced.is_some_and(|forced| forced.at == shift);
            if has_looked && self.time_of(looked_at) >= shift && !is_same {
                if looks == PortReads::Twice && self.time_of(looked_at) == shift {
                    // Between two looks of one instruction the shift is done by the machine itself.
                    let forced = Forced { at: shift, bit: before.0.sb >> 7 };
                    self.forced = (port == Port::Clocking).then_some(forced);
                    return;
                }
                *self.machine = *spare;
                (self.opened_at, self.waits_since, self.last_look) = noted;
                self.early_for = Some(shift);
                return;
            }
            self.forced = forced;
        }
    }

    /// Shifts by the own clock, at the next moment at which it does.
    pub(super) fn shift_by_own_clock(&mut self, bit: u8) {
        if self.forced.take().is_some() {
            self.replace_last_bit(bit);
            return;
        }
        let div_base = self.machine.timer.div_base;
        let Machine { serial, interrupts, .. } = &mut *self.machine;
        serial.sync(interrupts, next_shift(serial, div_base), div_base);
        // The moment may lie ahead, and nothing must look at the port before it.
        serial.schedule(serial.synced_at, div_base);
        self.replace_last_bit(bit);
    }

    /// Shifts by the other's clock, if the port listens.
    pub(super) fn shift_by_other_clock(&mut self, at: i32, bit: u8) {
        let waits = self.port() == Port::Waiting && self.waits_since < at;
        if waits && self.forced.is_none() {
            let Machine { serial, interrupts, .. } = &mut *self.machine;
            serial.shift(interrupts, bit);
        }
    }

    /// Puts another bit in the place of the one that was shifted in last.
    fn replace_last_bit(&mut self, bit: u8) {
        let serial = &mut self.machine.serial;
        serial.sb = serial.sb & !1 | bit;
    }

    /// Executes the instruction that a shift had to be done before, and lets an interrupt through.
    pub(super) fn run_deferred_instruction(&mut self, rom: &[u8], at: i32) {
        if self.early_for.is_some_and(|shift| at < shift) {
            return;
        }
        if self.early_for.is_some() {
            let before = (self.machine.serial, self.machine.timer.div_base);
            self.run_instruction(rom);
            self.forced = self.forced.or_else(|| self.forced_shift(before));
        }
        self.machine.deadline = self.machine.now;
    }

    /// Brings the chips up to now, for observers.
    pub(super) fn sync_for_observers(&mut self) {
        let machine = &mut *self.machine;
        machine.sync_interrupts();
        machine.apu.sync(machine.now, machine.timer.div_base);
        machine.serial.schedule(machine.now, machine.timer.div_base);
        machine.deadline = machine.now;
    }

    /// Runs up to a time, to the next event of a chip, or to where the program changes a deadline.
    fn run_piece(&mut self, rom: &[u8], limit: i32) {
        if self.machine.frame_done {
            self.machine.begin_frame(self.draw);
        }
        self.limit_deadline(limit);
        self.early_for = None;
        let (port, level, synced_at) =
            (self.port(), self.level_now(), self.machine.serial.synced_at);
        if is_before(self.machine.now, self.machine.deadline) {
            self.machine.run_until_deadline(rom, self.cart_ram);
        } else {
            self.machine.service(rom, self.cart_ram);
        }
        self.note_port(port, level, synced_at);
    }

    fn run_instruction(&mut self, rom: &[u8]) {
        self.early_for = None;
        let (port, level, synced_at) =
            (self.port(), self.level_now(), self.machine.serial.synced_at);
        self.machine.run_instruction(rom, self.cart_ram);
        self.note_port(port, level, synced_at);
    }

    /// Lets the machine stop at a time, also where it halts: to a chip with nothing to do an
    /// earlier deadline means nothing.
    fn limit_deadline(&mut self, limit: i32) {
        let Machine { serial, interrupts, now, timer, .. } = &mut *self.machine;
        if !is_before(*now, serial.deadline) {
            // An event that is due now must not put off the deadline that is set here.
            serial.sync(interrupts, *now, timer.div_base);
            serial.schedule(*now, timer.div_base);
        }
        let shift = self.machine.tcycle_shift();
        let mcycles = ((limit - self.time()).cast_unsigned() + (1 << shift) - 1) >> shift;
        let moment = self.machine.now.wrapping_add(mcycles);
        if is_before(moment, self.machine.serial.deadline) {
            self.machine.serial.deadline = moment;
        }
        if is_before(moment, self.machine.deadline) {
            self.machine.deadline = moment;
        }
    }

    /// The shift that a write to DIV or SC has just caused, in the last M-cycle in which the port
    /// was looked at: the bit clock, which had been high up to there, is low.
    fn forced_shift(&self, (before, div_base): (Serial, u32)) -> Option<Forced> {
        let serial = &self.machine.serial;
        if before.sc & 0x81 != 0x81 || serial.synced_at == before.synced_at {
            return None;
        }
        let was_high = is_high_at(&before, serial.synced_at, div_base);
        let at = self.time_of(serial.synced_at);
        (was_high && !serial.clock_high).then_some(Forced { at, bit: before.sb >> 7 })
    }

    /// Returns how often the next instruction or service may read or write the port, or what it
    /// changes: IF. Returns too many rather than too few.
    fn port_reads(&self, rom: &[u8]) -> PortReads {
        let cpu = &self.machine.cpu;
        let stack =
            if (0xfefe..0xff12).contains(&cpu.sp) { PortReads::Twice } else { PortReads::Never };
        if !is_before(self.machine.now, self.machine.deadline) {
            // An interrupt may be dispatched.
            if cpu.mode != Mode::Running {
                return PortReads::Never;
            }
            // The Color looks again where it takes a request back, an M-cycle later.
            return if COLOR { PortReads::Twice } else { stack.max(PortReads::Once) };
        }
        if self.machine.dma.active || cpu.halt_bug {
            return PortReads::Once;
        }
        let next = |by: u16| self.program(rom, cpu.pc.wrapping_add(by));
        let (opcode, low) = (next(0), next(1));
        let address = match opcode {
            0xe0 | 0xf0 => 0xff00 | u16::from(low),
            0xe2 | 0xf2 => 0xff00 | u16::from(cpu.c),
            0x08 | 0xea | 0xfa => u16::from_le_bytes([low, next(2)]),
            0x02 | 0x0a => cpu.bc(),
            0x12 | 0x1a => cpu.de(),
            0x10 | 0x76 => return PortReads::Once,
            0x22 | 0x2a | 0x32 | 0x3a | 0x34..=0x36 | 0x70..=0x77 | 0xcb => cpu.hl(),
            0x40..=0xbf if opcode & 7 == 6 => cpu.hl(),
            0xc0..=0xff => return stack,
            _ => return PortReads::Never,
        };
        match (address, opcode, low) {
            (0xfeff..=0xff0f, 0xcb, 0x40..=0x7f) => PortReads::Once,
            (0xfeff..=0xff0f, 0x08 | 0x34 | 0x35 | 0xcb, _) => PortReads::Twice,
            (0xfeff..=0xff0f, ..) => PortReads::Once,
            _ => PortReads::Never,
        }
    }

    /// A byte of the program.
    fn program(&self, rom: &[u8], address: u16) -> u8 {
        if address < 0xff80 {
            return view::read(self.machine, rom, self.cart_ram, address);
        }
        self.machine.hram[usize::from(address & 0x7f)]
    }
}

impl Machine {
    /// `now` in T-cycles that all machines count alike.
    #[cfg(not(color))]
    fn cable_tcycles(&self) -> u32 {
        self.tcycles()
    }

    /// `now` in T-cycles that all machines count alike: those of the picture jump where the speed
    /// changes.
    #[cfg(color)]
    fn cable_tcycles(&self) -> u32 {
        self.tcycles().wrapping_sub(self.speed.gained)
    }
}

/// The moment of a port's next shift, if nothing is written to it.
fn next_shift(serial: &Serial, div_base: u32) -> u32 {
    let period = serial.edge_mcycles();
    let passed = serial.synced_at.wrapping_sub(div_base) / period;
    let edges = 2 - u32::from(serial.clock_high);
    div_base.wrapping_add((passed + edges).wrapping_mul(period))
}

/// Returns true if the bit clock is high at a later moment.
fn is_high_at(serial: &Serial, moment: u32, div_base: u32) -> bool {
    let period = serial.edge_mcycles();
    let passed = serial.synced_at.wrapping_sub(div_base) / period;
    let edges = (moment.wrapping_sub(div_base) / period).wrapping_sub(passed);
    serial.clock_high != (edges & 1 != 0)
}
