//! Forged rows: if any column is changed, a check fails.

use gbxcule_harvest::{harvest, manifest_of};
use gbxcule_rows::batch::Manifest;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::validate::{Checks, Provenance, has_failed, validate};
use gbxcule_rows::verdict::{CheckOutcome, NotRun, Verdict};
use serde_json::{Value, json};

const PLAN: Plan =
    Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

/// A dataset of a few rows, with the checks that run no other program.
struct Dataset {
    rows: Vec<Row>,
    checks: Checks,
}

impl Dataset {
    fn of(manifest: Manifest, rows: Vec<Row>) -> Self {
        let dataset = Some(Provenance::of(manifest, &rows));
        Self { rows, checks: Checks { dataset, ..Checks::default() } }
    }

    fn sampled() -> Self {
        let rows: Vec<Row> = (0..4).map(|id| make(PLAN, id)).collect();
        Self::of(Manifest::new(4, PLAN, &Tools::default()), rows)
    }

    /// Rows of which the last one, and no other, has several kernels.
    fn of_several_kernels() -> Self {
        let plan = Plan { sampled: 0, ..PLAN };
        let mut rows = vec![make(plan, 0)];
        while rows.last().is_none_or(|row| row.kernels.len() == 1) {
            rows.push(make(plan, rows.len() as u64));
        }
        Self::of(Manifest::new(rows.len() as u64, plan, &Tools::default()), rows)
    }

    fn harvested() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let kernel = "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
            i = wp.tid()\n    wp.printf(\"%f\\n\", x[i])\n    y[i] = wp.sin(x[i]) * 2.0\n";
        std::fs::write(folder.path().join("one.py"), kernel).expect("a file");
        let other = kernel.replace("scale", "again").replace("2.0", "3.0");
        std::fs::write(folder.path().join("two.py"), other).expect("a file");
        let found = harvest(folder.path(), "MIT", PLAN, 1, &|| ()).expect("rows");
        let rows = found.rows;
        assert_eq!(rows.len(), 2, "{:?}", found.refused);
        Self::of(manifest_of(found.harvest, 2, PLAN), rows)
    }

    fn outcomes(&self, row: &Row) -> Vec<CheckOutcome> {
        let outcomes = validate(std::slice::from_ref(row), &self.checks);
        outcomes.expect("no other program is asked").remove(0)
    }

    /// Names and details of the checks that fail for a row.
    fn failed(&self, row: &Row) -> Vec<(String, String)> {
        let checks = self.outcomes(row).into_iter().flatten();
        let failed = checks.filter(|it| it.verdict == Verdict::Fail);
        failed.map(|it| (it.check, it.detail)).collect()
    }
}

/// Returns another value of the same kind.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!("x"),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => json!(number.as_u64().expect("a whole number") + 1),
        Value::String(text) => json!(format!("{text} ")),
        Value::Array(items) => {
            let first = items.first().cloned().unwrap_or_else(|| json!("for"));
            json!([&items[..], &[first]].concat())
        }
        Value::Object(_) => unreachable!("no column is an object"),
    }
}

/// Returns the row with each column changed by itself and, where a column may be null, with the
/// column removed.
fn changed(row: &Row) -> Vec<(String, Row)> {
    let Ok(Value::Object(columns)) = serde_json::to_value(row) else { unreachable!("columns") };
    assert_eq!(columns.len(), 43, "each column is forged");
    let mut all = Vec::new();
    for (name, value) in &columns {
        for value in [other(value), Value::Null] {
            let mut forged = columns.clone();
            forged.insert(name.clone(), value);
            // A row without a column can't be read unless the column may be null.
            let read = serde_json::from_value::<Row>(Value::Object(forged));
            all.extend(read.ok().filter(|it| it != row).map(|it| (name.clone(), it)));
        }
    }
    all
}

fn forging_any_column_fails(dataset: &Dataset) {
    for row in &dataset.rows {
        assert_eq!(dataset.failed(row), []);
    }
    let last = dataset.rows.last().expect("a row");
    for (column, forged) in changed(last) {
        let outcomes = dataset.outcomes(&forged);
        assert!(has_failed(&outcomes), "`{column}` is forged, and all checks pass");
    }
}

#[test]
fn a_sampled_row_with_any_column_forged_fails() {
    forging_any_column_fails(&Dataset::sampled());
}

#[test]
fn a_row_of_several_kernels_with_any_column_forged_fails() {
    forging_any_column_fails(&Dataset::of_several_kernels());
}

#[test]
fn a_harvested_row_with_any_column_forged_fails() {
    forging_any_column_fails(&Dataset::harvested());
}

