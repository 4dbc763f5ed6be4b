//! A warp: 32 lanes with registers, predicates and barriers of convergence, and the set of lanes
//! that run.
//!
//! Lanes at the same instruction run together as [`ConvergedLanes`]. A jump that only some lanes
//! take splits their group; `BSYNC` and `WARPSYNC` hold lanes until all named lanes have come.
//! After a jump the [`Policy`] chooses the next group, and groups at one place merge. Lanes also
//! wait at the block's barrier; the warp stops when no other lane can run.

use super::block::{Arrivals, Reduction};
use super::count::Counts;
use super::decoded::DecodedInstruction;
use super::device_memory::DeviceMemory;
use super::fault::{Fault, FaultKind};
use super::kernel_code::KernelCode;
use super::op::copy::Copies;
use super::op::memory::Local;
use super::run_order::{Policy, RunOrder};
use super::schedule::Extents;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Lanes of a warp.
pub const LANES: usize = 32;
/// A word for each lane.
pub type Word = [u32; LANES];
/// A set of lanes, one bit for each lane.
pub type Mask = u32;

/// Slot of the register file that is always zero: `RZ` and `URZ`.
pub const ZERO: u16 = 255;
/// First entry of the uniform registers, whose lanes are all equal.
pub const UNIFORM: u16 = 256;
/// First of four entries for results that nobody reads.
pub const SINK: u16 = 512;
/// First entry of constants and numbers.
pub const POOL: u16 = 516;

/// First of the uniform predicates, whose lanes are all equal.
pub const UNIFORM_PREDICATES: u8 = 8;
/// A predicate that nobody reads.
pub const NO_PREDICATE: u8 = 16;
/// A predicate that is false.
pub const FALSE: u8 = 17;
/// A predicate that is true.
pub const TRUE: u8 = 7;

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
struct ConvergedLanes {
    lanes: Mask,
    pc: u32,
    /// Lanes that `WARPSYNC` brought together for the following code, or 0.
    together: Mask,
}

/// Condition for which lanes wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WaitCondition {
    Barrier(u8),
    Lanes { mask: Mask, then: Meeting },
}

/// Way in which lanes continue after they have come together from several places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meeting {
    /// Each lane continues at its place, with the other lanes of that place.
    Apart,
    /// The lanes continue as a separate group.
    Together,
    /// The lanes continue as one group at the place of the first lane.
    AtOnePlace,
}

/// Waiting lanes, and the place at which they continue.
#[derive(Clone, Copy, Debug)]
struct Wait {
    lanes: Mask,
    pc: u32,
    meeting: WaitCondition,
}

/// State of a warp while it runs.
#[derive(Debug)]
pub struct Warp<'p> {
    /// Registers, uniform registers, constants and numbers.
    pub file: Vec<Word>,
    /// Predicates, a bit for each lane.
    pub predicates: [Mask; 18],
    /// Barriers of convergence: the lanes that each lane waits for.
    pub barriers: [Word; 16],
    /// Number of the instruction at which each lane continues after `ENDCOLLECTIVE`.
    pub collective: Word,
    /// Active lanes.
    pub lanes: Mask,
    /// Number of the next instruction.
    pub pc: u32,
    /// Lanes that have not ended.
    pub alive: Mask,
    /// Lanes that `WARPSYNC` brought together.
    pub together: Mask,
    /// Local memory of all lanes.
    pub local: Local,
    /// Number of the first lane's thread in its block.
    pub thread: u32,
    /// Number of the block.
    pub block: u32,
    /// Counts of the kernel, while the warp runs.
    pub counts: Counts,
    /// Lanes at the block's barrier.
    pub arrivals: Arrivals,
    /// Last result of the block's barrier.
    pub result: Option<(Reduction, u32)>,
    /// Code and constants.
    pub program: &'p KernelCode,
    /// Bytes of constant bank 0.
    pub bank0: &'p [u8],
    ready: Vec<ConvergedLanes>,
    waiting: Vec<Wait>,
    at_barrier: Vec<ConvergedLanes>,
    /// Lanes at numbered barriers of the block.
    at_named: Vec<(u32, ConvergedLanes)>,
    /// Pending asynchronous copies.
    pub(super) copies: Copies,
    pub(super) order: RunOrder,
    /// Memory of the device; without it addresses are the host's.
    pub device: Option<&'p RefCell<DeviceMemory>>,
    /// Threads of a block.
    pub threads: u32,
    /// Extents of the grid and of a block.
    pub shape: (Extents, Extents),
    /// Instructions that the warp may still issue.
    budget: u64,
}

