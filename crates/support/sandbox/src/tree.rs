//! Resources that a child and the processes that it started use: its process group, which none of
//! them can leave.

use std::path::Path;
use std::time::Duration;

use crate::policy::{Limits, Policy};
use crate::run::ChildEnd;

/// Size for which each entry of a folder counts at least, so that many empty files count as well.
const ENTRY_BYTES: u64 = 4096;

/// Returns the limit of the whole tree that a group exceeds, if there is one. The look at its
/// folder takes longer than the other measurements.
pub(crate) fn exceeded(group: u32, policy: &Policy, looks_at_folder: bool) -> Option<ChildEnd> {
    let Limits { tasks, written_bytes, .. } = policy.limits;
    let (mut found, mut written) = (0, 0);
    for (process, fields) in processes(group) {
        found += fields.get(17).and_then(|it| it.parse().ok()).unwrap_or(1);
        written += written_by(&process);
    }
    if found > tasks {
        return Some(ChildEnd::Tasks(tasks));
    }
    // The process's own count leaves out files in memory, on a `tmpfs`, so the folder is measured
    // as well.
    let written = written.max(if looks_at_folder && written_bytes > 0 {
        bytes_below(&policy.folder)
    } else {
        0
    });
    (written > written_bytes).then_some(ChildEnd::Written(written_bytes))
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

/// Returns the processes of a group, each with the fields after its name: `PID (any name) STATE
/// PARENT GROUP ..`.
fn processes(group: u32) -> Vec<(String, Vec<String>)> {
    // Other systems than Linux have no such folder.
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let group = group.to_string();
    let of_group = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let fields = name.bytes().all(|it| it.is_ascii_digit()).then(|| fields(&name)).flatten()?;
        (fields.get(2) == Some(&group)).then_some((name, fields))
    };
    all.flatten().filter_map(of_group).collect()
}

fn fields(process: &str) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns the bytes that a process, and the children that it waited for, sent to disks.
fn written_by(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Returns the bytes that the files below a folder take.
fn bytes_below(folder: &Path) -> u64 {
    let (mut bytes, mut left) = (0, vec![folder.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            bytes += ENTRY_BYTES.max(taken(&found));
            if found.is_dir() {
                left.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(unix)]
fn taken(found: &std::fs::Metadata) -> u64 {
    // The unit is 512 bytes for all file systems: stat(2).
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}

#[cfg(not(unix))]
fn taken(found: &std::fs::Metadata) -> u64 {
    found.len()
}
