//! Guard around the `parquet` crate, which panics on some damaged files instead of returning an
//! error: the decoders of metadata and columns trust lengths in the file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// True while this thread reads a file: a panic is then returned as an error and not printed.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Silences panics of threads that read a file, and passes all others to the previous hook.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_READING.get() {
                before(panic);
            }
        }));
    });
}

/// Calls a function that reads a file; returns the text of its panic, if it panics.
///
/// The function must open its own file and return new values, so that a panic leaves nothing
/// inconsistent.
pub(super) fn catch_panic<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let was_reading = IS_READING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(was_reading);
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text_and_the_next_call_is_fresh() {
        assert_eq!(catch_panic(|| -> u8 { panic!("at byte {}", 7) }), Err("at byte 7".to_owned()));
        assert_eq!(catch_panic(|| -> u8 { panic!("short") }), Err("short".to_owned()));
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert!(!IS_READING.get());
    }
}
