//! Mismatch bundles: one folder with all data about a disagreement, and the command that repeats
//! it.
//!
//! The folder is filled under a temporary name and then renamed, so a killed run leaves no
//! incomplete bundle under a bundle's name.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gbxcule_files::TemporaryFolder;
use gbxcule_swarm::{FRAME_BYTES, rgb};
use serde_json::{Value, json};

use crate::artifact::{SCHEMA_VERSION, file_part, run_id, sha256, write_json, write_whole};
use crate::region::Region;
use crate::verify::{Mismatch, Observed, VerifyPlan, VerifyResult, registers};
use crate::{LabError, command, system};

/// Size at which memory dumps are cut: enough to see the difference, small enough for an e-mail.
pub const MAX_MEM_DUMP_BYTES: usize = 1024;

/// Value of `kind` in a bundle's `metadata.json`.
pub const KIND: &str = "mismatch_bundle";

/// Names of the files, which [`crate::replay`] reads.
pub(crate) const METADATA: &str = "metadata.json";
pub(crate) const ACTIONS: &str = "actions.jsonl";
pub(crate) const ROM: &str = "rom.gb";
pub(crate) const DIFF: &str = "diff.json";

/// Writes a bundle below `folder` and returns its path.
///
/// # Errors
/// The folder cannot be written to.
pub fn write(
    folder: &Path,
    plan: &VerifyPlan,
    verdict: &VerifyResult,
    mismatch: &Mismatch,
) -> Result<PathBuf, LabError> {
    let name = format!("{}-{}-vs-{}", file_part(&plan.config.rom.name), plan.reference, plan.dut);
    let id = run_id(&name);
    let place = folder.join(&id);
    let temporary = TemporaryFolder::inside(folder).map_err(LabError::file(folder))?;
    fill(temporary.path(), &id, plan, verdict, mismatch)?;
    temporary.rename(&id).map_err(LabError::file(&place))?;
    Ok(place)
}

fn fill(
    folder: &Path,
    id: &str,
    plan: &VerifyPlan,
    verdict: &VerifyResult,
    mismatch: &Mismatch,
) -> Result<(), LabError> {
    write_json(&folder.join(METADATA), &metadata(id, plan, verdict, mismatch))?;
    write_json(&folder.join(DIFF), &diff(plan, mismatch))?;
    for (side, observed) in [("ref", &mismatch.reference), ("dut", &mismatch.dut)] {
        write_json(
            &folder.join(format!("{side}_state.json")),
            &state(side, plan, mismatch.env, observed),
        )?;
        for (region, bytes) in plan.regions.iter().zip(&observed.regions) {
            let dump = &bytes[..bytes.len().min(MAX_MEM_DUMP_BYTES)];
            write_whole(&folder.join(dump_name(side, *region)), dump)?;
        }
        if let Some(frame) = &observed.frame {
            let (ending, picture) = portable_picture(frame);
            write_whole(&folder.join(format!("{side}_frame.{ending}")), &picture)?;
        }
    }
    write_whole(&folder.join(ACTIONS), actions(verdict).as_bytes())?;
    write_whole(&folder.join(ROM), &plan.config.rom.bytes)?;
    let script = folder.join("repro.sh");
    write_whole(&script, repro().as_bytes())?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(LabError::file(script))
}

/// Returns the script that repeats the run. The script finds the command by itself where the bundle
/// was made.
fn repro() -> String {
    let (here, words) = command::started();
    let here = here.to_string_lossy().replace('\'', r"'\''");
    format!(
        r#"#!/bin/sh
# Repeats this disagreement. Exit status 0: it shows again, at the same step, in the same way.
set -eu
bundle=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
# The command: what GBXCULE names, else the one that wrote this, else the one on the PATH.
here='{here}'
words='{words}'
if ! [ -x "$here" ]; then here=gbxcule words=; fi
if [ -n "${{GBXCULE:-}}" ]; then words=; fi
gbxcule=${{GBXCULE:-$here}}
if ! command -v "$gbxcule" > /dev/null; then
    echo "$gbxcule is not there: put gbxcule on the PATH, or name it in GBXCULE" >&2
    exit 2
fi
exec "$gbxcule" $words replay "$bundle" "$@"
"#
    )
}

