//! The generated text between the swarm's kernels and a swarm's programs. For each call in
//! `kernel_source/kernels.py` it has a function that calls the existing programs, each with its
//! scratch cells.

use std::fmt::Write;
use std::ops::Range;

use gbxcule_ir::FunctionId;

use super::compile::{Fused, MAX_WRITES, TOO_MANY_WRITES};
use super::optional_param::{BYTES, INTS, WEIGHTS};
use super::{Programs, TextRole};
use crate::Stage;

/// The text, and the functions that it calls, by their names in the text.
#[derive(Debug, Default)]
pub(crate) struct ProgramCalls {
    pub(crate) text: String,
    pub(crate) functions: Vec<(String, FunctionId)>,
    /// True if the programs write to memory.
    pub(crate) writes: bool,
    /// True if the kernel executes the programs' writes; false if its caller does.
    applies_writes: bool,
}

const HEAD: &str = "\
import gbxcule as gb
import warp as wp

Numbers = wp.array(dtype=wp.float32)
Ints = wp.array(dtype=wp.int32)
Bytes = wp.array(dtype=wp.uint8)
";

impl Programs {
    /// Writes the text for kernels of a stage that execute the programs' writes.
    pub(crate) fn calls(&self, fused: &Fused, stage: Stage) -> ProgramCalls {
        self.program_calls(fused, stage, self.writes_memory())
    }

    /// Writes the text for kernels of a stage that leave the programs' writes to their caller.
    pub(crate) fn calls_without_writing(&self, fused: &Fused, stage: Stage) -> ProgramCalls {
        self.program_calls(fused, stage, false)
    }

    fn program_calls(&self, fused: &Fused, stage: Stage, applies_writes: bool) -> ProgramCalls {
        let writes = self.writes_memory();
        let mut calls = ProgramCalls { writes, applies_writes, ..ProgramCalls::default() };
        calls.text.push_str(HEAD);
        let observed = if stage.owns_observation() { self.obs_dim() } else { 0 };
        calls.constant("HOOKS", self.hooks().len());
        calls.constant("FIRST_HOOK_CELL", self.hook_cells().start);
        calls.constant("OBS_DIM", observed);
        calls.reward(self, fused, stage);
        calls.observe(self, fused, stage);
        calls.begin(self, fused, stage);
        calls.at_hook(self, fused);
        calls.settled(fused);
        calls
    }
}

impl ProgramCalls {
    fn constant(&mut self, name: &str, value: usize) {
        self.line(0, &format!("{name} = {value}"));
    }

