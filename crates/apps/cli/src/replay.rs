//! `gbxcule replay`.

use std::path::PathBuf;

use clap::Args;

use crate::print::say;
use crate::progress;

/// Repeat the mismatch that a bundle of `verify` holds
///
/// Runs the bundle's ROM and actions on its two backends up to the step of the mismatch, and
/// compares the differences with `diff.json`.
#[derive(Args)]
#[command(after_long_help = FOOTER)]
pub(crate) struct Replay {
    /// The bundle: a folder with metadata.json, actions.jsonl and rom.gb
    bundle: PathBuf,
}

const FOOTER: &str = "\
EXIT STATUS
  0  reproduced: the same differences at the same step, to the byte
  1  not reproduced: the backends agree now, or disagree in another way
  2  the folder is not a whole bundle, or a backend could not be started

EXAMPLE
  gbxcule replay runs/bundles/20261121T031500Z-ALU_LOOP-pyboy_single-vs-stub_bad-4711";

impl Replay {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let bar = progress::bar(0, "steps");
        let replay = gbxcule_lab::replay::replay(&self.bundle, &mut |step| bar.set_position(step))?;
        bar.finish_and_clear();
        let plan = &replay.plan;
        let subject = format!("{}: {} against {}", plan.config.rom.name, plan.dut, plan.reference);
        match &replay.verdict.mismatch {
            Some(mismatch) => {
                let word = if replay.reproduced {
                    "reproduced"
                } else {
                    "NOT reproduced, another mismatch"
                };
                say!("{word}  {subject}, after step {}, env {}", mismatch.step, mismatch.env);
                crate::verify::print_differences(plan, &mismatch.differences);
            }
            None => say!("NOT reproduced  {subject} agree for {} steps", replay.verdict.steps),
        }
        Ok(replay.reproduced)
    }
}
