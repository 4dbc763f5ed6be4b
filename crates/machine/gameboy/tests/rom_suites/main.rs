//! Public test ROM suites, read from the folder `GBXCULE_TEST_ROMS` (see `docs/testing.md` for what
//! goes where). Each ROM is a row; a known failure is a row of `known_failure` with its reason, and
//! passing it unexpectedly is an error. Both models have suites of their own.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

#[cfg(color)]
mod color;
mod console;
mod known_failure;
#[cfg(not(color))]
mod original;
mod picture;
mod shared;
mod suite;
