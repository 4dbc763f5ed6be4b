//! Shadow memory: records which threads read and wrote each cell of an array, and when. It finds
//! races, which are pairs of accesses that nothing orders.
//!
//! Each access has a time. Two accesses are ordered in three cases: one thread makes both; the
//! block's barrier lies between them, or `__syncwarp` for lanes of one warp; a fence and an
//! atomic operation published the earlier access at a place that the later thread has read by an
//! atomic operation ([`Order`]). Atomic operations, and volatile accesses beside them, don't race
//! with each other; volatile writes of two threads do. A plain read beside an atomic operation is
//! a race unless its thread's next access of the place is an atomic operation, as in loops around
//! `atomicCAS`.

use super::named_barrier::NamedBarriers;
use rustc_hash::FxHashMap;

/// Time of an access.
pub type Time = u32;

/// An access of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellAccess {
    /// Number of the thread in the grid, from 1; 0 for no access.
    thread: u32,
    time: Time,
    /// Number of the instruction.
    pub instruction: u32,
}

impl CellAccess {
    /// Returns the number of the thread in the grid.
    pub fn thread(self) -> u32 {
        self.thread - 1
    }

    /// Returns the word that the access has read at an offset.
    pub(super) fn word(self, at: usize) -> WordRead {
        (self.thread(), self.time, at / 4 * 4)
    }
}

/// A word that a thread has read: the thread, the time and the offset.
pub(super) type WordRead = (u32, Time, usize);

/// Greatest number of wide reads that a shadow records separately; further wide reads count as
/// plain reads.
const MAX_WIDE_READS: usize = 1 << 18;

/// Way in which memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// Plain read.
    Read,
    /// Plain read of several words, of which the kernel may use some.
    WideRead,
    /// Read through a cache that may hold the contents from before the launch.
    ConstantRead,
    /// Plain write.
    Write,
    /// Volatile read.
    StrongRead,
    /// Volatile write.
    StrongWrite,
    /// Atomic operation.
    Atomic,
    /// Atomic operation for the threads of one block.
    AtomicOfBlock,
}

impl Manner {
    fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicOfBlock)
    }

    /// Returns true if the access does not race with an earlier write of the manner `write`.
    /// `is_of_block` is true if one block makes both accesses.
    fn goes_with(self, write: Self, is_of_block: bool) -> bool {
        let is_local = self == Self::AtomicOfBlock || write == Self::AtomicOfBlock;
        let is_strong = write == Self::StrongWrite || write.is_atomic();
        let are_writes = self == Self::StrongWrite && write == Self::StrongWrite;
        is_strong && !are_writes && (is_of_block || !is_local)
    }
}

/// Cell of an array.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: CellAccess,
    /// Manner of the write.
    written_by: Option<Manner>,
    /// The last read, a read by a second thread of the same block, and a read by another block.
    reads: [CellAccess; 3],
}

/// The earlier of two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// Earlier access.
    pub earlier: CellAccess,
    /// True if the earlier access writes.
    pub has_written: bool,
    /// Offset of the cell in bytes.
    pub at: usize,
}

/// Conflict of a plain read with an atomic operation. It becomes a race unless the reader's next
/// access of the place is atomic.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The conflict, seen from the later access.
    pub conflict: Conflict,
    /// Later access.
    pub later: CellAccess,
}

/// Shadow of an array.
#[derive(Debug, Default)]
pub struct Shadow {
    cells: Vec<Cell>,
    /// Bytes of a cell: 4, or fewer after an access of fewer bytes.
    grain: usize,
    bytes: usize,
    pending: FxHashMap<(usize, u32), Pending>,
    /// Wide reads of each cell since a barrier of the block.
    wide: FxHashMap<usize, Vec<CellAccess>>,
    /// Number of all wide reads.
    wide_count: usize,
    /// The barrier of the last search for wide reads that it orders: a second search finds none.
    wide_barrier: Time,
}

impl Shadow {
    /// Makes the shadow of this number of bytes.
    pub fn new(bytes: usize) -> Self {
        Self { grain: 4, bytes, ..Self::default() }
    }

