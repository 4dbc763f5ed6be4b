//! Comparison of every micro-ROM with a reference, with a list of explained differences.
//!
//! A row defines a comparison and its length. If the reference is known to be wrong, the row states
//! the fields that differ, the first step, the number of steps, and the reason. All other values
//! must be equal, and a run that doesn't show exactly the stated difference fails like any
//! mismatch. The rows stand in `suite/cases.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use gbxcule_swarm::Model;

use crate::LabError;
use crate::artifact::{RomImage, sha256};
use crate::backend::{BackendConfig, BackendKind, model_name};
use crate::region::Region;
use crate::verify::{Difference, Judgement, Mismatch, VerifyPlan, VerifyResult, verify};

const ROWS: &str = include_str!("suite/cases.txt");
/// Memory that is compared.
const SIGNATURE: Region = Region { low: 0xC000, high: 0xC100 };

/// One row.
#[derive(Debug, Clone)]
pub struct Case {
    /// The micro-ROM.
    pub rom: &'static str,
    /// Steps of one frame each.
    pub steps: u64,
    /// Source of the actions.
    pub actions: &'static str,
    /// Model of the machines.
    pub model: Model,
    /// True if the drawn frame is compared as well.
    pub frame: bool,
    /// Differences for which a reference is known to be wrong.
    pub explained: Vec<Explained>,
}

/// Difference with a known reason.
#[derive(Debug, Clone)]
pub struct Explained {
    /// Backend that is wrong.
    pub reference: BackendKind,
    /// Fields that may differ, separated by spaces; no other field may.
    pub fields: &'static str,
    /// First step after which the fields differ.
    pub first: u64,
    /// Number of steps after which the fields differ.
    pub times: u64,
    /// Digest of both sides' values at every step at which they differ: see [`SetAside`].
    pub digest: &'static str,
    /// Reason why the reference is known to be wrong.
    pub why: &'static str,
}

/// Explained differences of a run.
#[derive(Debug, Clone, Default)]
pub struct SetAside {
    first: u64,
    times: u64,
    values: String,
}

impl SetAside {
    fn add(&mut self, mismatch: &Mismatch) {
        if self.times == 0 {
            self.first = mismatch.step;
        }
        self.times += 1;
        for difference in &mismatch.differences {
            let Difference { field, reference, dut } = difference;
            // Writing to a string cannot fail.
            let _ = writeln!(self.values, "{} {field} {reference} {dut}", mismatch.step);
        }
    }

    /// Returns the first digits of the SHA-256 of all steps, fields and values.
    fn digest(&self) -> String {
        sha256(self.values.as_bytes())[..12].to_owned()
    }

    fn is(&self, pin: &Explained) -> bool {
        (self.first, self.times) == (pin.first, pin.times) && self.digest() == pin.digest
    }
}

/// Outcome of a row.
#[derive(Debug)]
pub enum Outcome {
    /// All values are equal.
    Agrees(Box<VerifyResult>),
    /// The stated difference appears exactly.
    AsExplained(&'static Explained),
    /// The stated difference appears in another form, or not at all.
    Stale(&'static Explained, SetAside),
    /// There is a difference without an explanation.
    Unexplained {
        /// Plan that was run.
        plan: Box<VerifyPlan>,
        /// Result of the run.
        verdict: Box<VerifyResult>,
        /// First disagreement.
        mismatch: Box<Mismatch>,
    },
}

/// Returns the suite, in the order of the micro-ROMs, with those of the Color after the original's.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    static CASES: LazyLock<Vec<Case>> =
        LazyLock::new(|| parse(ROWS).unwrap_or_else(|| unreachable!("a row that is not whole")));
    CASES.iter()
}

fn parse(text: &'static str) -> Option<Vec<Case>> {
    let (reasons, rows) = text.split_once("\n\n")?;
    let reasons = reasons.lines().filter(|line| !line.starts_with('#'));
    let reasons: BTreeMap<_, _> = reasons.filter_map(|line| line.split_once(": ")).collect();
    let mut cases: Vec<Case> = Vec::new();
    for line in rows.lines() {
        let mut words = line.split_ascii_whitespace();
        if line.starts_with(' ') {
            let (pin, fields) = line.split_once(": ")?;
            let [reference, first, times, digest, why] =
                *pin.split_ascii_whitespace().collect::<Vec<_>>().as_array()?;
            cases.last_mut()?.explained.push(Explained {
                reference: reference.parse().ok()?,
                fields,
                first: first.parse().ok()?,
                times: times.parse().ok()?,
                digest,
                why: reasons.get(why)?,
            });
            continue;
        }
        let rom = words.next()?;
        let model = [Model::Original, Model::Color];
        let name = words.next()?;
        cases.push(Case {
            rom,
            model: model.into_iter().find(|&model| model_name(Some(model)) == name)?,
            steps: words.next()?.parse().ok()?,
            actions: words.next()?,
            frame: words.next() == Some("pixels"),
            explained: Vec::new(),
        });
    }
    Some(cases)
}

/// Runs one row; `cuda` is the number of the CUDA device.
///
/// # Errors
/// The ROM doesn't exist, or a backend failed.
pub fn run(
    case: &'static Case,
    reference: BackendKind,
    dut: BackendKind,
    cuda: u32,
) -> Result<Outcome, LabError> {
    let config = BackendConfig {
        cuda,
        model: Some(case.model),
        draw_last: case.frame,
        ..BackendConfig::of_single_frames(RomImage::find(case.rom)?)
    };
    let plan = VerifyPlan {
        steps: case.steps,
        regions: vec![SIGNATURE],
        compare_counters: true,
        action_gen: case.actions.parse().map_err(LabError::Suite)?,
        ..VerifyPlan::new(reference, dut, config)
    };
    let explained = case.explained.iter().find(|explained| explained.reference == reference);
    let mut set_aside = SetAside::default();
    let mut judge = |mismatch: &Mismatch| {
        if !explained.is_some_and(|explained| explained.covers(&mismatch.differences)) {
            return Judgement::Stop;
        }
        set_aside.add(mismatch);
        Judgement::SetAside
    };
    let mut verdict = verify(&plan, &mut judge, &mut |_| {})?;
    Ok(match (verdict.mismatch.take(), explained) {
        (Some(mismatch), _) => Outcome::Unexplained {
            plan: Box::new(plan),
            verdict: Box::new(verdict),
            mismatch: Box::new(mismatch),
        },
        (None, None) => Outcome::Agrees(Box::new(verdict)),
        (None, Some(explained)) if set_aside.is(explained) => Outcome::AsExplained(explained),
        (None, Some(explained)) => Outcome::Stale(explained, set_aside),
    })
}

/// Returns the reason why the reference is known to be wrong in all differing fields, if the suite
/// explains them for the plan's ROM.
pub fn known_difference(plan: &VerifyPlan, differences: &[Difference]) -> Option<&'static str> {
    let reference = match plan.reference {
        BackendKind::PyboyVecMp => BackendKind::PyboySingle,
        reference => reference,
    };
    let cases = cases().filter(|case| {
        plan.config.rom.name == case.rom
            && plan.config.model.is_none_or(|model| model == case.model)
    });
    let mut explained = cases.flat_map(|case| &case.explained);
    let explanation = explained.find(|it| it.reference == reference && it.covers(differences));
    explanation.map(|explained| explained.why)
}

