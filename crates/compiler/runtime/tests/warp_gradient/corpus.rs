//! Every kernel of NVIDIA Warp's own tests and examples, or of the folder that `GBXCULE_TREE`
//! names: how many can be differentiated, and whose gradients are right.
//!
//! Each gradient is tested along two random directions in each array, on inputs that the kernel
//! runs on. Our gradient is computed twice: in f64 to compare it with differences, and in the
//! kernel's own types to compare it with Warp's.

use crate::document;
use crate::input::{self, Run};
use crate::numbers::{self, Numbers};
use crate::promote::promoted;
use crate::slope::{Objective, run};
use crate::subject::{Subject, Tree};
use crate::warp_oracle::{Answer, Launch, Oracle};
use gbxcule_ir::check;
use gbxcule_passes::grad::reverses;
use gbxcule_testkit::arbitrary::{Random, RandomProgram, unit};
use gbxcule_testkit::switch::{is_chosen, takes_all_names};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Number of kernels in a module of Warp's.
const BATCH: usize = 24;
/// Number of directions in each array.
const DIRECTIONS: usize = 2;
/// The most error of a right slope in f64, as a part of its largest term or of 1.
const EXACT: f64 = 1e-5;
/// The most error of a right slope in f32, as a part of its largest term or of 1.
const ROUNDED: f64 = 2e-3;
/// Kernels in which several threads store to one element: the last store decides, so that no
/// gradient is right.
const RACES: [&str; 1] =
    ["tests/test_codegen.py:1489 test_augassign_no_double_eval_mul_vec_component_kernel"];

/// Results of the comparison, and the kernels of each.
#[derive(Default)]
struct Counts {
    rows: BTreeMap<&'static str, Vec<String>>,
}

impl Counts {
    fn add(&mut self, row: &'static str, title: impl Into<String>) {
        self.rows.entry(row).or_default().push(title.into());
    }

    fn of(&self, row: &str) -> usize {
        self.rows.get(row).map_or(0, Vec::len)
    }
}

/// A kernel whose gradients are compared with Warp's.
struct Asked<'a> {
    subject: &'a Subject,
    title: String,
    launch: Launch,
    /// Our gradients in the kernel's own types.
    ours: Numbers,
    /// Slopes on which our gradients in f64 and differences agree.
    slopes: Vec<Slope>,
}

/// A slope along a direction in an array.
struct Slope {
    buffer: usize,
    direction: Vec<f64>,
    wanted: f64,
}

impl Slope {
    /// Returns true if a gradient agrees within the tolerance.
    fn agrees(&self, gradient: &Numbers, tolerance: f64) -> bool {
        let terms = gradient[self.buffer].iter().zip(&self.direction).filter(|(_, d)| **d != 0.0);
        let (sum, size) = terms.fold((0.0, 1.0f64), |(sum, size), (number, direction)| {
            (sum + number * direction, size.max((number * direction).abs()))
        });
        (sum - self.wanted).abs() <= tolerance * size.max(self.wanted.abs())
    }
}

#[test]
#[ignore = "needs NVIDIA Warp"]
fn gradients_of_warps_own_kernels_are_right() {
    let mut oracle = Oracle::new();
    let hello = oracle.hello();
    let package = PathBuf::from(hello["package"].as_str().expect("where Warp lies"));
    let mut tree = Tree::default();
    let elsewhere = std::env::var_os("GBXCULE_TREE").map(PathBuf::from);
    match &elsewhere {
        Some(folder) => tree.add(folder),
        None => ["tests", "examples"].iter().for_each(|each| tree.add(&package.join(each))),
    }
    let (mut counts, mut refused) = (Counts::default(), BTreeMap::<&str, usize>::new());
    let mut asked = Vec::new();
    for (number, subject) in tree.compiled.iter().enumerate() {
        let title = subject.title(&package);
        if !is_chosen(&title) {
            continue;
        }
        match ours(subject, &title, number as u64, &mut counts) {
            Ok(found) => asked.extend(found),
            Err(code) => *refused.entry(code).or_default() += 1,
        }
    }
    if elsewhere.is_some() {
        // Kernels that are not Warp's are compared with differences alone: Warp takes minutes to
        // compile them.
        asked.clear();
    }
    let by_file = asked.chunk_by(|one, other| one.subject.file == other.subject.file);
    for batch in by_file.flat_map(|asked| asked.chunks(BATCH)) {
        let answers = answers(&mut oracle, batch);
        for (one, answer) in batch.iter().zip(answers) {
            judge(one, answer, &mut counts);
        }
    }
    for row in ["wrong", "panics", "ours alone is right", "neither is right", "Warp alone is right"]
    {
        println!("{row}: {:#?}", counts.rows.get(row));
    }
    println!("Warp refuses: {:#?}", counts.rows.get("Warp doesn't run it"));
    let text = report(&tree, &counts, &refused);
    println!("{text}");
    if takes_all_names() && elsewhere.is_none() {
        document::hold("corpus", &text);
    }
    assert_eq!(counts.rows.get("wrong"), None);
}