    /// Forgets all accesses.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.pending.clear();
        self.wide.clear();
        self.wide_count = 0;
    }

    /// Returns the conflicts that no atomic operation of the reader has resolved.
    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values()
    }

    /// Splits cells into parts of this number of bytes.
    fn refine(&mut self, grain: usize) {
        let parts = self.grain / grain;
        self.cells = self.cells.iter().flat_map(|cell| vec![*cell; parts]).collect();
        let wide = std::mem::take(&mut self.wide).into_iter();
        let each = wide.flat_map(|(cell, reads)| {
            (parts * cell..parts * (cell + 1)).map(move |part| (part, reads.clone()))
        });
        self.wide = each.collect();
        self.wide_count *= parts;
        self.grain = grain;
        // A pending conflict doesn't say which part of a cell it concerns.
        self.pending.clear();
    }

    /// Records an access, and returns the first earlier access that nothing orders before it.
    /// Conflicts with wide reads go to `unsure` instead, because the words read may be unused.
    pub fn note(
        &mut self,
        order: &Order,
        (at, size): (usize, usize),
        manner: Manner,
        (thread, instruction): (u32, u32),
        unsure: &mut Vec<Conflict>,
    ) -> Option<Conflict> {
        if self.cells.is_empty() {
            self.cells = vec![Cell::default(); self.bytes.div_ceil(self.grain)];
        }
        if size < self.grain || !at.is_multiple_of(self.grain) {
            self.refine(if at.is_multiple_of(2) { size.min(2) } else { 1 });
        }
        let access = CellAccess { thread: thread + 1, time: order.now, instruction };
        let mut first = None;
        for cell in at / self.grain..(at + size).div_ceil(self.grain) {
            let conflict = self.note_cell(order, cell, manner, access, unsure);
            first = first.or(conflict);
        }
        first
    }

    fn note_cell(
        &mut self,
        order: &Order,
        number: usize,
        manner: Manner,
        access: CellAccess,
        unsure: &mut Vec<Conflict>,
    ) -> Option<Conflict> {
        let at = number * self.grain;
        let is_write = !matches!(
            manner,
            Manner::Read | Manner::WideRead | Manner::ConstantRead | Manner::StrongRead
        );
        let wide = if is_write { self.take_wide(order, number) } else { Vec::new() };
        let is_kept = manner == Manner::WideRead && self.keep_wide(order, number, access);
        let cell = &mut self.cells[number];
        let is_open = |it: &CellAccess| it.thread != 0 && !order.is_before(*it, access);
        let conflict = |earlier, has_written| Conflict { earlier, has_written, at };
        let write = is_open(&cell.write).then_some(cell.write);
        let written_by = cell.written_by.unwrap_or(Manner::Write);
        let is_of_block = write.is_some_and(|it| order.block_of(it) == order.block_of(access));
        let racing = write.filter(|_| !manner.goes_with(written_by, is_of_block));
        let read = cell.reads.iter().copied().find(is_open);
        let mut first = None;
        match manner {
            Manner::Read | Manner::WideRead => match (write, racing) {
                (_, Some(write)) => first = Some(conflict(write, true)),
                (Some(write), None) => {
                    let pending = Pending { conflict: conflict(write, true), later: access };
                    self.pending.insert((number, access.thread), pending);
                }
                (None, None) => {}
            },
            Manner::ConstantRead => {
                first = (cell.write.thread != 0).then(|| conflict(cell.write, true));
            }
            Manner::StrongRead => first = racing.map(|it| conflict(it, true)),
            Manner::Write => {
                first = write.map(|it| conflict(it, true)).or(read.map(|it| conflict(it, false)));
                let open = wide.iter().copied().filter(is_open);
                unsure.extend(open.map(|it| conflict(it, false)));
            }
            Manner::StrongWrite | Manner::Atomic | Manner::AtomicOfBlock => {
                first = racing.map(|it| conflict(it, true));
                self.pending.remove(&(number, access.thread));
                for read in cell.reads.iter().chain(&wide).filter(|it| is_open(it)) {
                    let pending = Pending { conflict: conflict(*read, false), later: access };
                    self.pending.entry((number, read.thread)).or_insert(pending);
                }
            }
        }
        match manner {
            Manner::WideRead if is_kept => {}
            Manner::Read | Manner::WideRead | Manner::ConstantRead => cell.add_read(access, order),
            Manner::StrongRead => {}
            Manner::Write | Manner::StrongWrite | Manner::Atomic | Manner::AtomicOfBlock => {
                cell.write = access;
                cell.written_by = Some(manner);
                // A thread whose next access of the cell is an atomic operation has not relied on
                // its read.
                if manner.is_atomic() {
                    for read in &mut cell.reads {
                        if read.thread == access.thread {
                            *read = CellAccess::default();
                        }
                    }
                }
            }
        }
        first
    }

    /// Takes the wide reads of a cell that no barrier orders before the current write.
    fn take_wide(&mut self, order: &Order, cell: usize) -> Vec<CellAccess> {
        if self.wide_count == 0 {
            return Vec::new();
        }
        let mut reads = self.wide.remove(&cell).unwrap_or_default();
        self.wide_count -= reads.len();
        reads.retain(|it| it.time >= order.barrier);
        reads
    }

    /// Records a wide read; returns false if there are too many.
    fn keep_wide(&mut self, order: &Order, cell: usize, access: CellAccess) -> bool {
        if self.wide_count >= MAX_WIDE_READS && self.wide_barrier != order.barrier {
            self.wide_barrier = order.barrier;
            self.wide.retain(|_, reads| {
                reads.retain(|it| it.time >= order.barrier);
                !reads.is_empty()
            });
            self.wide_count = self.wide.values().map(Vec::len).sum();
        }
        let is_room = self.wide_count < MAX_WIDE_READS;
        if is_room {
            self.wide.entry(cell).or_default().push(access);
            self.wide_count += 1;
        }
        is_room
    }
}

