//! The command with `warp_vec_cuda` and `--device cuda`, without a GPU: on the stand-ins for driver
//! and NVRTC (`testkit/src/stand_in`).

#[path = "live_view/client.rs"]
mod client;
#[allow(dead_code, reason = "most of it serves the live view's own tests")]
#[path = "live_view/serving.rs"]
mod serving;

use gbxcule_testkit::stand_in;
use std::path::{Path, PathBuf};
use std::process::Command;

use client::{Client, View};
use gbxcule_lab::action_source::ActionSource;
use gbxcule_swarm::{Codec, FRAME_BYTES, FrameRange, Programs};
use serde_json::{Value, json};
use serving::Serving;

fn command(program: &Path, folder: &Path) -> Command {
    let cache = stand_in::folder().join("cache");
    let mut command = stand_in::command(program, &cache);
    command.current_dir(folder);
    command
}

/// Runs the command with some arguments; returns its output.
fn gbxcule(folder: &Path, arguments: &str) -> String {
    let mut command = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder);
    passes(command.args(arguments.split_whitespace()))
}

fn passes(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let (printed, failed) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {:?}\n{printed}\n{failed}", output.status);
    printed.into_owned()
}

const GATE: &str = "verify --dut-backend warp_vec_cuda --compare-every 1 --frames-per-step 1";

#[test]
fn the_gates_hold_against_the_swarm_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for rom in ["ALU_LOOP", "MEM_RWB --mem-region C000:C100"] {
        let printed = gbxcule(
            folder.path(),
            &format!("{GATE} --ref-backend warp_vec_cpu --verify-steps 64 --rom {rom}"),
        );
        assert!(printed.starts_with("agree") && printed.contains("64 comparisons"), "{printed}");
        assert!(printed.contains("warp_vec_cuda (stand-in on the host) against"), "{printed}");
    }
}

#[test]
fn a_bench_waits_after_every_64_steps_unless_it_is_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    for (more, every) in [("", 64), ("--sync-every 0", 0)] {
        let printed = gbxcule(
            folder.path(),
            &format!(
                "bench --device cuda --rom MEM_RWB --env-counts 1,4 --steps 6 --warmup-steps 1 --repeats 1 {more}"
            ),
        );
        let report =
            printed.lines().find_map(|line| line.strip_prefix("report: ")).expect("a report");
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

/// Rows are launched through the CUDA half of the runtime, and the results compared with those in
/// the rows.
#[test]
fn rows_of_a_dataset_are_launched_and_a_wrong_result_is_caught() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "--count 4 --seed 5 --device cuda --jsonl --out rows";
    gbxcule(folder.path(), &format!("synth generate {rows}"));
    let counts = gbxcule(folder.path(), "synth validate rows --no-host --device cuda");
    let gpu_check = |counts: &str| {
        let line = counts.lines().find(|line| line.starts_with("gpu ")).expect("the check");
        line.split_whitespace().skip(1).take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(gpu_check(&counts), ["4", "0", "0"], "{counts}");
    // The first expected number of the first row is changed by one.
    std::fs::remove_dir_all(folder.path().join("rows/data")).expect("a folder");
    let files = ["train", "valid", "test"].map(|split| format!("rows/jsonl/{split}-000000.jsonl"));
    let has_first = |path: &PathBuf| {
        std::fs::read_to_string(path).expect("JSON lines").starts_with("{\"id\":0,")
    };
    let mut paths = files.iter().map(|name| folder.path().join(name));
    let path = paths.find(has_first).expect("the first row");
    let lines = std::fs::read_to_string(&path).expect("JSON lines");
    let (first, others) = lines.split_once('\n').expect("a row");
    let mut row: Value = serde_json::from_str(first).expect("a row");
    let outputs = row["outputs_json"].as_str().expect("results");
    let mut outputs: Value = serde_json::from_str(outputs).expect("JSON");
    let number = &mut outputs[0]["values"][0];
    *number = match number.as_i64() {
        Some(integer) => (integer + 1).into(),
        None => (number.as_f64().expect("a number") + 1.0).into(),
    };
    row["outputs_json"] = outputs.to_string().into();
    std::fs::write(path, format!("{row}\n{others}")).expect("a file");
    let mut validate = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder.path());
    validate.args(["synth", "validate", "rows", "--no-host", "--device", "cuda"]);
    let output = validate.output().expect("it starts");
    let counts = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && counts.contains("row 0: gpu fails"), "{counts}");
    assert_eq!(gpu_check(&counts), ["3", "1", "0"], "{counts}");
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
    // The first file that is found under the driver's name is not a library.
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(folder.path().join(name), "no library").expect("a file");
    }
    validate.env("LD_LIBRARY_PATH", folder.path());
    let output = validate.output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{message}");
    assert!(message.contains("driver"), "{message}");
}

