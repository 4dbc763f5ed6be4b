//! The end by a signal: Ctrl-C, SIGTERM and a closed terminal (SIGHUP) end the children, remove
//! what is half written, and then end this process as they would have. After SIGKILL the sandbox's
//! watcher ends the children, and the next start removes the files. A file that grows beyond the
//! limit of the shell (`ulimit -f`) is an error of its writer's, not the end of the process.

#[cfg(unix)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// True while a signal is ending this process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Stays here for the rest if a signal is ending this process: what fails now fails because of it,
/// and is no news.
pub(crate) fn wait_for_the_end() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Waits for the signals on a thread of its own. SIGHUP stays ignored if it is, as under `nohup`.
#[cfg(unix)]
pub(crate) fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // With a handler the write fails, and says so. Ignoring the signal would do as much, but
    // children inherit that: the sandbox's compilers are to be ended.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // Without handlers the signals end the process at once, as ever.
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
    // A system that gives no thread: the signals end the process at once.
    if spawned.is_err() {
        for signal in ending {
            let always = Arc::new(AtomicBool::new(true));
            let _ = signal_hook::flag::register_conditional_default(signal, always);
        }
    }
}

/// Returns true if this process was started with the signal ignored, or if the system doesn't tell.
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