fn metadata(id: &str, plan: &VerifyPlan, verdict: &VerifyResult, mismatch: &Mismatch) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "run_id": id,
        "plan": plan.to_json(),
        "backends": {
            plan.reference.name(): verdict.details[0],
            plan.dut.name(): verdict.details[1],
        },
        "mismatch": {
            "step": mismatch.step,
            "env": mismatch.env,
            "disagreeing_envs": mismatch.disagreeing_envs,
            "fields": mismatch.differences.iter().map(|difference| &difference.field).collect::<Vec<_>>(),
        },
        "system": system::describe(),
    })
}

/// Returns the differences as JSON; [`crate::replay`] compares a repetition with this value.
pub(crate) fn diff(plan: &VerifyPlan, mismatch: &Mismatch) -> Value {
    let differences = mismatch.differences.iter().map(|difference| {
        json!({
            "field": difference.field,
            "reference": difference.reference,
            "dut": difference.dut,
        })
    });
    let sides = mismatch.reference.regions.iter().zip(&mismatch.dut.regions);
    let regions = plan.regions.iter().zip(sides).filter(|(_, (left, right))| left != right);
    let regions = regions.map(|(region, (left, right))| {
        let unequal = |at: &usize| left[*at] != right[*at];
        let mut places = (0..left.len().min(right.len())).filter(unequal);
        let first = places.next();
        json!({
            "region": region.to_string(),
            "first_difference": first.map(|at| format!("{:04X}", region.low as usize + at)),
            "differing_bytes": first.map_or(0, |_| 1 + places.count()),
        })
    });
    json!({
        "schema_version": SCHEMA_VERSION,
        "step": mismatch.step,
        "env": mismatch.env,
        "differences": differences.collect::<Vec<_>>(),
        "regions": regions.collect::<Vec<_>>(),
    })
}

fn state(side: &str, plan: &VerifyPlan, env: usize, observed: &Observed) -> Value {
    let regions = plan.regions.iter().zip(&observed.regions).map(|(region, bytes)| {
        json!({
            "region": region.to_string(),
            "sha256": sha256(bytes),
            "dump": dump_name(side, *region),
            "dump_bytes": bytes.len().min(MAX_MEM_DUMP_BYTES),
        })
    });
    let registers = registers(&observed.state).map(|(name, value)| (name.to_owned(), json!(value)));
    json!({
        "schema_version": SCHEMA_VERSION,
        "backend": if side == "ref" { plan.reference.name() } else { plan.dut.name() },
        "env": env,
        "registers": registers.into_iter().collect::<serde_json::Map<_, _>>(),
        "tcycles": observed.state.tcycles,
        "frames": observed.state.frames,
        "regions": regions.collect::<Vec<_>>(),
        "outputs": observed.outputs.iter().map(|(name, number)| (name.clone(), json!(number)))
            .collect::<serde_json::Map<_, _>>(),
    })
}

fn dump_name(side: &str, region: Region) -> String {
    format!("{side}_mem_{:04X}_{:04X}.bin", region.low, region.high)
}

fn actions(verdict: &VerifyResult) -> String {
    let mut text = String::new();
    for (step, actions) in verdict.actions.iter().enumerate() {
        let line = json!({ "step": step, "actions": actions });
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Converts a frame to a picture file that every viewer opens; returns the extension and the bytes.
/// The original's frames become gray, the Color's coloured.
fn portable_picture(frame: &[u8]) -> (&'static str, Vec<u8>) {
    if frame.len() == FRAME_BYTES {
        let mut picture = b"P5 160 144 3\n".to_vec();
        for quad in frame {
            picture.extend([6, 4, 2, 0].map(|shift| 3 - (quad >> shift & 3)));
        }
        return ("pgm", picture);
    }
    let mut picture = b"P6 160 144 255\n".to_vec();
    for color in frame.as_chunks().0 {
        picture.extend(rgb(u16::from_le_bytes(*color)));
    }
    ("ppm", picture)
}