#[test]
fn what_is_forged_is_named() {
    let dataset = Dataset::sampled();
    let row = &dataset.rows[2];
    let other_split = if row.split == "test" { "train" } else { "test" };
    let named = |row: Row, check: &str, detail: &str| {
        let failed = dataset.failed(&row);
        assert!(failed.contains(&(check.into(), detail.into())), "{failed:?}");
    };
    named(Row { split: other_split.into(), ..row.clone() }, "labels", "split");
    named(Row { family: "harvested".into(), ..row.clone() }, "origin", "family");
    named(Row { seed: 12, ..row.clone() }, "origin", "seed");
    named(Row { id: 4, ..row.clone() }, "origin", "id");
    named(Row { compiler: "gbxcule 9.9.9".into(), ..row.clone() }, "origin", "compiler");
    named(Row { warp_gradient: Some("wrong".into()), ..row.clone() }, "verdicts", "warp_gradient");
}

/// A row that ran and is right, but differs from the row that its number gives.
#[test]
fn a_good_row_in_the_place_of_another_fails() {
    let dataset = Dataset::sampled();
    let [one, other] = [1, 3].map(|id: usize| dataset.rows[id].clone());
    let (id, attempt) = (one.id, one.attempt);
    let failed = dataset.failed(&Row { id, attempt, ..other });
    assert!(
        matches!(&failed[..], [(check, columns)] if check == "origin" && columns.contains("source")),
        "{failed:?}"
    );
}

#[test]
fn verdicts_that_no_check_gave_fail() {
    let dataset = Dataset::sampled();
    let row = &dataset.rows[0];
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut checks: Vec<Value> = serde_json::from_str(&row.checks_json).expect("verdicts");
        change(&mut checks);
        Row { checks_json: json!(checks).to_string(), ..row.clone() }
    };
    let check =
        |name: &str, verdict: &str| json!({"check": name, "verdict": verdict, "number": null});
    for (what, forged) in [
        ("none", with(&|checks| checks.clear())),
        ("one less", with(&|checks| _ = checks.remove(2))),
        ("twice", with(&|checks| checks.push(checks[0].clone()))),
        ("an unknown one", with(&|checks| checks.push(check("proved", "pass")))),
        ("another verdict", with(&|checks| checks[1]["verdict"] = json!("waived"))),
        ("a check that gives another", with(&|checks| checks.push(check("outputs", "fail")))),
        ("a label without a column", with(&|checks| checks.push(check("warp_gradient", "pass")))),
        (
            "an error that is smaller",
            with(&|checks| {
                let slopes = checks.iter_mut().find(|it| it["check"] == "differences");
                slopes.expect("a check")["number"] = json!(1e-30);
            }),
        ),
    ] {
        let failed = dataset.failed(&forged);
        assert!(failed.iter().any(|(check, _)| check == "verdicts"), "{what}: {failed:?}");
    }
    // Verdicts of checks that were made later are kept; they are no forgery.
    let later = with(&|checks| checks.push(check("nvrtc", "pass")));
    assert_eq!(dataset.failed(&later), []);
}

/// A hostile source could make the generation of a row take minutes.
#[test]
fn a_row_that_is_wrong_already_is_not_made_again() {
    let dataset = Dataset::harvested();
    let row = &dataset.rows[0];
    let lines: String = (0..3000).map(|_| "    a = wp.sin(a) + wp.cos(a) * x[i]\n").collect();
    let long = row.source.replace("    y[i] =", &format!("    a = x[i]\n{lines}    y[i] = a +"));
    let outcomes = dataset.outcomes(&Row { source: long, ..row.clone() });
    let origin = outcomes.iter().find_map(|it| match it {
        Err(skipped) if skipped.check == "origin" => Some(&skipped.reason),
        _ => None,
    });
    assert_eq!(origin, Some(&NotRun::Failing));
}

/// The first row of a structure, the licence and the other facts of the manifest are checked too.
#[test]
fn an_origin_that_the_harvest_does_not_have_fails() {
    let dataset = Dataset::harvested();
    let row = &dataset.rows[1];
    let origin: Value =
        serde_json::from_str(row.origin_json.as_deref().expect("it has one")).expect("JSON");
    assert_eq!(origin["same_structure_as"], json!(0));
    for (name, value) in [
        ("license", json!("Apache-2.0")),
        ("folder", json!("warp")),
        ("commit", json!("0".repeat(40))),
        ("line", json!(0)),
        ("same_structure_as", Value::Null),
        ("same_structure_as", json!(1)),
        ("more", json!(1)),
    ] {
        let mut forged = origin.clone();
        forged[name] = value;
        let failed = dataset.failed(&Row { origin_json: Some(forged.to_string()), ..row.clone() });
        assert_eq!(failed, [("origin".into(), "origin_json".into())], "{name}");
    }
}