/// Reason for which a warp stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// All its lanes have ended.
    Ended,
    /// All lanes that have not ended are at the block's barrier.
    AtBarrier,
    /// The warp's turn is over.
    Paused,
}

/// Facts of a launch that all its warps share.
#[derive(Debug)]
pub struct Launch<'p> {
    /// Code and constants.
    pub program: &'p KernelCode,
    /// Bytes of constant bank 0, parameters among them.
    pub bank0: &'p [u8],
    /// Bytes of local memory of a lane.
    pub local_bytes: usize,
    /// Order of lanes and warps.
    pub order: RunOrder,
    /// Memory of the device; without it addresses are the host's.
    pub device: Option<&'p RefCell<DeviceMemory>>,
    /// Extents of the grid and of a block.
    pub shape: (Extents, Extents),
}

/// Greatest number of instructions of one warp, far more than any launch here needs.
const LIMIT: u64 = 40_000_000_000;

impl<'p> Warp<'p> {
    /// Makes the state that the warps of a launch use one after the other.
    pub fn new(launch: &Launch<'p>) -> Self {
        let mut file = vec![[0x5A5A_5A5A; LANES]; usize::from(POOL)];
        file.extend(launch.program.pool.iter().map(|entry| [entry.value(launch.bank0); LANES]));
        file[usize::from(ZERO)] = [0; LANES];
        Self {
            file,
            predicates: [0; 18],
            barriers: [[0; LANES]; 16],
            collective: [0; LANES],
            lanes: 0,
            pc: 0,
            alive: 0,
            together: 0,
            local: Local::new(launch.local_bytes),
            thread: 0,
            block: 0,
            counts: Counts::default(),
            arrivals: Arrivals::default(),
            result: None,
            program: launch.program,
            bank0: launch.bank0,
            ready: Vec::new(),
            waiting: Vec::new(),
            at_barrier: Vec::new(),
            at_named: Vec::new(),
            copies: Copies::new(),
            order: launch.order,
            device: launch.device,
            threads: launch.shape.1.count(),
            shape: launch.shape,
            budget: 0,
        }
    }

    /// Begins a warp of this number of threads.
    pub fn begin(&mut self, block: u32, thread: u32, threads: u32) {
        (self.block, self.thread) = (block, thread);
        self.alive = if threads >= 32 { !0 } else { (1 << threads) - 1 };
        (self.lanes, self.pc, self.together) = (self.alive, self.program.entry, 0);
        for set in [TRUE, UNIFORM_PREDICATES + 7] {
            self.predicates[usize::from(set)] = !0;
        }
        (self.budget, self.result) = (LIMIT, None);
        self.copies = Copies::new();
    }

    /// Runs the warp until it ends or comes to the block's barrier, or until its turn is over.
    pub fn resume(&mut self, counts: &mut Counts) -> Stop {
        let stop = self.take_turn(counts, self.order.turn.min(self.budget));
        if stop == Stop::Paused && self.budget == 0 {
            self.fail(&self.program.instructions[self.pc as usize], "the warp does not end");
        }
        stop
    }

    /// Runs the warp as [`Self::resume`] does, but for at most `turn` instructions. After a
    /// fault, the counts up to the fault are kept.
    pub fn take_turn(&mut self, counts: &mut Counts, turn: u64) -> Stop {
        std::mem::swap(&mut self.counts, counts);
        let begin = self.counts.issues;
        let ran = catch_unwind(AssertUnwindSafe(|| self.issue(begin + turn)));
        self.budget = self.budget.saturating_sub(self.counts.issues - begin);
        std::mem::swap(&mut self.counts, counts);
        match ran.unwrap_or_else(|fault| resume_unwind(fault)) {
            Stop::Ended if !self.at_barrier.is_empty() || !self.at_named.is_empty() => {
                Stop::AtBarrier
            }
            stop => stop,
        }
    }