impl Explained {
    fn covers(&self, differences: &[Difference]) -> bool {
        let may_differ = |field: &str| self.fields.split(' ').any(|name| name == field);
        differences.iter().all(|difference| may_differ(&difference.field))
    }
}

impl Case {
    /// Describes the comparison in a few words.
    pub fn what(&self) -> String {
        let model = model_name(Some(self.model));
        let Self { steps, actions, .. } = self;
        let mut text =
            format!("{model} {steps:4} frames, {actions}: registers, {SIGNATURE}, cycles");
        text.push_str(if self.frame { ", pixels" } else { "" });
        text
    }
}

impl Outcome {
    /// Returns true if the row agrees, or differs exactly as stated.
    pub fn is_as_pinned(&self) -> bool {
        matches!(self, Self::Agrees(_) | Self::AsExplained(_))
    }

    /// Describes the outcome in one line.
    pub fn describe(&self) -> String {
        match self {
            Self::Agrees(verdict) => format!("agrees in all {} comparisons", verdict.comparisons),
            Self::AsExplained(explained) => format!(
                "explained: {} times from step {} in {}",
                explained.times, explained.first, explained.fields
            ),
            Self::Stale(pin, difference) => format!(
                "NOT AS PINNED: ({}, {}, \"{}\"), pinned ({}, {}, \"{}\")",
                difference.first,
                difference.times,
                difference.digest(),
                pin.first,
                pin.times,
                pin.digest
            ),
            Self::Unexplained { mismatch, .. } => {
                let fields: Vec<_> = mismatch
                    .differences
                    .iter()
                    .map(|difference| difference.field.as_str())
                    .collect();
                format!("MISMATCH after step {} in {}", mismatch.step, fields.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_difference_is_found_by_its_rom_its_reference_and_its_fields() {
        let plan = |rom: &str, reference| {
            let rom = RomImage::find(rom).expect("a built-in ROM");
            VerifyPlan::new(reference, BackendKind::SwarmCpu, BackendConfig::new(rom))
        };
        let differ = |fields: &[&str]| -> Vec<Difference> {
            let difference = |field: &&str| Difference {
                field: (*field).to_owned(),
                reference: "1".to_owned(),
                dut: "2".to_owned(),
            };
            fields.iter().map(difference).collect()
        };
        let reason = |rom, reference, fields: &[&str]| {
            known_difference(&plan(rom, reference), &differ(fields))
        };
        for reference in [BackendKind::PyboySingle, BackendKind::PyboyVecMp] {
            let why = reason("PEARL_DRIFT", reference, &["pc", "tcycles"]).expect("a reason");
            assert!(why.contains("4 T-cycles late after the LCD was switched on"), "{why}");
            assert_eq!(reason("PEARL_DRIFT", reference, &["pc", "sp"]), None);
        }
        assert_eq!(reason("ALU_LOOP", BackendKind::PyboySingle, &["pc"]), None);
        assert_eq!(reason("PEARL_DRIFT", BackendKind::SwarmCpu, &["pc"]), None);
    }
}
