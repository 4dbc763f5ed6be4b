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
    assert_eq!(said.matches("frames/s").count(), 4, "a sweep of each ROM: {said}");
}
