//! Helpers that the tests of several crates share. Only tests depend on this crate.
//!
//! Random programs ([`arbitrary`]) and programs written by hand ([`sample`], [`pattern`]); ways of
//! running them ([`host`], [`stand_in`]) and oracles to ask about them ([`warp`]); the machine's
//! recorded cases ([`sm83`]) and its memory image ([`machine_image`]); pages whose examples are run
//! ([`page_example`]).
//!
//! Without the feature `kernels` only [`sm83`] and [`page_example`] are there, and nothing of the
//! compiler is built.

#[cfg(feature = "kernels")]
pub mod arbitrary;
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
#[cfg(feature = "kernels")]
pub mod warp;
