//! The checks of a row's origin. `labels` computes the columns that follow from the source again.
//! `origin` makes the row again, from its seed and number or, if it was harvested, from its text,
//! and compares the row with the manifest. `verdicts` compares the stored verdicts with the
//! verdicts of the checks.

use super::{CHECKS, StoredRow, has_failed};
use crate::allowed_error::Runner;
use crate::batch::Manifest;
use crate::harvested::{self, Harvest, Origin};
use crate::labels::Labels;
use crate::row::{COMPILER_VERSION, GENERATOR_VERSION, Row, make};
use crate::table::differing_columns;
use crate::verdict::{Check, CheckOutcome, NotRun, Verdict, skipped};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Checks that are made together with a row and that `validate` doesn't repeat.
const OF_MAKING: [&str; 6] =
    ["compiles", "meaningful", "pinned", "inputs", "comparisons", "rounding"];
/// Columns that other programs make or that are written later; other checks compare them.
const LATER: [&str; 7] = [
    "ptx",
    "ptx_backward",
    "warp_cpp",
    "warp_cuda",
    "warp_origin_json",
    "checks_json",
    "warp_gradient",
];

/// Facts about a dataset with which its rows are compared.
#[derive(Clone, Debug)]
pub struct Provenance {
    manifest: Manifest,
    /// Structure of each row.
    structures: BTreeMap<u64, String>,
    /// The first row of each structure.
    first: HashMap<String, u64>,
    /// Numbers that several rows have.
    repeated: HashSet<u64>,
}

impl Provenance {
    /// Collects the facts from all rows of a folder.
    pub fn of(manifest: Manifest, rows: &[Row]) -> Self {
        let (mut structures, mut repeated) = (BTreeMap::new(), HashSet::new());
        for row in rows {
            if structures.insert(row.id, row.structure.clone()).is_some() {
                repeated.insert(row.id);
            }
        }
        let mut first = HashMap::new();
        for (id, structure) in &structures {
            first.entry(structure.clone()).or_insert(*id);
        }
        Self { manifest, structures, first, repeated }
    }

    /// Makes the check `origin`, and returns it with the row that was made again. Skips rows that
    /// are known to be wrong.
    fn check(&self, row: &Row, stored: &StoredRow, is_wrong: bool) -> (CheckOutcome, Option<Row>) {
        let Manifest { plan, count, generator_version, compiler, .. } = &self.manifest;
        let foreign = [
            ("id", row.id >= *count || self.repeated.contains(&row.id)),
            ("seed", row.seed != plan.seed),
            ("generator_version", row.generator_version != *generator_version),
            ("compiler", row.compiler != *compiler),
        ];
        let foreign = names_of_true(&foreign);
        if !foreign.is_empty() {
            return (failed("origin", &foreign), None);
        }
        // With a hostile source this can take minutes.
        if is_wrong {
            return (skipped("origin", NotRun::Failing), None);
        }
        if (row.generator_version, row.compiler.as_str()) != (GENERATOR_VERSION, COMPILER_VERSION) {
            return (skipped("origin", NotRun::OtherVersion), None);
        }
        let again = match &self.manifest.harvest {
            None => Some(make(*plan, row.id)),
            Some(_) => {
                harvested::made_again(row, (&stored.program, &stored.inputs), *plan).map(|again| {
                    let (id, origin_json) = (row.id, row.origin_json.clone());
                    Row { id, origin_json, ..again }
                })
            }
        };
        let Some(again) = again else { return (failed("origin", &["source"]), None) };
        let mut wrong: Vec<&str> = differing_columns(row, &again)
            .into_iter()
            .filter(|column| !LATER.contains(column))
            .collect();
        wrong.extend(self.tool_columns(row));
        if self.manifest.harvest.as_ref().is_some_and(|it| !self.is_harvested(row, it)) {
            wrong.push("origin_json");
        }
        (failed_if("origin", &wrong), Some(again))
    }

    /// Returns the columns that contradict the manifest: present without their tool, or missing
    /// although the manifest names their tool.
    fn tool_columns(&self, row: &Row) -> Vec<&'static str> {
        let (tools, checks) = (&self.manifest, row.checks());
        let verdict = |name: &str| checks.iter().find(|it| it.check == name).map(|it| &it.verdict);
        // A tool may have refused the row; its verdict then says so.
        let is_ptx = tools.ptx.is_some() && verdict("nvrtc") != Some(&Verdict::Fail);
        let is_text =
            tools.warp.is_some() && !matches!(verdict("warp_text"), Some(Verdict::Refused(_)));
        let warp = tools.warp.as_ref().map(ToString::to_string);
        names_of_true(&[
            ("ptx", row.ptx.is_some() != (is_ptx && row.cuda.is_some())),
            ("ptx_backward", row.ptx_backward.is_some() != (is_ptx && row.cuda_backward.is_some())),
            ("warp_cpp", row.warp_cpp.is_some() != is_text),
            ("warp_cuda", row.warp_cuda.is_some() != is_text),
            ("warp_origin_json", row.warp_origin_json != warp),
        ])
    }

    /// Returns true if a row's check of the host's compiler contradicts the manifest: the check is
    /// stored though the row isn't among those that the manifest names, or the reverse.
    fn contradicts_host_every(&self, row: &Row, stored: &StoredRow) -> bool {
        let (every, checks) = (self.manifest.plan.host_every, row.checks());
        let has = |name: &str| checks.iter().any(|it| it.check == name);
        // `validate --out` stores the verdicts of all its checks.
        if has("texts") {
            return false;
        }
        let is_asked = every != 0 && row.id.is_multiple_of(every) && row.cpp.is_some();
        // Without bounds the check may have given no verdict.
        has("cpp") != is_asked && (has("cpp") || stored.bounds(Runner::Text).is_some())
    }

    /// Returns true if a row names the harvest's folder, commit and licence, and the first row of
    /// its structure, if that row was read.
    fn is_harvested(&self, row: &Row, harvest: &Harvest) -> bool {
        let Some(text) = &row.origin_json else { return false };
        let Ok(origin) = serde_json::from_str::<Origin>(text) else { return false };
        let is_first = match origin.same_structure_as {
            Some(first) => {
                let other = self.structures.get(&first);
                first < row.id && other.is_none_or(|structure| *structure == row.structure)
            }
            None => self.first.get(&row.structure).is_none_or(|first| *first == row.id),
        };
        let Origin { folder, file, line, commit, license, .. } = &origin;
        is_first
            && (folder, commit, license) == (&harvest.folder, &harvest.commit, &harvest.license)
            && !file.is_empty()
            && *line > 0
            && origin.recorded.is_some() == harvested::has_recorded_inputs(row)
            && origin.given.iter().all(|name| has_value(&row.source, name))
            && is_written_as(&origin, text)
    }
}

