//! Compares the builtin table with NVIDIA Warp on the CPU, row by row: `GBXCULE_PYTHON=.. cargo
//! nextest run -p gbxcule-interp --run-ignored only -E 'binary(warp)'`.
//!
//! Integers must be equal. Floats may differ by the units in the last place in [`TOLERANCES`],
//! counted at the size of the number or of 1, whichever is larger. Rows with other differences
//! stand in [`DIFFERENCES`] with the reason, and must differ.

use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::eval;
use gbxcule_ir::{Literal, Scalar, Shape, Type, Types, constant};
use gbxcule_testkit::arbitrary::{Actual, Case, RandomProgram, cases};
use gbxcule_testkit::switch::is_chosen;
use gbxcule_testkit::warp::{Launch, Warp};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Seeds of the operands.
const SEEDS: [u64; 3] = [7, 21, 22];

/// Number of kernels in a module.
const BATCH: usize = 24;

/// Units in the last place that a row is allowed, if they are not 4.
const TOLERANCES: &[(&str, f64)] = &[
    ("ddot", 0.0),
    ("mul", 0.0),
    // In sums of products that cancel, the remainder shows another order, or Warp's minors in
    // double.
    ("determinant", 128.0),
    ("eig3", 32.0),
    ("quat_slerp", 64.0),
    ("quat_to_euler", 16.0),
    ("qr3", 64.0),
    ("svd3", 256.0),
];

/// Rows, or rows with a scalar type, that differ or that Warp rejects, each with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    ("erfcinv(bf16", "Warp's is infinite at 1e-40, where it is 9.4"),
    ("erfcinv(f32", "Warp's is infinite at 1e-40, where it is 9.4"),
    ("erfcinv(f64", "Warp's is infinite at 1e-40, where it is 9.4"),
    ("eig3(mat<3, 3, bf16>", "four rounds in eight bits: a turn too far or not far enough"),
    ("svd2(mat<2, 2, bf16>", "Warp takes the root of a value that rounding made negative"),
    ("transform_from_matrix(mat<4, 4, bf16>", "Warp has no bfloat16 here"),
    ("transform_to_matrix(transform<bf16>", "Warp has no bfloat16 here"),
    ("transform_compose(vec<3, bf16>", "Warp has no bfloat16 here"),
    ("transform_decompose(mat<4, 4, bf16>", "Warp has no bfloat16 here"),
];

#[test]
#[ignore = "needs NVIDIA Warp"]
fn every_row_agrees_with_warp() {
    let cases: Vec<Case> = cases()
        .into_iter()
        .filter(|case| builtin::row(case.row).visibility == Visibility::Dialect)
        .filter(|case| is_chosen(builtin::row(case.row).name))
        .collect();
    let mut warp = Warp::find();
    let mut report = Report::default();
    for batch in cases.chunks(BATCH) {
        let printed = report.surprises.len();
        compare(&mut warp, batch, &mut report);
        report.surprises[printed..].iter().for_each(|surprise| println!("{surprise}"));
    }
    let text = report.text();
    println!("{text}");
    assert!(report.surprises.is_empty(), "{:#?}", report.surprises);
}

#[derive(Default, Debug)]
struct Report {
    rows: BTreeMap<&'static str, f64>,
    agreeing: usize,
    refused: usize,
    surprises: Vec<String>,
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!("{} agree, {} refused\n", self.agreeing, self.refused);
        for (name, worst) in &self.rows {
            if *worst > 0.0 {
                _ = writeln!(text, "{name}: {worst:.1} ULP");
            }
        }
        text
    }
}

/// Runs a batch; halves it if Warp rejects it, until the rejected case is known.
fn compare(warp: &mut Warp, batch: &[Case], report: &mut Report) {
    let mut source = String::from("import warp as wp\n");
    let mut launches = Vec::new();
    let mut programs = Vec::new();
    for (position, case) in batch.iter().enumerate() {
        kernel_text(&mut source, position, case, &case.program(SEEDS[0]));
        programs.extend(SEEDS.map(|seed| (position, case.program(seed))));
    }
    for (position, program) in &programs {
        launches.push(Launch { kernel: ("kernel", format!("k{position}").into()), program });
    }
    match warp.run(json!({"command": "run", "source": source}), &launches) {
        Ok((_, memory)) => {
            let mut runs = programs.iter().zip(&memory);
            for case in batch {
                judge(case, &runs.by_ref().take(SEEDS.len()).collect::<Vec<_>>(), report);
            }
        }
        Err(error) => halve(warp, batch, report, &error),
    }
}

fn halve(warp: &mut Warp, batch: &[Case], report: &mut Report, error: &str) {
    if let [case] = batch {
        report.refused += 1;
        if difference(case).is_none() {
            let error = error.lines().last().unwrap_or_default();
            report.surprises.push(format!("{}: refused: {error}", case.name()));
        }
        return;
    }
    let (left, right) = batch.split_at(batch.len() / 2);
    compare(warp, left, report);
    compare(warp, right, report);
}

/// Returns the reason for which a case is known to differ.
fn difference(case: &Case) -> Option<&'static str> {
    let (full, name) = (case.name(), builtin::row(case.row).name);
    let known = |pattern: &str| pattern == name || full.starts_with(pattern);
    DIFFERENCES.iter().find(|(pattern, _)| known(pattern)).map(|(_, reason)| *reason)
}

/// Program, numbered by its case, and the memory that Warp left.
type Run<'a> = (&'a (usize, RandomProgram), &'a Vec<Vec<u8>>);