impl Cell {
    fn add_read(&mut self, access: CellAccess, order: &Order) {
        let last = self.reads[0];
        if last.thread != access.thread && last.thread != 0 {
            let is_of_block = order.block_of(last) == order.block_of(access);
            self.reads[if is_of_block { 1 } else { 2 }] = last;
        }
        self.reads[0] = access;
    }
}

/// Order of accesses by barriers, fences and atomic operations.
#[derive(Debug, Default)]
pub struct Order {
    /// Time of the current access.
    pub now: Time,
    threads_of_block: u32,
    /// Time of the last barrier of the running block.
    barrier: Time,
    /// Time of the last `__syncwarp` of each thread of the block.
    warp_syncs: Vec<Time>,
    /// Time of the last fence of each thread that has made one: of the device, and of the block at
    /// least.
    fences: [FxHashMap<u32, Time>; 2],
    /// Accesses published at each place, by array and offset: to all threads, and to the threads of
    /// one block.
    published: FxHashMap<(Place, Option<u32>), Times>,
    /// Numbered barriers of the running block.
    pub named: NamedBarriers,
    /// Accesses of other threads that are known to a thread, or to all threads of the running
    /// block.
    shown: FxHashMap<Option<u32>, Times>,
}

/// Array and offset.
type Place = (usize, usize);

/// For each origin, the last time up to which its accesses are known.
type Times = FxHashMap<Whose, Time>;

/// Advances times to later ones.
fn advance(times: &mut Times, others: impl IntoIterator<Item = (Whose, Time)>) {
    for (whose, time) in others {
        let last = times.entry(whose).or_default();
        *last = time.max(*last);
    }
}

/// Origin of accesses: a thread, a block's warp, or a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Whose {
    Thread(u32),
    Warp(u32, u32),
    Block(u32),
}

impl Order {
    /// Makes the order of a launch.
    pub fn new(threads_of_block: u32) -> Self {
        Self { now: 1, threads_of_block, ..Self::default() }
    }

    fn block_of(&self, access: CellAccess) -> u32 {
        access.thread() / self.threads_of_block
    }

    /// Begins a block.
    pub fn begin_block(&mut self) {
        self.now += 1;
        self.barrier = self.now;
        self.warp_syncs.clear();
        self.warp_syncs.resize(self.threads_of_block as usize, 0);
        self.shown.clear();
        self.named.clear();
    }