#[test]
fn a_second_gpu_is_taken_by_its_number_or_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let verify =
        "verify --device cuda:1 --ref-backend warp_vec_cpu --rom ALU_LOOP --verify-steps 4";
    let mut verbs =
        [verify, "bench --device cuda:1 --env-counts 2 --steps 2 --repeats 1 --out bench"].map(
            |arguments| {
                let mut verb = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder.path());
                verb.args(arguments.split_whitespace());
                verb
            },
        );
    for verb in &mut verbs {
        let output = verb.output().expect("it starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("there is no device `cuda:1`: the driver sees 1"), "{message}");
        passes(verb.env("HOST_GPU_COUNT", "2"));
    }
    let artifact = folder.path().join("bench/sweep-ALU_LOOP-emulate_only.json");
    let artifact = std::fs::read(artifact).expect("the artifact");
    let artifact: Value = serde_json::from_slice(&artifact).expect("JSON");
    assert_eq!(artifact["results"][0]["details"]["device"], "cuda:1");
}

/// Makes the folder of `make gpu-folder`, without tests and machine code, in another place.
fn gpu_folder(folder: &Path) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    std::fs::copy(env!("CARGO_BIN_EXE_gbxcule"), folder.join("gbxcule")).expect("the command");
    for name in ["run.py", "steps.py"] {
        let script = project.join("python/packaging/gpu").join(name);
        std::fs::copy(script, folder.join(name)).expect("a script");
    }
}

#[test]
fn a_run_on_a_gpu_machine_keeps_each_result_and_goes_on_behind_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    gpu_folder(folder.path());
    let run = |budget: &str, out: &str| {
        // The package that a gate needs is missing, and so is NVIDIA's profiler.
        let mut run = command(Path::new("python3"), folder.path());
        run.args(["run.py", "--small", "gate_ALU_LOOP", "profile_MEM_RWB", "launches_1"]);
        run.args(["equal_JOY_DIVERGE_PERSIST"]).env("OUT", folder.path().join(out));
        run.env("BUDGET", budget).env_remove("PYTHONPATH").output().expect("it starts")
    };
    let output = run("600", "out");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a result");
    let steps = read("out/steps.txt");
    assert_eq!(output.status.code(), Some(1), "{steps}");
    let line = |name: &str| {
        let found = steps.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("no {name} in {steps}"))
    };
    assert!(line("gate_ALU_LOOP").contains("rc 2 "), "{steps}");
    assert!(line("profile_MEM_RWB").contains("not here: ncu"), "{steps}");
    assert!(
        line("launches_1").contains("rc 0 ") && line("launches_1").contains("frames/s"),
        "{steps}"
    );
    assert!(line("equal_JOY_DIVERGE_PERSIST").contains("agree"), "{steps}");
    assert!(line("end at").contains("failed: gate_ALU_LOOP"), "{steps}");
    assert!(read("out/log.txt").contains("=== equal_JOY_DIVERGE_PERSIST"));
    run("0", "late");
    let late = std::fs::read_to_string(folder.path().join("late/steps.txt")).expect("a result");
    assert!(late.contains("no time left") && !late.contains("rc "), "{late}");
    let report = gbxcule(folder.path(), "report out");
    assert!(
        report.contains("equal_JOY_DIVERGE_PERSIST") && report.contains("launches_1"),
        "{report}"
    );
}

