//! Meanings of instructions: a function for each row of the table of forms ([`super::form`]).

pub(super) mod arrival;
pub(super) mod barrier;
pub(super) mod control;
pub(super) mod convert;
pub(super) mod copy;
pub(super) mod float;
pub(super) mod half;
pub(super) mod integer;
pub(super) mod logic;
pub(super) mod matrix;
pub(super) mod memory;
pub(super) mod round;
mod shared_load;
pub(super) mod vote;

use super::decoded::{DecodedInstruction, PredicateOperand, Source};
use super::warp::{LANES, Mask, UNIFORM_PREDICATES, Warp, Word, each};
use std::array::from_fn;

impl Source {
    /// Returns the operand's word, given the word in the register file.
    #[inline(always)]
    fn of(self, word: u32) -> u32 {
        ((word & self.keep) ^ self.flip).wrapping_sub(self.minus)
    }
}

impl Warp<'_> {
    /// Returns the word of a source in one lane.
    #[inline(always)]
    fn word(&self, source: &Source, lane: usize) -> u32 {
        source.of(self.file[usize::from(source.low)][lane])
    }

    /// Returns the words of a source in all lanes.
    #[inline(always)]
    fn words(&self, source: &Source) -> Word {
        let word = self.file[usize::from(source.low)];
        from_fn(|lane| source.of(word[lane]))
    }

    /// Returns the 64 bits of a source, before its sign is applied.
    #[inline(always)]
    fn long(&self, source: &Source, lane: usize) -> u64 {
        let (low, high) =
            (&self.file[usize::from(source.low)], &self.file[usize::from(source.high)]);
        u64::from(low[lane]) | u64::from(high[lane]) << 32
    }

    /// Returns the 64 bits of an integer source, negated or inverted as the operand says.
    #[inline(always)]
    fn integer(&self, source: &Source, lane: usize) -> u64 {
        let (flip, minus) = (source.flip as i32 as i64 as u64, source.minus as i32 as i64 as u64);
        (self.long(source, lane) ^ flip).wrapping_sub(minus)
    }

    /// Computes a word of `N` words, in each lane.
    #[inline(always)]
    fn map<const N: usize>(
        &mut self,
        inst: &DecodedInstruction,
        lanes: Mask,
        f: impl Fn([u32; N]) -> u32,
    ) {
        let lanes = lanes | inst.whole;
        if lanes == !0 {
            let from: [Word; N] = from_fn(|at| self.words(&inst.from[at]));
            let to = &mut self.file[usize::from(inst.to)];
            for lane in 0..LANES {
                to[lane] = f(from_fn(|at| from[at][lane]));
            }
        } else {
            for lane in each(lanes) {
                let word = f(from_fn(|at| self.word(&inst.from[at], lane)));
                self.file[usize::from(inst.to)][lane] = word;
            }
        }
    }

    /// Computes 64 bits in each lane.
    #[inline(always)]
    fn map_long(
        &mut self,
        inst: &DecodedInstruction,
        lanes: Mask,
        f: impl Fn(&Self, usize) -> u64,
    ) {
        for lane in each(lanes | inst.whole) {
            let long = f(self, lane);
            self.file[usize::from(inst.to)][lane] = long as u32;
            self.file[usize::from(inst.to) + 1][lane] = (long >> 32) as u32;
        }
    }

    /// Returns the lanes in which a test of `N` words holds.
    #[inline(always)]
    fn test<const N: usize>(
        &self,
        inst: &DecodedInstruction,
        lanes: Mask,
        f: impl Fn([u32; N]) -> bool,
    ) -> Mask {
        let lanes = lanes | inst.whole;
        if lanes == !0 {
            let from: [Word; N] = from_fn(|at| self.words(&inst.from[at]));
            let bit = |lane: usize| u32::from(f(from_fn(|at| from[at][lane]))) << lane;
            (0..LANES).fold(0, |all, lane| all | bit(lane))
        } else {
            let bit = |lane| u32::from(f(from_fn(|at| self.word(&inst.from[at], lane)))) << lane;
            each(lanes).fold(0, |all, lane| all | bit(lane))
        }
    }

    /// Sets a predicate in these lanes; a uniform predicate is set for all lanes.
    #[inline(always)]
    fn set(&mut self, inst: &DecodedInstruction, at: usize, lanes: Mask, values: Mask) {
        let index = inst.truths[at];
        let is_uniform = (UNIFORM_PREDICATES..2 * UNIFORM_PREDICATES).contains(&index);
        let lanes = if is_uniform { !0 } else { lanes };
        let predicate = &mut self.predicates[usize::from(index)];
        *predicate = (*predicate & !lanes) | (values & lanes);
    }

    fn given(&self, truth: PredicateOperand) -> Mask {
        self.predicate(truth)
    }
}

/// Operator that combines a comparison with a predicate.
#[derive(Clone, Copy)]
struct PredicateCombine(u8);

impl PredicateCombine {
    /// `.AND`, `.OR`, `.XOR`
    fn of(self, a: Mask, b: Mask) -> Mask {
        match self.0 {
            0 => a & b,
            1 => a | b,
            _ => a ^ b,
        }
    }
}
