//! The command with `warp_vec_cuda`, on the stand-ins for driver and NVRTC (`runtime/tests/host_gpu`): no GPU.

#[path = "../../runtime/tests/host_gpu/stand_in.rs"]
mod stand_in;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn command(program: &Path, folder: &Path) -> Command {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_texts");
    let mut command = stand_in::command(program, &cache);
    command.current_dir(folder);
    command
}

/// Runs the command with words as arguments; gives what it printed.
fn gbxcule(folder: &Path, arguments: &str) -> String {
    let mut command = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder);
    passes(command.args(arguments.split_whitespace()))
}

fn passes(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let (said, failed) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {:?}\n{said}\n{failed}", output.status);
    said.into_owned()
}

const GATE: &str = "verify --dut-backend warp_vec_cuda --compare-every 1 --frames-per-step 1";

#[test]
fn the_gates_hold_against_the_swarm_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for rom in ["ALU_LOOP", "MEM_RWB --mem-region C000:C100"] {
        let said = gbxcule(
            folder.path(),
            &format!("{GATE} --ref-backend warp_vec_cpu --verify-steps 64 --rom {rom}"),
        );
        assert!(said.starts_with("agree") && said.contains("64 comparisons"), "{said}");
    }
}

/// `make check-gpu`, but for the GPU.
#[test]
#[ignore = "needs PyBoy"]
fn the_gates_hold_against_pyboy() {
    let folder = tempfile::tempdir().expect("a folder");
    for rom in ["ALU_LOOP", "MEM_RWB --mem-region C000:C100"] {
        let said = gbxcule(
            folder.path(),
            &format!("{GATE} --ref-backend pyboy_single --verify-steps 64 --rom {rom}"),
        );
        assert!(said.starts_with("agree") && said.contains("64 comparisons"), "{said}");
    }
}

#[test]
fn a_bench_waits_after_every_64_steps_unless_it_is_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    for (more, every) in [("", 64), ("--sync-every 0", 0)] {
        let said = gbxcule(
            folder.path(),
            &format!(
                "bench --device cuda --rom MEM_RWB --env-counts 1,4 --steps 6 --warmup-steps 1 --repeats 1 {more}"
            ),
        );
        let report = said.lines().find_map(|line| line.strip_prefix("report: ")).expect("a report");
        let report = folder.path().join(report.trim());
        let files = std::fs::read_dir(&report).expect("the report").flatten();
        let artifact = files
            .map(|file| file.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "json"));
        let text = std::fs::read(artifact.expect("an artifact")).expect("its bytes");
        let artifact: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(artifact["config"]["sync_every"], every, "{artifact:#}");
    }
}

/// Rows are launched through the CUDA half of the runtime and held against what they hold.
#[test]
fn rows_of_a_dataset_are_launched_and_a_wrong_result_is_caught() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "--count 4 --seed 5 --device cuda --jsonl --out rows";
    gbxcule(folder.path(), &format!("synth generate {rows}"));
    let ladder = gbxcule(folder.path(), "synth validate rows --no-host --device cuda");
    let rung = |ladder: &str| {
        let line = ladder.lines().find(|line| line.starts_with("gpu ")).expect("the rung");
        line.split_whitespace().skip(1).take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rung(&ladder), ["4", "0", "0"], "{ladder}");
    // The first number that the first row expects, off by one.
    let data = folder.path().join("rows/data");
    std::fs::remove_file(data.join("part-000000.parquet")).expect("a file");
    let lines = std::fs::read_to_string(data.join("part-000000.jsonl")).expect("JSON lines");
    let (first, others) = lines.split_once('\n').expect("more than a row");
    let mut row: Value = serde_json::from_str(first).expect("a row");
    let outputs = row["outputs_json"].as_str().expect("results");
    let mut outputs: Value = serde_json::from_str(outputs).expect("JSON");
    let number = &mut outputs[0]["values"][0];
    *number = match number.as_i64() {
        Some(integer) => (integer + 1).into(),
        None => (number.as_f64().expect("a number") + 1.0).into(),
    };
    row["outputs_json"] = outputs.to_string().into();
    std::fs::write(data.join("part-000000.jsonl"), format!("{row}\n{others}")).expect("a file");
    let mut validate = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder.path());
    validate.args(["synth", "validate", "rows", "--no-host", "--device", "cuda"]);
    let output = validate.output().expect("it starts");
    let ladder = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && ladder.contains("row 0: gpu fails"), "{ladder}");
    assert_eq!(rung(&ladder), ["3", "1", "0"], "{ladder}");
    let scores = gbxcule(folder.path(), "synth mutate rows --no-host --limit 1 --device cuda");
    let line = scores.lines().find(|line| line.starts_with("expected output"));
    assert!(line.is_some_and(|line| line.ends_with("100.00")), "{scores}");
}

#[test]
fn without_a_driver_no_row_passes_for_launched() {
    let folder = tempfile::tempdir().expect("a folder");
    gbxcule(folder.path(), "synth generate --count 2 --mode text --out rows");
    let mut validate = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder.path());
    validate.args(["synth", "validate", "rows", "--no-host", "--device", "cuda"]);
    // What lies where the driver is looked for first is none.
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(folder.path().join(name), "no library").expect("a file");
    }
    validate.env("LD_LIBRARY_PATH", folder.path());
    let output = validate.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("driver"), "{said}");
}

#[test]
fn a_collected_folder_is_all_that_the_gates_need() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = gbxcule(folder.path(), "doctor --collect kit");
    for file in
        ["gbxcule", "nvrtc/libnvrtc.so.13", "python/gbxcule/oracle/__main__.py", "oracle.txt"]
    {
        assert!(listed.lines().any(|line| line.ends_with(file)), "{file}: {listed}");
    }
    // Elsewhere, and with nothing of this project around it.
    let other = tempfile::tempdir().expect("a folder");
    std::fs::rename(folder.path().join("kit"), other.path().join("kit")).expect("it moves");
    // The stand-in of NVRTC reads a header that lies beside it.
    let header = stand_in::folder().join("host_cuda.h");
    std::fs::copy(header, other.path().join("kit/nvrtc/host_cuda.h")).expect("a file");
    let mut gates = command(Path::new("sh"), other.path());
    gates.arg("kit/gates.sh").envs([("STEPS", "4"), ("ENVS", "2"), ("REFERENCE", "warp_vec_cpu")]);
    let said = passes(&mut gates);
    assert_eq!(said.matches("agree").count(), 3, "{said}");
    assert!(said.contains("frames/s"), "{said}");
}
