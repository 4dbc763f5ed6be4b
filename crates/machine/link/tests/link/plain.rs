//! Two machines with a cable, each run separately. Each end has a wire: a record of everything that
//! it sends, with times, which the other end reads. Both repeat an interval of time until neither
//! wire changes any more. A cause always comes before its effect on a wire, so in the end both are
//! right.
//!
//! An instruction near a shift is tried on a copy first, to see when it uses the port.

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::ppu::sync_ppu_now;
use gbxcule_gameboy::serial::Serial;
use gbxcule_gameboy::{COLOR, Machine};
use gbxcule_link::{FRAME_TCYCLES, LEAD_TCYCLES};

const SERIAL: u8 = 8;
/// Length of an interval in T-cycles, and of the time that is run after it, because instructions
/// may begin in it and end later.
const STRETCH: i64 = 4096;
const BEYOND: i64 = 128;
/// Longer than an instruction.
const NEAR: i64 = 64;

/// Everything that one end of the cable sends.
#[derive(Clone, Default, PartialEq)]
struct Wire {
    /// Levels of the line, and since when.
    levels: Vec<(i64, u8)>,
    /// Falling edges of the clock.
    clocks: Vec<i64>,
}

impl Wire {
    /// The level just before a moment: high, if nothing was ever sent.
    fn before(&self, at: i64) -> u8 {
        let count = self.levels.partition_point(|(since, _)| *since < at);
        self.levels[..count].last().map_or(1, |(_, level)| *level)
    }

    /// The first edge of the clock after a moment.
    fn next_clock(&self, after: i64) -> Option<i64> {
        self.clocks.get(self.clocks.partition_point(|clock| *clock <= after)).copied()
    }

    /// The part that was sent before a moment.
    fn until(&self, end: i64) -> Self {
        let levels = self.levels.iter().copied().filter(|(at, _)| *at < end).collect();
        Self { levels, clocks: self.clocks.iter().copied().filter(|at| *at < end).collect() }
    }

    /// Removes everything long before a moment except the level then.
    fn forget_before(&mut self, at: i64) {
        let old = at - 8 * STRETCH;
        self.clocks.retain(|clock| *clock > old);
        let last = self.levels.iter().rposition(|(since, _)| *since < old).unwrap_or(0);
        self.levels.drain(..last);
    }
}

/// Uses of the port by an instruction: the time of the first and of the last, and the kind of the
/// last.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Uses {
    first: i64,
    last: i64,
    target: Target,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Target {
    WritesData,
    WritesControl,
    WritesRequests,
    Dispatches,
    Other,
}

#[derive(Clone)]
struct Side {
    machine: Box<Machine>,
    /// T-cycles since the cable was put in.
    time: i64,
    /// All edges of the other's clock up to this time were received.
    heard_until: i64,
    /// An interrupt came after the next instruction had begun.
    wakes: bool,
    sent: Wire,
}

pub(crate) struct PlainPair<'r> {
    rom: &'r [u8],
    sides: [Side; 2],
    /// Time up to which both machines are right.
    reached: i64,
}

impl<'r> PlainPair<'r> {
    pub(crate) fn new(rom: &'r [u8], machines: [Machine; 2]) -> Self {
        let side = |machine: Machine| Side {
            machine: Box::new(machine),
            time: 0,
            heard_until: -1,
            wakes: false,
            sent: Wire::default(),
        };
        Self { rom, sides: machines.map(side), reached: 0 }
    }

    /// The end of a frame, in T-cycles since the cable was put in.
    pub(crate) fn frame_end(frame: u32) -> i64 {
        i64::from(LEAD_TCYCLES) + i64::from(frame) * i64::from(FRAME_TCYCLES)
    }

    /// Runs up to the instruction boundaries at these times; the pair begins a frame there.
    pub(crate) fn run_frame(&mut self, ends: [i64; 2]) {
        for side in &mut self.sides {
            side.machine.deadline = side.machine.now;
        }
        while self.reached < ends[0].min(ends[1]) {
            let end = (self.reached + STRETCH).min(ends[0].min(ends[1]));
            self.run_stretch([end; 2]);
            self.reached = end;
        }
        self.run_stretch(ends);
        for (side, end) in self.sides.iter().zip(ends) {
            assert_eq!(side.time, end, "an instruction ends there");
        }
    }

    /// Runs each side to the first instruction boundary at its time.
    fn run_stretch(&mut self, ends: [i64; 2]) {
        let horizon = ends[0].max(ends[1]) + BEYOND;
        let mut sent = self.sides.each_ref().map(|side| side.sent.clone());
        loop {
            let mut reached = self.sides.clone();
            let mut found = sent.clone();
            for index in 0..2 {
                let side = &mut reached[index];
                side.run(self.rom, &sent[1 - index], ends[index]);
                let mut further = side.clone();
                further.run(self.rom, &sent[1 - index], horizon);
                found[index] = further.sent.until(horizon);
            }
            if found == sent {
                for side in &mut reached {
                    side.sent.forget_before(self.reached);
                }
                self.sides = reached;
                return;
            }
            sent = found;
        }
    }