    /// Records that all threads of the block have passed its barrier.
    pub fn pass_barrier(&mut self) {
        self.now += 1;
        self.barrier = self.now;
        let mut all = self.shown.remove(&None).unwrap_or_default();
        self.shown.drain().for_each(|(_, times)| advance(&mut all, times));
        if !all.is_empty() {
            self.shown.insert(None, all);
        }
    }

    /// Records that threads of a warp, given by their numbers in the block and in the grid, have
    /// passed `__syncwarp`. Afterwards each thread knows all accesses that any of them knew.
    pub fn sync_lanes(&mut self, threads: &[(u32, u32)]) {
        self.now += 1;
        for &(of_block, _) in threads {
            self.warp_syncs[of_block as usize] = self.now;
        }
        let mut all = Times::default();
        for (_, thread) in threads {
            let shown = self.shown.get(&Some(*thread)).into_iter().flatten();
            advance(&mut all, shown.map(|(whose, time)| (*whose, *time)));
        }
        if !all.is_empty() {
            let each = threads.iter().map(|(_, thread)| (Some(*thread), all.clone()));
            self.shown.extend(each);
        }
    }

    /// Records a fence of a thread, for all threads or only for those of its block.
    pub fn fence(&mut self, thread: u32, is_of_block: bool) {
        if !is_of_block {
            self.fences[0].insert(thread, self.now);
        }
        self.fences[1].insert(thread, self.now);
    }

    /// Records an atomic or volatile access of a thread. The access publishes the accesses that
    /// the thread's fence has ordered, and the thread learns the accesses that others have
    /// published at this place. A write that does not change the value publishes nothing, because
    /// a reader cannot know from the value that the write took place: a flag of an earlier launch
    /// looks the same.
    pub fn meet(&mut self, place: Place, thread: u32, manner: Manner, is_change: bool) {
        let is_read = manner == Manner::StrongRead || manner.is_atomic();
        let is_write = is_change && (manner == Manner::StrongWrite || manner.is_atomic());
        let (block, of_block) = (thread / self.threads_of_block, thread % self.threads_of_block);
        for whom in [None, Some(block)] {
            if is_read && let Some(published) = self.published.get(&(place, whom)) {
                let shown = self.shown.entry(Some(thread)).or_default();
                advance(shown, published.iter().map(|(whose, time)| (*whose, *time)));
            }
            let fences = &self.fences[usize::from(whom.is_some())];
            if is_write && let Some(&fence) = fences.get(&thread) {
                let synced = self.warp_syncs[of_block as usize];
                let own_times = [
                    (Whose::Thread(thread), fence),
                    (Whose::Warp(block, of_block / 32), synced.min(fence)),
                    (Whose::Block(block), self.barrier.min(fence)),
                ];
                // With its own accesses the thread publishes the accesses that it knows.
                let shown = [None, Some(thread)].into_iter().filter_map(|who| self.shown.get(&who));
                let shown = shown.flatten().map(|(whose, time)| (*whose, *time));
                let published = self.published.entry((place, whom)).or_default();
                advance(published, own_times.into_iter().chain(shown));
            }
        }
    }

    /// Returns true if an access is ordered before the current one.
    fn is_before(&self, earlier: CellAccess, current: CellAccess) -> bool {
        if earlier.thread == current.thread {
            return true;
        }
        let (block, own_block) = (self.block_of(earlier), self.block_of(current));
        let other = earlier.thread() % self.threads_of_block;
        if block == own_block {
            let in_block = current.thread() % self.threads_of_block;
            let is_same_warp = in_block / 32 == other / 32;
            let is_synced = is_same_warp && earlier.time < self.warp_syncs[in_block as usize];
            let is_before_named = || self.named.is_known(in_block, other, earlier.time);
            if earlier.time < self.barrier || is_synced || is_before_named() {
                return true;
            }
        }
        let is_shown = |whose| {
            let time = |who| self.shown.get(&who).and_then(|times| times.get(&whose));
            let of = |who| time(who).is_some_and(|time| earlier.time < *time);
            of(None) || of(Some(current.thread()))
        };
        let of_warp = Whose::Warp(block, other / 32);
        !self.shown.is_empty()
            && [Whose::Thread(earlier.thread()), of_warp, Whose::Block(block)]
                .into_iter()
                .any(is_shown)
    }
}
