//! Handles signals: Ctrl-C, SIGTERM and a closed terminal (SIGHUP) end the children, remove
//! unfinished files, and then end this process with the same signal. After SIGKILL the sandbox's
//! watcher ends the children, and the next start removes the files. A file beyond the shell's limit
//! (`ulimit -f`) gives a write error and doesn't end the process.

#[cfg(unix)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True while a signal is ending this process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for ever if a signal is ending this process: later failures are consequences of the signal
/// and need no report.
pub(crate) fn wait_for_the_end() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Waits for the signals on a separate thread. SIGHUP stays ignored if it was ignored at the start,
/// as under `nohup`.
#[cfg(unix)]
pub(crate) fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // With a handler for SIGXFSZ a write beyond the limit fails with an error. Ignoring the signal
    // is no alternative: children would inherit that, and the limit must end compilers in the
    // sandbox.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // Without handlers the signals end the process at once.
    let mut ending = vec![SIGINT, SIGTERM];
    ending.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
    let Ok(mut signals) = Signals::new(&ending) else { return };
    let spawned = std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            ENDING.store(true, Ordering::SeqCst);
            gbxcule_sandbox::end_all();
            gbxcule_files::remove_all();
            let _ = emulate_default_handler(signal);
        }
    });
    // If no thread starts, the signals end the process at once.
    if spawned.is_err() {
        for signal in ending {
            let always = Arc::new(AtomicBool::new(true));
            let _ = signal_hook::flag::register_conditional_default(signal, always);
        }
    }
}

/// Returns true if the signal was ignored when this process started, or if this is unknown.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let ignored = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
    };
    ignored().unwrap_or(true)
}

#[cfg(not(unix))]
pub(crate) fn install() {}