/// Watches PEARL_DRIFT with a number of machines, 6 frames a step, on a device.
fn watch(folder: &Path, device: &str, more: &str) -> Serving {
    let arguments = format!(
        "watch --device {device} --num-envs 7 --stage full_step --frames-per-step 6 {more}"
    );
    let mut command = command(Path::new(env!("CARGO_BIN_EXE_gbxcule")), folder);
    Serving::run(command.args(arguments.split_whitespace()))
}

#[test]
fn a_swarm_on_cuda_is_watched_like_one_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = ["cpu", "cuda"].map(|device| watch(folder.path(), device, "--paused"));
    let mut clients = serving.each_ref().map(Client::connect);
    assert_eq!(clients.each_ref().map(|client| &client.hello["device"]), ["cpu", "cuda:0"]);
    let hold = |env: usize, buttons: u8| json!({ "type": "hold", "env": env, "buttons": buttons });
    let step = json!({ "type": "step" });
    let requests = [
        (vec![], (0, 7, 1, None)),
        (vec![step.clone(); 3], (2, 100, 1, Some(6))),
        (vec![hold(6, 1), step.clone()], (0, 7, 8, Some(6))),
        (vec![step.clone(), hold(1, 0x20), step.clone()], (0, 4, 2, Some(6))),
        (vec![json!({ "type": "let_go" }), step.clone()], (1, 1, 4, Some(1))),
        (vec![json!({ "type": "reset" })], (0, 7, 1, Some(0))),
        (vec![step], (3, 2, 1, None)),
    ];
    for (requests, (first, count, shrink, chosen)) in requests {
        let [cpu, cuda] = clients.each_mut().map(|client| {
            requests.iter().for_each(|request| client.send(request));
            client.look(first, count, shrink, chosen)
        });
        assert_eq!(cpu.head, cuda.head);
        assert!(cpu.pictures == cuda.pictures, "{}", cpu.head);
    }
}

/// Computes the pictures after the view's steps, and its frames of the next one, as `watch` runs
/// the game.
fn expected_pictures(view: &View) -> Vec<u8> {
    let number = |name: &str| view.head[name].as_u64().expect("a number");
    let mut swarm = serving::fresh_swarm(7, 6, Programs::default());
    (0..number("step")).for_each(|step| serving::step_randomly(&mut swarm, step));
    // A step has at most six frames.
    let frames = 0..number("frame") as u32;
    if !frames.is_empty() {
        let mut actions = [0; 7];
        ActionSource::Random.fill(&Codec::default(), 0, number("step"), &mut actions);
        swarm.step_frames(&actions, &FrameRange { frames, draw_last: true }).expect("a piece");
    }
    (0..7).flat_map(|env| swarm.frame(env).expect("an env").to_vec()).collect()
}

#[test]
fn a_swarm_on_cuda_that_runs_pauses_on_a_picture_of_that_very_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    for speed in ["0", "2"] {
        let serving = watch(folder.path(), "cuda", &format!("--speed {speed}"));
        let mut client = Client::connect(&serving);
        serving::wait_until("the swarm runs", || {
            client.look(0, 7, 1, None).head["step"].as_u64() > Some(3)
        });
        client.send(&json!({ "type": "pause" }));
        let mut view = client.look(0, 7, 1, Some(0));
        while view.head["running"] == true {
            view = client.look(0, 7, 1, Some(0));
        }
        assert!(view.pictures[..7 * FRAME_BYTES] == expected_pictures(&view), "{}", view.head);
        client.send(&json!({ "type": "step" }));
        let view = client.look(0, 7, 1, None);
        assert_eq!(view.head["frame"], 0);
        assert!(view.pictures == expected_pictures(&view), "{}", view.head);
    }
}