    /// Runs the warp until all its lanes have stopped, or the count of issued instructions exceeds
    /// `end`.
    fn issue(&mut self, end: u64) -> Stop {
        let code = &self.program.instructions;
        while self.lanes != 0 {
            let inst = &code[self.pc as usize];
            let guard = self.predicates[usize::from(inst.guard.index)] ^ inst.guard.flip;
            let lanes = self.lanes & guard;
            self.counts.issue(self.pc, lanes);
            self.pc += 1;
            if lanes != 0 {
                (inst.run)(self, inst, lanes);
                if inst.is_control && (self.lanes == 0 || !self.ready.is_empty()) {
                    self.choose();
                }
            }
            if self.counts.issues > end {
                return Stop::Paused;
            }
        }
        Stop::Ended
    }

    /// Ends the launch because of an instruction for which the simulator has no rule.
    #[cold]
    pub fn fail(&self, inst: &DecodedInstruction, reason: &str) -> ! {
        let (kernel, address) = (&self.program.kernel, inst.address);
        let message = format!("{kernel}, address {address:x}, `{}`: {reason}", inst.text);
        Fault { kind: FaultKind::Unknown, line: inst.line(), message }.raise()
    }

    /// Ends the launch by a fault of the kernel in some lanes.
    #[cold]
    pub fn fault(
        &self,
        kind: FaultKind,
        inst: &DecodedInstruction,
        lanes: Mask,
        reason: &str,
    ) -> ! {
        if self.device.is_none() {
            self.fail(inst, reason);
        }
        self.fault_of(kind, inst, lanes, reason).raise()
    }

    /// Makes a fault of the first of these lanes.
    #[cold]
    pub(super) fn fault_of(
        &self,
        kind: FaultKind,
        inst: &DecodedInstruction,
        lanes: Mask,
        reason: &str,
    ) -> Fault {
        let thread = self.thread + lanes.trailing_zeros().min(31);
        let at = inst.line().map_or_else(String::new, |line| format!(" in line {line}"));
        let message = format!("thread {thread} of block {}{at}: {reason}", self.block);
        Fault { kind, line: inst.line(), message }
    }

    /// Returns the lanes in which a predicate that an instruction reads is true.
    pub fn predicate(&self, at: super::decoded::PredicateOperand) -> Mask {
        self.predicates[usize::from(at.index)] ^ at.flip
    }

    /// Lets these lanes jump; the other active lanes continue after the instruction.
    pub fn jump(&mut self, lanes: Mask, to: u32) {
        let others = self.lanes & !lanes;
        if others == 0 {
            self.pc = to;
        } else {
            self.ready.push(ConvergedLanes { lanes, pc: to, together: self.together });
            self.lanes = others;
            self.counts.splits += 1;
        }
    }

    /// Lets each of these lanes jump to its own place.
    pub fn scatter(&mut self, lanes: Mask, to: &Word) {
        let first = to[lanes.trailing_zeros() as usize];
        let (mut left, mut splits) = (lanes & !equal(lanes, to, first), false);
        while left != 0 {
            let place = to[left.trailing_zeros() as usize];
            let same = equal(left, to, place);
            self.ready.push(ConvergedLanes { lanes: same, pc: place, together: self.together });
            self.lanes &= !same;
            left &= !same;
            splits = true;
        }
        self.counts.splits += u64::from(splits);
        self.jump(equal(lanes, to, first), first);
    }

    /// Ends lanes.
    pub fn exit(&mut self, lanes: Mask) {
        self.alive &= !lanes;
        self.lanes &= !lanes;
        self.release();
    }

    /// Holds lanes at a convergence barrier until all lanes that the barrier names have come or
    /// ended.
    pub fn sync(&mut self, barrier: u8, lanes: Mask) {
        let named = self.barriers[usize::from(barrier)];
        let mut left = lanes;
        while left != 0 {
            let first = named[left.trailing_zeros() as usize];
            let same = equal(left, &named, first);
            if same == self.lanes && first & self.alive == same {
                self.together = 0;
                return;
            }
            left &= !same;
            self.wait(same, WaitCondition::Barrier(barrier));
        }
    }

    /// Holds lanes until all lanes of their masks have come.
    pub fn sync_lanes(
        &mut self,
        inst: &DecodedInstruction,
        lanes: Mask,
        masks: &Word,
        then: Meeting,
    ) {
        let mut left = lanes;
        while left != 0 {
            let mask = masks[left.trailing_zeros() as usize];
            let same = equal(left, masks, mask);
            if same & !mask != 0 {
                let reason = "its mask lacks the thread itself";
                self.fault(FaultKind::DivergentBarrier, inst, same & !mask, reason);
            }
            left &= !same;
            self.wait(same, WaitCondition::Lanes { mask, then });
        }
    }

