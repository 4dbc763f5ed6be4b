//! Programs of the user on the command line: run, recorded, compared, refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const TASK: &str = "\
import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 2

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += wp.float32(gb.read(machine, 0xC006))
    return scratch[0]

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[0]
    obs[1] = wp.float32(gb.pixel(machine, 40, 40))
";

fn run(folder: &Path, line: &str) -> Output {
    fs::write(folder.join("task.py"), TASK).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(line.split_whitespace()).current_dir(folder).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_bench_runs_programs_and_records_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(
        folder.path(),
        "bench --rom PEARL_DRIFT --env-counts 2 --steps 3 --repeats 1 --stage full_step --reward task.py --obs \
         task.py --out report",
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let artifact = folder.path().join("report/sweep-PEARL_DRIFT-full_step.json");
    let artifact: Value =
        serde_json::from_slice(&fs::read(artifact).expect("an artifact")).expect("JSON");
    let programs = &artifact["config"]["programs"];
    assert_eq!(programs["reward"]["name"], "task.py");
    assert_eq!(programs["obs_dim"], 2);
    assert_eq!(programs["obs"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(programs["obs"]["text"], TASK);
}

#[test]
fn a_verification_compares_what_programs_compute() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "verify --ref-backend warp_vec_cpu --rom PEARL_DRIFT --verify-steps 20 --num-envs 3 --stage \
                full_step --reward task.py --obs task.py --dut-backend";
    let output = run(folder.path(), &format!("{line} warp_vec_cpu"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = run(folder.path(), &format!("{line} stub_bad"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let bundle =
        fs::read_dir(folder.path().join("runs/bundles")).expect("bundles").flatten().next();
    let bundle = bundle.expect("a bundle").path();
    // The bundle contains the text, so the file may be removed.
    fs::remove_file(folder.path().join("task.py")).expect("it was there");
    let replay = Command::new(env!("CARGO_BIN_EXE_gbxcule")).arg("replay").arg(&bundle).output();
    let replay = replay.expect("the binary runs");
    assert_eq!(replay.status.code(), Some(0), "{}", stderr(&replay));
}

#[test]
fn programs_that_cannot_run_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = |line: &str| {
        let output = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        stderr(&output)
    };
    assert!(
        message("bench --reward reward_v9").contains("there is no built-in program `reward_v9`")
    );
    assert!(
        message("bench --reward task.py --obs missing.py")
            .contains("cannot read the program missing.py")
    );
    fs::write(folder.path().join("wrong.py"), TASK.replace("gb.read(", "gb.raed("))
        .expect("a file");
    let wrong = message("bench --reward wrong.py --stage reward_only");
    assert!(wrong.contains("wrong.py:9:") && wrong.contains("it has `gb.read`"), "{wrong}");
    let reference = message(
        "verify --ref-backend pyboy_single --dut-backend warp_vec_cpu --rom ALU_LOOP --stage reward_only --reward \
         task.py",
    );
    assert!(reference.contains("pyboy_single computes reward_v0 and obs_v0 only"), "{reference}");
}
