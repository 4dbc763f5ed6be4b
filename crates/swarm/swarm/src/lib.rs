//! Many Game Boys stepped together.
//!
//! A step presses one action per machine, runs some frames, releases the buttons during them, and
//! computes reward and observation where the machine's state lies. [`NativeSwarm`] steps machines
//! by native code on all cores, [`DeviceSwarm`] by compiled kernels on a device of
//! `gbxcule_runtime`; both are made from the same sources. The meaning of a step is data
//! ([`Codec`], [`Schedule`], [`Stage`]) that every artifact records, so another device or a
//! reference emulator can repeat the step exactly.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod action;
mod capacity;
mod cartridge_device;
mod checkpoint;
mod config;
pub mod device;
mod engine;
mod env_record;
mod env_states;
mod episode;
mod error;
mod feature;
pub mod game_start;
mod hook;
mod interruptible_step;
mod kernel_source;
mod link;
mod machine_sources;
mod native;
mod obs_v0;
pub mod program;
mod reference_reward;
mod returns;
mod snapshot;
mod stage;
mod start_steps;
mod step_plan;
mod step_schedule;
mod sticky;
mod super_game_boy;
mod swarm;
mod view;
mod worker_pool;

pub use action::{Action, Codec, CodecError, button};
pub use capacity::free_on_host;
pub use checkpoint::Checkpoint;
pub use config::SwarmConfig;
pub use device::{
    DeviceConfig, DeviceEngine, MemoryNumber, Order, RolloutArrays, RolloutConfig, RolloutState,
};
pub use episode::{Chance, Episode, env_seed, splitmix64};
pub use error::SwarmError;
pub use feature::{FEATURE_MEMORY, Features};
pub use gbxcule_console::banked_address::in_bank;
pub use gbxcule_console::{
    AnyMachine, ConsoleError, CpuState, Crop, ForeignStateError, Frame, Grays, HEIGHT, Picture,
    PictureStack, PowerOnChoice, Rom, WIDTH, corrected_rgb, rgb,
};
pub use gbxcule_gameboy::{FRAME_BYTES, Model, Revision};
pub use gbxcule_ir::named;
pub use gbxcule_recompiler::Recompile;
pub use hook::{Hook, HookCount};
pub use interruptible_step::Pressed;
pub use link::LinkMode;
pub use machine_sources::MachineSources;
pub use native::NativeEngine;
pub use obs_v0::{OBS_V0_DIM, obs_v0};
pub use program::{ProgramText, Programs, ScratchArray, ScratchCell, TextRole};
pub use reference_reward::reward_v0;
pub use returns::Returns;
pub use snapshot::{Counters, EnvSnapshot};
pub use stage::Stage;
pub use step_plan::FrameRange;
pub use step_schedule::Schedule;
pub use super_game_boy::{BORDERED_HEIGHT, BORDERED_WIDTH};
pub use swarm::{DeviceSwarm, NativeSwarm, Swarm, SwarmOf};
pub use view::View;