    fn wait(&mut self, lanes: Mask, meeting: WaitCondition) {
        self.waiting.push(Wait { lanes, pc: self.pc, meeting });
        self.lanes &= !lanes;
        self.release();
    }

    /// Holds lanes at the block's barrier, each with a vote. The barrier counts threads, so lanes
    /// of one warp may come from several places.
    pub fn arrive(
        &mut self,
        inst: &DecodedInstruction,
        lanes: Mask,
        reduction: Reduction,
        votes: Mask,
    ) {
        if let Err(reason) = self.arrivals.add(&Arrivals::of(lanes, reduction, votes)) {
            self.fault(FaultKind::DivergentBarrier, inst, lanes, &reason);
        }
        self.at_barrier.push(ConvergedLanes { lanes, pc: self.pc, together: self.together });
        self.lanes &= !lanes;
    }

    /// Returns true if all lanes that can run have come to the block's barrier.
    pub fn is_at_barrier(&self) -> bool {
        self.lanes == 0 && !self.at_barrier.is_empty()
    }

    /// Releases the lanes at the block's barrier, with its result.
    pub fn pass_barrier(&mut self, result: Option<(Reduction, u32)>) {
        self.result = result;
        self.arrivals = Arrivals::default();
        self.ready.append(&mut self.at_barrier);
        self.choose();
    }

    /// Holds lanes at a numbered barrier.
    pub(super) fn hold_at(&mut self, number: u32, lanes: Mask) {
        let held = ConvergedLanes { lanes, pc: self.pc, together: self.together };
        self.at_named.push((number, held));
        self.lanes &= !lanes;
    }

    /// Releases the lanes at a numbered barrier, and returns them.
    pub(super) fn pass_named(&mut self, number: u32) -> Mask {
        let (gone, left): (Vec<_>, Vec<_>) =
            self.at_named.drain(..).partition(|(at, _)| *at == number);
        self.at_named = left;
        if gone.is_empty() {
            return 0;
        }
        let lanes = gone.iter().fold(0, |all, (_, it)| all | it.lanes);
        self.ready.extend(gone.into_iter().map(|(_, it)| it));
        self.choose();
        lanes
    }

    /// Returns a numbered barrier at which lanes wait, the lanes, and the instruction.
    pub(super) fn named_place(&self) -> Option<(u32, Mask, &'p DecodedInstruction)> {
        let (number, it) = self.at_named.first()?;
        Some((*number, it.lanes, &self.program.instructions[it.pc as usize - 1]))
    }

    /// Returns the instructions of the block's barrier at which lanes wait.
    pub fn barrier_places(&self) -> impl Iterator<Item = (Mask, u32)> {
        self.at_barrier.iter().map(|it| (it.lanes, it.pc - 1))
    }