fn judge(case: &Case, runs: &[Run<'_>], report: &mut Report) {
    let name = builtin::row(case.row).name;
    let allowed = TOLERANCES.iter().find(|(row, _)| *row == name).map_or(4.0, |(_, ulps)| *ulps);
    let mut worst = (0.0, String::new());
    let inputs = builtin::row(case.row).signatures[usize::from(case.signature)].params.len();
    let mut dull = true;
    for &((_, program), theirs) in runs {
        let ours = program.interpret().unwrap_or_else(|f| panic!("{}: {f}", case.name()));
        for (position, actual) in program.args.iter().enumerate() {
            let Actual::Array { buffer, of, .. } = actual else { continue };
            let pairs = scalars(&program.module.types, *of, &ours[*buffer], &theirs[*buffer]);
            for (at, (l, r)) in pairs {
                let found = units(l, r);
                if found > worst.0 {
                    let what = if position < inputs { "argument" } else { "result" };
                    let text = format!("{what} {position} scalar {at}: ours {l}, Warp's {r}");
                    worst = (found, text);
                }
            }
        }
        dull &= inputs < ours.len() && theirs[inputs..].iter().flatten().all(|&byte| byte == 0);
    }
    // No unsigned number is below 0, so such results are constant.
    if dull && name != "step" && difference(case).is_none() {
        report.surprises.push(format!("{}: every result is 0", case.name()));
    }
    let entry = report.rows.entry(name).or_default();
    *entry = entry.max(worst.0);
    match (worst.0 <= allowed, difference(case)) {
        (true, None) => report.agreeing += 1,
        (false, Some(_)) => {}
        (true, Some(reason)) => {
            report.surprises.push(format!("{}: agrees, though: {reason}", case.name()));
        }
        (false, None) => {
            report.surprises.push(format!("{}: {} ULP, {}", case.name(), worst.0, worst.1));
        }
    }
}

/// Returns pairs of scalars of two buffers, numbered.
fn scalars<'a>(
    types: &Types,
    of: Type,
    left: &'a [u8],
    right: &'a [u8],
) -> impl Iterator<Item = (usize, (Literal, Literal))> + use<'a> {
    let (scalar, _) = types.components(of).unwrap_or((Scalar::U8, 1));
    let width = scalar.bytes() as usize;
    left.chunks_exact(width)
        .zip(right.chunks_exact(width))
        .map(move |(l, r)| (eval::from_bytes(scalar, l), eval::from_bytes(scalar, r)))
        .enumerate()
}

/// Returns the distance of two numbers in units in the last place of the larger one or of 1.
fn units(left: constant::Literal, right: Literal) -> f64 {
    let (l, r) = (left.as_f64(), right.as_f64());
    if left == right || (l.is_nan() && r.is_nan()) || (left.scalar().is_float() && l == r) {
        return 0.0;
    }
    let epsilon = match left.scalar() {
        Scalar::F64 => f64::EPSILON,
        Scalar::F32 => f64::from(f32::EPSILON),
        Scalar::F16 => 2f64.powi(-10),
        Scalar::Bf16 => 2f64.powi(-7),
        _ => return f64::INFINITY,
    };
    let units = (l - r).abs() / (epsilon * l.abs().max(r.abs()).max(1.0));
    if units.is_nan() { f64::INFINITY } else { units }
}

/// Writes the same kernel in the dialect.
fn kernel_text(text: &mut String, position: usize, case: &Case, program: &RandomProgram) {
    let row = builtin::row(case.row);
    let signature = &row.signatures[usize::from(case.signature)];
    let types = &program.module.types;
    let mut names = HashMap::new();
    let mut params = Vec::new();
    for param in &program.module.functions[program.kernel].params {
        let Shape::Array { of, .. } = types[param.ty] else { continue };
        let alias = format!("T{position}_{}", params.len());
        _ = writeln!(text, "{alias} = {}", spelled(types, of));
        params.push(format!("{}: wp.array(dtype={alias})", param.name));
        names.insert(param.name.clone(), alias);
    }
    _ = writeln!(text, "@wp.kernel\ndef k{position}({}):\n    i = wp.tid()", params.join(", "));
    let mut own = gbxcule_ir::Module::default();
    let args = case.arguments(&mut own.types);
    let mut call = Vec::new();
    for (at, (ty, pattern)) in args.iter().zip(signature.params).enumerate() {
        if matches!(own.types[*ty], Shape::Array { .. }) {
            call.push(format!("x{at}"));
        } else if pattern.is_reference() {
            _ = writeln!(text, "    s{at} = x{at}[i]");
            call.push(format!("s{at}"));
        } else {
            call.push(format!("x{at}[i]"));
        }
    }
    let call = format!("wp.{}({})", row.name, call.join(", "));
    let results = params.len() - args.len();
    let places: Vec<String> = (0..results).map(|at| format!("r{at}")).collect();
    if places.is_empty() {
        _ = writeln!(text, "    {call}");
    } else {
        _ = writeln!(text, "    {} = {call}", places.join(", "));
    }
    for at in 0..results {
        _ = writeln!(text, "    y{at}[i] = r{at}");
    }
    for (at, pattern) in signature.params.iter().enumerate() {
        if pattern.is_reference() {
            _ = writeln!(text, "    x{at}[i] = s{at}");
        }
    }
}

fn spelled(types: &Types, ty: Type) -> String {
    let scalar = |of: Scalar| format!("wp.{}", of.spelled());
    match types[ty] {
        Shape::Scalar(of) => scalar(of),
        Shape::Vector { len, of } => format!("wp.types.vector({len}, {})", scalar(of)),
        Shape::Matrix { rows, cols, of } => {
            format!("wp.types.matrix(({rows}, {cols}), {})", scalar(of))
        }
        Shape::Quaternion(of) => format!("wp.types.quaternion({})", scalar(of)),
        Shape::Transform(of) => format!("wp.types.transformation({})", scalar(of)),
        _ => unreachable!("rows take numbers"),
    }
}
