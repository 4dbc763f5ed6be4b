//! Bars on stderr for work that takes longer than a moment; no bars when stderr is not a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done by then shows no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// A bar for work that may take no time at all: seen only if it goes on for two seconds.
pub(crate) fn late_bar(length: u64, what: &str) -> ProgressBar {
    let bar = bar(length, what);
    bar.set_draw_target(ProgressDrawTarget::hidden());
    bar
}

/// Moves a bar that isn't seen at first.
pub(crate) fn advance(bar: &ProgressBar, by: u64) {
    bar.inc(by);
    if bar.is_hidden() && bar.elapsed() > SHOWN_AFTER {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
}

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
