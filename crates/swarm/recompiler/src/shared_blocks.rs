//! Blocks of a ROM for all machines that run it in this process, on all threads.
//!
//! Runners count in a few frames where programs arrive. A thread makes blocks of hot code; runners
//! take the new table within 32 frames, and no step waits for a block. Blocks of code that was hot
//! in an earlier process are made first (`kept_heads`). Blocks are exact, so no result depends on
//! when a block is ready, nor on the measured times that decide whether blocks are used.

use crate::Recompile;
use crate::kept_heads;
use crate::learning::{HotHead, Learning};
use crate::maker::{self, Request};
use crate::runner::CompiledBatch;
use crate::table::BlockTable;
use crate::trial::Trial;
use gbxcule_gameboy::Machine;
use gbxcule_runtime::PerProcess;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// Frames of a ROM in a process before runners begin to count: short runs would not gain from
/// blocks.
const FRAMES_BEFORE_LEARNING: u64 = 1 << 14;
/// Arrivals at an address, in watched frames, before a block is asked for: the next arrival asks.
const ARRIVALS: u32 = 24;
/// As `ARRIVALS`, if blocks are made at once.
const EAGER_ARRIVALS: u32 = 3;
/// A runner watches one frame in so many: in 32 at first, in 2,048 at last.
const PERIODS: (u32, u32) = (32, 2_048);
/// Watched frames without a new block, after which runners watch half as often.
const FRAMES_WITHOUT_NEWS: u32 = 64;
/// Frames that a runner runs between two looks at the process: it adds them to the common count and
/// takes the newest table.
const FRAMES_ADDED: u32 = 32;

/// Blocks of one ROM.
pub struct SharedBlocks {
    rom: Arc<[u8]>,
    /// Two of three frames are watched, and blocks are made at once and always used.
    is_eager: bool,
    table: Mutex<Arc<BlockTable>>,
    /// Number of the newest table.
    generation: AtomicU64,
    state: Mutex<LearningState>,
    /// A runner watches one frame in so many.
    period: AtomicU32,
    frames: AtomicU64,
    /// True if the blocks of the heads on disk were requested.
    has_asked_for_kept: AtomicBool,
    trial: Trial,
}

struct LearningState {
    counts: Learning,
    frames_without_news: u32,
}

/// The blocks of all ROMs that run in this process.
type Registry = Mutex<Vec<Weak<SharedBlocks>>>;