    /// The machines, every chip brought up to now.
    pub(crate) fn sync_for_observers(mut self) -> [Machine; 2] {
        // Shifts during the last instructions, or at their end.
        loop {
            let sent = self.sides.each_ref().map(|side| side.sent.clone());
            let events = [0, 1].map(|index: usize| {
                let side = &self.sides[index];
                let event = side.next_event(&sent[1 - index]);
                if event <= side.time { event } else { i64::MAX }
            });
            let at = events[0].min(events[1]);
            if at == i64::MAX {
                break;
            }
            for (index, side) in self.sides.iter_mut().enumerate() {
                if events[index] == at {
                    side.pass(at, &sent[1 - index]);
                }
            }
        }
        self.sides.map(|side| {
            let mut machine = *side.machine;
            let (now, div_base) = (machine.now, machine.timer.div_base);
            machine.timer.sync(&mut machine.interrupts, now);
            machine.serial.sync(&mut machine.interrupts, now, div_base);
            sync_ppu_now(&mut machine);
            machine.apu.sync(machine.now, machine.timer.div_base);
            machine.timer.schedule(machine.now);
            machine.serial.schedule(machine.now, machine.timer.div_base);
            machine.deadline = machine.now;
            machine
        })
    }
}

impl Side {
    fn run(&mut self, rom: &[u8], heard: &Wire, end: i64) {
        while self.time < end {
            self.run_instruction(rom, heard);
        }
    }

    /// The next shift by the own clock, if nothing is written.
    fn own_shift(&self) -> Option<i64> {
        let Machine { serial, timer, .. } = &*self.machine;
        let passed = serial.synced_at.wrapping_sub(timer.div_base) / period(serial);
        let edges = passed + 2 - u32::from(serial.clock_high);
        let moment = timer.div_base.wrapping_add(edges * period(serial));
        (serial.sc & 0x81 == 0x81).then(|| self.time_of(moment))
    }

    /// Returns true if a port that clocks takes no part in a shift, which is the other's.
    fn is_deaf_to(&self, event: i64) -> bool {
        self.own_shift().is_some_and(|own| own != event)
    }

    fn next_event(&self, heard: &Wire) -> i64 {
        let events = [self.own_shift(), heard.next_clock(self.heard_until)];
        events.into_iter().flatten().min().unwrap_or(i64::MAX)
    }

    fn run_instruction(&mut self, rom: &[u8], heard: &Wire) {
        let mut event = self.next_event(heard);
        while event <= self.time {
            self.pass(event, heard);
            self.machine.deadline = self.machine.now;
            event = self.next_event(heard);
        }
        if event - self.time > NEAR || !self.may_use_port(rom) {
            self.execute(rom, heard);
            return;
        }
        let mut tried = self.clone();
        match tried.execute(rom, heard) {
            Some(uses) if uses.first >= event => {
                self.pass(event, heard);
                self.wakes = true;
            }
            Some(uses) if uses.last >= event && self.is_deaf_to(event) => self.heard_until = event,
            Some(uses) if uses.last >= event => self.pass_inside(tried, event, uses, heard),
            _ => *self = tried,
        }
    }

    /// Does the shifts of a moment.
    fn pass(&mut self, at: i64, heard: &Wire) {
        let bit = heard.before(at);
        if self.own_shift() == Some(at) {
            let moment = self.moment_of(at);
            let Machine { serial, interrupts, timer, .. } = &mut *self.machine;
            serial.sync(interrupts, moment, timer.div_base);
            serial.sb = serial.sb & !1 | bit;
            serial.schedule(moment, timer.div_base);
            self.sent.clocks.push(at);
        } else {
            let Machine { serial, interrupts, .. } = &mut *self.machine;
            if serial.sc & 0x81 == 0x80 {
                serial.sb = serial.sb << 1 | bit;
                serial.bits = (serial.bits + 1) % 8;
                if serial.bits == 0 {
                    serial.sc &= 0x7f;
                    interrupts.requested |= SERIAL;
                }
            }
        }
        self.heard_until = self.heard_until.max(at);
        self.note_level(at);
    }

    /// Does a shift that comes between two uses of the port by one instruction, or in the M-cycle
    /// of the second use, before it.
    fn pass_inside(&mut self, tried: Self, at: i64, uses: Uses, heard: &Wire) {
        let before = self.machine.serial;
        let is_own = self.own_shift() == Some(at);
        let bit = heard.before(at);
        *self = tried;
        self.heard_until = self.heard_until.max(at);
        let Machine { serial, interrupts, cpu, .. } = &mut *self.machine;
        if is_own {
            if uses.target != Target::WritesData {
                serial.sb = serial.sb & !1 | bit;
            }
            self.sent.clocks.push(at);
        } else if before.sc & 0x81 == 0x80 {
            if uses.target != Target::WritesData {
                serial.sb = before.sb << 1 | bit;
            }
            if uses.target != Target::WritesControl {
                serial.bits = (before.bits + 1) % 8;
                serial.sc &= if before.bits == 7 { 0x7f } else { 0xff };
            }
            let is_taken = match uses.target {
                Target::WritesRequests => true,
                Target::Dispatches => cpu.pc == 0x58,
                _ => false,
            };
            if before.bits == 7 && !is_taken {
                interrupts.requested |= SERIAL;
            }
        }
        self.machine.deadline = self.machine.now;
        self.sent.levels.retain(|(since, _)| *since < at);
        self.note_level(at);
    }

