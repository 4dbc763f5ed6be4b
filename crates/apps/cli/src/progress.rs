//! Progress bars on stderr for work that takes longer than a moment; there are no bars if stderr is
//! not a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time after which a late bar appears.
const MIN_SHOWN: Duration = Duration::from_secs(2);

/// Makes a bar for work that may be short: it appears only after two seconds.
pub(crate) fn late_bar(length: u64, what: &str) -> ProgressBar {
    let bar = bar(length, what);
    bar.set_draw_target(ProgressDrawTarget::hidden());
    bar
}

/// Advances a bar that doesn't appear at first.
pub(crate) fn advance(bar: &ProgressBar, by: u64) {
    bar.inc(by);
    if bar.is_hidden() && bar.elapsed() > MIN_SHOWN {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
}

/// Makes a bar that counts `what` up to `length`.
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
