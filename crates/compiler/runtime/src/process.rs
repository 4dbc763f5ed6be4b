//! Values of one process. A forked process has a copy of the memory, but not the threads, and so
//! not the owners of their locks.

use std::sync::OnceLock;

/// Value that each process makes for itself at the first use. Statics with locks are kept in this
/// way: if another thread held a lock while the process forked, the lock would stay locked in the
/// child for ever. The parent's value is neither changed nor dropped.
pub struct PerProcess<T: 'static>(OnceLock<ProcessValue<T>>);

struct ProcessValue<T: 'static> {
    process: u32,
    value: T,
    /// Value of a child process; the parent's value stays before it.
    next: OnceLock<Box<ProcessValue<T>>>,
}

impl<T: Default> PerProcess<T> {
    /// Makes an empty holder.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the calling process's own value.
    pub fn get(&'static self) -> &'static T {
        let new = || ProcessValue {
            process: std::process::id(),
            value: T::default(),
            next: OnceLock::new(),
        };
        let mut made = self.0.get_or_init(new);
        while made.process != std::process::id() {
            made = made.next.get_or_init(|| Box::new(new()));
        }
        &made.value
    }
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the content of a cell, made at its first use. In contrast to `get_or_init`, no thread
/// waits for another thread that makes the content, so a forked child doesn't wait either. Two
/// threads at once both make the content, and one result is kept.
pub fn get_or_make<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = cell.get() {
        return made;
    }
    let made = make();
    cell.get_or_init(|| made)
}

/// Mark of the process that made a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u32);

impl Process {
    /// Returns the mark of the calling process.
    #[must_use]
    pub fn current() -> Self {
        Self(std::process::id())
    }

    /// Returns true in the process that made the mark. Threads and devices do not work in a forked
    /// child.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_process_has_one_value_for_all_callers() {
        static COUNT: PerProcess<Mutex<u32>> = PerProcess::new();
        let add = || *COUNT.get().lock().expect("no panic") += 1;
        std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(add)));
        assert_eq!(*COUNT.get().lock().expect("no panic"), 4);
        assert!(Process::current().is_current());
    }
}
