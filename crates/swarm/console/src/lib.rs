//! One console of a swarm.
//!
//! A [`Rom`] is a cartridge's program with the model and revision that run it, an [`AnyMachine`] a
//! machine of either model. [`PictureStack`] makes a learner's pictures of its frames, and
//! [`foreign_state`] reads and writes its state in the formats of other emulators.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod banked_address;
mod cpu_state;
mod error;
pub mod foreign_state;
mod machine;
mod picture;
mod picture_stack;
mod power_on;
pub mod record;
mod rom;
mod super_picture;

pub use cpu_state::CpuState;
pub use error::ConsoleError;
pub use foreign_state::ForeignStateError;
pub use machine::{AnyMachine, AnyRunner, Frame, MachineSound, memory_bytes};
pub use picture::{Grays, HEIGHT, LINE_BYTES, Picture, WIDTH, corrected_rgb, rgb};
pub use picture_stack::{Crop, PictureMaker, PictureStack, Shown};
pub use power_on::PowerOnChoice;
pub use rom::Rom;
pub use super_picture::SuperPicture;
