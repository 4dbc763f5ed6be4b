//! Lanes of a warp side by side: what a GPU issues when each of them does what its trace says.
//!
//! Lanes meet again behind every instruction, so a turn of the loop costs what the different
//! opcodes in it cost, one after the other, what they share once.

use crate::code::Path;
use crate::trace::{Access, Event, Service};

/// How the step's loops are arranged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As they are: frames, in them rounds, in them instructions up to the deadline, then service.
    Nested,
    /// One loop over the whole step: a turn is an instruction or a service.
    Flat,
}

/// How an opcode's code is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As machine code has it.
    Tests,
    /// By a jump table: so many instructions once a turn.
    Table(usize),
    /// As machine code has it, but opcodes that differ in operands alone have one code, which takes
    /// so many instructions more to pick them.
    Grouped(usize),
}

pub(crate) fn is_wram(address: &u16) -> bool {
    (0xc000..0xfe00).contains(address)
}

/// Of opcodes that differ in operands alone, the first.
fn first_alike(opcode: u8) -> u8 {
    match opcode {
        0x76 => opcode,
        0x40..=0x7f if opcode & 7 == 6 => 0x46,
        0x70..=0x77 => 0x70,
        0x40..=0x7f => 0x41,
        0x80..=0xbf if opcode & 7 != 6 => opcode & 0xf8,
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 => 0x20,
        0x00..=0x3f if matches!(opcode & 7, 4..=6) && opcode & 0x38 != 0x30 => opcode & 7,
        0x00..=0x3f if matches!(opcode & 15, 1 | 3 | 9 | 11) => opcode & 15,
        0x0a | 0x1a => 0x0a,
        0xc0..=0xff if opcode & 7 == 6 => 0xc6,
        0xc0..=0xff if opcode & 7 == 7 => 0xc7,
        0xc1 | 0xd1 | 0xe1 | 0xf1 => 0xc1,
        0xc5 | 0xd5 | 0xe5 | 0xf5 => 0xc5,
        0xc2 | 0xca | 0xd2 | 0xda | 0xc3 => 0xc2,
        0xc4 | 0xcc | 0xd4 | 0xdc | 0xcd => 0xcd,
        0xc0 | 0xc8 | 0xd0 | 0xd8 | 0xc9 => 0xc0,
        _ => opcode,
    }
}

/// Instructions of work other than opcodes.
#[derive(Clone, Copy)]
pub(crate) struct Costs {
    pub(crate) service: usize,
    pub(crate) line: usize,
    pub(crate) drawn_line: usize,
}

/// Counts of a warp's work in a step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    /// Turns of the loop over instructions, lanes at work in them, different opcodes in them.
    pub(crate) turns: u64,
    pub(crate) active: u64,
    pub(crate) distinct: u64,
    /// Lanes that were done with their round, with their frame.
    pub(crate) waits_for_round: u64,
    pub(crate) waits_for_frame: u64,
    /// Calls of service by the warp, lanes in them.
    pub(crate) services: u64,
    pub(crate) serviced: u64,
    /// Instructions issued: for opcodes, of these to find them; for service; for lines.
    pub(crate) opcode_slots: u64,
    pub(crate) choice_slots: u64,
    pub(crate) service_slots: u64,
    pub(crate) line_slots: u64,
    /// Turns that touch work RAM, lanes that do, and the sectors of 32 bytes that this takes, if an
    /// env's bytes lie side by side and if the same byte of all envs does.
    pub(crate) wram_turns: u64,
    pub(crate) wram_lanes: u64,
    pub(crate) env_major: u64,
    pub(crate) interleaved: u64,
    /// Sectors of ROM that the lanes' program counters touch.
    pub(crate) rom_sectors: u64,
}

impl Count {
    pub(crate) fn slots(&self) -> u64 {
        self.opcode_slots + self.service_slots + self.line_slots
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.turns, other.turns),
            (&mut self.active, other.active),
            (&mut self.distinct, other.distinct),
            (&mut self.waits_for_round, other.waits_for_round),
            (&mut self.waits_for_frame, other.waits_for_frame),
            (&mut self.services, other.services),
            (&mut self.serviced, other.serviced),
            (&mut self.opcode_slots, other.opcode_slots),
            (&mut self.choice_slots, other.choice_slots),
            (&mut self.service_slots, other.service_slots),
            (&mut self.line_slots, other.line_slots),
            (&mut self.wram_turns, other.wram_turns),
            (&mut self.wram_lanes, other.wram_lanes),
            (&mut self.env_major, other.env_major),
            (&mut self.interleaved, other.interleaved),
            (&mut self.rom_sectors, other.rom_sectors),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
    }
}

/// A warp in the step.
pub(crate) struct Warp<'p> {
    paths: &'p [Path],
    choice: Choice,
    costs: Costs,
    /// Which instructions were issued in the present turn: its number stands there.
    seen: Vec<u64>,
    turn: u64,
    count: Count,
}

impl<'p> Warp<'p> {
    pub(crate) fn new(paths: &'p [Path], choice: Choice, costs: Costs) -> Self {
        let all = paths.iter().flat_map(|path| path.choice.iter().chain(&path.work));
        let places = all.max().map_or(0, |last| last + 1);
        let seen = vec![0; places];
        Self { paths, choice, costs, seen, turn: 0, count: Count::default() }
    }

