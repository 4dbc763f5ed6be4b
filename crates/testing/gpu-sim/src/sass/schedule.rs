//! A launch on a device's memory: blocks and the warps of each in an order that a seed says, each
//! warp for some instructions at a time.

use super::block::{Arrivals, Reduction};
use super::count::Counts;
use super::device_memory::DeviceMemory;
use super::fault::{Fault, FaultKind};
use super::warp::{Launch, Stop, Warp, mixed};
use std::cell::RefCell;

/// Shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Blocks.
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
    /// Bytes of shared memory beside those that the kernel declares.
    pub shared_bytes: usize,
    /// Seed of the order of blocks, warps and lanes.
    pub seed: u64,
}

/// Instructions that a warp issues before another one goes on, at most.
const TURN: u64 = 4096;

/// Runs all blocks of a launch to their ends.
pub(super) fn run<'p>(
    launch: &Launch<'p>,
    device: &'p RefCell<DeviceMemory>,
    counts: &mut Counts,
    shape: Shape,
) {
    let mut order: Vec<u32> = (0..shape.blocks).collect();
    order.sort_by_cached_key(|block| mixed(shape.seed ^ u64::from(*block)));
    let mut warps: Vec<Warp<'p>> = Vec::new();
    while warps.len() < shape.threads.div_ceil(32) as usize {
        warps.push(Warp::new(launch));
    }
    for block in order {
        device.borrow_mut().begin_block(block);
        for (thread, warp) in (0..shape.threads).step_by(32).zip(&mut warps) {
            warp.begin(counts, block, thread, shape.threads - thread);
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
            Stop::Paused => continue,
            Stop::AtBarrier => held.push(at),
            Stop::Ended => {}
        }
        ready.retain(|it| *it != at);
        if ready.is_empty() && !held.is_empty() {
            let result = meet(warps, &held);
            device.borrow_mut().order.pass_barrier();
            held.iter().for_each(|at| warps[*at].pass_barrier(result));
            ready = std::mem::take(&mut held);
        }
    }
}

/// Takes instructions of what the launch may issue.
fn spend(warp: &Warp<'_>, device: &RefCell<DeviceMemory>, issues: u64) {
    let mut device = device.borrow_mut();
    match device.budget.checked_sub(issues) {
        Some(left) => device.budget = left,
        None => {
            let step = &warp.program.steps[(warp.pc as usize).min(warp.program.steps.len() - 1)];
            warp.fault(FaultKind::NoEnd, step, 1, "the launch takes too many instructions");
        }
    }
}

/// Result of the barrier that all these warps have come to; they must have come to the same one.
fn meet(warps: &[Warp<'_>], held: &[usize]) -> Option<(Reduction, u32)> {
    let mut all = Arrivals::default();
    let (first, mut place) = (&warps[held[0]], None);
    for &at in held {
        let warp = &warps[at];
        for (lanes, pc) in warp.barrier_places() {
            let step = &warp.program.steps[pc as usize];
            if *place.get_or_insert(pc) != pc {
                let other = first.barrier_step().line();
                let other = other.map_or_else(String::new, |line| format!(", of line {line}"));
                let reason = format!("it waits at a barrier while others wait at another{other}");
                warp.fault(FaultKind::DivergentBarrier, step, lanes, &reason);
            }
        }
        if let Err(reason) = all.add(&warp.arrivals) {
            warp.fault(FaultKind::DivergentBarrier, warp.barrier_step(), 1, &reason);
        }
    }
    all.result()
}

/// Ends a block, or the launch: a plain read beside an atomic operation that no atomic operation of
/// its thread followed is a race.
fn end(warp: &Warp<'_>, device: &RefCell<DeviceMemory>, of_block: bool) {
    let Some((name, pending)) = device.borrow().pending(of_block) else { return };
    let later = pending.later;
    let (does, has) =
        if pending.conflict.has_written { ("reads", "changed") } else { ("changes", "read") };
    let (block, thread) = (later.thread() / warp.threads, later.thread() % warp.threads);
    let line = warp.program.steps[later.instruction as usize].line();
    let at = line.map_or_else(String::new, |line| format!(" in line {line}"));
    let earlier = warp.earlier(pending.conflict.earlier, has);
    let does = format!("it {does} {name}, {earlier}; nothing orders the two");
    let message = format!("thread {thread} of block {block}{at}: {does}");
    Fault { kind: FaultKind::Race, line, message }.raise()
}
