//! Rows are varied, have an effect, depend only on seed and number, and are read as they were
//! written.

use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, acceptance, make};
use gbxcule_rows::row_program::RowProgram;
use gbxcule_rows::skeleton::{KnownSkeletons, is_known};
use gbxcule_rows::table::{SCHEMA_VERSION, column_names, read_parquet, to_parquet};
use gbxcule_rows::verdict::Verdict;
use std::collections::HashSet;
use std::path::Path;

const TEXT: Plan =
    Plan { seed: 5, mode: Mode::Text, device: Texts::Both, host_every: 0, sampled: 100 };
const RUN: Plan =
    Plan { seed: 5, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

#[test]
fn nearly_every_row_has_a_structure_of_its_own() {
    let rows: Vec<_> = (0..500).map(|id| make(TEXT, id)).collect();
    let structures: HashSet<_> = rows.iter().map(|row| &row.structure).collect();
    assert!(structures.len() >= 475, "{} structures in 500 rows", structures.len());
    let families: HashSet<_> = rows.iter().map(|row| &row.family).collect();
    assert_eq!(families.len(), 17, "every family has its share");
    let features: HashSet<_> = rows.iter().flat_map(|row| &row.features).collect();
    for wanted in [
        "for",
        "while",
        "break",
        "continue",
        "if",
        "if-expression",
        "wp.func",
        "wp.struct",
        "wp.atomic_add",
        "wp.quat_rotate",
        "wp.transform_point",
        "wp.constant",
        "wp.float16",
        "wp.float64",
        "wp.array4d",
        "<<",
    ] {
        assert!(features.iter().any(|feature| *feature == wanted), "no row has {wanted}");
    }
    let takes_apart = |line: &str| {
        line.split_once(" = ")
            .is_some_and(|(left, right)| left.contains(", ") && !right.starts_with("wp.tid"))
    };
    let several = rows.iter().filter(|row| row.source.lines().any(takes_apart)).count();
    assert!(several >= 5, "functions with several results in {several} rows");
}

#[test]
fn rows_whose_gradient_is_refused_are_kept_and_say_so() {
    let is_refused = |row: &Row| row.gradient_refused.is_some();
    let row = (0..120).map(|id| make(RUN, id)).find(is_refused).expect("a row");
    assert_eq!(row.gradient_refused.as_deref(), Some("grad-overwritten"));
    assert!(row.cpp.is_some() && row.cuda.is_some() && row.outputs_json.is_some());
    let none = [&row.ir_backward, &row.cpp_backward, &row.cuda_backward, &row.gradients_json];
    assert_eq!(none, [&None; 4]);
    let checks = row.checks();
    let differences = checks.iter().find(|it| it.check == "differences").expect("a verdict");
    assert_eq!(differences.verdict, Verdict::Refused(String::new()));
    let all = (0..200).filter(|&id| is_refused(&make(TEXT, id))).count();
    assert!((2..30).contains(&all), "{all} of 200");
}

#[test]
fn rows_that_nvidia_warp_has_are_marked() {
    let skeletons = KnownSkeletons::of_warp();
    let rows: Vec<_> = (0..40).map(|id| make(TEXT, id)).collect();
    assert!(rows.iter().all(|row| row.in_warp == is_known(&row.source, &skeletons)));
    let sum = "import warp as wp\n\n\n@wp.kernel\ndef total(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    i = wp.tid()\n    wp.atomic_add(y, 0, x[i])\n";
    assert!(skeletons.len() > 1000 && is_known(sum, &skeletons));
}

/// Readers find columns by name and order; a change of either needs a new `SCHEMA_VERSION`.
#[test]
fn the_columns_of_the_schema() {
    let rows = [make(TEXT, 0)];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("columns.parquet");
    std::fs::write(&path, to_parquet(&rows).expect("Parquet")).expect("a file");
    let names = column_names(&path).expect("columns").join(" ");
    assert_eq!(SCHEMA_VERSION, 9);
    assert_eq!(
        names,
        "id family kernel kernels source ir ir_backward cpp cpp_backward cuda cuda_backward cuda_plain \
         cuda_plain_backward ptx ptx_backward warp_cpp warp_cuda warp_origin_json gradient_refused launches_json signature_json inputs_json outputs_json gradients_json structure split \
         checks_json warp_gradient origin_json template summary description specification compiler launch_dims \
         real_launch_dims block_dims features input_seed seed attempt generator_version in_warp"
    );
    assert_eq!(read_parquet(&path).expect("rows"), rows);
}

#[test]
fn most_drafts_mean_something_and_none_is_refused_by_the_compiler() {
    let counts = acceptance(RUN, 60);
    println!("{counts:?}");
    let accepted = counts.iter().find(|(reason, _)| reason == "accepted").map_or(0, |it| it.1);
    assert!(accepted >= 30, "{counts:?}");
}

#[test]
fn a_row_depends_on_seed_and_number_alone() {
    assert_eq!(make(RUN, 7), make(RUN, 7));
    assert_ne!(make(RUN, 7).source, make(RUN, 8).source);
    assert_ne!(make(RUN, 7).source, make(Plan { seed: 6, ..RUN }, 7).source);
}

fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    let (_, files) = gbxcule_rows::data_file::files(folder).expect("data files");
    files.iter().map(|path| std::fs::read(path).expect("a file")).collect()
}

