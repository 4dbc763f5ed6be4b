//! ROMs that fail, in groups, each with what is known about why.

#[cfg(color)]
mod color;
#[cfg(not(color))]
mod original;

#[cfg(color)]
use color::GROUPS;
#[cfg(not(color))]
use original::GROUPS;

/// Suite, reason, ROMs.
type Group = (&'static str, &'static str, &'static [&'static str]);

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    GROUPS.iter().find(|group| group.0 == suite && group.2.contains(&name)).map(|group| group.1)
}

/// The ROMs of a suite that are known to fail.
pub(crate) fn names(suite: &str) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(move |group| group.0 == suite).flat_map(|group| group.2).copied()
}
