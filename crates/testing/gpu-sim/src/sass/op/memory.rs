//! Memory: what all threads share, a lane's own, constants, and special registers.
//!
//! Addresses are the host's own; a window that the host never uses is a lane's local memory.
#![allow(unsafe_code, reason = "a kernel's addresses are the host's; the driver closes all others")]

use super::super::count::Access;
use super::super::decoded::{Address, DecodedInstruction, Special};
use super::super::kernel_code::word;
use super::super::warp::{LANES, Mask, SINK, Warp, Word, ZERO, each};
use super::round::bits;

/// First address of the window that is local memory.
const LOCAL_WINDOW: u64 = 0x7F00_0000_0000_0000;

/// Local memory of all lanes, one after the other.
#[derive(Clone, Debug)]
pub struct Local {
    bytes: Vec<u8>,
    /// Bytes of one lane.
    size: usize,
}

impl Local {
    /// Memory of so many bytes a lane, full of what nobody wrote.
    pub fn new(size: usize) -> Self {
        Self { bytes: vec![0xCD; size * LANES], size }
    }
}

/// Place of some bytes.
#[derive(Clone, Copy)]
enum MemoryRange {
    Host(u64),
    Local(usize),
}

impl Warp<'_> {
    fn address(&self, step: &DecodedInstruction, lane: usize, is_local: bool) -> u64 {
        let place: &Address = &step.place;
        let value = |at: Option<(u16, u16)>| {
            at.map_or(0, |(low, high)| {
                let [low, high] = [low, high].map(|at| u64::from(self.file[usize::from(at)][lane]));
                low | high << 32
            })
        };
        if !is_local && place.uniform.is_some_and(|(low, high)| low != ZERO && high == ZERO) {
            self.fail(step, "a uniform register of 32 bits in an address of 64");
        }
        let sum = value(place.base).wrapping_add(value(place.uniform));
        let sum = sum.wrapping_add(place.offset as u64);
        if is_local { u64::from(sum as u32) } else { sum }
    }

    fn spot(
        &self,
        step: &DecodedInstruction,
        address: u64,
        lane: usize,
        size: usize,
        is_local: bool,
    ) -> MemoryRange {
        let local = match is_local {
            true => address,
            false if address >= LOCAL_WINDOW => address - LOCAL_WINDOW,
            false => {
                if !address.is_multiple_of(size as u64) {
                    self.fail(step, &format!("{size} bytes at {address:x}: it is not aligned"));
                }
                return MemoryRange::Host(address);
            }
        } as usize;
        if local + size > self.local.size || !local.is_multiple_of(size) {
            self.fail(step, &format!("{size} bytes at {local:x} of local memory"));
        }
        MemoryRange::Local(lane * self.local.size + local)
    }

    fn read(&self, spot: MemoryRange, to: &mut [u8]) {
        match spot {
            // SAFETY: the kernel's own address. Where there is no memory of the device, the driver
            // has closed the page, and a fault ends the launch, as on a GPU.
            MemoryRange::Host(address) => unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len());
            },
            MemoryRange::Local(at) => to.copy_from_slice(&self.local.bytes[at..at + to.len()]),
        }
    }

    fn write(&mut self, spot: MemoryRange, from: &[u8]) {
        match spot {
            // SAFETY: as above.
            MemoryRange::Host(address) => unsafe {
                std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len());
            },
            MemoryRange::Local(at) => self.local.bytes[at..at + from.len()].copy_from_slice(from),
        }
    }

    fn count(&mut self, space: Access, lanes: Mask, addresses: &[u64; LANES]) {
        let mut sectors = [0; LANES];
        let mut count = 0;
        for lane in each(lanes) {
            let sector = addresses[lane] / 32;
            if !sectors[..count].contains(&sector) {
                sectors[count] = sector;
                count += 1;
            }
        }
        self.counts.access(space, count as u64);
    }

    fn count_local(&mut self, space: Access, lanes: Mask, addresses: &[u64; LANES]) {
        // Words of all lanes lie side by side: 8 of 4 bytes are a sector.
        let places = std::array::from_fn(|lane| (addresses[lane] / 4 * 32 + lane as u64) * 4);
        self.count(space, lanes, &places);
    }
}