    /// Returns the instruction of the block's barrier at which the first lanes wait.
    pub fn barrier_step(&self) -> &'p DecodedInstruction {
        &self.program.instructions[self.at_barrier[0].pc as usize - 1]
    }

    /// Releases the lanes whose barriers are complete.
    pub fn release(&mut self) {
        let mut at = 0;
        while at < self.waiting.len() {
            let (meeting, lane) =
                (self.waiting[at].meeting, self.waiting[at].lanes.trailing_zeros());
            let named = self.named(meeting, lane);
            let is_same = |warp: &Self, it: &Wait| {
                it.meeting == meeting && warp.named(meeting, it.lanes.trailing_zeros()) == named
            };
            let here = self.waiting.iter().filter(|it| is_same(self, it));
            let come = here.fold(0, |come, it| come | it.lanes);
            let is_barrier = matches!(meeting, WaitCondition::Barrier(_));
            // Lanes that a shared barrier does not name go on waiting, until it names them again.
            let leaving =
                if is_barrier && self.order.shares_barriers { come & named } else { come };
            if named & self.alive & !come != 0 || leaving == 0 {
                at += 1;
                continue;
            }
            let (same, mut left): (Vec<Wait>, Vec<Wait>) =
                self.waiting.iter().partition(|it| is_same(self, it));
            let part = |it: &Wait, lanes| Wait { lanes: it.lanes & lanes, ..*it };
            let parts = |lanes| same.iter().map(move |it| part(it, lanes));
            let gone: Vec<Wait> = parts(leaving).filter(|it| it.lanes != 0).collect();
            left.extend(parts(!leaving).filter(|it| it.lanes != 0));
            self.waiting = left;
            let first = gone.iter().min_by_key(|it| it.lanes.trailing_zeros()).map(|it| it.pc);
            let (together, place) = match meeting {
                WaitCondition::Lanes { mask, then: Meeting::AtOnePlace } => (mask, first),
                WaitCondition::Lanes { mask, then: Meeting::Together } => (mask, None),
                _ => (0, None),
            };
            self.ready.extend(gone.iter().map(|it| ConvergedLanes {
                lanes: it.lanes,
                pc: place.unwrap_or(it.pc),
                together,
            }));
            at = 0;
        }
    }

    fn named(&self, meeting: WaitCondition, lane: u32) -> Mask {
        match meeting {
            WaitCondition::Barrier(barrier) => self.barriers[usize::from(barrier)][lane as usize],
            WaitCondition::Lanes { mask, .. } => mask,
        }
    }

    /// Chooses the next group, and merges all other groups at its place with it.
    fn choose(&mut self) {
        if self.lanes != 0 {
            let (lanes, pc, together) = (self.lanes, self.pc, self.together);
            self.ready.push(ConvergedLanes { lanes, pc, together });
        }
        let all = |group: &ConvergedLanes, ready: &[ConvergedLanes]| {
            let here = ready.iter().filter(|it| it.pc == group.pc && it.together == group.together);
            here.fold(0, |lanes: Mask, it| lanes | it.lanes)
        };
        let rank = |group: &&ConvergedLanes| match self.order.policy {
            Policy::LowestAddress => (0, group.pc),
            Policy::MostLanes => (32 - all(group, &self.ready).count_ones(), group.pc),
            Policy::Seeded(seed) => match mixed(seed ^ self.counts.issues) {
                chance if chance % 4 == 0 => (mixed(chance ^ u64::from(group.pc)) as u32, 0),
                _ => (0, group.pc),
            },
        };
        let Some(&next) = self.ready.iter().min_by_key(rank) else {
            return self.end();
        };
        self.lanes = all(&next, &self.ready);
        (self.pc, self.together) = (next.pc, next.together);
        self.ready.retain(|it| it.pc != next.pc || it.together != next.together);
    }

    /// Checks, when no lane can run, that every lane has ended or is at the block's barrier. Ends
    /// the launch if lanes wait for each other.
    fn end(&self) {
        if let Some(wait) = self.waiting.first() {
            let inst = &self.program.instructions[wait.pc as usize - 1];
            let (held, arrived) = (&self.waiting, self.arrivals.lanes);
            if self.device.is_some() {
                let missing = match wait.meeting {
                    WaitCondition::Lanes { mask, .. } => mask & self.alive & !wait.lanes,
                    WaitCondition::Barrier(_) => self.alive & !wait.lanes,
                };
                let lane = missing.trailing_zeros();
                let place = match arrived >> lane.min(31) & 1 {
                    0 => "waits elsewhere",
                    _ => "waits at the block's barrier",
                };
                let reason = format!(
                    "it waits for all lanes of its mask, of which lane {lane} {place}: lanes of a mask \
                     must come to one shuffle, vote or `__syncwarp`"
                );
                self.fault(FaultKind::DivergentBarrier, inst, wait.lanes, &reason);
            }
            let reason = format!("lanes wait for each other: {held:x?}, at the block's barrier: ");
            self.fail(inst, &format!("{reason}{arrived:x}"));
        }
    }
}

/// Returns a number in which each bit depends on all bits of the given number: the last step of
/// SplitMix64, as in `gbxcule_ir::splitmix`; the simulator depends on no crate of the compiler.
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

/// Returns the lanes among `lanes` whose word is `value`.
pub fn equal(lanes: Mask, word: &Word, value: u32) -> Mask {
    (0..LANES).fold(0, |all, lane| all | u32::from(word[lane] == value) << lane) & lanes
}

/// Returns the numbers of the lanes in a set.
pub fn each(lanes: Mask) -> impl Iterator<Item = usize> {
    let mut left = lanes;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        let is_one = left != 0;
        left &= left.wrapping_sub(1);
        is_one.then_some(lane)
    })
}