/// Returns true if a line of a text gives a name its value.
fn has_value(source: &str, name: &str) -> bool {
    source.lines().any(|line| line.strip_prefix(name).is_some_and(|it| it.starts_with(" = ")))
}

/// Makes the check `origin` of a row after all others, and returns it with the row made again.
pub(super) fn check(
    dataset: Option<&Provenance>,
    row: &Row,
    stored: Option<&StoredRow>,
    found: &[CheckOutcome],
) -> (CheckOutcome, Option<Row>) {
    match (dataset, stored) {
        (None, _) => (skipped("origin", NotRun::NotAsked), None),
        (Some(_), None) => (skipped("origin", NotRun::Unreadable), None),
        (Some(dataset), Some(stored)) => dataset.check(row, stored, has_failed(found)),
    }
}

/// Makes the check `labels`.
pub(super) fn labels(row: &Row, stored: &StoredRow) -> CheckOutcome {
    let again = Labels::of(&row.source, &stored.program, &stored.inputs).label(row.clone());
    let mut wrong = differing_columns(row, &again);
    let params = stored.program.params().iter().zip(&stored.inputs);
    let is_named = params.into_iter().all(|(param, given)| *param.name == *given.name);
    if !is_named || !is_written_as(&stored.inputs, &row.inputs_json) {
        wrong.push("inputs_json");
    }
    failed_if("labels", &wrong)
}

/// Makes the check `verdicts` from the outcomes of other checks and the row made again.
pub(super) fn verdicts(
    dataset: Option<&Provenance>,
    (row, stored_row): (&Row, &StoredRow),
    found: &[CheckOutcome],
    again: Option<&Row>,
) -> CheckOutcome {
    let Ok(stored) = serde_json::from_str::<Vec<Check>>(&row.checks_json) else {
        return failed("verdicts", &["checks_json"]);
    };
    let find = |name: &str| stored.iter().find(|it| it.check == name);
    let mut wrong: Vec<&str> = Vec::new();
    if !is_written_as(&stored, &row.checks_json) {
        wrong.push("checks_json");
    }
    for (at, check) in stored.iter().enumerate() {
        let name = check.check.as_str();
        let is_known = CHECKS.contains(&name) || OF_MAKING.contains(&name);
        let is_repeated = stored[..at].iter().any(|it| it.check == name);
        let differs = |now: &Check| {
            // Other numbers depend on the machine.
            let is_exact = name == "differences" && now.number.is_some();
            now.verdict != check.verdict || is_exact && now.number != check.number
        };
        let now = found.iter().flatten().find(|it| it.check == name);
        if !is_known || is_repeated || now.is_some_and(differs) {
            wrong.push(name);
        }
    }
    let made = again.map_or(Vec::new(), Row::checks);
    for check in &made {
        let is_kept = find(&check.check).is_some_and(|it| it.verdict == check.verdict);
        // On another machine the check of machine code may give no verdict.
        if !is_kept && check.check != "machine_code" {
            wrong.push(&check.check);
        }
    }
    if dataset.is_some_and(|it| it.contradicts_host_every(row, stored_row)) {
        wrong.push("cpp");
    }
    if row.warp_gradient.as_deref() != Row::warp_label(&stored) {
        wrong.push("warp_gradient");
    }
    wrong.dedup();
    failed_if("verdicts", &wrong)
}

/// Returns the names whose condition is true.
fn names_of_true(facts: &[(&'static str, bool)]) -> Vec<&'static str> {
    facts.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect()
}

fn failed(name: &str, wrong: &[&str]) -> CheckOutcome {
    Ok(Check { detail: wrong.join(", "), ..Check::failed(name) })
}

/// Makes a check that fails if the list of wrong columns or checks is not empty.
fn failed_if(name: &str, wrong: &[&str]) -> CheckOutcome {
    if wrong.is_empty() { Ok(Check::passed(name)) } else { failed(name, wrong) }
}

/// Returns true if a text equals a value's JSON.
fn is_written_as(value: &impl Serialize, text: &str) -> bool {
    let written = json!(value).to_string();
    written == text
}