/// Sizes by their number in `{,.U8,.S8,.U16,.S16,.64,.128}`.
fn loaded(kind: u8) -> (usize, bool) {
    [(4, false), (1, false), (1, true), (2, false), (2, true), (8, false), (16, false)]
        [usize::from(kind)]
}

/// Sizes by their number in `{,.U8,.U16,.64,.128,.S8,.S16}`.
fn stored(kind: u8) -> usize {
    [4, 1, 2, 8, 16, 1, 2][usize::from(kind)]
}

/// Words of what was loaded: a small number is filled up, with its sign if it has one.
fn words(bytes: [u8; 16], size: usize, is_signed: bool) -> [u32; 4] {
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
    let first = match (size, is_signed) {
        (1, true) => bytes[0] as i8 as u32,
        (2, true) => i16::from_le_bytes([bytes[0], bytes[1]]) as u32,
        _ => word(0),
    };
    [first, word(1), word(2), word(3)]
}

fn put(warp: &mut Warp<'_>, step: &DecodedInstruction, lane: usize, size: usize, words: [u32; 4]) {
    let count = size.div_ceil(4);
    for (at, word) in words.into_iter().enumerate().take(count) {
        warp.file[usize::from(step.to) + at][lane] = word;
    }
}

fn load_by(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, is_local: bool, kind: u8) {
    let (size, is_signed) = loaded(kind);
    let mut addresses = [0; LANES];
    for lane in each(lanes) {
        addresses[lane] = warp.address(step, lane, is_local);
        let spot = warp.spot(step, addresses[lane], lane, size, is_local);
        let mut bytes = [0; 16];
        warp.read(spot, &mut bytes[..size]);
        put(warp, step, lane, size, words(bytes, size, is_signed));
    }
    if is_local {
        warp.count_local(Access::LocalLoad, lanes, &addresses);
    } else {
        warp.count(Access::Load, lanes, &addresses);
    }
}

pub(in super::super) fn load(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    load_by(warp, step, lanes, false, step.choice[1]);
}

pub(in super::super) fn load_local(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    load_by(warp, step, lanes, true, step.choice[1]);
}

fn store_by(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, is_local: bool, kind: u8) {
    let size = stored(kind);
    let from = step.from[0].low;
    // Of a zero all words are.
    let word_at = |at: u16| if from == ZERO { from } else { from + at };
    let mut addresses = [0; LANES];
    for lane in each(lanes) {
        addresses[lane] = warp.address(step, lane, is_local);
        let spot = warp.spot(step, addresses[lane], lane, size, is_local);
        let mut bytes = [0; 16];
        for at in 0..size.div_ceil(4) {
            let word = warp.file[usize::from(word_at(at as u16))][lane];
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        }
        warp.write(spot, &bytes[..size]);
    }
    if is_local {
        warp.count_local(Access::LocalStore, lanes, &addresses);
    } else {
        warp.count(Access::Store, lanes, &addresses);
    }
}

pub(in super::super) fn store(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    store_by(warp, step, lanes, false, step.choice[1]);
}

pub(in super::super) fn store_local(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    store_by(warp, step, lanes, true, step.choice[0]);
}