/// Differentiates a kernel and compares its gradient with differences. Returns the code of the
/// refusal if the kernel is refused.
fn ours<'a>(
    subject: &'a Subject,
    title: &str,
    seed: u64,
    counts: &mut Counts,
) -> Result<Option<Asked<'a>>, &'static str> {
    let (module, kernels) = match reverses(&subject.module, &[subject.kernel]) {
        Ok(found) => found,
        Err(faults) => {
            counts.add("refused", title);
            return Err(faults[0].code.name());
        }
    };
    let reverse = (check::module(module).expect("reverses are valid"), kernels[0]);
    counts.add("differentiates", title);
    let Ok(Run { program, after, .. }) = input::calm_run(subject, seed) else {
        counts.add("no inputs", title);
        return Ok(None);
    };
    let mut random = Random::new(seed);
    let floats = numbers::read(&program, &program.buffers);
    if floats.iter().all(Vec::is_empty) {
        counts.add("no floats", title);
        return Ok(None);
    }
    let mut draw = |numbers: &Numbers| -> Numbers {
        let rounded = |random: &mut Random| f64::from(unit(random) as f32);
        numbers.iter().map(|n| n.iter().map(|_| rounded(&mut random)).collect()).collect()
    };
    let weights = draw(&floats);
    let Some(slopes) = held(&program, weights.clone(), &mut draw, title, counts) else {
        return Ok(None);
    };
    let Some(objective) = Objective::new(&program, weights) else { return Ok(None) };
    let back = numbers::backward(&program, reverse, &after, &objective.weights);
    let Some(memory) = run(&back) else { return Ok(None) };
    let count = program.buffers.len();
    let ours = numbers::read(&program, &memory[count..]);
    let gradients = back.buffers[count..].to_vec();
    let launch = Launch { kernel: ("line", subject.line.into()), program, gradients };
    Ok(Some(Asked { subject, title: title.to_string(), launch, ours, slopes }))
}

/// Compares our gradient in f64 with differences, and returns the slopes along which the
/// differences settle.
fn held(
    program: &RandomProgram,
    weights: Numbers,
    draw: &mut impl FnMut(&Numbers) -> Numbers,
    title: &str,
    counts: &mut Counts,
) -> Option<Vec<Slope>> {
    let wide = promoted(program).filter(|wide| run(wide).is_some());
    let Some(wide) = wide else {
        counts.add("not in f64", title);
        return None;
    };
    let objective = Objective::new(&wide, weights)?;
    let reverse = reverses(&wide.module, &[wide.kernel]).ok();
    let Some((module, kernels)) = reverse else {
        counts.add("not in f64", title);
        return None;
    };
    let reverse = (check::module(module).expect("reverses are valid"), kernels[0]);
    let back = numbers::backward(&wide, reverse, &objective.after, &objective.weights);
    let Some(memory) = run(&back) else {
        counts.add("too long", title);
        return None;
    };
    let gradient = numbers::read(&wide, &memory[wide.buffers.len()..]);
    let floats = numbers::read(&wide, &wide.buffers);
    let mut slopes = Vec::new();
    for _ in 0..DIRECTIONS {
        for (buffer, direction) in draw(&floats).into_iter().enumerate() {
            if direction.is_empty() {
                continue;
            }
            let slope = objective.slope(buffer, &direction);
            slopes.extend(slope.map(|wanted| Slope { buffer, direction, wanted }));
        }
    }
    if slopes.is_empty() {
        counts.add("rough", title);
        return None;
    }
    // The gradient of a racing kernel may agree by luck.
    if RACES.contains(&title) {
        counts.add("race", title);
        return None;
    }
    match slopes.iter().find(|slope| !slope.agrees(&gradient, EXACT)) {
        None => counts.add("right", title),
        Some(Slope { buffer, wanted, direction }) => {
            let terms = gradient[*buffer].iter().zip(direction);
            let found: f64 = terms.map(|(number, direction)| number * direction).sum();
            counts.add("wrong", format!("{title}: array {buffer}: {found}, not {wanted}"));
        }
    }
    Some(slopes)
}

