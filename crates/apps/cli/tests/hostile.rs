//! Hostile numbers, files and folders: each is refused with a sentence, and no program of another
//! user runs.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(line.split_whitespace()).current_dir(folder);
    command
}

fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a line that must be refused with exit status 2, and returns the message.
fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
    stderr(&output)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Each number is too large: with it the command would take days, or all memory.
#[test]
fn numbers_that_are_too_large_are_refused_with_the_largest_that_is_not() {
    let cases = [
        (
            "verify --ref-backend warp_vec_cpu --rom ALU_LOOP --verify-steps 1000000000000",
            "8589934592 actions",
        ),
        (
            "verify --ref-backend warp_vec_cpu --rom ALU_LOOP --num-envs 1000000000000",
            "8589934592 actions",
        ),
        (
            "verify --ref-backend warp_vec_cpu --rom ALU_LOOP --frames-per-step 4000000000",
            "1048576 at most",
        ),
        (
            "verify --ref-backend pyboy_vec_mp --rom ALU_LOOP --num-envs 100000",
            "4096 machines at most",
        ),
        ("verify --ref-backend pyboy_vec_mp --rom ALU_LOOP --num-envs 0", "at least one"),
        ("bench --backend pyboy_vec_mp --env-counts 0", "at least one"),
        ("bench --workers 100000", "between 1 and 1024"),
        ("bench --repeats 4294967295", "1..=10000"),
        ("bench --longest-window inf", "0 to 86400 seconds"),
        ("bench --longest-window nan", "0 to 86400 seconds"),
        ("bench --env-counts 1000000000000", "1000000000000 machines"),
        ("bench --backend pyboy_vec_mp --env-counts 512", "no backend measures any"),
        ("demo --env-counts 18446744073709551615", "18446744073709551615 machines"),
        ("play --frames-per-step 4294967295", "1048576 at most"),
        ("watch --speed 1e-320", "between 0.001 and 1000"),
        ("watch --speed nan", "between 0.001 and 1000"),
        ("watch --num-envs 1000000000000", "1000000000000 machines"),
        ("record --steps 1000000000000", "1..=1000000000"),
        ("record --steps 1000000000 --skip-steps 18446744073709551615", "0..=1000000000"),
        ("record --steps 1000000 --frames-per-step 1000", "at most 1048576 are recorded"),
        ("record --envs 18446744073709551615", "--envs names env"),
        ("record --num-envs 100000", "room for 11526 machines"),
        ("synth generate --count 1000000000000 --out rows", "1..=500000000"),
        ("synth batch --count 1 --workers 100000 --out rows", "between 1 and 1024"),
        ("synth batch --count 1 --shard 0/0 --out rows", "a shard is I/N"),
    ];
    let folder = folder();
    for (line, expected) in cases {
        let message = refused(folder.path(), line);
        assert!(message.contains(expected), "{line}: {message}");
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0, "nothing was begun");
}

#[test]
fn a_number_of_threads_that_is_none_is_said() {
    let folder = folder();
    for threads in ["abc", "0", "-1", "100000", "1e3"] {
        let output = command(folder.path(), "roms").env("GBXCULE_THREADS", threads).output();
        let output = output.expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        let expected =
            format!("GBXCULE_THREADS is `{threads}`: it takes a number of threads, 1 to 1024");
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    }
}

