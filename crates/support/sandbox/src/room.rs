//! Free memory and disk of this machine, measured before and after a child. Only these measurements
//! count as evidence for a fault of the machine, because a hostile child can fake its output and
//! its behaviour.

use std::path::Path;

use crate::Limits;

/// Number of files that a compiler needs for one text, with its temporary ones.
const FILES: u64 = 64;

/// Free memory and disk, and the number of processes that the system killed for lack of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Free bytes of the folder's file system.
    pub disk_bytes: u64,
    /// Number of files that can still be made on the folder's file system.
    pub files: u64,
    /// Bytes of memory that are available.
    pub memory_bytes: u64,
    /// Number of processes that the system has killed for lack of memory since its start.
    pub memory_kills: u64,
}

impl Room {
    /// Measures the resources for a child that works in a folder. A number that the system doesn't
    /// report counts as enough.
    #[must_use]
    pub fn now(folder: &Path) -> Self {
        let (disk_bytes, files) = disk(folder);
        let (memory_bytes, memory_kills) = memory();
        Self { disk_bytes, files, memory_bytes, memory_kills }
    }

    /// Returns a sentence about the lack of disk space, if a child within its limits could need
    /// more.
    #[must_use]
    pub fn disk_lack(&self, limits: &Limits) -> Option<String> {
        let needed = limits.written_bytes;
        if self.disk_bytes < needed {
            let free = self.disk_bytes;
            return Some(format!("the disk has {free} bytes free, and {needed} may be needed"));
        }
        (needed > 0 && self.files < FILES)
            .then(|| format!("the disk takes {} files more, and {FILES} may be needed", self.files))
    }

    /// Returns a sentence about the lack of memory if, between two measurements, the system killed
    /// a process for lack of memory and had less than the child may take.
    #[must_use]
    pub fn memory_lack(&self, after: &Self, limits: &Limits) -> Option<String> {
        let (free, needed) = (self.memory_bytes, limits.memory_bytes);
        (after.memory_kills > self.memory_kills && free < needed)
            .then(|| format!("{free} bytes of memory were free, and {needed} may be needed"))
    }
}

#[cfg(unix)]
fn disk(folder: &Path) -> (u64, u64) {
    let Ok(free) = rustix::fs::statvfs(folder) else { return (u64::MAX, u64::MAX) };
    // A file system without a table of files reports 0 files.
    let files = if free.f_files == 0 { u64::MAX } else { free.f_favail };
    (free.f_bavail.saturating_mul(free.f_frsize), files)
}

#[cfg(not(unix))]
fn disk(_: &Path) -> (u64, u64) {
    (u64::MAX, u64::MAX)
}

/// Returns the available memory and the number of processes killed for lack of memory: of this
/// process's control group if that has less memory, else of the system.
fn memory() -> (u64, u64) {
    let number = |path: &str, name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let of_system = number("/proc/meminfo", "MemAvailable:").map_or(u64::MAX, |it| it << 10);
    let group = |name: &str| number(&format!("/sys/fs/cgroup/memory.{name}"), "");
    let of_group = match (group("max"), group("current")) {
        (Some(most), Some(used)) => most.saturating_sub(used),
        _ => u64::MAX,
    };
    let kills = number("/proc/vmstat", "oom_kill ").unwrap_or(0)
        + number("/sys/fs/cgroup/memory.events", "oom_kill ").unwrap_or(0);
    (of_system.min(of_group), kills)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENOUGH: Room =
        Room { disk_bytes: u64::MAX, files: u64::MAX, memory_bytes: u64::MAX, memory_kills: 3 };

    #[test]
    fn a_disk_without_files_or_bytes_is_named_and_a_program_that_writes_nothing_needs_neither() {
        let full = Room { disk_bytes: 4096, ..ENOUGH };
        let countless = Room { files: 0, ..ENOUGH };
        assert!(full.disk_lack(&Limits::COMPILER).is_some_and(|it| it.contains("4096 bytes free")));
        let lack = countless.disk_lack(&Limits::COMPILER);
        assert!(lack.is_some_and(|it| it.contains("takes 0 files more")));
        assert_eq!(ENOUGH.disk_lack(&Limits::COMPILER), None);
        assert_eq!(
            full.disk_lack(&Limits::PROGRAM).or(countless.disk_lack(&Limits::PROGRAM)),
            None
        );
    }

    #[test]
    fn want_of_memory_is_believed_only_if_the_system_ended_a_process_and_had_less_than_the_limit() {
        let short = Room { memory_bytes: 1 << 20, ..ENOUGH };
        let killed = Room { memory_kills: 4, ..ENOUGH };
        assert!(short.memory_lack(&killed, &Limits::PROGRAM).is_some());
        assert_eq!(short.memory_lack(&short, &Limits::PROGRAM), None);
        assert_eq!(ENOUGH.memory_lack(&killed, &Limits::PROGRAM), None);
    }

    #[test]
    fn this_machine_tells_what_is_free() {
        let room = Room::now(&std::env::temp_dir());
        assert!(room.disk_bytes > 0 && room.memory_bytes > 0, "{room:?}");
    }
}