fn answers(oracle: &mut Oracle, batch: &[Asked<'_>]) -> Vec<Answer> {
    let kernels: Vec<Value> = batch
        .iter()
        .map(|Asked { subject, .. }| {
            json!({"line": subject.line, "name": subject.name, "types": subject.types()})
        })
        .collect();
    let file = &batch[0].subject.file;
    let command = json!({"command": "backward_file", "file": file, "kernels": kernels});
    let launches: Vec<Launch> = batch.iter().map(|asked| asked.launch.clone()).collect();
    oracle.ask(&command, &launches)
}

/// Compares our gradients with Warp's.
fn judge(asked: &Asked<'_>, answer: Answer, counts: &mut Counts) {
    let Asked { title, launch, ours, slopes, .. } = asked;
    let theirs = match answer {
        Ok(memory) => numbers::read(&launch.program, &memory),
        Err(error) => {
            counts.add("Warp doesn't run it", format!("{title}: {error}"));
            return;
        }
    };
    let same = ours.iter().zip(&theirs).all(|(ours, theirs)| close(ours, theirs));
    let right = |numbers: &Numbers| slopes.iter().all(|slope| slope.agrees(numbers, ROUNDED));
    let row = match (same, right(ours), right(&theirs)) {
        (true, ..) => "both agree",
        (false, true, false) => "ours alone is right",
        (false, false, true) => "Warp alone is right",
        (false, true, true) => "both are right, within rounding",
        (false, false, false) => "neither is right",
    };
    counts.add(row, title);
}

/// Returns true if two gradients agree but for rounding.
fn close(ours: &[f64], theirs: &[f64]) -> bool {
    let largest = ours.iter().chain(theirs).filter(|n| n.is_finite());
    let largest = largest.fold(1.0f64, |largest, number| largest.max(number.abs()));
    let apart = |(l, r): (&f64, &f64)| l == r || (l - r).abs() <= ROUNDED * largest;
    ours.iter().zip(theirs).all(apart)
}

fn report(tree: &Tree, counts: &Counts, refused: &BTreeMap<&str, usize>) -> String {
    let mut text = String::from("| of the kernels | |\n|---|---|\n");
    let mut row = |what: &str, count: usize| _ = writeln!(text, "| {what} | {count:>5} |");
    row("found in Warp's tests and examples", tree.found);
    row("compile", tree.compiled.len());
    row("differentiate", counts.of("differentiates"));
    for (code, count) in refused {
        row(&format!("are refused, `{code}`"), *count);
    }
    row("run on generated inputs, and have floats in arrays", {
        counts.of("differentiates") - counts.of("no inputs") - counts.of("no floats")
    });
    row("**agree with central differences in f64**", counts.of("right"));
    row("disagree with them", counts.of("wrong"));
    row("have threads that race for one element", counts.of("race"));
    row("have differences that don't settle", counts.of("rough"));
    row("look at the bits of floats, or are too long for differences", {
        counts.of("not in f64") + counts.of("too long")
    });
    row("run backward in Warp too", {
        ["both agree", "ours alone is right", "Warp alone is right"]
            .map(|row| counts.of(row))
            .iter()
            .sum::<usize>()
            + counts.of("both are right, within rounding")
            + counts.of("neither is right")
    });
    row("agree with Warp", {
        counts.of("both agree") + counts.of("both are right, within rounding")
    });
    row("**agree with differences where Warp does not**", counts.of("ours alone is right"));
    row("the other way round", counts.of("Warp alone is right"));
    row("neither, in the kernel's own precision", counts.of("neither is right"));
    text
}
