//! Repeats the run of a bundle.

use std::path::Path;

use gbxcule_swarm::{Codec, Model, Schedule};
use serde_json::Value;

use crate::artifact::{RomImage, read_json};
use crate::backend::BackendConfig;
use crate::verify::{Judgement, VerifyPlan, VerifyResult, lockstep};
use crate::{LabError, bundle, program};

/// Greatest number of bytes of the recorded actions.
const MAX_ACTIONS_BYTES: u64 = 256 << 20;

/// Comparison of a repetition with the bundle.
#[derive(Debug)]
pub struct Replay {
    /// Plan that the bundle recorded.
    pub plan: VerifyPlan,
    /// Result of the repetition.
    pub verdict: VerifyResult,
    /// True if the same disagreement appears at the same step, byte for byte.
    pub reproduced: bool,
}

/// Runs a bundle's actions on its two backends, up to the step at which they disagreed.
///
/// # Errors
/// The folder is not a bundle, its ROM has another SHA-256 than it says, or a backend failed.
pub fn replay(folder: &Path, progress: &mut dyn FnMut(u64)) -> Result<Replay, LabError> {
    let metadata_path = folder.join(bundle::METADATA);
    let metadata = read_json(&metadata_path)?;
    let broken = |found: String| LabError::Artifact { path: metadata_path.clone(), found };
    if metadata["kind"] != bundle::KIND {
        return Err(broken(format!("kind {}, expected \"{}\"", metadata["kind"], bundle::KIND)));
    }
    let rom_path = folder.join(bundle::ROM);
    let rom = gbxcule_files::read(&rom_path, gbxcule_files::MAX_ROM_BYTES)
        .map_err(LabError::file(&rom_path))?;
    let plan = plan(&metadata, rom).map_err(broken)?;
    let expected = read_json(&folder.join(bundle::DIFF))?;
    let actions_path = folder.join(bundle::ACTIONS);
    let actions = read_actions(&actions_path, plan.config.num_envs)?;
    let (recorded, step) = (actions.len() as u64, expected["step"].as_u64().unwrap_or(0));
    if recorded < step {
        let found = format!("{recorded} steps, and the machines disagree after step {step}");
        return Err(LabError::Artifact { path: actions_path, found });
    }
    let mut source = |step: u64, out: &mut [u8]| {
        let recorded = usize::try_from(step).ok().and_then(|step| actions.get(step));
        out.copy_from_slice(recorded.map_or(&[], Vec::as_slice));
    };
    let plan = VerifyPlan { steps: plan.steps.min(actions.len() as u64), ..plan };
    let verdict = lockstep(&plan, &mut source, &mut |_| Judgement::Stop, progress)?;
    let reproduced =
        verdict.mismatch.as_ref().is_some_and(|mismatch| bundle::diff(&plan, mismatch) == expected);
    Ok(Replay { plan, verdict, reproduced })
}

/// Reads a plan that [`VerifyPlan::to_json`] wrote.
fn plan(metadata: &Value, rom: Vec<u8>) -> Result<VerifyPlan, String> {
    let recorded = &metadata["plan"];
    let text =
        |field: &str| recorded[field].as_str().ok_or_else(|| format!("no `{field}` in the plan"));
    let number =
        |field: &str| recorded[field].as_u64().ok_or_else(|| format!("no `{field}` in the plan"));
    let small =
        |field: &str| u32::try_from(number(field)?).map_err(|error| format!("`{field}`: {error}"));
    let rom = RomImage::new(recorded["rom"]["name"].as_str().unwrap_or("rom"), rom);
    if recorded["rom"]["sha256"] != rom.sha256.as_str() {
        return Err(format!(
            "names a ROM with SHA-256 {}, found {}",
            recorded["rom"]["sha256"], rom.sha256
        ));
    }
    let regions = recorded["mem_regions"].as_array().map_or(&[][..], Vec::as_slice);
    let codec = text("codec")?;
    let config = BackendConfig {
        num_envs: usize::try_from(number("num_envs")?).map_err(|error| error.to_string())?,
        draw_last: recorded["compare_frame"] == true,
        codec: Codec::by_name(codec).map_err(|error| error.to_string())?,
        schedule: Schedule::new(small("frames_per_step")?, small("release_after_frames")?)
            .map_err(|error| error.to_string())?,
        stage: text("stage")?.parse()?,
        programs: program::from_json(&recorded["programs"])?,
        // Older plans, which don't record the device, ran on the first.
        cuda: small("cuda").unwrap_or(0),
        model: model(&recorded["model"])?,
        // Older plans have no cables.
        link: recorded["link"].as_str().unwrap_or("open").parse()?,
        ..BackendConfig::new(rom)
    };
    Ok(VerifyPlan {
        steps: number("verify_steps")?,
        compare_every: number("compare_every")?.max(1),
        regions: regions
            .iter()
            .map(|region| region.as_str().unwrap_or_default().parse())
            .collect::<Result<_, _>>()?,
        compare_counters: recorded["compare_counters"] == true,
        action_gen: text("action_gen")?.parse()?,
        actions_seed: number("actions_seed")?,
        ..VerifyPlan::new(text("reference")?.parse()?, text("dut")?.parse()?, config)
    })
}

/// Returns the model that a plan names, or `None` for older plans.
fn model(recorded: &Value) -> Result<Option<Model>, String> {
    match recorded.as_str() {
        None | Some("auto") => Ok(None),
        Some("dmg") => Ok(Some(Model::Original)),
        Some("cgb") => Ok(Some(Model::Color)),
        Some(other) => Err(format!("no model `{other}`; there are auto, dmg, cgb")),
    }
}

fn read_actions(path: &Path, num_envs: usize) -> Result<Vec<Vec<u8>>, LabError> {
    let text = gbxcule_files::read_text(path, MAX_ACTIONS_BYTES).map_err(LabError::file(path))?;
    let line = |(number, line): (usize, &str)| {
        let broken = |found: String| LabError::Artifact { path: path.to_owned(), found };
        let value: Value = serde_json::from_str(line)
            .map_err(|error| broken(format!("line {}: {error}", number + 1)))?;
        let actions: Vec<u8> = serde_json::from_value(value["actions"].clone())
            .map_err(|error| broken(format!("line {}: {error}", number + 1)))?;
        if actions.len() == num_envs {
            return Ok(actions);
        }
        Err(broken(format!(
            "line {}: {} actions for {num_envs} machines",
            number + 1,
            actions.len()
        )))
    };
    text.lines().enumerate().map(line).collect()
}
