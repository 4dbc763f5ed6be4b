//! Steps that run one frame at a time, because hooks stop machines or `settled` may end a step.
//! Shards without these run whole steps instead. `run_frame_by_frame` in `kernels.py` does the same
//! work in a kernel.

use gbxcule_gameboy::hook::NO_HOOK;
use gbxcule_gameboy::step::buttons_in_frame;

use super::Shard;
use crate::Programs;
use crate::hook::HookTable;
use crate::program::NativePrograms;
use crate::step_plan::StepPlan;

/// Hooks, and each env's progress in its step.
pub(super) struct SingleFrames {
    hooks: HookTable,
    /// Index of the first cell with a hook's count.
    first_cell: usize,
    progress: Vec<Progress>,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    /// Frames of the step that have run.
    frames: u32,
    is_over: bool,
}

impl SingleFrames {
    pub(super) fn new(programs: &Programs, hooks: &HookTable, envs: usize) -> Self {
        let first_cell = programs.hook_cells().start;
        Self { hooks: hooks.clone(), first_cell, progress: vec![Progress::default(); envs] }
    }

    /// Frames of an env's step that have run.
    pub(super) fn step_frames(&self, slot: usize) -> u32 {
        self.progress[slot].frames
    }
}

impl Shard {
    /// Runs frames of an env's step until it is over.
    pub(super) fn run_single_frames(&mut self, slot: usize, plan: StepPlan) {
        let (buttons, frames_held) = self.pressed(slot, plan);
        if plan.first_frame == 0 {
            self.begin_step(slot);
        }
        let end = plan.first_frame + plan.frames;
        for frame in plan.first_frame..end {
            if self.single_frames().progress[slot].is_over {
                return;
            }
            let buttons = buttons_in_frame(buttons, frames_held, frame);
            let draw = plan.draw_each || plan.draw_last && frame + 1 == end;
            let begun = self.machines[slot].mcycles_at_single_speed();
            let is_stopped = self.run_single_frame(slot, plan, (buttons, draw));
            let counters = &mut self.counters[slot];
            counters.frames += 1;
            counters.tcycles +=
                4 * u64::from(self.machines[slot].mcycles_at_single_speed().wrapping_sub(begun));
            self.single_frames().progress[slot].frames += 1;
            let step_numbers = self.step_numbers(slot, plan);
            let is_settled = self.run_program(slot, step_numbers, NativePrograms::settled);
            self.single_frames().progress[slot].is_over = is_stopped || is_settled == Some(true);
        }
    }

    fn begin_step(&mut self, slot: usize) {
        let single_frames = self.single_frames();
        single_frames.progress[slot] = Progress::default();
        let (first, count) = (single_frames.first_cell, single_frames.hooks.places.len());
        for hook in 0..count {
            self.numbers_mut(slot)[first + 2 * hook + 1] = 0.0;
        }
    }

    /// Runs a frame; `held` has the buttons, and whether the frame is drawn. Returns true if a hook
    /// ends the step.
    fn run_single_frame(&mut self, slot: usize, plan: StepPlan, held: (u8, bool)) -> bool {
        let (buttons, draw) = held;
        let machine = &mut self.machines[slot];
        // There is a runner only if there are no hooks.
        if let Some(runner) = &mut self.runner {
            let ram_bytes = self.rom.cart_ram_bytes();
            let cart_ram = &mut self.cart_ram[slot * ram_bytes..][..ram_bytes];
            runner.run_frame(machine, cart_ram, buttons, draw);
            return false;
        }
        machine.begin_frame_with(buttons, draw);
        self.finish_frame(slot, plan)
    }

    /// Runs a frame to its end, from hook to hook; returns true if one of the hooks ends the step.
    fn finish_frame(&mut self, slot: usize, plan: StepPlan) -> bool {
        let (mut resumes, mut ends_step) = (false, false);
        loop {
            let Some(SingleFrames { hooks, first_cell, .. }) = &self.single_frames else {
                unreachable!("single frames run only where there are arrays for them")
            };
            let ram_bytes = self.rom.cart_ram_bytes();
            let (rom, ram) =
                (self.rom.bytes(), &mut self.cart_ram[slot * ram_bytes..][..ram_bytes]);
            let machine = &mut self.machines[slot];
            let hook = machine.run_to_hook(rom, ram, (&hooks.marks, &hooks.places), resumes);
            if hook == NO_HOOK {
                return ends_step;
            }
            ends_step |= hooks.ends_step[hook as usize];
            let cell = first_cell + 2 * hook as usize;
            self.numbers_mut(slot)[cell..cell + 2].iter_mut().for_each(|count| *count += 1.0);
            let step_numbers = self.step_numbers(slot, plan);
            self.run_program(slot, step_numbers, |programs, inputs, outputs| {
                programs.at_hook(hook, inputs, outputs)
            });
            self.apply_writes(slot);
            resumes = true;
        }
    }

    fn single_frames(&mut self) -> &mut SingleFrames {
        self.single_frames.as_mut().unwrap_or_else(|| {
            unreachable!("single frames run only where there are arrays for them")
        })
    }
}
