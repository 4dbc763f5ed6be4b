//! A small shell process that outlives this one by a moment and ends its children, however this one
//! ended.
//!
//! A signal that can be caught is handled by its program; only the system learns of SIGKILL,
//! which closes our end of a pipe. The shell reads the other end: `+ GROUP` when a child starts,
//! `- GROUP` when it has ended, and at the end of the pipe it ends the groups that are left. No
//! child can reach it: children hold no end of the pipe, and confined ones may not send signals.
//! Where there is no `sh`, only SIGKILL leaves something behind.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = r#"groups=" "
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// The process with our end of its pipe, and whose it is: one that forked off this process has none
/// yet.
struct Watcher {
    owner: u32,
    _shell: Child,
    pipe: ChildStdin,
}

static WATCHER: Mutex<Option<Watcher>> = Mutex::new(None);

/// Adds a process group that must end with this process.
pub(crate) fn watch(group: u32) {
    send('+', group);
}

/// The group has ended.
pub(crate) fn group_ended(group: u32) {
    send('-', group);
}

fn send(sign: char, group: u32) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if watcher.as_ref().is_none_or(|it| it.owner != std::process::id()) {
        *watcher = start();
    }
    if let Some(known) = &mut *watcher
        && writeln!(known.pipe, "{sign} {group}").is_err()
    {
        // Another process ended it. The next child gets a new one, which knows of that child alone.
        *watcher = None;
    }
}

fn start() -> Option<Watcher> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).env_clear().current_dir("/");
    // It must not delay a reader that waits for the end of our output.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A Ctrl-C in the terminal is for the others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut shell = command.spawn().ok()?;
    let pipe = shell.stdin.take()?;
    Some(Watcher { owner: std::process::id(), _shell: shell, pipe })
}
