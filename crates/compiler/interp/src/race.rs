//! Finds races: a number in a buffer that two threads of one launch touch, of which one writes, and
//! which not both touch by atomic operations.
//!
//! Threads run one after the other, so a launch gives the same result with and without a race. The
//! log notes who touched each number of the watched buffers. Two threads that write the same value
//! don't race unless the log is strict. A read beside atomic operations of others is forgiven if
//! its thread goes on with an atomic operation there, as loops around a compare-and-exchange do.

use super::memory::{BUFFERS, Buffer};
use gbxcule_ir::source::Span;

/// Way in which a thread touches a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic operation.
    Atomic,
}

/// Access of a thread to a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Thread of the grid.
    pub thread: [u32; 4],
    /// Way in which it touches the number.
    pub manner: Manner,
    /// Place in the source.
    pub span: Span,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// The buffer.
    pub buffer: Buffer,
    /// First byte of the number.
    pub offset: usize,
    /// The two accesses, in the order in which they ran.
    pub accesses: [Access; 2],
}

/// Accesses of a launch to watched buffers.
#[derive(Clone, Default, Debug)]
pub struct RaceLog {
    /// The first race.
    pub first: Option<Race>,
    /// True if two threads that write the same value race, too.
    is_strict: bool,
    buffers: Vec<Watched>,
    /// Threads that have run; accesses hold positions in it.
    threads: Vec<[u32; 4]>,
    /// Reads of the running thread beside atomic operations of others.
    unforgiven: Vec<Race>,
}

#[derive(Clone, Default, Debug)]
struct Watched {
    number_bytes: usize,
    numbers: Vec<Touches>,
}

/// Accesses of two threads in each manner, because an access by one of them may follow.
#[derive(Clone, Copy, Default, Debug)]
struct Touches([[Option<Touch>; 2]; 3]);

#[derive(Clone, Copy, Debug)]
struct Touch {
    thread: u32,
    span: Span,
}

impl Touches {
    fn of_others(&self, manner: Manner, thread: u32) -> Option<Touch> {
        self.0[manner as usize].into_iter().flatten().find(|it| it.thread != thread)
    }

    fn add(&mut self, manner: Manner, touch: Touch) {
        let [first, second] = &mut self.0[manner as usize];
        match first {
            None => *first = Some(touch),
            Some(other) if other.thread != touch.thread => *second = Some(touch),
            Some(_) => {}
        }
    }

    fn forget_reads_of(&mut self, thread: u32) {
        for touch in &mut self.0[Manner::Read as usize] {
            *touch = touch.filter(|it| it.thread != thread);
        }
    }
}

impl RaceLog {
    /// Makes an empty log.
    pub fn new(is_strict: bool) -> Self {
        Self { is_strict, ..Self::default() }
    }

    /// Notes the accesses to a buffer of numbers that have so many bytes.
    pub fn watch(&mut self, buffer: Buffer, bytes: usize, number_bytes: usize) {
        let at = buffer.index();
        if self.buffers.len() <= at {
            self.buffers.resize_with(at + 1, Watched::default);
        }
        let numbers = vec![Touches::default(); bytes / number_bytes];
        self.buffers[at] = Watched { number_bytes, numbers };
    }

    pub(super) fn begin(&mut self, thread: [u32; 4]) {
        self.threads.push(thread);
    }

    pub(super) fn end(&mut self) {
        let race = self.unforgiven.drain(..).next();
        self.first = self.first.or(race);
    }

    /// Notes an access of the running thread; `changes` says if a write changes the bytes.
    pub(super) fn touch(
        &mut self,
        (at, size): (u64, u64),
        manner: Manner,
        changes: bool,
        span: Span,
    ) {
        let Some(buffer) = ((at >> 32) as u32).checked_sub(BUFFERS) else { return };
        let Some(watched) = self.buffers.get_mut(buffer as usize) else { return };
        let Some(thread) = self.threads.len().checked_sub(1) else { return };
        let (offset, width) = ((at & 0xffff_ffff) as usize, watched.number_bytes.max(1));
        let numbers = offset / width..(offset + size as usize).div_ceil(width);
        let own = thread as u32;
        for number in numbers {
            let Some(touches) = watched.numbers.get_mut(number) else { return };
            let of = |manner| touches.of_others(manner, own).map(|it| (it, manner));
            let earlier = match manner {
                Manner::Read => of(Manner::Write).or_else(|| of(Manner::Atomic)),
                Manner::Write => of(Manner::Read)
                    .or_else(|| of(Manner::Atomic))
                    .or_else(|| of(Manner::Write).filter(|_| changes || self.is_strict)),
                Manner::Atomic => of(Manner::Write).or_else(|| of(Manner::Read)),
            };
            let offset = number * width;
            if let Some((touch, earlier)) = earlier {
                let access = |thread, manner, span| Access {
                    thread: self.threads[thread as usize],
                    manner,
                    span,
                };
                let accesses =
                    [access(touch.thread, earlier, touch.span), access(own, manner, span)];
                let race = Race { buffer: Buffer::from_index(buffer), offset, accesses };
                match (manner, earlier) {
                    (Manner::Read, Manner::Atomic) => self.unforgiven.push(race),
                    _ => self.first = self.first.or(Some(race)),
                }
            }
            if manner == Manner::Atomic {
                touches.forget_reads_of(own);
                self.unforgiven
                    .retain(|it| (it.buffer.index(), it.offset) != (buffer as usize, offset));
            }
            touches.add(manner, Touch { thread: own, span });
        }
    }
}
