//! Helpers that the tests of several crates share. Only tests depend on this crate.
//!
//! The crate has random programs ([`arbitrary`]) and programs written by hand ([`sample`],
//! [`pattern`]); ways to run them ([`host`], [`stand_in`]) and oracles to ask about them
//! ([`warp`]); recorded instructions of the machine ([`sm83`]) and the machine's memory image
//! ([`machine_image`]); pages whose examples are run ([`page_example`]); the files of folders
//! ([`folder`]); parts of programs for a Super Game Boy ([`super_game_boy`]); and the variables
//! that choose what tests do ([`switch`]).
//!
//! Without the feature `kernels` the crate has only [`sm83`], [`page_example`], [`folder`],
//! [`super_game_boy`] and [`switch`], and Cargo builds nothing of the compiler.

#[cfg(feature = "kernels")]
pub mod arbitrary;
pub mod folder;
#[cfg(feature = "kernels")]
pub mod host;
#[cfg(feature = "kernels")]
pub mod machine_image;
pub mod page_example;
#[cfg(feature = "kernels")]
pub mod pattern;
#[cfg(feature = "kernels")]
pub mod sample;
pub mod sm83;
#[cfg(feature = "kernels")]
pub mod stand_in;
pub mod super_game_boy;
pub mod switch;
#[cfg(feature = "kernels")]
pub mod warp;
