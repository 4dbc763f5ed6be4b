//! Finds races: two threads of one launch touch the same number in a buffer, at least one of them
//! writes it, and at least one access is no atomic operation.
//!
//! Threads run one after the other, so a launch gives the same result with and without a race. The
//! log notes who touched each number of the watched buffers. Two threads that write the same value
//! don't race unless the log is strict. A read of a number that other threads change atomically is
//! forgiven if the reading thread then changes it atomically, too, as loops around a
//! compare-and-exchange do.

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
    /// Reads by the running thread of numbers that other threads changed atomically.
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

#[cfg(test)]
mod tests {
    use super::Manner::{Atomic, Read, Write};
    use super::*;

    /// Returns how the two threads of the first race touch a number, if accesses by threads 0 and 1
    /// race; the last part of an access says if it changes the number.
    fn race(is_strict: bool, accesses: &[(u32, Manner, bool)]) -> Option<[Manner; 2]> {
        let (mut log, buffer) = (RaceLog::new(is_strict), Buffer::from_index(0));
        log.watch(buffer, 16, 4);
        for thread in 0..2 {
            log.begin([thread, 0, 0, 0]);
            for &(_, manner, changes) in accesses.iter().filter(|it| it.0 == thread) {
                log.touch((u64::from(BUFFERS) << 32 | 4, 4), manner, changes, Span::NONE);
            }
            // A number of its own.
            let own = u64::from(BUFFERS) << 32 | u64::from(8 + 4 * thread);
            log.touch((own, 4), Write, true, Span::NONE);
            log.end();
        }
        log.first.map(|race| race.accesses.map(|it| it.manner))
    }

    #[test]
    fn two_threads_race_if_one_changes_a_number_and_not_both_by_atomic_operations() {
        let plain = |accesses: &[_]| race(false, accesses);
        assert_eq!(plain(&[(0, Read, false), (1, Write, true)]), Some([Read, Write]));
        assert_eq!(plain(&[(0, Write, true), (1, Read, false)]), Some([Write, Read]));
        assert_eq!(plain(&[(0, Write, true), (1, Write, true)]), Some([Write, Write]));
        assert_eq!(plain(&[(0, Write, true), (1, Atomic, true)]), Some([Write, Atomic]));
        assert_eq!(plain(&[(0, Atomic, true), (1, Atomic, true)]), None);
        assert_eq!(plain(&[(0, Read, false), (1, Read, false)]), None);
        assert_eq!(plain(&[(0, Write, true), (0, Read, false), (0, Atomic, true)]), None);
    }

    #[test]
    fn equal_writes_race_in_a_strict_log_alone() {
        let equal = [(0, Write, true), (1, Write, false)];
        assert_eq!(race(false, &equal), None);
        assert_eq!(race(true, &equal), Some([Write, Write]));
    }

    #[test]
    fn a_read_beside_atomic_operations_needs_one_of_its_own_thread_behind_it() {
        let plain = |accesses: &[_]| race(false, accesses);
        let (read, change) = (|thread| (thread, Read, false), |thread| (thread, Atomic, true));
        assert_eq!(plain(&[change(0), read(1)]), Some([Atomic, Read]));
        assert_eq!(plain(&[change(0), change(1), read(1)]), Some([Atomic, Read]));
        assert_eq!(plain(&[read(0), change(1)]), Some([Read, Atomic]));
        assert_eq!(plain(&[read(0), change(0), read(1), change(1)]), None);
    }
}
