//! Runs a launch in a device's memory. A seed chooses the order of the blocks and of the warps of
//! a block; each warp runs some instructions at a time.

use super::block::{Arrivals, Reduction};
use super::count::Counts;
use super::device_memory::DeviceMemory;
use super::fault::{Fault, FaultKind};
use super::warp::{Launch, Stop, Warp, each, mixed};
use std::cell::RefCell;
use std::fmt;

/// Extents of a grid or of a block, along x, y and z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extents(pub [u32; 3]);

impl Extents {
    /// Makes extents with one dimension, x.
    pub fn line(length: u32) -> Self {
        Self([length, 1, 1])
    }

    /// Returns the number of blocks or threads.
    pub fn count(self) -> u32 {
        self.0.iter().product()
    }

    /// Returns the index of the block or thread `number` along a dimension.
    pub(super) fn index(self, number: u32, dim: usize) -> u32 {
        let [x, y, _] = self.0;
        match dim {
            0 => number % x,
            1 => number / x % y,
            _ => number / (x * y),
        }
    }
}

impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [x, 1, 1] => write!(f, "{x}"),
            [x, y, 1] => write!(f, "({x}, {y})"),
            [x, y, z] => write!(f, "({x}, {y}, {z})"),
        }
    }
}

/// Shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Blocks.
    pub blocks: Extents,
    /// Threads of a block.
    pub threads: Extents,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: usize,
    /// Seed of the order of blocks, warps and lanes.
    pub seed: u64,
}

/// Greatest number of instructions that a warp issues in one turn.
const TURN: u64 = 4096;

/// Runs all blocks of a launch to their ends.
pub(super) fn run<'p>(
    launch: &Launch<'p>,
    device: &'p RefCell<DeviceMemory>,
    counts: &mut Counts,
    shape: Shape,
) {
    let mut order: Vec<u32> = (0..shape.blocks.count()).collect();
    order.sort_by_cached_key(|block| mixed(shape.seed ^ u64::from(*block)));
    let threads = shape.threads.count();
    let mut warps: Vec<Warp<'p>> = Vec::new();
    while warps.len() < threads.div_ceil(32) as usize {
        warps.push(Warp::new(launch));
    }
    for block in order {
        device.borrow_mut().begin_block(block);
        for (thread, warp) in (0..threads).step_by(32).zip(&mut warps) {
            warp.begin(block, thread, threads - thread);
        }
        run_block(&mut warps, device, counts, mixed(shape.seed ^ u64::from(block) << 32));
        end(&warps[0], device, true);
    }
    if let Some(warp) = warps.first() {
        end(warp, device, false);
    }
}

