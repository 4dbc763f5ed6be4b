//! Bars on stderr for work that takes longer than a blink; nothing when nobody watches.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts to `length` of `what`.
pub(crate) fn bar(length: u64, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg:36} {bar:32} {human_pos}/{human_len} {prefix} {elapsed} (eta {eta})",
    );
    let bar = ProgressBar::new(length).with_prefix(what.to_owned());
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
