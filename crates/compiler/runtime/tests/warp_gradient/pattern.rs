//! The table of patterns.

use crate::document;
use crate::numbers::{self, Numbers};
use crate::slope::{Objective, run};
use crate::warp_oracle::{Launch, Oracle};
use gbxcule_ir::check;
use gbxcule_passes::grad::reverses;
use gbxcule_testkit::arbitrary::{Random, unit};
use gbxcule_testkit::pattern::{self, patterns};
use serde_json::json;
use std::fmt::Write as _;

/// The most error of a right derivative, as a part of it or of 1.
const TOLERANCE: f64 = 1e-5;

#[test]
#[ignore = "needs NVIDIA Warp"]
fn the_table_of_patterns_is_what_both_do_today() {
    let mut oracle = Oracle::new();
    let version = oracle.hello()["warp"].as_str().unwrap_or("?").to_string();
    let mut text = format!("| pattern | here | NVIDIA Warp {version} |\n|---|---|---|\n");
    let mut launches = Vec::new();
    let mut rows = Vec::new();
    for pattern in patterns() {
        let module = check::module(pattern.case.module.clone()).expect("valid");
        let program = pattern.case.forward(module);
        let mut random = Random::new(17);
        let weights = pattern.case.arrays.iter();
        let weights: Numbers =
            weights.map(|array| array.iter().map(|_| unit(&mut random)).collect()).collect();
        let objective = Objective::new(&program, weights).expect("it runs");
        let wanted = differences(&objective, &pattern.case.arrays);
        let ours = match reverses(&program.module, &[program.kernel]) {
            Err(faults) => format!("refused (`{}`)", faults[0].code),
            Ok((module, kernels)) => {
                let reverse = (check::module(module).expect("valid"), kernels[0]);
                let back =
                    numbers::backward(&program, reverse, &objective.after, &objective.weights);
                let memory = run(&back).expect("reverses never fault");
                verdict(&numbers::read(&program, &memory[2..]), &wanted)
            }
        };
        let gradients = (0..2).map(|buffer| {
            let bytes = &program.buffers[buffer];
            numbers::with(&program, buffer, &vec![0; bytes.len()], &objective.weights[buffer])
        });
        let gradients = gradients.collect();
        rows.push((pattern.title, ours, wanted));
        launches.push(Launch {
            kernel: ("kernel", pattern.name.into()),
            program: program.clone(),
            gradients,
        });
    }
    let answers = oracle.ask(&json!({"command": "backward", "source": pattern::TEXT}), &launches);
    let (mut wrong, count) = (0, rows.len());
    for ((title, ours, wanted), (launch, answer)) in
        rows.into_iter().zip(launches.iter().zip(answers))
    {
        let theirs = match answer {
            Ok(memory) => verdict(&numbers::read(&launch.program, &memory), &wanted),
            Err(error) => format!("fails: {}", error.lines().next().unwrap_or_default()),
        };
        wrong += usize::from(theirs.starts_with("**wrong**"));
        assert!(!ours.starts_with("**wrong**"), "{title}: {ours}");
        _ = writeln!(text, "| {title} | {ours} | {theirs} |");
    }
    _ = writeln!(text, "\nOf {count} patterns, NVIDIA Warp is silently wrong on {wrong}.");
    document::hold("patterns", &text);
}

/// Returns the gradients of all arrays by central differences.
fn differences(objective: &Objective<'_>, arrays: &[Vec<f64>]) -> Numbers {
    let slopes = |(buffer, array): (usize, &Vec<f64>)| -> Vec<f64> {
        let each = (0..array.len()).map(|at| {
            let mut direction = vec![0.0; array.len()];
            direction[at] = 1.0;
            objective.slope(buffer, &direction).expect("patterns are smooth where they are asked")
        });
        each.collect()
    };
    arrays.iter().enumerate().map(slopes).collect()
}

fn verdict(found: &Numbers, wanted: &Numbers) -> String {
    let apart = |(found, wanted): (&f64, &f64)| (found - wanted).abs() / wanted.abs().max(1.0);
    let (found, wanted) = (found.iter().flatten(), wanted.iter().flatten());
    let nan = found.clone().any(|number| number.is_nan());
    let worst = found.zip(wanted).map(apart).fold(0.0, f64::max);
    if nan || worst > TOLERANCE { "**wrong**".into() } else { "right".into() }
}