/// Reads and writes a place in each lane, one after the other; a register gets what was there.
fn exchange(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
    size: usize,
    f: impl Fn(&Warp<'_>, usize, u64) -> u64,
) {
    let mut addresses = [0; LANES];
    for lane in each(lanes) {
        addresses[lane] = warp.address(step, lane, false);
        let spot = warp.spot(step, addresses[lane], lane, size, false);
        let mut bytes = [0; 16];
        warp.read(spot, &mut bytes[..size]);
        let was = u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
        let becomes = f(warp, lane, was);
        warp.write(spot, &becomes.to_le_bytes()[..size]);
        put(warp, step, lane, size, words(bytes, size, false));
    }
    warp.count(Access::Atomic, lanes, &addresses);
}

pub(in super::super) fn atomic(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (is_signed, is_long) = (step.choice[2] & 1 == 1, step.choice[2] >= 2);
    let size = if is_long { 8 } else { 4 };
    exchange(warp, step, lanes, size, |warp, lane, was| {
        let value = warp.long(&step.from[0], lane);
        let value = if is_long { value } else { u64::from(value as u32) };
        // As numbers with their sign, or without one.
        let order = |it: u64| match (is_signed, is_long) {
            (true, true) => i128::from(it as i64),
            (true, false) => i128::from(it as i32),
            _ => i128::from(it),
        };
        match step.choice[1] {
            0 => was.wrapping_add(value),
            1 if order(value) < order(was) => value,
            2 if order(value) > order(was) => value,
            1 | 2 => was,
            3 => was & value,
            4 => was | value,
            5 => was ^ value,
            7 if was >= value => 0,
            7 => was + 1,
            8 if was == 0 || was > value => value,
            8 => was - 1,
            _ => value,
        }
    });
}

pub(in super::super) fn atomic_float(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let is_double = step.choice[1] == 1;
    exchange(warp, step, lanes, if is_double { 8 } else { 4 }, |warp, lane, was| {
        let value = warp.long(&step.from[0], lane);
        if is_double {
            super::round::long_bits(f64::from_bits(was) + f64::from_bits(value))
        } else {
            let flushed = |it: u32| super::round::flushed(f32::from_bits(it), true);
            let sum = flushed(was as u32) + flushed(value as u32);
            u64::from(bits(super::round::flushed(sum, true)))
        }
    });
}

pub(in super::super) fn atomic_exchange(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let is_long = step.choice[1] == 1;
    let mask = if is_long { !0 } else { 0xFFFF_FFFF };
    exchange(warp, step, lanes, if is_long { 8 } else { 4 }, |warp, lane, was| {
        let [expected, value] = [0, 1].map(|at| warp.long(&step.from[at], lane) & mask);
        if was == expected { value } else { was }
    });
}

/// Bytes of a constant bank from a place that a register says.
pub(in super::super) fn constant(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (size, is_signed) = loaded(step.choice[1]);
    let constant = step.constant;
    for lane in each(lanes | step.whole) {
        let bank = match usize::from(constant.bank) {
            0 => warp.bank0,
            bank => warp.program.banks.get(bank).map_or(&[][..], Vec::as_slice),
        };
        let base = i64::from(warp.file[usize::from(constant.base)][lane]);
        let at = usize::try_from(base + constant.offset).unwrap_or(usize::MAX);
        let Some(found) = at.checked_add(size).and_then(|end| bank.get(at..end)) else {
            warp.fail(step, &format!("no constant in bank {} at {at:x}", constant.bank));
        };
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(found);
        put(warp, step, lane, size, words(bytes, size, is_signed));
    }
}

fn special_word(warp: &Warp<'_>, step: &DecodedInstruction) -> Word {
    std::array::from_fn(|lane| match step.special {
        Special::Zero => 0,
        Special::Thread => warp.thread + lane as u32,
        Special::Block => warp.block,
        Special::Lane => lane as u32,
    })
}

pub(in super::super) fn special(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let words = special_word(warp, step);
    for lane in each(lanes | step.whole) {
        warp.file[usize::from(step.to)][lane] = words[lane];
    }
}

/// `CS2R`: a register, or with its neighbour a pair.
pub(in super::super) fn special_pair(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    special(warp, step, lanes);
    if step.choice[0] == 0 && step.to < SINK {
        for lane in each(lanes) {
            warp.file[usize::from(step.to) + 1][lane] = 0;
        }
    }
}

/// Bank 0 of a launch: what the driver puts there besides parameters.
pub(in super::super) fn bank0(
    size: usize,
    arch: u32,
    blocks: u32,
    threads: u32,
    local_bytes: u32,
) -> Vec<u8> {
    let mut bank = vec![0; size];
    let mut put = |at: usize, value: u32| bank[at..at + 4].copy_from_slice(&value.to_le_bytes());
    let (shape, stack) = if arch >= 100 { (0x360, 0x37C) } else { (0, 0x28) };
    for (at, value) in [threads, 1, 1].into_iter().enumerate() {
        put(shape + 4 * at, value);
    }
    let grid = if arch >= 100 { 0x370 } else { 0xC };
    for (at, value) in [blocks, 1, 1].into_iter().enumerate() {
        put(grid + 4 * at, value);
    }
    put(stack, local_bytes);
    // The upper half of the window's first address: the lower one is zero.
    put(if arch >= 100 { 0x2FC } else { 0x24 }, (LOCAL_WINDOW >> 32) as u32);
    debug_assert!(word(&bank, stack) == Some(local_bytes), "bank 0 is larger than that");
    bank
}