fn run_block<'p>(
    warps: &mut [Warp<'p>],
    device: &'p RefCell<DeviceMemory>,
    counts: &mut Counts,
    seed: u64,
) {
    let mut ready: Vec<usize> = (0..warps.len()).collect();
    let mut held: Vec<usize> = Vec::new();
    while !ready.is_empty() {
        let chance = mixed(seed ^ counts.issues.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let at = ready[(chance % ready.len() as u64) as usize];
        let before = counts.issues;
        let stop = warps[at].take_turn(counts, 1 + (chance >> 32) % TURN);
        spend(&warps[at], device, counts.issues - before);
        match stop {
            Stop::Paused => {}
            Stop::AtBarrier => held.push(at),
            Stop::Ended => {}
        }
        ready.retain(|it| *it != at || stop == Stop::Paused);
        pass_named(warps, device, &mut ready, &mut held);
        if ready.is_empty() && !held.is_empty() {
            let result = meet(warps, &held);
            device.borrow_mut().order.pass_barrier();
            held.iter().for_each(|at| warps[*at].pass_barrier(result));
            ready = std::mem::take(&mut held);
        }
    }
}

/// Releases the warps that wait at a complete numbered barrier.
fn pass_named<'p>(
    warps: &mut [Warp<'p>],
    device: &'p RefCell<DeviceMemory>,
    ready: &mut Vec<usize>,
    held: &mut Vec<usize>,
) {
    if !device.borrow().order.named.is_waited_for() {
        return;
    }
    let all = warps.len() as u32 * 32;
    let ended = warps.iter().map(|warp| warp.alive.count_zeros()).sum();
    let complete = || device.borrow_mut().order.named.take_complete(ended, all);
    while let Some((number, known)) = complete() {
        for (at, warp) in warps.iter_mut().enumerate() {
            let lanes = warp.pass_named(number);
            let named = &mut device.borrow_mut().order.named;
            each(lanes).for_each(|lane| named.pass(warp.thread + lane as u32, &known));
            if lanes != 0 && held.contains(&at) {
                held.retain(|it| *it != at);
                ready.push(at);
            }
        }
    }
}

/// Takes instructions from the launch's budget.
fn spend(warp: &Warp<'_>, device: &RefCell<DeviceMemory>, issues: u64) {
    let mut device = device.borrow_mut();
    match device.budget.checked_sub(issues) {
        Some(left) => device.budget = left,
        None => {
            let inst = &warp.program.instructions
                [(warp.pc as usize).min(warp.program.instructions.len() - 1)];
            warp.fault(FaultKind::NoEnd, inst, 1, "the launch takes too many instructions");
        }
    }
}

/// Returns the result of the barrier at which these warps wait. All of them must wait at the same
/// barrier.
fn meet(warps: &[Warp<'_>], held: &[usize]) -> Option<(Reduction, u32)> {
    let mut all = Arrivals::default();
    let (first, mut place) = (&warps[held[0]], None);
    for &at in held {
        let warp = &warps[at];
        if let Some((number, lanes, inst)) = warp.named_place() {
            let reason =
                warp.device.map_or_else(String::new, |it| it.borrow().order.named.lack(number));
            warp.fault(FaultKind::DivergentBarrier, inst, lanes, &reason);
        }
        for (lanes, pc) in warp.barrier_places() {
            let inst = &warp.program.instructions[pc as usize];
            if *place.get_or_insert(pc) != pc {
                let other = first.barrier_step().line();
                let other = other.map_or_else(String::new, |line| format!(", of line {line}"));
                let reason = format!("it waits at a barrier while others wait at another{other}");
                warp.fault(FaultKind::DivergentBarrier, inst, lanes, &reason);
            }
        }
        if let Err(reason) = all.add(&warp.arrivals) {
            warp.fault(FaultKind::DivergentBarrier, warp.barrier_step(), 1, &reason);
        }
    }
    all.result()
}

/// Ends a block, or the launch. A plain read beside an atomic operation now becomes a race,
/// unless the same thread made an atomic operation there after the read.
fn end(warp: &Warp<'_>, device: &RefCell<DeviceMemory>, of_block: bool) {
    let all = device.borrow().pending(of_block);
    for (name, pending) in all {
        let (later, earlier) = (pending.later, pending.conflict.earlier);
        let (does, has, read) = match pending.conflict.has_written {
            true => ("reads", "changed", later),
            false => ("changes", "read", earlier),
        };
        let (block, thread) = (later.thread() / warp.threads, later.thread() % warp.threads);
        let line = warp.program.instructions[later.instruction as usize].line();
        let at = line.map_or_else(String::new, |line| format!(" in line {line}"));
        let missing = warp.missing_order(earlier);
        let does = format!("it {does} {name}, {}{missing}", warp.earlier(earlier, has));
        let message = format!("thread {thread} of block {block}{at}: {does}");
        let fault = Fault { kind: FaultKind::Race, line, message };
        if !warp.program.instructions[read.instruction as usize].is_wide_shared_load() {
            fault.raise();
        }
        device.borrow_mut().suspects.add(read.word(pending.conflict.at), fault);
    }
}