#[test]
fn only_regular_files_of_a_size_are_read() {
    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    for name in ["pipe.gb", "pipe.py"] {
        assert!(Command::new("mkfifo").arg(place(name)).status().expect("mkfifo").success());
    }
    std::os::unix::fs::symlink("/dev/zero", place("zero.py")).expect("a link");
    fs::File::create(place("huge.gb")).and_then(|file| file.set_len(1 << 40)).expect("a hole");
    fs::File::create(place("huge.py")).and_then(|file| file.set_len(1 << 40)).expect("a hole");
    let rom = "verify --ref-backend warp_vec_cpu --rom";
    for line in
        [format!("{rom} pipe.gb"), format!("{rom} /dev/zero"), "watch --rom /dev/tty".into()]
    {
        let message = refused(folder.path(), &line);
        assert!(
            message.contains("not a file") || message.contains("os error"),
            "{line}: {message}"
        );
    }
    for line in [
        "compile pipe.py",
        "compile /dev/zero",
        "assemble pipe.gb --out game.gb",
        "assemble /dev/zero --out game.gb",
    ] {
        let message = refused(folder.path(), line);
        assert!(message.contains("this is a pipe, a socket or a device, not a file"), "{message}");
    }
    let message = refused(folder.path(), "bench --reward pipe.py --stage reward_only");
    assert!(message.contains("not a file"), "{message}");
    // Links are followed only within the program's folder.
    for line in ["compile zero.py", "play --reward zero.py"] {
        assert!(refused(folder.path(), line).contains("it leads out of"), "{line}");
    }
    assert!(refused(folder.path(), &format!("{rom} huge.gb")).contains("at most 8 MiB are read"));
    assert!(refused(folder.path(), "compile huge.py").contains("at most 4 MiB are read"));
    // A refused file of a folder is skipped, and named.
    std::os::unix::fs::symlink(".", place("again")).expect("a link");
    fs::write(place("k.py"), "import warp as wp\n@wp.kernel\ndef k(i: int):\n    pass\n")
        .expect("a file");
    for line in ["compile --survey .", "synth skeletons ."] {
        assert_eq!(run(folder.path(), line).status.code(), Some(0), "{line}");
    }
    let survey = run(folder.path(), "compile --survey .");
    let message = String::from_utf8_lossy(&survey.stdout).into_owned();
    assert!(message.contains("not read: ./pipe.py: this is a pipe"), "{message}");
}

