//! A small shell process that ends this process's children after this process has ended in any way.
//!
//! A process can't react to SIGKILL, but the system then closes its end of a pipe. The shell reads
//! the other end: `+ GROUP` when a child starts, `- GROUP` when it has ended, and at the end of the
//! pipe the shell ends the remaining groups. Children can't affect the shell: they hold no end of
//! the pipe, and confined children may not send signals. On a system without `sh`, SIGKILL leaves
//! children behind.

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

/// The shell, this process's end of its pipe, and the process that started it. A fork of that
/// process has no watcher yet.
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

/// Reports that a group has ended.
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
        // The watcher was killed. The next child gets a new watcher, which knows only that child.
        *watcher = None;
    }
}

fn start() -> Option<Watcher> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).env_clear().current_dir("/");
    // The watcher must not delay a reader that waits for the end of this process's output.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A Ctrl-C in the terminal must not end the watcher.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut shell = command.spawn().ok()?;
    let pipe = shell.stdin.take()?;
    Some(Watcher { owner: std::process::id(), _shell: shell, pipe })
}