    fn line(&mut self, level: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * level);
    }

    /// Begins a function, which does nothing if no lines follow.
    fn function(&mut self, declaration: &str) {
        self.line(0, "\n\n@wp.func");
        self.line(0, &format!("def {declaration}:"));
        self.line(1, "pass");
    }

    /// Adds a function to those that the text calls.
    fn calls(&mut self, name: &str, function: FunctionId) {
        self.functions.push((name.to_owned(), function));
    }

    fn reward(&mut self, programs: &Programs, fused: &Fused, stage: Stage) {
        self.function(
            "reward(machine: gb.Machine, env: int, cells: Numbers, ints: Ints, octets: Bytes, \
             rewards: Numbers, dones: Bytes)",
        );
        if !stage.owns_reward() {
            return;
        }
        let cells = slice(&programs.reward_scratch());
        match fused.reward {
            Some(reward) => {
                self.calls("reward", reward);
                let arguments = optional(programs, fused, (reward, TextRole::Reward));
                self.line(1, &format!("rewards[env] = gb.reward(machine, {cells}{arguments})"));
            }
            None => self.line(1, "rewards[env] = 0.0"),
        }
        if let Some(done) = fused.done {
            self.calls("done", done);
            let arguments = optional(programs, fused, (done, TextRole::Reward));
            self.line(1, &format!("dones[env] = wp.uint8(gb.done(machine, {cells}{arguments}))"));
        }
    }

    fn observe(&mut self, programs: &Programs, fused: &Fused, stage: Stage) {
        self.function(
            "observe(machine: gb.Machine, cells: Numbers, ints: Ints, octets: Bytes, numbers: Numbers)",
        );
        if stage.owns_observation() {
            let cells = slice(&programs.obs_scratch());
            self.calls("observe", fused.observe);
            self.line(1, "for number in range(OBS_DIM):");
            self.line(2, "numbers[number] = 0.0");
            let given = optional(programs, fused, (fused.observe, TextRole::Observation));
            self.line(1, &format!("gb.observe(machine, {cells}, numbers{given})"));
        }
        if let (Some(mask), Some(text)) = (fused.mask, programs.mask_text_in(stage)) {
            let (own, all) = (programs.scratch_of(text), programs.mask_cells());
            self.calls("action_mask", mask);
            self.line(1, &format!("for cell in range({}, {}):", all.start, all.end));
            self.line(2, "cells[cell] = 1.0");
            let (own, all) = (slice(&own), slice(&all));
            let given = optional(programs, fused, (mask, text));
            self.line(1, &format!("gb.action_mask(machine, {own}, {all}{given})"));
        }
    }

    fn begin(&mut self, programs: &Programs, fused: &Fused, stage: Stage) {
        self.function(
            "begin(machine: gb.Machine, cells: Numbers, ints: Ints, octets: Bytes, text: int)",
        );
        for (text, begin) in programs.begin_calls(fused.begin, stage) {
            let name = format!("begin_{}", text.index());
            self.calls(&name, begin);
            self.line(1, &format!("if text == {}:", text.index()));
            let given = optional(programs, fused, (begin, text));
            self.call_writing(&name, &programs.scratch_of(text), &given);
        }
    }

    fn at_hook(&mut self, programs: &Programs, fused: &Fused) {
        self.function(
            "at_hook(machine: gb.Machine, cells: Numbers, ints: Ints, octets: Bytes, hook: int)",
        );
        let calls = fused.calls.iter().enumerate();
        let calls: Vec<(usize, (FunctionId, TextRole))> =
            calls.filter_map(|(hook, call)| Some((hook, (*call)?))).collect();
        for (hook, (function, text)) in calls {
            let name = format!("at_hook_{hook}");
            self.calls(&name, function);
            self.line(1, &format!("if hook == {hook}:"));
            let given = optional(programs, fused, (function, text));
            self.call_writing(&name, &programs.scratch_of(text), &given);
        }
    }

    fn settled(&mut self, fused: &Fused) {
        self.line(0, "\n\n@wp.func\ndef settled(machine: gb.Machine):");
        match fused.settled {
            Some(settled) => {
                self.calls("settled", settled);
                self.line(1, "return gb.settled(machine)");
            }
            None => self.line(1, "return False"),
        }
    }

    /// Writes a call of a function that may write to memory, and the execution of its writes.
    fn call_writing(&mut self, name: &str, cells: &Range<usize>, given: &str) {
        self.line(2, &format!("gb.{name}(machine, {}{given})", slice(cells)));
        if self.writes {
            let fits = format!("gb.writes_asked(machine) <= wp.uint32({MAX_WRITES})");
            self.line(2, &format!("assert {fits}, \"{TOO_MANY_WRITES}\""));
        }
        if self.applies_writes {
            self.line(2, "gb.apply_writes(machine)");
        }
    }
}

/// Writes the arguments for the optional parameters of a text's function, in their order.
fn optional(programs: &Programs, fused: &Fused, call: (FunctionId, TextRole)) -> String {
    let (function, text) = call;
    let params = fused.module.functions[function].params.iter();
    let argument = |name: &str| {
        let (array, part) = match name {
            _ if name == WEIGHTS.name => ("cells", programs.weight_cells()),
            _ if name == INTS.name => ("ints", programs.int_scratch_of(text)),
            _ if name == BYTES.name => ("octets", programs.byte_scratch_of(text)),
            _ => return None,
        };
        Some(format!(", {array}[{}:{}]", part.start, part.end))
    };
    params.filter_map(|param| argument(&param.name)).collect()
}

/// Writes the slice of some cells of an env.
fn slice(cells: &Range<usize>) -> String {
    format!("cells[{}:{}]", cells.start, cells.end)
}