#[test]
fn an_assembled_game_replaces_neither_its_source_nor_its_labels() {
    let folder = folder();
    fs::write(folder.path().join("game.asm"), "    nop\n").expect("a file");
    fs::copy(folder.path().join("game.asm"), folder.path().join("labels.sym")).expect("a file");
    std::os::unix::fs::symlink("game.asm", folder.path().join("link.gb")).expect("a link");
    let labels = refused(folder.path(), "assemble labels.sym --out labels.gb");
    assert!(labels.contains("its labels go beside it"), "{labels}");
    for out in ["game.asm", "game.sym", "./game.asm", "link.gb"] {
        let message = refused(folder.path(), &format!("assemble game.asm --out {out}"));
        assert!(message.contains("its labels go beside it"), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("game.asm")).expect("it"), "    nop\n");
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = folder();
    let task = "import gbxcule as gb\nimport warp as wp\n\n\n@wp.func\n\
                def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n    return 1.0\n";
    fs::write(folder.path().join("task.py"), task).expect("a file");
    for (line, expected) in [
        ("bench --reward task.py", "add --stage full_step"),
        ("verify --rom ALU_LOOP --obs PEARL_DRIFT", "add --stage full_step"),
        ("verify --suite --num-envs 2", "cannot be used with"),
        ("verify --suite --verify-steps 2", "cannot be used with"),
        ("watch --checkpoint a.ckpt --model cgb", "cannot be used with"),
        ("bench --experiment E0 --stage full_step", "cannot be used with"),
        ("bench --device cuda --backend warp_vec_cpu", "cuda:0 would have no effect"),
        (
            "verify --device cuda:1 --rom ALU_LOOP --dut-backend warp_vec_cpu",
            "cuda:1 would have no effect",
        ),
        ("bench --env-counts 2,1,2", "2 is named twice"),
        ("bench --out task.py", "--out names a folder, but task.py is a file"),
        ("synth tasks rows --out a.jsonl --stand-in ./a.jsonl", "name one file"),
        ("compile task.py --out ./task.py", "names the file that is compiled"),
    ] {
        let message = refused(folder.path(), line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

/// Returns the message about a bundle of which a field of the plan was changed.
fn spoiled(bundle: &Path, change: impl Fn(&mut Value)) -> String {
    let path = bundle.join("metadata.json");
    let whole = fs::read_to_string(&path).expect("a bundle");
    let mut metadata: Value = serde_json::from_str(&whole).expect("JSON");
    change(&mut metadata["plan"]);
    fs::write(&path, metadata.to_string()).expect("a file");
    let message = refused(bundle, "replay .");
    fs::write(&path, whole).expect("a file");
    message
}

#[test]
fn bundles_that_ask_for_too_much_are_refused() {
    let folder = folder();
    let line = "verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom ALU_LOOP";
    assert_eq!(run(folder.path(), line).status.code(), Some(1));
    let bundles = fs::read_dir(folder.path().join("runs/bundles")).expect("bundles");
    let bundle = bundles.flatten().next().expect("a bundle").path();
    let set = |field: &'static str, value: Value| {
        spoiled(&bundle, move |plan| plan[field] = value.clone())
    };
    assert!(set("frames_per_step", json!(4_000_000_000_u32)).contains("1048576 at most"));
    assert!(
        set("mem_regions", json!(vec!["0000:10000"; 10_000]))
            .contains("at most 1048576 are compared")
    );
    assert!(set("num_envs", json!(u64::MAX)).contains("actions for 18446744073709551615 machines"));
    let own = json!({ "name": "/etc/hosts.py", "sha256": "" });
    let programs = json!({ "reward": own, "obs": own });
    assert!(
        set("programs", programs).contains("no text of program"),
        "no file of this computer's is read"
    );
    fs::File::options()
        .write(true)
        .open(bundle.join("rom.gb"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a hole");
    assert!(refused(&bundle, "replay .").contains("at most 8 MiB are read"));
}

#[test]
fn artifacts_of_nothing_or_of_absurd_numbers_are_refused() {
    let folder = folder();
    let line = "bench --env-counts 1,2 --steps 1 --repeats 1 --warmup-steps 0 --out report";
    assert_eq!(run(folder.path(), line).status.code(), Some(0));
    let path = folder.path().join("report/sweep-ALU_LOOP-emulate_only.json");
    let whole: Value =
        serde_json::from_slice(&fs::read(&path).expect("an artifact")).expect("JSON");
    let report = |change: &dyn Fn(&mut Value)| {
        let mut artifact = whole.clone();
        change(&mut artifact["results"]);
        fs::write(&path, artifact.to_string()).expect("a file");
        refused(folder.path(), "report report")
    };
    assert!(report(&|results| *results = json!([])).contains("0 results, and a report has 1 to"));
    for number in [json!(1e308), json!(-1.0), json!(0.0), json!(5e-324), json!(null), json!("1")] {
        for field in ["frames_per_s", "slowest_frames_per_s", "fastest_frames_per_s"] {
            let message = report(&|results| results[1][field] = number.clone());
            assert!(
                message.contains("are not numbers that a bench can measure"),
                "{field} {number}: {message}"
            );
        }
    }
    for number in [json!(0), json!(u64::MAX), json!(1.5)] {
        let message = report(&|results| results[0]["num_envs"] = number.clone());
        assert!(
            message.contains("are not numbers that a bench can measure"),
            "{number}: {message}"
        );
    }
}

#[test]
fn rows_that_ask_for_too_much_fail_and_are_not_run() {
    let folder = folder();
    assert_eq!(
        run(folder.path(), "synth generate --count 2 --mode run --out rows").status.code(),
        Some(0)
    );
    assert_eq!(run(folder.path(), "synth dedupe rows --jsonl --out lines").status.code(), Some(0));
    let lines = folder.path().join("lines/jsonl");
    let files = fs::read_dir(&lines).expect("a folder").map(|entry| entry.expect("a file").path());
    let whole: String = files.map(|path| fs::read_to_string(path).expect("rows")).collect();
    fs::remove_dir_all(&lines).expect("a folder");
    fs::create_dir(&lines).expect("a folder");
    let path = lines.join("rows.jsonl");
    let first: Value = serde_json::from_str(whole.lines().next().expect("a row")).expect("JSON");
    let inputs: Value =
        serde_json::from_str(first["inputs_json"].as_str().expect("a text")).expect("JSON");
    let validate = |row: &Value| {
        fs::write(&path, format!("{row}\n")).expect("a file");
        let output = run(folder.path(), "synth validate lines --no-host");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}{}", stderr(&output));
        assert!(told.contains("parses fails"), "{told}");
    };
    let wrong = [
        ("shape", json!([1_000_000_000])),
        ("shape", json!([65536, 65536])),
        ("shape", json!([0, 1, 1, 1, 1])),
        ("shape", json!([1, 1, 1, 1])),
        ("least", json!(i64::MIN)),
        ("most", json!(i64::MAX)),
    ];
    for (field, value) in wrong {
        let (mut row, mut inputs) = (first.clone(), inputs.clone());
        inputs[0][field] = value;
        row["inputs_json"] = inputs.to_string().into();
        validate(&row);
    }
    for dims in [json!([4_000_000_000_u32]), json!([65536, 65536]), json!([1, 1, 1, 1, 1])] {
        let mut row = first.clone();
        row["launch_dims"] = dims;
        validate(&row);
    }
    let manifest = folder.path().join("lines/dataset.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace("\"count\": 2", "\"count\": 18446744073709551615"))
        .expect("a file");
    assert!(refused(folder.path(), "synth card lines").contains("a dataset has 500000000 at most"));
}

/// Writes a Python owned by another user, which writes a file when it runs.
fn plant(path: &Path, trace: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours to set");
}

#[test]
fn no_python_of_a_folder_above_is_run() {
    let folder = folder();
    let (deep, trace) = (folder.path().join("a/b"), folder.path().join("was-run"));
    fs::create_dir_all(&deep).expect("a folder");
    plant(&folder.path().join(".venv/bin/python"), &trace);
    plant(&folder.path().join("python/gbxcule/oracle/__main__.py"), &trace);
    for line in ["doctor", "verify --rom ALU_LOOP --verify-steps 1", "compile --emit ptx k.py"] {
        let mut command = command(&deep, line);
        command.env_remove("GBXCULE_PYTHON").env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
        command.env_remove("GBXCULE_NVRTC").output().expect("the binary runs");
        assert!(!trace.exists(), "{line}");
    }
    // A project that everybody may change is not trusted.
    fs::create_dir(folder.path().join(".git")).expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("ours to set");
    let mut command = command(&deep, "doctor");
    command.env_remove("GBXCULE_PYTHON").env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
    command.output().expect("the binary runs");
    assert!(!trace.exists());
    // The Python of the user's own project runs.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours to set");
    command.output().expect("the binary runs");
    assert!(trace.exists());
}

#[test]
fn no_module_of_the_working_folder_is_run() {
    let folder = folder();
    let trace = folder.path().join("was-run");
    for module in ["json", "importlib", "platform", "runpy", "pyboy", "numpy", "gbxcule", "struct"]
    {
        let text = format!("open({:?}, 'w')\n", trace.display().to_string());
        fs::write(folder.path().join(format!("{module}.py")), text).expect("a file");
    }
    for line in ["doctor", "verify --rom ALU_LOOP --verify-steps 1"] {
        let mut command = command(folder.path(), line);
        command.env("GBXCULE_PYTHON", "python3").output().expect("the binary runs");
        assert!(!trace.exists(), "{line}");
    }
}

#[test]
fn commands_that_are_printed_can_be_copied_whatever_the_names_are() {
    let folder = folder();
    let bundles = "it's $(touch x); `id`";
    let mut command = command(
        folder.path(),
        "verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom ALU_LOOP",
    );
    let output = command.args(["--bundle-dir", bundles]).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let repeat =
        printed.lines().find_map(|line| line.strip_prefix("repeat: gbxcule ")).expect("a command");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" {repeat}"), env!("CARGO_BIN_EXE_gbxcule")]);
    let again = shell.current_dir(&folder).output().expect("sh");
    assert_eq!(again.status.code(), Some(0), "{repeat}: {}", stderr(&again));
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "no other command was run");
}

/// In another user's folder, `gbxcule compile *` has that user's file names on the command line.
#[test]
fn no_word_of_the_command_line_is_obeyed_by_the_terminal() {
    let folder = folder();
    let name = "--o\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}";
    for words in [vec![name], vec!["compile", name], vec!["bench", "--backend", name]] {
        let mut command = command(folder.path(), "");
        // The environment asks for colours, as on a terminal.
        let output = command.env("CLICOLOR_FORCE", "1").args(&words).output();
        let output = output.expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(
            message.starts_with("error: ") && !message.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{message:?}"
        );
    }
}
