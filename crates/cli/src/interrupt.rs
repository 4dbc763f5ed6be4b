//! The end by a signal: Ctrl-C and SIGTERM end the children, remove what is half written, and then
//! this process as they would have. After SIGKILL the sandbox's watcher ends the children, and the
//! next start removes the files.

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

/// Waits for the signals on a thread of its own. SIGHUP is left alone: `nohup` has it ignored.
#[cfg(unix)]
pub(crate) fn install() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // Without handlers the signals end the process at once, as ever.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            ENDING.store(true, Ordering::SeqCst);
            gbxcule_sandbox::end_all();
            gbxcule_files::remove_all();
            let _ = emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn install() {}