static REGISTRY: PerProcess<Registry> = PerProcess::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedBlocks {
    /// Returns the blocks of a padded ROM in this process.
    fn of(rom: &Arc<[u8]>, is_eager: bool) -> Arc<Self> {
        let mut registry = lock(REGISTRY.get());
        registry.retain(|blocks| blocks.strong_count() > 0);
        let is_it = |blocks: &Arc<Self>| blocks.is_eager == is_eager && blocks.rom == *rom;
        let existing = registry.iter().filter_map(Weak::upgrade).find(is_it);
        existing.unwrap_or_else(|| {
            let blocks = Arc::new(Self::new(rom, is_eager));
            registry.push(Arc::downgrade(&blocks));
            blocks
        })
    }

    fn new(rom: &Arc<[u8]>, is_eager: bool) -> Self {
        let arrivals = if is_eager { EAGER_ARRIVALS } else { ARRIVALS };
        let state = LearningState { counts: Learning::new(arrivals), frames_without_news: 0 };
        Self {
            rom: Arc::clone(rom),
            is_eager,
            table: Mutex::new(Arc::new(BlockTable::new())),
            generation: AtomicU64::new(0),
            state: Mutex::new(state),
            period: AtomicU32::new(PERIODS.0),
            frames: AtomicU64::new(0),
            has_asked_for_kept: AtomicBool::new(false),
            trial: Trial::default(),
        }
    }

    /// Returns the newest table.
    pub fn table(&self) -> Arc<BlockTable> {
        Arc::clone(&lock(&self.table))
    }

    /// Returns true if frames are run by blocks now, because such frames were faster.
    pub fn are_used(&self) -> bool {
        self.is_eager && !self.table().is_empty() || self.trial.is_won()
    }

    /// Reads the heads that an earlier process wrote; called by the thread that makes blocks.
    pub(crate) fn kept_heads(&self) -> Vec<HotHead> {
        kept_heads::load(&self.rom)
    }

    /// Writes the heads of all blocks to disk; called by the thread that makes blocks.
    pub(crate) fn keep_heads(&self) {
        let table = self.table();
        if !table.is_empty() {
            kept_heads::save(&self.rom, &table.heads());
        }
    }

    /// Requests the blocks of an earlier process, once.
    fn ask_for_kept(self: &Arc<Self>) {
        if !self.has_asked_for_kept.swap(true, Ordering::Relaxed) {
            maker::ask(self, Request::Kept);
        }
    }

    /// Makes blocks; called by the thread of `maker`.
    pub(crate) fn make(&self, wanted: &[HotHead]) {
        let table = self.table();
        let CompiledBatch { codes, refused } = crate::runner::make(&table, &self.rom, wanted);
        if !refused.is_empty() {
            let mut state = lock(&self.state);
            refused.into_iter().for_each(|wanted| state.counts.refuse(wanted));
        }
        if !codes.is_empty() {
            let mut newest = lock(&self.table);
            let mut table = BlockTable::clone(&newest);
            codes.into_iter().for_each(|code| table.add(Arc::new(code)));
            *newest = Arc::new(table);
            drop(newest);
            self.trial.restart();
            self.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Runs a frame and counts where programs arrive; does nothing if another thread counts now.
    fn watch_frame(
        self: &Arc<Self>,
        table: &BlockTable,
        machine: &mut Machine,
        cart_ram: &mut [u8],
        draw: bool,
    ) -> bool {
        let Ok(mut state) = self.state.try_lock() else { return false };
        table.run_frame_counting(&mut state.counts, machine, &self.rom, cart_ram, draw);
        let wanted = state.counts.take_wanted();
        if !wanted.is_empty() {
            state.frames_without_news = 0;
            self.period.store(PERIODS.0, Ordering::Relaxed);
            match self.is_eager {
                true => {
                    drop(state);
                    self.make(&wanted);
                }
                false => maker::ask(self, Request::Learned(wanted)),
            }
        } else if state.frames_without_news < FRAMES_WITHOUT_NEWS {
            state.frames_without_news += 1;
        } else {
            state.frames_without_news = 0;
            let period = self.period.load(Ordering::Relaxed);
            self.period.store((period * 2).min(PERIODS.1), Ordering::Relaxed);
        }
        true
    }
}

/// A shard's view of the shared blocks: a thread runs the shard's machines by it.
pub struct Runner {
    shared: Arc<SharedBlocks>,
    table: Arc<BlockTable>,
    generation: u64,
    /// Frames that this runner has not yet added to the process's count.
    frames: u32,
    /// Frames before the next one that is watched.
    until_watch: u32,
    /// Nanoseconds of the pair's first frame, while frames are compared.
    compared: Option<u64>,
}

impl Runner {
    /// Makes a view of the blocks of a padded ROM.
    #[must_use]
    pub fn new(rom: &Arc<[u8]>, recompile: Recompile) -> Self {
        let shared = SharedBlocks::of(rom, recompile == Recompile::Always);
        let table = shared.table();
        Self { shared, table, generation: 0, frames: 0, until_watch: PERIODS.0, compared: None }
    }

    /// Returns the shared blocks.
    pub fn shared(&self) -> &SharedBlocks {
        &self.shared
    }

    /// Runs a frame like `Machine::run_frame`.
    pub fn run_frame(&mut self, machine: &mut Machine, cart_ram: &mut [u8], draw: bool) {
        if self.shared.is_eager {
            return self.run_eagerly(machine, cart_ram, draw);
        }
        self.frames += 1;
        if self.frames >= FRAMES_ADDED {
            self.shared.frames.fetch_add(u64::from(self.frames), Ordering::Relaxed);
            self.frames = 0;
            self.refresh_table();
        }
        self.until_watch -= 1;
        if self.until_watch == 0 {
            self.until_watch = self.shared.period.load(Ordering::Relaxed);
            if self.shared.frames.load(Ordering::Relaxed) >= FRAMES_BEFORE_LEARNING {
                self.shared.ask_for_kept();
                if self.shared.watch_frame(&self.table, machine, cart_ram, draw) {
                    return;
                }
            }
        }
        if self.table.is_empty() {
            machine.run_frame(&self.shared.rom, cart_ram, draw);
        } else if self.shared.trial.is_running() {
            self.compare(machine, cart_ram, draw);
        } else {
            self.run(machine, cart_ram, draw, self.shared.trial.is_won());
        }
    }

    /// Watches two of three frames.
    fn run_eagerly(&mut self, machine: &mut Machine, cart_ram: &mut [u8], draw: bool) {
        self.refresh_table();
        self.frames = (self.frames + 1) % 3;
        if self.frames == 0 || !self.shared.watch_frame(&self.table, machine, cart_ram, draw) {
            self.run(machine, cart_ram, draw, true);
        }
    }

    fn refresh_table(&mut self) {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.generation = generation;
            self.table = self.shared.table();
        }
    }

    fn run(&self, machine: &mut Machine, cart_ram: &mut [u8], draw: bool, by_blocks: bool) {
        match by_blocks {
            true => self.table.run_frame(machine, &self.shared.rom, cart_ram, draw),
            false => machine.run_frame(&self.shared.rom, cart_ram, draw),
        }
    }

    /// Runs a frame, alternately with and without blocks, and measures its time.
    fn compare(&mut self, machine: &mut Machine, cart_ram: &mut [u8], draw: bool) {
        let by_blocks = self.shared.trial.are_blocks_next(self.compared.is_some());
        let begun = Instant::now();
        self.run(machine, cart_ram, draw, by_blocks);
        let took = begun.elapsed().as_nanos() as u64;
        self.compared = match self.compared {
            None => Some(took),
            Some(before) => {
                let (blocks, interpreter) = if by_blocks { (took, before) } else { (before, took) };
                self.shared.trial.note(blocks, interpreter);
                None
            }
        };
    }
}
