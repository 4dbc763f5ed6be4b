//! Asynchronous copies from global to shared memory: `LDGSTS`, and groups of them.
//!
//! A copy reads when it is issued, and writes when its thread waits for its group, which is the
//! latest time that a GPU may choose. So a thread that does not wait finds the old contents. The
//! shadow memory records both accesses, so a copy into a buffer that other threads still read is
//! also found.

use super::super::count::Access;
use super::super::decoded::DecodedInstruction;
use super::super::shadow::Manner;
use super::super::warp::{LANES, Mask, Warp, Word, each};
use super::memory::Named;

/// A pending copy.
#[derive(Clone, Copy, Debug)]
struct Copy {
    lane: usize,
    /// Offset in shared memory.
    to: u64,
    bytes: [u8; 16],
    size: usize,
    /// Number of the copy's group among the groups of its lane.
    group: u32,
}

/// Copies of a warp's lanes.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    under_way: Vec<Copy>,
    /// Number of groups that each lane has closed.
    closed: Word,
}

impl Copies {
    pub(crate) fn new() -> Self {
        Self { under_way: Vec::new(), closed: [0; LANES] }
    }
}

/// `LDGSTS`: begins a copy. With `ZFILL` the lowest bits of the source's address say how many
/// bytes at the end become zeros. If the predicate is false, all bytes become zeros.
pub(crate) fn begin(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let size = [4, 8, 16][usize::from(inst.modifiers[0])];
    let fills = inst.modifiers[1] == 1;
    let copies_all = if inst.has[0] { warp.predicate(inst.given[0]) } else { !0 };
    let mut sources = [0; LANES];
    warp.tick();
    for lane in each(lanes) {
        let (to, from) = warp.copied(inst, lane);
        let left_out = if fills { from % size as u64 } else { 0 };
        let length = if copies_all >> lane & 1 == 1 { size - left_out as usize } else { 0 };
        sources[lane] = from - left_out;
        let mut bytes = [0; 16];
        if length > 0 {
            warp.read_part(inst, lane, (sources[lane], size), &mut bytes[..length]);
        }
        warp.note_copy(inst, lane, (to, &bytes[..size]), false);
        let group = warp.copies.closed[lane];
        warp.copies.under_way.push(Copy { lane, to, bytes, size, group });
    }
    warp.count(Access::Load, lanes, &sources);
}

/// `LDGDEPBAR`: closes a group.
pub(crate) fn close(warp: &mut Warp<'_>, _: &DecodedInstruction, lanes: Mask) {
    each(lanes).for_each(|lane| warp.copies.closed[lane] += 1);
}

/// `DEPBAR.LE SB0, n, {2,1}`: waits until at most `n` of the last groups are pending. The listed
/// scoreboards belong to other instructions, which end at once here.
pub(crate) fn wait(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let all = std::mem::take(&mut warp.copies.under_way);
    let closed = warp.copies.closed;
    let is_awaited = |it: &Copy| {
        let is_of_lane = lanes >> it.lane & 1 == 1;
        is_of_lane && it.group + inst.numbers[0] < closed[it.lane]
    };
    let (done, left): (Vec<Copy>, Vec<Copy>) = all.into_iter().partition(is_awaited);
    warp.copies.under_way = left;
    make(warp, inst, done);
}

/// Ends all copies of these lanes.
pub(super) fn finish(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let all = std::mem::take(&mut warp.copies.under_way).into_iter();
    let (done, left): (Vec<Copy>, Vec<Copy>) = all.partition(|it| lanes >> it.lane & 1 == 1);
    warp.copies.under_way = left;
    make(warp, inst, done);
}

fn make(warp: &mut Warp<'_>, inst: &DecodedInstruction, copies: Vec<Copy>) {
    warp.tick();
    for it in copies {
        warp.note_copy(inst, it.lane, (it.to, &it.bytes[..it.size]), true);
    }
}

impl Warp<'_> {
    /// Returns the target's and the source's address of a lane's copy.
    fn copied(&self, inst: &DecodedInstruction, lane: usize) -> (u64, u64) {
        let to = self.address_of(inst, &inst.place, lane, Named::Shared);
        (to, self.address_of(inst, &inst.source, lane, Named::Generic))
    }

    /// Reads the first bytes of a place in global memory. A part of the place is read in pieces
    /// whose size divides it.
    fn read_part(
        &self,
        inst: &DecodedInstruction,
        lane: usize,
        (from, size): (u64, usize),
        to: &mut [u8],
    ) {
        let unit = match to.len() {
            length if length == size => size,
            length if length.is_multiple_of(4) => 4,
            _ => 1,
        };
        for (part, at) in to.chunks_mut(unit).zip((from..).step_by(unit)) {
            let spot = self.spot(inst, at, lane, unit, Named::Generic);
            self.touch(inst, (spot, unit), lane, Manner::Read, &[]);
            self.read(spot, part);
        }
    }

    /// Records a write of shared memory, and carries it out at its time.
    fn note_copy(
        &mut self,
        inst: &DecodedInstruction,
        lane: usize,
        (to, bytes): (u64, &[u8]),
        is_made: bool,
    ) {
        let spot = self.spot(inst, to, lane, bytes.len(), Named::Shared);
        self.touch(inst, (spot, bytes.len()), lane, Manner::Write, bytes);
        if is_made {
            self.write(spot, bytes);
        }
    }
}