    fn note_level(&mut self, at: i64) {
        let Serial { sc, sb, .. } = self.machine.serial;
        let level = if sc & 0x80 != 0 { sb >> 7 } else { 1 };
        if self.sent.levels.last().map_or(1, |(_, level)| *level) != level {
            self.sent.levels.push((at, level));
        }
    }

    /// Returns false if the CPU halts, or no register and no byte of the next instruction can lead
    /// to the port. Then the instruction need not be tried on a copy of the machine.
    fn may_use_port(&self, rom: &[u8]) -> bool {
        let (machine, cpu) = (&self.machine, &self.machine.cpu);
        if machine.deadline.wrapping_sub(machine.now).cast_signed() <= 0 {
            return cpu.mode != Mode::Halted;
        }
        let pairs = [[cpu.b, cpu.c], [cpu.d, cpu.e], [cpu.h, cpu.l]].map(u16::from_be_bytes);
        let stack = [cpu.sp.wrapping_sub(2), cpu.sp];
        let mut places = pairs.into_iter().chain(stack).chain([cpu.pc]);
        let opcode = machine.peek(rom, &[], cpu.pc);
        let opcodes = [0x08, 0x10, 0x76, 0xe0, 0xe2, 0xea, 0xf0, 0xf2, 0xfa];
        opcodes.contains(&opcode) || places.any(|place| place >= 0xfe00)
    }

    /// Executes an instruction or a service; gives its uses of the port.
    fn execute(&mut self, rom: &[u8], heard: &Wire) -> Option<Uses> {
        if self.machine.frame_done {
            self.machine.begin_frame(false);
        }
        let (before, div_base) = (self.machine.serial, self.machine.timer.div_base);
        let kind = self.kind(rom);
        let machine = &mut self.machine;
        let began = time(machine);
        let is_service = machine.deadline.wrapping_sub(machine.now).cast_signed() <= 0;
        let stack = machine.cpu.sp;
        // A halted machine runs at most one M-cycle.
        machine.serial.deadline = machine.now.wrapping_add(1);
        machine.run_instruction(rom, &mut []);
        let dispatches = is_service && machine.cpu.sp != stack;
        self.time += i64::from(time(machine).wrapping_sub(began).cast_signed());
        if std::mem::take(&mut self.wakes) {
            self.machine.deadline = self.machine.now;
        }
        let after = self.machine.serial;
        let last = self.time_of(after.synced_at);
        if after.synced_at == before.synced_at {
            // The use may come in the M-cycle of a shift that was done before.
            self.note_level(last);
            return None;
        }
        let was_high = is_high(&before, after.synced_at, div_base);
        if before.sc & 0x81 == 0x81 && was_high && !after.clock_high {
            // The shift is caused by a write to DIV or SC, and comes at once.
            self.machine.serial.sb = after.sb & !1 | heard.before(last);
            self.sent.clocks.push(last);
        }
        self.note_level(last);
        let mcycle = tcycles_of(&self.machine);
        Some(match kind {
            _ if dispatches => {
                let is_cancelled = self.machine.cpu.pc == 0;
                let first = if COLOR && !is_cancelled { last - mcycle } else { last };
                Uses { first, last, target: Target::Dispatches }
            }
            Some(target) if !is_service => Uses { first: last - mcycle, last, target },
            _ => Uses { first: last, last, target: Target::Other },
        })
    }

    /// The register of the port that the next instruction reads and then writes, if there is one.
    fn kind(&self, rom: &[u8]) -> Option<Target> {
        let (machine, cpu) = (&self.machine, &self.machine.cpu);
        let byte = |by: u16| machine.peek(rom, &[], cpu.pc.wrapping_add(by));
        let hl = u16::from_be_bytes([cpu.h, cpu.l]);
        if !(0xff01..=0xff0f).contains(&hl) {
            return None;
        }
        let writes = match byte(0) {
            0x34 | 0x35 => true,
            0xcb => byte(1) & 7 == 6 && !(0x40..0x80).contains(&byte(1)),
            _ => false,
        };
        writes.then_some(match hl {
            0xff01 => Target::WritesData,
            0xff02 => Target::WritesControl,
            0xff0f => Target::WritesRequests,
            _ => Target::Other,
        })
    }

    fn time_of(&self, moment: u32) -> i64 {
        let mcycles = moment.wrapping_sub(self.machine.now).cast_signed();
        self.time + i64::from(mcycles) * tcycles_of(&self.machine)
    }

    fn moment_of(&self, at: i64) -> u32 {
        let mcycles = (at - self.time) / tcycles_of(&self.machine);
        self.machine.now.wrapping_add_signed(i32::try_from(mcycles).expect("near"))
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
