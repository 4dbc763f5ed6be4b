//! The command as people run it: its output, its files, its exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

const FILES_OF_A_BUNDLE: [&str; 7] = [
    "metadata.json",
    "ref_state.json",
    "dut_state.json",
    "diff.json",
    "actions.jsonl",
    "rom.gb",
    "repro.sh",
];

fn gbxcule(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the binary runs")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(arguments).current_dir(folder);
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs a comparison without an oracle: the swarm against the named backend.
fn verify(folder: &Path, dut: &str) -> Output {
    let arguments =
        ["verify", "--ref-backend", "warp_vec_cpu", "--dut-backend", dut, "--rom", "ALU_LOOP"];
    gbxcule(
        folder,
        &[&arguments[..], &["--verify-steps", "20", "--mem-region", "C000:C100"]].concat(),
    )
}

#[test]
fn a_misspelt_rom_is_told_which_one_was_meant() {
    let folder = folder();
    for verb in [&["demo"][..], &["bench"], &["record", "--out", "a.gif"], &["watch"]] {
        let output = gbxcule(folder.path(), &[verb, &["--rom", "pearl_drfit"]].concat());
        let text = stderr(&output);
        assert!(
            text.contains("a built-in ROM's name, such as PEARL_DRIFT (see"),
            "{verb:?}: {text}"
        );
        assert!(text.contains("pearl_drfit: No such file"), "{verb:?}: {text}");
    }
    let output = gbxcule(folder.path(), &["demo", "--rom", "tetris.gb"]);
    assert!(stderr(&output).contains("a built-in ROM's name (see"), "{}", stderr(&output));
}

#[test]
fn a_rom_without_its_padding_runs_with_a_warning() {
    let folder = folder();
    let built = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM").bytes();
    fs::write(folder.path().join("short.gb"), &built[..0x4000]).expect("a file");
    let shot = gbxcule(folder.path(), &["record", "--rom", "short.gb", "--out", "a.png"]);
    assert_eq!(shot.status.code(), Some(0), "{}", stderr(&shot));
    let warning = "warning: short.gb: the ROM has 16384 bytes and its header promises 32768: the";
    assert!(stderr(&shot).contains(warning), "{}", stderr(&shot));
}

#[test]
fn machines_begin_in_a_boot_rom_of_the_model_s_length() {
    let folder = folder();
    let record = |bytes: usize, model: &str| {
        // JR to itself: no other instruction runs.
        let boot = [vec![0x18, 0xfe], vec![0; bytes - 2]].concat();
        fs::write(folder.path().join("boot.bin"), boot).expect("a file");
        let options = ["--boot-rom", "boot.bin", "--model", model, "--out", "a.png"];
        gbxcule(folder.path(), &[&["record", "--num-envs", "1"][..], &options].concat())
    };
    for (model, bytes) in [("dmg", 256), ("cgb", 2304)] {
        let shot = record(bytes, model);
        assert_eq!(shot.status.code(), Some(0), "{}", stderr(&shot));
        let refused = record(bytes + 1, model);
        assert_ne!(refused.status.code(), Some(0));
        let expected = format!("the boot ROM has {} bytes", bytes + 1);
        assert!(stderr(&refused).contains(&expected), "{}", stderr(&refused));
    }
}

#[test]
fn every_verb_that_runs_machines_takes_a_model() {
    let folder = folder();
    let both = ["verify", "--ref-backend", "warp_vec_interpreted", "--verify-steps", "8"];
    let drawn = ["--compare-frame", "--compare-counters", "--mem-region", "C000:E000"];
    for [rom, model] in [["PPU_SPRITES", "cgb"], ["COLOR_PRIORITY", "auto"], ["ALU_LOOP", "dmg"]] {
        let named = ["--rom", rom, "--model", model];
        let agrees = gbxcule(folder.path(), &[&both[..], &drawn, &named].concat());
        assert_eq!(agrees.status.code(), Some(0), "{rom} {model}: {}", stderr(&agrees));
    }
    for verb in [&both[..], &["bench"], &["demo"], &["record", "--out", "a.png"]] {
        let named = ["--rom", "COLOR_PRIORITY", "--model", "dmg"];
        let refused = gbxcule(folder.path(), &[verb, &named].concat());
        assert_eq!(refused.status.code(), Some(2), "{verb:?}");
        assert!(stderr(&refused).contains("Color"), "{verb:?}: {}", stderr(&refused));
    }
}

#[test]
fn verbs_plug_in_cables_or_say_why_not() {
    let folder = folder();
    let pairs = ["--rom", "LINK_PING_PONG", "--link", "pairs"];
    let run = |arguments: &[&str]| gbxcule(folder.path(), &[arguments, &pairs].concat());
    let verify = |arguments: &[&str]| {
        let steps = ["--verify-steps", "60", "--mem-region", "C000:C005"];
        run(&[&["verify", "--ref-backend", "warp_vec_cpu"], arguments, &steps].concat())
    };

    let agrees = verify(&["--num-envs", "4", "--dut-backend", "warp_vec_interpreted"]);
    assert_eq!(agrees.status.code(), Some(0), "{}", stderr(&agrees));
    // A bundle records the cable: without it the replay would have other bytes.
    let differs = verify(&["--num-envs", "2", "--dut-backend", "stub_bad"]);
    assert_eq!(differs.status.code(), Some(1), "{}", stderr(&differs));
    let [bundle] = &bundles(folder.path())[..] else { panic!("one bundle") };
    let plan = fs::read_to_string(bundle.join("metadata.json")).expect("a file");
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(plan["plan"]["link"], "pairs");
    let replayed = gbxcule(folder.path(), &["replay", &bundle.display().to_string()]);
    assert_eq!(replayed.status.code(), Some(0), "{}", stderr(&replayed));

    let sizes = ["--env-counts", "2", "--steps", "2", "--repeats", "1", "--warmup-steps", "0"];
    let measured = run(&[&["bench", "--out", "report"], &sizes[..]].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let artifact = folder.path().join("report/sweep-LINK_PING_PONG-emulate_only.json");
    let artifact = fs::read_to_string(artifact).expect("an artifact");
    let artifact: Value = serde_json::from_str(&artifact).expect("JSON");
    assert_eq!(artifact["config"]["link"], "pairs");

    let drawn = run(&["record", "--envs", "0", "--steps", "2", "--out", "a.png"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", stderr(&drawn));
    for (arguments, says) in [
        (
            &["record", "--num-envs", "3", "--out", "a.png"][..],
            "an even number of machines, found 3",
        ),
        (&["record", "--envs", "0", "--out", "a.wav"], "machines with a cable have no sound"),
        (&["verify"], "pyboy_single has machines without a cable"),
        (&["verify", "--ref-backend", "warp_vec_cpu"], "an even number of machines, found 1"),
        (&["watch", "--num-envs", "3"], "an even number of machines, found 3"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&refused).contains(says), "{arguments:?}: {}", stderr(&refused));
    }
}

fn bundles(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("runs/bundles")).into_iter().flatten().flatten();
    let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    visible.map(|entry| entry.path()).collect()
}

/// Compiles a kernel's file with these arguments, and an NVRTC that doesn't exist.
fn compile_without_nvrtc(folder: &Path, arguments: &[&str]) -> Output {
    let text =
        "import warp as wp\n\n@wp.kernel\ndef one(a: wp.array(dtype=float)):\n    a[0] = 1.0\n";
    fs::write(folder.join("one.py"), text).expect("a file");
    let arguments = [&["compile", "one.py"], arguments].concat();
    command(folder, &arguments).env("GBXCULE_NVRTC", "missing").output().expect("the binary runs")
}

#[test]
fn cuda_text_needs_no_nvrtc_and_machine_code_says_that_it_does() {
    let folder = folder();
    let text = compile_without_nvrtc(folder.path(), &["--device", "cuda"]);
    assert!(stdout(&text).contains("__global__ void one("), "{}", stderr(&text));
    for emit in ["ptx", "cubin"] {
        let refused = compile_without_nvrtc(folder.path(), &["--emit", emit, "--out", "one"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("GBXCULE_NVRTC is `missing`"), "{}", stderr(&refused));
    }
    assert!(!folder.path().join("one").exists());
    let arch = compile_without_nvrtc(folder.path(), &["--emit", "ptx", "--arch", "pascal"]);
    assert!(stderr(&arch).contains("`pascal` is not a GPU architecture"), "{}", stderr(&arch));
}

#[test]
fn a_file_is_compiled_with_those_that_it_imports_from() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, format!("import warp as wp\n{text}")).expect("a file");
    };
    write("k/shape.py", "@wp.func\ndef area(x: float):\n    return x * x\n");
    let body = "@wp.kernel\ndef one(a: wp.array(dtype=float)):\n    a[0] = area(a[0])\n";
    write("k/one.py", &format!("from shape import area\n{body}"));
    for (path, place) in
        [("k/one.py", folder.path().to_owned()), ("one.py", folder.path().join("k"))]
    {
        let taken = gbxcule(&place, &["compile", path]);
        assert!(stdout(&taken).contains("a(0) = area(a(0))"), "{}", stderr(&taken));
    }
    for (texts, taken) in [(&[][..], "compiled"), (&["--texts"], "compiled, to all texts")] {
        let survey = gbxcule(folder.path(), &[&["compile", "--survey", "k"], texts].concat());
        let row = format!("{taken:<30}      1 100.0 %");
        assert!(stdout(&survey).contains(&row), "{survey:?}");
    }
    write("k/shape.py", "@wp.func\ndef area(x: float):\n    return x.size\n");
    let refused = gbxcule(folder.path(), &["compile", "k/one.py"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("k/shape.py:4:12"), "{}", stderr(&refused));
}

#[test]
fn a_file_without_the_kernel_asked_for_is_an_error_that_lists_those_it_has() {
    let folder = folder();
    let other = compile_without_nvrtc(folder.path(), &["--kernel", "two"]);
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(stderr(&other), "error: one.py has no kernel `two`; it has one\n");
    fs::write(folder.path().join("none.py"), "X = 1\n").expect("a file");
    let none = gbxcule(folder.path(), &["compile", "none.py"]);
    assert_eq!((none.status.code(), stdout(&none)), (Some(2), String::new()));
    assert!(stderr(&none).contains("decorated with `@wp.kernel`"), "{}", stderr(&none));
}

#[test]
fn a_function_whose_decorator_is_unknown_is_named() {
    let folder = folder();
    let body = "def one(a: wp.array(dtype=float)):\n    a[0] = 1.0\n";
    let unknown = format!("import tools\nimport warp as wp\n@tools.kernel\n{body}");
    fs::write(folder.path().join("unknown.py"), &unknown).expect("a file");
    let none = gbxcule(folder.path(), &["compile", "unknown.py"]);
    assert_eq!((none.status.code(), stdout(&none)), (Some(2), String::new()));
    let message = stderr(&none);
    assert!(message.starts_with("warning[no-kernel]: `one` isn't a kernel here"), "{message}");
    assert!(message.contains("unknown.py has no kernel"), "{message}");
    let other =
        format!("{unknown}@wp.kernel\ndef two(a: wp.array(dtype=float)):\n    a[0] = 2.0\n");
    fs::write(folder.path().join("unknown.py"), other).expect("a file");
    let compiled = gbxcule(folder.path(), &["compile", "unknown.py"]);
    assert_eq!(compiled.status.code(), Some(0), "{}", stderr(&compiled));
    assert!(stderr(&compiled).contains("`one` isn't a kernel here"), "{}", stderr(&compiled));
    let asked = |kernel| gbxcule(folder.path(), &["compile", "unknown.py", "--kernel", kernel]);
    assert_eq!(stderr(&asked("two")), "");
    assert!(stderr(&asked("one")).contains("`one` isn't a kernel here"), "{:?}", asked("one"));
}

#[test]
fn nothing_is_agreed_upon_measured_or_made_in_no_steps_and_no_rows() {
    let folder = folder();
    let commands: [&[&str]; 5] = [
        &["verify", "--rom", "ALU_LOOP", "--verify-steps", "0"],
        &["bench", "--steps", "0"],
        &["synth", "generate", "--out", "rows", "--count", "0"],
        &["synth", "generate", "--out", "rows", "--count", "1", "--workers", "0"],
        &["synth", "validate", "rows", "--limit", "0"],
    ];
    for arguments in commands {
        let refused = gbxcule(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let message = stderr(&refused);
        assert!(message.starts_with("error: invalid value '0' for '--"), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn a_file_that_is_missing_is_told_once() {
    let folder = folder();
    let missing = gbxcule(folder.path(), &["report", "nowhere"]);
    let message = stderr(&missing);
    assert_eq!(message.matches("os error").count(), 1, "{message}");
}

#[test]
fn reverse_kernels_are_compiled_on_request_or_refused_at_the_line() {
    let folder = folder();
    let write = |name: &str, statement: &str| {
        let text = format!(
            "import warp as wp\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    {statement}\n"
        );
        fs::write(folder.path().join(name), text).expect("a file");
    };
    write("right.py", "y[0] = wp.sin(x[0])");
    write("refused.py", "x[0] = wp.sin(x[0])");
    let run = |arguments: &[&str]| {
        let arguments = [&["compile"], arguments].concat();
        command(folder.path(), &arguments).output().expect("the binary runs")
    };
    let shown = |emit: &str| stdout(&run(&["right.py", "--grad", "--emit", emit]));
    assert!(shown("ir").contains("kernel adj_k("), "{}", shown("ir"));
    assert!(shown("cpp").contains("GBX_EXPORT int adj_k("), "{}", shown("cpp"));
    assert!(shown("cuda").contains("__global__ void adj_k("), "{}", shown("cuda"));
    assert!(!stdout(&run(&["right.py"])).contains("adj_k"));
    let refused = run(&["refused.py", "--grad"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("error[grad-overwritten]"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("refused.py:5:5"), "{}", stderr(&refused));
    assert!(run(&["refused.py"]).status.success());
}

#[test]
fn agreement_exits_with_0_and_writes_nothing() {
    let folder = folder();
    let output = verify(folder.path(), "warp_vec");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("agree"), "{}", stdout(&output));
    assert!(bundles(folder.path()).is_empty());
}

#[test]
fn a_mismatch_exits_with_1_and_its_repro_sh_reproduces_it() {
    let folder = folder();
    let output = verify(folder.path(), "stub_bad");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stdout(&output)
            .contains("MISMATCH  ALU_LOOP: stub_bad against warp_vec_cpu, after step 1, env 0")
    );
    let bundles = bundles(folder.path());
    assert_eq!(bundles.len(), 1);
    for file in FILES_OF_A_BUNDLE {
        assert!(bundles[0].join(file).exists(), "{file}");
    }
    let script = || Command::new(bundles[0].join("repro.sh"));
    for named in [None, Some(env!("CARGO_BIN_EXE_gbxcule"))] {
        let mut script = script();
        script.env_remove("GBXCULE").envs(named.map(|path| ("GBXCULE", path)));
        let output = script.output().expect("sh");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).starts_with("reproduced"), "{}", stdout(&output));
    }
    let output = script().env("GBXCULE", "/no/such/gbxcule").output().expect("sh");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("name it in GBXCULE"), "{}", stderr(&output));
}

#[test]
fn a_killed_run_leaves_no_half_bundle() {
    let folder = folder();
    let arguments = [
        "verify",
        "--ref-backend",
        "warp_vec_cpu",
        "--dut-backend",
        "stub_bad",
        "--rom",
        "ALU_LOOP",
    ];
    for delay_ms in (0..400).step_by(20) {
        let mut child = command(folder.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        thread::sleep(Duration::from_millis(delay_ms));
        child.kill().expect("ours to end");
        child.wait().expect("it ends");
    }
    for bundle in bundles(folder.path()) {
        for file in FILES_OF_A_BUNDLE {
            assert!(bundle.join(file).exists(), "{file} in {}", bundle.display());
        }
    }
}

#[test]
fn keep_going_counts_mismatches_instead_of_stopping() {
    let folder = folder();
    let arguments = [
        "verify",
        "--ref-backend",
        "warp_vec_cpu",
        "--dut-backend",
        "stub_bad",
        "--rom",
        "ALU_LOOP",
    ];
    let output = gbxcule(
        folder.path(),
        &[&arguments[..], &["--verify-steps", "9", "--keep-going"]].concat(),
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("9 of 9 comparisons"), "{}", stdout(&output));
    assert!(bundles(folder.path()).is_empty());
}

#[test]
fn a_command_without_a_result_exits_with_2_and_says_what_to_do() {
    let folder = folder();
    let cases: [(&[&str], &str); 8] = [
        (&["verify", "--rom", "NO_SUCH_ROM"], "see `gbxcule roms`"),
        (&["verify", "--suite", "--device", "cuda"], "warp_vec_cuda cannot start"),
        (&["demo", "--device", "cuda"], "warp_vec_cuda cannot start"),
        (&["record", "--num-envs", "1000000000000"], "1000000000000 machines"),
        (
            &["verify", "--device", "cuda", "--ref-backend", "warp_vec_cpu", "--rom", "ALU_LOOP"],
            "warp_vec_cuda",
        ),
        (&["bench", "--device", "cuda", "--env-counts", "1"], "warp_vec_cuda"),
        (&["replay", "no/such/bundle"], "metadata.json"),
        (&["report", "."], "gbxcule bench"),
    ];
    for (arguments, expected) in cases {
        let output = gbxcule(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_python_that_cannot_serve_pyboy_is_a_clear_error() {
    let folder = folder();
    let mut command =
        command(folder.path(), &["verify", "--rom", "ALU_LOOP", "--verify-steps", "1"]);
    let output = command.env("GBXCULE_PYTHON", "/bin/false").output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("the pyboy process ended during `hello`"),
        "{}",
        stderr(&output)
    );
    let mut command =
        self::command(folder.path(), &["verify", "--rom", "ALU_LOOP", "--verify-steps", "1"]);
    let output =
        command.env("GBXCULE_PYTHON", "/no/such/python").output().expect("the binary runs");
    assert!(stderr(&output).contains("make .venv/oracle.txt"), "{}", stderr(&output));
}

#[test]
fn bench_leaves_artifact_summary_and_plot() {
    let folder = folder();
    let output = gbxcule(
        folder.path(),
        &[
            "bench",
            "--backend",
            "stub_bad",
            "--backend",
            "warp_vec_cpu",
            "--rom",
            "JOY_DIVERGE_PERSIST",
            "--env-counts",
            "1,3",
            "--steps",
            "4",
            "--repeats",
            "2",
            "--warmup-steps",
            "1",
            "--stage",
            "full_step",
            "--sync-every",
            "2",
            "--out",
            "report",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = folder.path().join("report");
    let text =
        fs::read(report.join("sweep-JOY_DIVERGE_PERSIST-full_step.json")).expect("the artifact");
    let artifact: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(artifact["schema_version"], 1);
    assert_eq!(artifact["config"]["sync_every"], 2);
    assert_eq!(artifact["config"]["codec"], "full_v1");
    let results = artifact["results"].as_array().expect("results");
    assert_eq!(results.len(), 4);
    for result in results {
        assert_eq!(result["windows"].as_array().expect("windows").len(), 2);
        assert!(result["frames_per_s"].as_f64().expect("a number") > 0.0);
        assert!(result["distinct_pcs_at_end"].as_u64().expect("a number") >= 1);
    }
    let summary = fs::read_to_string(report.join("summary.md")).expect("the summary");
    assert!(summary.contains(
        "| machines | stub_bad (baseline) | speed-up | warp_vec_cpu (frames/s) | speed-up |"
    ));
    let plot = fs::read(report.join("scaling.png")).expect("the plot");
    assert!(plot.starts_with(b"\x89PNG"));
}

#[test]
fn an_experiment_sets_rom_stage_and_frames() {
    let folder = folder();
    let output = gbxcule(
        folder.path(),
        &[
            "bench",
            "--experiment",
            "E0",
            "--env-counts",
            "1",
            "--steps",
            "2",
            "--repeats",
            "1",
            "--out",
            "e0",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text =
        fs::read(folder.path().join("e0/E0-HALT_IDLE-emulate_only.json")).expect("the artifact");
    let artifact: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(artifact["config"]["experiment"], "E0");
    assert_eq!(artifact["config"]["frames_per_step"], 1);
    assert_eq!(artifact["config"]["sync_every"], 64);
}

#[test]
fn roms_writes_every_rom_with_its_symbols() {
    let folder = folder();
    let output = gbxcule(folder.path(), &["roms", "--out", "roms"]);
    assert_eq!(output.status.code(), Some(0));
    for rom in gbxcule_assembler::all().iter().chain(gbxcule_assembler::for_color()) {
        let file = folder.path().join("roms").join(format!("{}.gb", rom.name));
        assert_eq!(fs::read(file).expect("the ROM"), rom.bytes());
    }
}

#[test]
fn a_missing_compiler_is_found_by_doctor() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    let output = command.args(["doctor", "--json"]).env("CXX", "/nowhere/c++").output();
    let findings: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON");
    let mut findings = findings.as_array().into_iter().flatten();
    let compiler = findings.find(|it| it["subject"] == "c++").expect("a row");
    assert_eq!(compiler["found"], false, "{compiler}");
    assert!(compiler["what"].as_str().is_some_and(|it| it.contains("/nowhere/c++")), "{compiler}");
    assert!(compiler["remedy"].as_str().is_some_and(|it| it.contains("CXX")), "{compiler}");
}

#[test]
fn doctor_names_what_is_missing_and_the_command_that_brings_it() {
    let output = gbxcule(folder().path(), &["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let findings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for subject in
        ["cpu", "python", "pyboy", "libmgba", "c++", "gpu", "nvrtc", "nvdisasm", "warp-lang"]
    {
        let finding =
            findings.as_array().into_iter().flatten().find(|finding| finding["subject"] == subject);
        assert!(finding.is_some_and(|finding| finding["what"] != ""), "{subject}");
    }
}

#[test]
fn a_game_of_ones_own_is_assembled_with_its_labels() {
    let (folder, source) = (folder(), "../../../examples/own_game/catch.asm");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let text = fs::read_to_string(source).expect("the example");
    fs::write(folder.path().join("catch.asm"), &text).expect("a copy");
    let run = gbxcule(folder.path(), &["assemble", "catch.asm", "--out", "catch.gb"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let labels = fs::read_to_string(folder.path().join("catch.sym")).expect("labels");
    assert!(labels.contains("00:c010 Score"), "{labels}");
    // Files that are not included are not read.
    fs::create_dir(folder.path().join("old.inc")).expect("a folder");
    fs::write(folder.path().join("bad.inc"), [0xFF, 0xFE]).expect("no text");
    fs::write(folder.path().join("good.inc"), "; nothing").expect("a text");
    let text = text + "\n include \"good.inc\"\n";
    fs::write(folder.path().join("catch.asm"), &text).expect("the source");
    let run = gbxcule(folder.path(), &["assemble", "catch.asm", "--out", "catch.gb"]);
    assert!(run.status.success(), "{}", stderr(&run));
    fs::write(folder.path().join("catch.asm"), text.replace("good", "bad")).expect("the source");
    let run = gbxcule(folder.path(), &["assemble", "catch.asm", "--out", "other.gb"]);
    assert!(stderr(&run).contains("`bad.inc` can't be read: this is no UTF-8 text"));
    fs::write(folder.path().join("catch.asm"), text.replace("reti", "retti")).expect("a typo");
    let run = gbxcule(folder.path(), &["assemble", "catch.asm", "--out", "other.gb"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("--> catch.asm:"), "{}", stderr(&run));
    assert!(!folder.path().join("other.gb").exists());
}
