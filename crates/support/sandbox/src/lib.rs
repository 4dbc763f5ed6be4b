//! Child processes with limits, which end with their owner.
//!
//! [`run`] starts a program that may be hostile (a compiler of a foreign text, or a compiled
//! program), confined by a [`Policy`], and returns its output, or the limit that ended it.
//! [`ChildGroup`] is for trusted programs that run for long, such as the oracles' servers: they are
//! not confined, but end with their owner. If this process ends in any way, SIGKILL included, its
//! descendants end with it ([`orphan_killer`]). [`Protection`] describes the protection on this
//! machine in words; `SECURITY.md` has the details.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod confine;
mod error;
#[cfg(target_os = "linux")]
mod landlock;
mod orphan_killer;
mod owner;
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod page;
mod policy;
#[cfg(target_os = "linux")]
mod privilege;
mod protection;
mod room;
mod run;
#[cfg(target_os = "linux")]
mod syscall;
mod tree;

pub use confine::command;
pub use error::SandboxError;
pub use owner::{ChildGroup, end_all};
pub use policy::{Limits, Policy, host_compiler};
pub use protection::Protection;
pub use room::Room;
pub use run::{ChildEnd, Outcome, run};
