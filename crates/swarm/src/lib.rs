//! Many Game Boys stepped together.
//!
//! [`NativeSwarm`] is the CPU's: native code on all cores. A step presses one action per machine, runs some frames,
//! releases on the way, and computes reward and observation where the machine lives. What a step means is data
//! ([`Codec`], [`Schedule`], [`Stage`]) that every artifact records, so that another device or a reference emulator
//! can be asked to do exactly the same. [`DeviceSwarm`] does it in compiled kernels on a device of
//! `gbxcule_runtime`: the same machine from the same sources.

mod action;
mod anywhere;
pub mod compiled;
mod cpu_state;
mod crew;
mod error;
mod feature;
mod native;
mod observation;
mod picture;
mod piece;
mod portrait;
pub mod program;
mod returns;
mod reward;
mod rom;
mod room;
mod schedule;
mod shard;
mod snapshot;
mod stage;
mod state;
mod view;

pub use action::{Codec, button};
pub use anywhere::Swarm;
pub use compiled::{DeviceConfig, DeviceSwarm, Layout};
pub use cpu_state::CpuState;
pub use error::SwarmError;
pub use feature::{FEATURE_MEMORY, Features};
pub use gbxcule_gameboy::FRAME_BYTES;
pub use native::{NativeSwarm, SwarmConfig};
pub use observation::{OBS_V0_DIM, obs_v0};
pub use picture::Picture;
pub use piece::Piece;
pub use portrait::PortraitError;
pub use program::{ProgramText, Programs};
pub use returns::Returns;
pub use reward::reward_v0;
pub use rom::Rom;
pub use schedule::Schedule;
pub use snapshot::{Counters, EnvSnapshot};
pub use stage::Stage;
pub use state::EnvStates;
pub use view::View;
