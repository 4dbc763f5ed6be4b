//! Arrays of swarms whose steps run one frame at a time, because hooks stop machines or `settled`
//! may end a step. `run_frame_by_frame` in `kernels.py` uses them; `shard/single_frames.rs` does
//! the same work on the CPU.

use gbxcule_ir::Scalar;
use gbxcule_runtime::Array;

use super::kernel::Arguments;
use super::memory::Memory;
use crate::hook::HookTable;
use crate::step_plan::StepPlan;
use crate::{Programs, Rom, SwarmError};

/// Hooks, and each env's progress in its step.
pub(super) struct SingleFrameArrays {
    hooks: [Array; 3],
    step_frames: Array,
    is_over: Array,
}

impl SingleFrameArrays {
    pub(super) fn new(
        programs: &Programs,
        rom: &Rom,
        envs: usize,
        memory: &Memory,
    ) -> Result<Option<Self>, SwarmError> {
        // The table is made even if it is not needed, so that wrong hooks are refused on every
        // device.
        let HookTable { marks, places, ends_step } = HookTable::new(programs.hooks(), rom)?;
        if !programs.needs_single_frames() {
            return Ok(None);
        }
        let ends_step: Vec<u8> = ends_step.into_iter().map(u8::from).collect();
        let hooks =
            [memory.copy_of(&marks)?, memory.copy_of(&places)?, memory.copy_of(&ends_step)?];
        let step_frames = memory.zeros(Scalar::U32, &[envs])?;
        Ok(Some(Self { hooks, step_frames, is_over: memory.bytes(envs)? }))
    }

    /// Adds the arrays to the arguments of a launch.
    pub(super) fn arguments(&self, plan: &StepPlan, arguments: Arguments) -> Arguments {
        let Self { hooks: [marks, places, ends_step], step_frames, is_over } = self;
        arguments
            .with("marks", marks)
            .with("places", places)
            .with("ends_step", ends_step)
            .with("step_frames", step_frames)
            .with("is_over", is_over)
            .with("draw_each", plan.draw_each)
    }
}