#[test]
fn a_recording_on_cuda_is_the_same_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, more) in
        [("all.gif", "--every 5"), ("some.gif", "--envs 2,0 --every 3"), ("end.png", "")]
    {
        let [cpu, cuda] = ["cpu", "cuda"].map(|device| {
            let out = format!("{device}/{file}");
            gbxcule(
                folder.path(),
                &format!(
                    "record --device {device} --num-envs 3 --steps 2 --skip-steps 1 {more} --out {out}"
                ),
            );
            std::fs::read(folder.path().join(out)).expect("the file")
        });
        assert!(cpu == cuda, "{file}");
    }
}

/// Tests that `make test` runs beside those of the workspace.
mod long {
    use super::{GATE, gbxcule};
    use serde_json::Value;

    /// Does the work of `make check-gpu` without a GPU.
    #[test]
    #[ignore = "needs PyBoy"]
    fn the_gates_hold_against_pyboy() {
        let folder = tempfile::tempdir().expect("a folder");
        for rom in ["ALU_LOOP", "MEM_RWB --mem-region C000:C100"] {
            let printed = gbxcule(
                folder.path(),
                &format!("{GATE} --ref-backend pyboy_single --verify-steps 64 --rom {rom}"),
            );
            assert!(
                printed.starts_with("agree") && printed.contains("64 comparisons"),
                "{printed}"
            );
        }
    }

    #[test]
    #[ignore = "takes a minute"]
    fn the_demo_on_cuda_ends_with_a_table_and_the_same_picture() {
        let folder = tempfile::tempdir().expect("a folder");
        let [_, cuda] = ["cpu", "cuda"].map(|device| {
            let arguments = format!("demo --device {device} --env-counts 1,2 --out {device}");
            gbxcule(folder.path(), &arguments)
        });
        assert!(cuda.contains("on the GPU `cuda:0`") && cuda.contains("frames/s"), "{cuda}");
        let read = |file: &str| std::fs::read(folder.path().join(file)).expect("a file");
        assert!(read("cpu/mosaic.png") == read("cuda/mosaic.png"));
        let artifact: Value = serde_json::from_slice(&read("cuda/demo.json")).expect("JSON");
        for result in artifact["results"].as_array().expect("results") {
            assert_eq!(result["backend"], "warp_vec_cuda");
            assert_eq!(result["details"]["device"], "cuda:0");
        }
    }
}

#[test]
fn a_device_that_is_not_there_is_said_before_anything_is_served_or_written() {
    let [folder, cache] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
    let cases = [
        ("cuda", ("HOST_GPU_COUNT", "0"), "the NVIDIA driver sees no GPU"),
        ("cuda:3", ("HOST_GPU_COUNT", "2"), "there is no device `cuda:3`: the driver sees 2"),
        ("cuda", ("GBXCULE_NVRTC", "/nowhere"), "there is no libnvrtc there"),
        ("gpu", ("HOST_GPU_COUNT", "2"), "`cpu`, `cuda` or `cuda:N`"),
    ];
    let verbs = ["watch --port 0", "play --port 0", "record --out a.gif", "demo --out demo"];
    for (verb, (device, (setting, value), reason)) in
        verbs.iter().flat_map(|verb| cases.map(|case| (verb, case)))
    {
        let program = Path::new(env!("CARGO_BIN_EXE_gbxcule"));
        let mut command = stand_in::command(program, cache.path());
        command.args(verb.split(' ')).args(["--device", device]);
        let output = command.current_dir(folder.path()).env(setting, value).output();
        let output = output.expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{verb}, {device}: {stderr}");
        assert!(stderr.contains(reason), "{verb}, {device}: {stderr}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("http://"));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{verb}");
    }
}