#[test]
fn workers_and_shards_change_no_byte() {
    let manifest = Manifest::new(520, TEXT, &Tools::default());
    let work = |shard: &str, workers| Work {
        shard: shard.parse().expect("a shard"),
        workers,
        resume: false,
        jsonl: false,
    };
    let make_in = |name: &str, works: &[Work]| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth").join(name);
        _ = std::fs::remove_dir_all(&folder);
        works.iter().for_each(|work| {
            batch(&folder, &manifest, work, &Tools::default(), &|| ()).expect("a dataset");
        });
        folder
    };
    let one = make_in("one", &[work("0/1", 1)]);
    let many = make_in("many", &[work("1/2", 3), work("0/2", 2)]);
    assert_eq!(bytes(&one), bytes(&many));
    let rows = read(&one).expect("rows");
    assert_eq!(rows.len(), 520);
    assert!(rows.iter().enumerate().all(|(at, row)| row.id == at as u64));
    assert_eq!(rows[77], make(TEXT, 77));
    let again = batch(&one, &manifest, &work("0/1", 1), &Tools::default(), &|| ());
    assert!(again.is_err_and(|error| error.to_string().contains("--resume")));
    let other = batch(
        &one,
        &Manifest::new(9, TEXT, &Tools::default()),
        &work("0/1", 1),
        &Tools::default(),
        &|| (),
    );
    let held = "another dataset, of `gbxcule synth batch --count 520 ";
    assert!(other.is_err_and(|error| error.to_string().contains(held)));
}

/// A counter's value at the beginning of a round follows from the round's number; a state that is
/// not a sum of equal parts is kept.
#[test]
fn a_reverse_keeps_no_counter_on_a_tape() {
    let text = |update: &str| {
        format!(
            "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
             total = float(0.0)\n    n = int(3)\n    for j in range(x.shape[0]):\n        if x[j] < 0.0:\n            \
             break\n        total += x[j] * x[n % 4]\n        n = {update}\n    y[0] = total\n"
        )
    };
    for (update, is_kept) in [("n + 2", false), ("n * 3", true)] {
        let program = RowProgram::read(&text(update)).expect("a program");
        let reverse = program.emit(Texts::Cpu, 1).cpp_backward.expect("a reverse");
        assert!(!reverse.contains("count_tape"), "{reverse}");
        assert_eq!(reverse.contains("n_tape"), is_kept, "{reverse}");
    }
}
