//! Resource usage of a child and its descendants: a process group, which no member can leave.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use crate::policy::{Limits, Policy};
use crate::run::ChildEnd;

/// Least number of bytes that an entry of a folder counts for, so that many empty files reach the
/// limit, too.
const ENTRY_BYTES: u64 = 4096;

/// Length of the longest path that is measured; the system's limit is 4096 bytes.
const MAX_PATH_BYTES: usize = 3000;

/// Extent of a measurement of a group: the expensive parts are made only sometimes.
#[derive(Clone, Copy)]
pub(crate) struct Looks {
    /// True if the measurement includes the group's folder.
    pub(crate) at_folder: bool,
    /// True if the measurement covers processes with smaller ids than the group's, which members
    /// have after the system's process ids have wrapped.
    pub(crate) at_all: bool,
}

/// Returns the limit of the whole group that is exceeded, if there is one.
pub(crate) fn exceeded(group: u32, policy: &Policy, looks: Looks) -> Option<ChildEnd> {
    let Limits { tasks, written_bytes, memory_bytes, .. } = policy.limits;
    let (mut members, mut count, mut resident) = (Vec::new(), 0, 0);
    // The count stops at the limit, because a program that forks without end adds processes
    // meanwhile.
    for (process, fields) in processes(group, looks.at_all) {
        count += fields.get(17).and_then(|it| it.parse().ok()).unwrap_or(1);
        if count > tasks {
            return Some(ChildEnd::Tasks(tasks));
        }
        resident += fields.get(21).and_then(|it| it.parse().ok()).unwrap_or(0) * page_bytes();
        members.push(process);
    }
    if resident > memory_bytes {
        return Some(ChildEnd::Memory(memory_bytes));
    }
    let written: u64 = members.iter().map(|it| written_by(it) + held_by(it)).sum();
    // The kernel's count leaves out files in memory, on a `tmpfs`, so the folder is measured as
    // well.
    let written = written.max(if looks.at_folder && written_bytes > 0 {
        bytes_below(&policy.folder)
    } else {
        0
    });
    (written > written_bytes).then_some(ChildEnd::Written(written_bytes))
}

/// Gives this thread priority over all others until the returned value is dropped, if the user is
/// root. The kernel doesn't limit root's processes, so an endlessly forking program would leave
/// this thread no core.
#[cfg(target_os = "linux")]
pub(crate) fn come_first() -> impl Drop {
    struct First(Option<i32>);
    impl Drop for First {
        fn drop(&mut self) {
            if let Some(before) = self.0 {
                let _ = rustix::process::setpriority_process(None, before);
            }
        }
    }
    let before = rustix::process::getpriority_process(None).ok();
    First(before.filter(|_| rustix::process::setpriority_process(None, -20).is_ok()))
}

/// Returns the processor time of a process that has ended and was not waited for.
pub(crate) fn cpu_time(process: u32) -> Duration {
    let fields = fields(&process.to_string()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    #[cfg(unix)]
    let each = rustix::param::clock_ticks_per_second().max(1);
    #[cfg(not(unix))]
    let each = 100;
    Duration::from_millis((ticks(11) + ticks(12)) * 1000 / each)
}

/// Returns how many processes and threads this user has.
#[cfg(target_os = "linux")]
pub(crate) fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;

    let own = rustix::process::geteuid().as_raw();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let tasks = all.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_own = entry.metadata().is_ok_and(|it| it.uid() == own);
        is_own.then(|| fields(&name)?.get(17)?.parse::<u64>().ok()).flatten()
    });
    tasks.sum()
}

/// Returns the processes of a group, each with the fields after its name: `PID (any name) STATE
/// PARENT GROUP ..`. Processes with greater ids than the group's come first, because all members
/// have such ids until the ids wrap; with `with_smaller` all others follow.
fn processes(group: u32, with_smaller: bool) -> impl Iterator<Item = (String, Vec<String>)> {
    let is_asked = move |it: &u32| with_smaller || *it >= group;
    // Other systems than Linux have no such folder.
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = all.filter_map(number).filter(is_asked).collect();
    numbers.sort_unstable_by_key(|&it| (it < group, it));
    let name = group.to_string();
    numbers.into_iter().filter_map(move |it| {
        let process = it.to_string();
        let fields = fields(&process)?;
        (fields.get(2) == Some(&name)).then_some((process, fields))
    })
}

/// Returns the unit in which the system reports the memory of a process.
fn page_bytes() -> u64 {
    #[cfg(unix)]
    let bytes = rustix::param::page_size() as u64;
    #[cfg(not(unix))]
    let bytes = 4096;
    bytes
}

fn fields(process: &str) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns the bytes that a process, and those that it waited for, sent to disks.
fn written_by(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Returns the bytes of deleted files that a process still has open: neither the folder nor, on a
/// `tmpfs`, the disk shows them.
fn held_by(process: &str) -> u64 {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let nameless = |entry: std::fs::DirEntry| {
        let metadata = std::fs::metadata(entry.path()).ok()?;
        (metadata.is_file() && names(&metadata) == 0).then(|| bytes_on_disk(&metadata))
    };
    open.filter_map(nameless).sum()
}

/// Returns the bytes that the files below a folder take, or the greatest number if a folder is
/// nested too deep for a path, or forbids this user to list it.
fn bytes_below(folder: &Path) -> u64 {
    let (mut bytes, mut left) = (0, vec![folder.to_owned()]);
    while let Some(folder) = left.pop() {
        if folder.as_os_str().len() > MAX_PATH_BYTES {
            return u64::MAX;
        }
        let entries = std::fs::read_dir(folder);
        if entries.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            return u64::MAX;
        }
        for entry in entries.into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            bytes += ENTRY_BYTES.max(bytes_on_disk(&metadata));
            if metadata.is_dir() {
                left.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(unix)]
fn bytes_on_disk(metadata: &std::fs::Metadata) -> u64 {
    // stat(2) counts in units of 512 bytes, whatever the file system's blocks are.
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(unix)]
fn names(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &std::fs::Metadata) -> u64 {
    1
}

#[cfg(not(unix))]
fn bytes_on_disk(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}
