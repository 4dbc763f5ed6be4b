//! Rows of several kernels: executed and differentiated from end to end.

use gbxcule_rows::execute::{self, Data};
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::template_row::{self, Algorithm};
use gbxcule_rows::validate::{Checks, count_verdicts, validate};
use gbxcule_rows::verdict::Verdict;
use gbxcule_templates::{COMPOSITIONS, Composition, LIBRARY};
use gbxcule_testkit::switch::{Share, is_chosen, shows};
use serde_json::Value;

const RUN: Plan = Plan { seed: 5, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 0 };

fn row(composition: &Composition, number: u64) -> Result<Row, String> {
    let algorithm = Algorithm { topic: &composition.topic, name: &composition.name };
    let instance = composition.instance(&LIBRARY, number, 7).ok_or("no instance")??;
    if shows() {
        let words = &instance.descriptions;
        println!("{}\n{}\n\n{}\n", instance.source, words.paragraph, words.specification);
    }
    let missing = |text: &&String| {
        !instance.descriptions.paragraph.contains(*text)
            || !instance.descriptions.specification.contains(*text)
    };
    if let Some(fact) = instance.descriptions.facts.iter().find(missing) {
        return Err(format!("a description lacks {fact}"));
    }
    let row = template_row::row(RUN, algorithm, &instance, number);
    row.map_err(|reason| format!("{reason}\n{}", instance.source))
}

#[test]
fn without_launches_the_memory_stays_as_given() {
    let given: Data = vec![vec![1, 2], Vec::new()];
    let ran = execute::executed::<String>(&[], &[], given.clone(), |_, _, _| unreachable!());
    assert_eq!(ran.expect("no launch, no fault").after, given);
}

#[test]
fn every_composition_is_a_row_of_several_launches() {
    let mut faults = Vec::new();
    let share = Share::or_one_in(2);
    let chosen = COMPOSITIONS.iter().filter(|it| is_chosen(&it.name));
    // `GBXCULE_SHARE=1/1` takes all instances of all compositions; the default is one instance of
    // every second composition.
    for (_, composition) in (0..).zip(chosen).filter(|it| share.has(it.0)) {
        let count = if share.is_whole() { composition.combinations() } else { 1 };
        for number in 0..count as u64 {
            let place = format!("{}/{} {number}", composition.topic, composition.name);
            match row(composition, number) {
                Err(reason) => faults.push(format!("{place}: {reason}")),
                Ok(row) => {
                    let launches = row.launches_json.as_deref().unwrap_or("[]");
                    let launches: Vec<Value> = serde_json::from_str(launches).expect("a list");
                    let checks: Vec<String> = row
                        .checks()
                        .into_iter()
                        .filter(|it| it.verdict != Verdict::Pass || it.check == "differences")
                        .map(|it| format!("{} {}", it.check, String::from(it.verdict)))
                        .collect();
                    println!(
                        "{place}: {} kernels, {} launches, attempt {}, gradient {:?} {:?}, {}",
                        row.kernels.len(),
                        launches.len(),
                        row.attempt,
                        row.gradients_json.as_ref().map(String::len),
                        row.gradient_refused,
                        checks.join(", ")
                    );
                    if launches.len() < 2 || row.kernel != composition.name {
                        faults.push(format!("{place}: it has {} launches", launches.len()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Every sixth composition (all with `EVERY`) passes all checks, those by the host's compiler too.
#[test]
fn stored_rows_of_several_kernels_pass_all_checks() {
    let share = Share::or_one_in(6);
    let chosen = (0..).zip(COMPOSITIONS.iter()).filter(|it| share.has(it.0));
    let rows: Vec<Row> = (0..)
        .zip(chosen)
        .map(|(id, (_, it))| Row { id, ..row(it, 2).unwrap_or_else(|fault| panic!("{fault}")) })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let wanted =
        Checks { host: Some(folder.path().into()), host_texts: Texts::Both, ..Checks::default() };
    check(&rows, &wanted);
    // A wrong gradient fails, and so does a missing launch.
    let mut wrong = rows[0].clone();
    wrong.gradients_json = wrong.gradients_json.map(|text| text.replacen("0.", "1.", 1));
    let mut shorter = rows[0].clone();
    shorter.launches_json = Some("[]".into());
    let verdicts = validate(&[wrong, shorter], &Checks::default()).expect("verdicts");
    for (checks, name) in verdicts.iter().zip(["gradients", "labels"]) {
        let own = checks.iter().flatten().find(|it| it.check == name);
        assert_eq!(own.map(|it| &it.verdict), Some(&Verdict::Fail), "{name}");
    }
}

fn check(rows: &[Row], wanted: &Checks) {
    let verdicts = validate(rows, wanted).expect("verdicts");
    let mut faults = Vec::new();
    for (row, checks) in rows.iter().zip(&verdicts) {
        for check in checks.iter().flatten() {
            if check.verdict != Verdict::Pass {
                println!(
                    "{}/{} {} {}",
                    row.family,
                    row.kernel,
                    check.check,
                    String::from(check.verdict.clone())
                );
            }
            if check.verdict == Verdict::Fail {
                faults.push(format!("{}/{} {check:?}\n{}", row.family, row.kernel, row.source));
            }
        }
    }
    println!("{:?}", count_verdicts(&verdicts));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