    /// Runs the lanes' steps: of each its frames, of each frame its events.
    pub(crate) fn step(mut self, lanes: &[Vec<Vec<Event>>], shape: Shape) -> Count {
        match shape {
            Shape::Nested => {
                let frames = lanes.first().map_or(0, Vec::len);
                for frame in 0..frames {
                    self.frame(lanes.iter().map(|lane| lane[frame].as_slice()).collect());
                }
            }
            Shape::Flat => self.flat(&lanes.iter().map(|lane| lane.concat()).collect::<Vec<_>>()),
        }
        self.count
    }

    /// A frame in rounds: instructions up to each lane's deadline, then service for all.
    fn frame(&mut self, mut lanes: Vec<&[Event]>) {
        let opcodes_of = |lane: &[Event]| {
            lane.iter().position(|event| matches!(event, Event::Service(_))).unwrap_or(lane.len())
        };
        while lanes.iter().any(|lane| !lane.is_empty()) {
            let lengths: Vec<usize> = lanes.iter().map(|lane| opcodes_of(lane)).collect();
            let longest = lengths.iter().copied().max().unwrap_or_default();
            for turn in 0..longest {
                // A lane's events behind its service are of its next round.
                let at_work = lanes.iter().zip(&lengths).filter(|(_, length)| turn < **length);
                let now: Vec<Access> = at_work
                    .filter_map(|(lane, _)| match lane[turn] {
                        Event::Opcode(access) => Some(access),
                        Event::Service(_) => None,
                    })
                    .collect();
                let over = lanes.iter().filter(|lane| lane.is_empty()).count() as u64;
                self.count.waits_for_frame += over;
                self.count.waits_for_round += lanes.len() as u64 - over - now.len() as u64;
                self.turn(&now);
            }
            let mut services = Vec::new();
            for (lane, length) in lanes.iter_mut().zip(&lengths) {
                if let Some(Event::Service(service)) = lane.get(*length) {
                    services.push(*service);
                }
                *lane = lane.get(length + 1..).unwrap_or_default();
            }
            self.service(&services);
        }
    }

    fn flat(&mut self, lanes: &[Vec<Event>]) {
        let longest = lanes.iter().map(Vec::len).max().unwrap_or_default();
        for turn in 0..longest {
            let (mut now, mut services) = (Vec::new(), Vec::new());
            for lane in lanes {
                match lane.get(turn) {
                    Some(Event::Opcode(access)) => now.push(*access),
                    Some(Event::Service(service)) => services.push(*service),
                    None => self.count.waits_for_frame += 1,
                }
            }
            self.turn(&now);
            self.service(&services);
        }
    }

    /// An instruction in each of some lanes.
    fn turn(&mut self, now: &[Access]) {
        if now.is_empty() {
            return;
        }
        self.turn += 1;
        self.count.turns += 1;
        self.count.active += now.len() as u64;
        let mut is_there = [false; 256];
        let mut issued = [0_u64; 2];
        for access in now {
            let opcode = match self.choice {
                Choice::Grouped(_) => first_alike(access.opcode),
                Choice::Tests | Choice::Table(_) => access.opcode,
            };
            if std::mem::replace(&mut is_there[usize::from(opcode)], true) {
                continue;
            }
            self.count.distinct += 1;
            let path = &self.paths[usize::from(opcode)];
            for (which, places) in [&path.choice, &path.work].into_iter().enumerate() {
                let new = places.iter().filter(|place| self.seen[**place] != self.turn).count();
                issued[which] += new as u64;
                places.iter().for_each(|place| self.seen[*place] = self.turn);
            }
        }
        match self.choice {
            Choice::Tests => {}
            Choice::Table(instructions) => issued[0] = instructions as u64,
            Choice::Grouped(more) => {
                let different = is_there.iter().filter(|is_there| **is_there).count();
                issued[1] += (more * different) as u64;
            }
        }
        self.count.choice_slots += issued[0];
        self.count.opcode_slots += issued[0] + issued[1];
        self.look_at_memory(now);
    }

    fn look_at_memory(&mut self, now: &[Access]) {
        let different = |keys: &mut Vec<u32>| {
            keys.sort_unstable();
            keys.dedup();
            keys.len() as u64
        };
        let mut code: Vec<u32> = now.iter().map(|it| u32::from(it.pc) / 32).collect();
        self.count.rom_sectors += different(&mut code);
        // Which lane it is does not matter, only that they are different.
        let wram: Vec<(u32, u16)> = (0..)
            .zip(now)
            .filter_map(|(lane, it)| Some((lane, it.data.filter(is_wram)?)))
            .collect();
        if wram.is_empty() {
            return;
        }
        self.count.wram_turns += 1;
        self.count.wram_lanes += wram.len() as u64;
        self.count.env_major += wram.len() as u64;
        let mut bytes: Vec<u32> = wram.iter().map(|(_, address)| u32::from(*address)).collect();
        self.count.interleaved += different(&mut bytes);
    }

    fn service(&mut self, services: &[Service]) {
        if services.is_empty() {
            return;
        }
        let costs = self.costs;
        self.count.services += 1;
        self.count.serviced += services.len() as u64;
        self.count.service_slots += costs.service as u64;
        let most = |draws| {
            let lines =
                services.iter().filter(|it| it.draws == draws).map(|it| u64::from(it.lines));
            lines.max().unwrap_or_default()
        };
        self.count.line_slots += costs.drawn_line as u64 * most(true);
        self.count.line_slots += costs.line as u64 * most(false);
    }
}
