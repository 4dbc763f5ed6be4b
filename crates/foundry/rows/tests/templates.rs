//! The library's algorithms: each instance is a row that runs, is right and is described.

use gbxcule_rows::row::{Mode, Plan, Texts};
use gbxcule_rows::structure::erased;
use gbxcule_rows::template_row::{self, Algorithm};
use gbxcule_rows::verdict::Verdict;
use gbxcule_templates::Template;
use gbxcule_testkit::switch::{Share, is_chosen, shows};
use std::collections::HashMap;
use std::path::Path;

const RUN: Plan = Plan { seed: 5, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 0 };

/// Reads the library from disk, so that a changed file needs no new build.
fn library() -> Vec<Template> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates/library");
    let entries = |folder: &Path| {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|it| it.expect("an entry").path())
            .collect();
        paths.sort();
        paths
    };
    let mut templates = Vec::new();
    for path in entries(&folder).iter().flat_map(|topic| entries(topic)) {
        let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let topic = name(path.parent().expect("a topic"));
        let name = name(&path);
        if path.extension().is_none_or(|it| it != "template") {
            continue;
        }
        if !is_chosen(&format!("{topic}/{name}")) {
            continue;
        }
        match Template::parse(&topic, &name, &std::fs::read_to_string(&path).expect("text")) {
            Ok(template) => templates.push(template),
            Err(fault) => panic!("{fault}"),
        }
    }
    templates
}

#[test]
fn every_instance_is_a_row() {
    let share = Share::or_one_in(3);
    let mut faults = Vec::new();
    let mut structures: HashMap<String, String> = HashMap::new();
    // `GBXCULE_SHARE=1/1` takes all instances of all templates; the default is one instance of
    // every third template.
    for (_, template) in (0..).zip(library()).filter(|it| share.has(it.0)) {
        let count = if share.is_whole() { template.combinations() as u64 } else { 1 };
        for number in 0..count {
            let place = format!("{}/{} {number}", template.topic, template.name);
            let instance = match template.instance(number, 7) {
                Some(Ok(instance)) => instance,
                Some(Err(fault)) => {
                    faults.push(format!("{place}: {fault}"));
                    continue;
                }
                None => panic!("{place}: no instance"),
            };
            if shows() {
                println!(
                    "{}\n{}\n\n{}\n\n{}\n",
                    instance.source,
                    instance.descriptions.summary,
                    instance.descriptions.paragraph,
                    instance.descriptions.specification
                );
            }
            match template_row::row(RUN, Algorithm::of(&template), &instance, number) {
                Err(reason) => faults.push(format!("{place}: {reason}\n{}", instance.source)),
                Ok(row) => {
                    let waived: Vec<String> = row
                        .checks()
                        .into_iter()
                        .filter(|it| it.verdict != Verdict::Pass)
                        .map(|it| format!("{} {}", it.check, String::from(it.verdict)))
                        .collect();
                    println!("{place}: attempt {} {}", row.attempt, waived.join(", "));
                    if let Some(other) = structures.insert(row.structure.clone(), place.clone()) {
                        faults.push(format!("{place}: has the structure of {other}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn combinations_of_choices_differ_in_structure() {
    let mut structures: HashMap<String, String> = HashMap::new();
    let mut faults = Vec::new();
    for template in library() {
        for (number, text) in template.plain_texts().into_iter().enumerate() {
            let place = format!("{}/{} {number}", template.topic, template.name);
            match text {
                Err(fault) => faults.push(fault),
                Ok(text) => {
                    if let Some(other) = structures.insert(erased(&text), place.clone()) {
                        faults.push(format!(
                            "{place} has the structure of {other}: `draw` the choice"
                        ));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A specification contains everything that decides a kernel's results.
#[test]
fn descriptions_name_parameters_and_rules_and_equal_specifications_have_equal_results() {
    let mut faults = Vec::new();
    for template in library() {
        let mut results: HashMap<String, Option<String>> = HashMap::new();
        for number in 0..2 * template.combinations() as u64 {
            let Some(Ok(instance)) = template.instance(number, 7) else { continue };
            let place = format!("{}/{} {number}", template.topic, template.name);
            let words = &instance.descriptions;
            let texts = [&words.paragraph, &words.specification];
            for fact in words.facts.iter().filter(|it| texts.iter().any(|text| !text.contains(*it)))
            {
                faults.push(format!("{place}: a description lacks {fact}"));
            }
            if words.summary.contains('\n') || words.summary.len() >= words.paragraph.len() {
                faults.push(format!("{place}: the line is longer than the paragraph"));
            }
            // Rows are run only where two specifications are equal.
            let key = words.specification.clone();
            let run = || {
                template_row::row(RUN, Algorithm::of(&template), &instance, 3).ok()?.outputs_json
            };
            if let Some(other) = results.get(&key) {
                if run() != *other {
                    faults.push(format!("{place}: equal specifications, other results\n{key}"));
                }
            } else if (number + 1) % 8 == 0 || Share::or_one_in(8).is_whole() {
                results.insert(key, run());
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
