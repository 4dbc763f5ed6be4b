//! The foundry from the command line: processes that are killed and continued, and their results.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gbxcule_rows::split::SPLITS;

fn gbxcule(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.arg("synth").args(args);
    command
}

fn run(args: &[&str]) -> Output {
    let output = gbxcule(args).output().expect("the program starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn data(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder.join("data"))
        .expect("data")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                std::fs::read(&path).expect("a file"),
            )
        })
        .collect();
    files.sort();
    files
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_killed_batch_goes_on_with_nothing_lost_and_nothing_doubled() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, killed): (PathBuf, PathBuf) =
        (folder.path().join("whole"), folder.path().join("killed"));
    let args = [
        "batch",
        "--count",
        "1030",
        "--seed",
        "9",
        "--mode",
        "text",
        "--resume",
        "--workers",
        "2",
        "--out",
    ];
    run(&[&args[..], &[text(&whole)]].concat());
    let has = |block: u32| killed.join(format!("data/test-{block:06}.parquet")).exists();
    // The process is killed as soon as the first block exists: in the middle of another one, unless
    // this test had to wait too long.
    for attempt in 0.. {
        let mut child = gbxcule(&[&args[..], &[text(&killed)]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        while !has(0) && child.try_wait().expect("ours to ask").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().expect("ours to end");
        child.wait().expect("its end");
        if has(0) && !has(2) {
            break;
        }
        assert!(attempt < 20, "never killed in the middle");
        let _ = std::fs::remove_dir_all(&killed);
    }
    run(&[&args[..], &[text(&killed)]].concat());
    assert_eq!(data(&whole).len(), 9);
    assert_eq!(data(&whole), data(&killed));
}

#[test]
fn a_dataset_grows_to_the_one_that_was_made_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, grown] = ["whole", "grown"].map(|name| folder.path().join(name));
    let make = |count: &str, out: &Path, others: &[&str]| {
        let args = ["batch", "--count", count, "--seed", "9", "--mode", "text", "--sampled", "100"];
        let output = gbxcule(&[&args[..], &["--out", text(out)], others].concat()).output();
        output.expect("the program starts")
    };
    assert!(make("620", &whole, &[]).status.success());
    assert!(make("510", &grown, &[]).status.success());
    assert!(make("620", &grown, &["--resume"]).status.success());
    assert_eq!(data(&grown), data(&whole));
    let smaller = make("510", &grown, &["--resume"]);
    let message = String::from_utf8_lossy(&smaller.stderr);
    assert!(!smaller.status.success() && message.contains("--count 620"), "{message}");
}

#[test]
fn a_dataset_is_made_checked_and_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, less) = (folder.path().join("rows"), folder.path().join("less"));
    run(&[
        "generate",
        "--count",
        "12",
        "--seed",
        "3",
        "--device",
        "both",
        "--jsonl",
        "--out",
        text(&out),
    ]);
    let card = std::fs::read_to_string(out.join("dataset_card.md")).expect("a card");
    assert!(card.starts_with("---\nlicense: mit\n") && card.contains("12 rows, "), "{card}");
    assert_eq!(json_lines(&out).lines().count(), 12);
    let counts = run(&["validate", text(&out), "--work", text(&folder.path().join("work"))]);
    let counts = String::from_utf8_lossy(&counts.stdout).into_owned();
    assert!(
        counts.contains("cuda_on_host         12        0        0        0   100.00"),
        "{counts}"
    );
    // JSON lines that differ from the rows would reach their readers unchecked.
    let train = out.join("jsonl/train-000000.jsonl");
    let lines = std::fs::read_to_string(&train).expect("JSON lines");
    std::fs::write(&train, lines.replacen("wp.", "wp .", 1)).expect("a file");
    let printed = gbxcule(&["validate", text(&out), "--no-host"]).output().expect("it starts");
    let printed = (printed.status.code(), String::from_utf8_lossy(&printed.stdout).into_owned());
    assert!(
        printed.0 == Some(1) && printed.1.contains("train-000000.jsonl: not the rows of"),
        "{printed:?}"
    );
    run(&["dedupe", text(&out), "--out", text(&less)]);
    let leakage = run(&["leakage", text(&less)]);
    assert!(String::from_utf8_lossy(&leakage.stdout).contains("test"));
}

/// Returns the JSON lines of a dataset of one block, in the order of its rows.
fn json_lines(folder: &Path) -> String {
    let read = |split| std::fs::read_to_string(folder.join(format!("jsonl/{split}-000000.jsonl")));
    let lines = SPLITS.map(|split| read(split).expect("JSON lines")).concat();
    let number = |line: &&str| -> u64 {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row");
        row["id"].as_u64().expect("a number")
    };
    let mut lines: Vec<&str> = lines.split_inclusive('\n').collect();
    lines.sort_by_key(number);
    lines.concat()
}

/// Returns the faults that `validate` finds in a folder as a whole.
fn fault(folder: &Path, options: &[&str]) -> String {
    let args = [&["validate", text(folder), "--no-host"], options].concat();
    let printed = gbxcule(&args).output().expect("the program starts");
    assert_eq!(printed.status.code(), Some(1), "{args:?}: {printed:?}");
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let faults: Vec<&str> =
        printed.lines().filter(|line| line.starts_with("the folder: ")).collect();
    faults.join("\n")
}

/// Each row is right, but the folder doesn't fit its manifest.
#[test]
fn a_folder_with_rows_missing_or_columns_of_its_own_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    run(&["generate", "--count", "6", "--seed", "3", "--jsonl", "--out", text(&whole)]);
    std::fs::create_dir_all(cut.join("jsonl")).expect("a folder");
    let (manifest, lines) = (cut.join("dataset.json"), cut.join("jsonl/rows.jsonl"));
    let declared = std::fs::read_to_string(whole.join("dataset.json")).expect("a file");
    let rows = json_lines(&whole);
    let write = |path: &Path, text: &str| std::fs::write(path, text).expect("a file");
    write(&manifest, &declared);
    write(&lines, &rows);
    run(&["validate", text(&cut), "--no-host"]);
    let two: String = rows.split_inclusive('\n').take(2).collect();
    write(&lines, &two);
    let message = fault(&cut, &[]);
    assert!(message.contains("declares 6 rows, and there are 2; row 2 is the first"), "{message}");
    assert!(message.contains("--count 6 --seed 3") && message.contains("--resume"), "{message}");
    // One of several processes still knows which rows the others lack.
    assert_eq!(fault(&cut, &["--shard", "0/2"]), message);
    write(&manifest, &declared.replacen("{", "{\n  \"rows\": 2,", 1));
    run(&["validate", text(&cut), "--no-host"]);
    write(&lines, &two.replacen('{', "{\"proved\": true, ", 1));
    let message = fault(&cut, &[]);
    assert!(message.contains("rows have no column `proved`"), "{message}");
    // Forging all rows and the manifest succeeds only if the rows are not made again.
    write(&lines, &two.replace("\"gbxcule 0.1.0\"", "\"gbxcule 9.9.9\""));
    let other = declared.replacen("{", "{\n  \"rows\": 2,", 1);
    write(&manifest, &other.replace("gbxcule 0.1.0", "gbxcule 9.9.9"));
    let message = fault(&cut, &[]);
    assert!(message.contains("of `gbxcule 9.9.9` made the rows"), "{message}");
    write(&whole.join("jsonl/train-000007.jsonl"), &two);
    let message = fault(&whole, &[]);
    assert!(message.contains("train-000007.jsonl: no Parquet file has these rows"), "{message}");
    // A training on this file would use test rows.
    write(&manifest, &declared);
    std::fs::rename(&lines, cut.join("jsonl/test-000000.jsonl")).expect("a file");
    write(&cut.join("jsonl/test-000000.jsonl"), &rows);
    let message = fault(&cut, &[]);
    assert!(
        message.contains("test-000000.jsonl: row ") && message.contains("is of the split"),
        "{message}"
    );
}

/// All tests of a folder of Parquet are repeated with one of JSON lines.
#[test]
fn json_lines_are_read_as_their_twins_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let (parquet, lines) = (folder.path().join("parquet"), folder.path().join("lines"));
    let rows = ["--count", "5", "--seed", "5", "--device", "both", "--jsonl"];
    run(&[&["generate"][..], &rows, &["--out", text(&parquet)]].concat());
    std::fs::create_dir_all(&lines).expect("a folder");
    std::fs::copy(parquet.join("dataset.json"), lines.join("dataset.json")).expect("a file");
    std::fs::rename(parquet.join("jsonl"), lines.join("jsonl")).expect("a folder");
    let output_of = |args: &[&str], of: &Path| {
        let output = run(&[&[args[0], text(of)], &args[1..]].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for args in [
        &["validate", "--no-host"][..],
        &["mutate", "--no-host", "--limit", "1"],
        &["leakage"],
        &["card"],
    ] {
        assert_eq!(output_of(args, &parquet), output_of(args, &lines), "{args:?}");
    }
    let card = |of: &Path| std::fs::read_to_string(of.join("dataset_card.md")).expect("a card");
    assert!(card(&lines).contains("path: jsonl/train-*.jsonl"), "{}", card(&lines));
    let of_tables = card(&lines).replace("jsonl/", "data/").replace(".jsonl", ".parquet");
    assert_eq!(card(&parquet), of_tables);
    for of in [&parquet, &lines] {
        run(&["dedupe", text(of), "--out", text(&of.join("less"))]);
    }
    assert_eq!(data(&parquet.join("less")), data(&lines.join("less")));
}

#[test]
fn a_line_that_is_no_row_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("rows");
    let rows = ["--count", "3", "--seed", "5", "--mode", "text", "--jsonl"];
    run(&[&["generate"][..], &rows, &["--out", text(&out)]].concat());
    let (file, whole) = (out.join("jsonl/rows.jsonl"), json_lines(&out));
    for inside in ["data", "jsonl"] {
        std::fs::remove_dir_all(out.join(inside)).expect("a folder");
    }
    std::fs::create_dir(out.join("jsonl")).expect("a folder");
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&file, [lines[0], &lines[1][..50], lines[2]].join("\n")).expect("a file");
    let refused = |wanted: &str| {
        for verb in ["validate", "card", "leakage"] {
            let output = gbxcule(&[verb, text(&out)]).output().expect("the program starts");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && message.contains(wanted), "{message}");
        }
    };
    refused("rows.jsonl:2:50: EOF while parsing");
    // Only the manifest lists the columns.
    std::fs::write(&file, &whole).expect("a file");
    let manifest = std::fs::read_to_string(out.join("dataset.json")).expect("a manifest");
    let newer = manifest.replace("\"schema_version\": 9", "\"schema_version\": 8");
    std::fs::write(out.join("dataset.json"), newer).expect("a file");
    refused("schema version 8, this program reads 9");
}

/// Runs shards as a cluster would: each is a process of its own, started by the script for Slurm,
/// at the same time.
#[test]
fn shards_made_by_processes_of_their_own_are_the_rows_of_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, many) = (folder.path().join("one"), folder.path().join("many"));
    let rows = ["--count", "1400", "--seed", "9", "--mode", "text"];
    run(&[&["batch"][..], &rows, &["--device", "both", "--out", text(&one)]].concat());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/scale/slurm.sbatch");
    let start = |task: u32| {
        Command::new("bash")
            .arg(&script)
            .env("GBXCULE", env!("CARGO_BIN_EXE_gbxcule"))
            .envs([("COUNT", "1400"), ("SEED", "9"), ("MODE", "text"), ("OUT", text(&many))])
            .envs([
                ("SLURM_ARRAY_TASK_ID", task.to_string()),
                ("SLURM_ARRAY_TASK_COUNT", "3".into()),
            ])
            .stdout(Stdio::null())
            .spawn()
            .expect("bash")
    };
    let tasks: Vec<_> = (0..3).map(start).collect();
    for mut task in tasks {
        assert!(task.wait().expect("its end").success());
    }
    assert_eq!(data(&one).len(), 9);
    assert_eq!(data(&one), data(&many));
    run(&["card", text(&many)]);
    let card = std::fs::read_to_string(many.join("dataset_card.md")).expect("a card");
    assert!(card.contains("1400 rows, "), "{card}");
    let again = start(1).wait().expect("its end");
    assert!(again.success() && data(&one) == data(&many), "what is there is kept");
}

#[test]
fn rows_that_somebody_has_written_already_are_dropped_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, kernels, less) =
        (folder.path().join("rows"), folder.path().join("kernels"), folder.path().join("less"));
    run(&["generate", "--count", "4", "--seed", "3", "--mode", "text", "--out", text(&out)]);
    let rows = gbxcule_rows::batch::read(&out).expect("rows");
    std::fs::create_dir_all(kernels.join("deep")).expect("a folder");
    let row = rows.iter().find(|row| row.kernels.len() == 1).expect("a row of one kernel");
    let other = row.source.replace(&row.kernel, "another_name").replace("0.5", "0.75");
    std::fs::write(kernels.join("deep/theirs.py"), other).expect("a file");
    let output = run(&["dedupe", text(&out), "--against", text(&kernels), "--out", text(&less)]);
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("1 rows are kernels of "), "{output}");
    let ids: Vec<u64> =
        gbxcule_rows::batch::read(&less).expect("rows").iter().map(|row| row.id).collect();
    assert_eq!(ids, [0, 1, 2, 3].into_iter().filter(|id| *id != row.id).collect::<Vec<_>>());
    let skeletons = run(&["skeletons", text(&kernels)]);
    // The hashes are those of the kernel's text, of its IR, and of the IR's outline.
    assert_eq!(String::from_utf8_lossy(&skeletons.stdout).lines().count(), 3);
}

#[test]
fn ptx_without_cuda_text_is_refused_with_what_to_do() {
    let output = gbxcule(&["generate", "--count", "1", "--ptx", "--out", "nowhere"]).output();
    let output = output.expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("add --device cuda"), "{message}");
}

#[test]
fn a_models_answers_are_asked_for_and_graded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let dataset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/dataset");
    let (tasks, answers, out) = (path("tasks.jsonl"), path("answers.jsonl"), path("out"));
    let asked = ["--task", "python-to-ir", "--limit", "6", "--mutate-every", "3"];
    let files = ["--out", text(&tasks), "--stand-in", text(&answers)];
    run(&[&["tasks", text(&dataset)][..], &asked, &files].concat());
    let printed = run(&[&["tasks", text(&dataset)][..], &asked[..4]].concat());
    let asked = std::fs::read_to_string(&tasks).expect("tasks");
    assert!(printed.stdout == asked.as_bytes(), "without a file they are printed");
    assert_eq!(asked.matches("\"custom_id\":\"python-to-ir/").count(), 6);
    let given = std::fs::read_to_string(&answers).expect("answers");
    let right = given.matches("\"is_right\":true").count();
    assert!((4..6).contains(&right), "{given}");
    let grade = |answers: &Path, out: &Path| {
        let mut command = gbxcule(&["grade", text(answers), "--dataset", text(&dataset)]);
        command
            .args(["--tasks", text(&tasks), "--out", text(out)])
            .output()
            .expect("the program starts")
    };
    let output = grade(&answers, &out);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains(&format!("6        6       {right}")), "{output}");
    let grades = std::fs::read_to_string(out.join("grades.jsonl")).expect("grades");
    assert_eq!(grades.matches("\"verdict\":\"right\"").count(), right);
    // Questions without an answer are wrong, so that leaving them out gains nothing.
    let first = given.lines().next().expect("a line");
    std::fs::write(path("one.jsonl"), first).expect("a file");
    let one = grade(&path("one.jsonl"), &path("one"));
    assert!(String::from_utf8_lossy(&one.stdout).contains("6        6       1"), "{one:?}");
    assert!(out.join("grades.json").exists() && out.join("python-to-ir.png").exists());

    // A missing compiler is reported before any answer is graded.
    let both = format!("{given}{{\"row\": 1, \"task\": \"python-to-cpp\", \"answer\": \"\"}}\n");
    std::fs::write(&answers, both).expect("a file");
    let mut command = gbxcule(&["grade", text(&answers), "--dataset", text(&dataset)]);
    command.args(["--out", text(&path("early"))]).env("CXX", "no-such-compiler");
    let output = command.output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("--task"), "{error}");

    // A line that is not an answer stops the command before it writes anything.
    std::fs::write(&answers, format!("{given}{{\"row\": 1000}}\n")).expect("a file");
    let (out, output) = (path("none"), grade(&answers, &path("none")));
    assert!(!output.status.success() && !out.exists());
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.contains("answers.jsonl:7:"), "{output}");
}

#[test]
fn every_kernel_of_the_examples_becomes_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/kernels");
    let output = run(&["harvest", text(&code), "--license", "MIT", "--out", text(&out)]);
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("9 kernels in 5 files: 9 rows"), "{output}");
    let refused = std::fs::read_to_string(out.join("refused.jsonl")).expect("a file");
    assert!(refused.is_empty(), "{refused}");
}

#[test]
fn a_folder_without_kernels_gives_no_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/programs");
    for (license, reason) in
        [("MIT", "such as the programs of a swarm"), ("my/own", "is not an SPDX expression")]
    {
        let mut command = gbxcule(&["harvest", text(&code), "--license", license]);
        let output = command.args(["--out", text(&out)]).output().expect("the program starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(reason), "{error}");
        assert!(!out.exists());
    }
}

/// Otherwise rows would be published under a licence that nobody gave.
#[test]
fn a_folder_without_a_licence_gives_no_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, out) = (folder.path().join("code"), folder.path().join("out"));
    std::fs::create_dir(&code).expect("a folder");
    std::fs::write(code.join("k.py"), "import warp as wp\n").expect("a file");
    let mut command = gbxcule(&["harvest", text(&code), "--license", "MIT", "--out", text(&out)]);
    let output = command.output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("its files name no licence"), "{error}");
    assert!(!out.exists());
}

/// Otherwise a URL would become a folder of this machine, and on a cluster its rows would be lost
/// with the machine.
#[test]
fn a_url_for_a_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = gbxcule(&["generate", "--count", "1", "--out", "s3://bucket/kernels"]);
    let output = command.current_dir(&folder).output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("`s3://bucket/kernels` is a URL"), "{error}");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
}

/// The output of tried kernels is not mixed with the program's own lines.
#[test]
fn output_of_tried_kernels_is_not_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, out) = (folder.path().join("code"), folder.path().join("out"));
    std::fs::create_dir(&code).expect("a folder");
    let kernel = "# SPDX-License-Identifier: MIT\nimport warp as wp\n\n\n@wp.kernel\ndef loud(x: wp.array(dtype=int), y: wp.array(dtype=int)):\n    \
        i = wp.tid()\n    wp.expect_eq(x[i], 3)\n    y[i] = x[i] + 1\n    wp.printf(\"LOUD %d\\n\", i)\n";
    std::fs::write(code.join("loud.py"), kernel).expect("a file");
    let silent = |args: &[&str]| {
        let output = run(args);
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.contains("LOUD") && !output.contains("expect_eq"), "{args:?}: {output}");
        output
    };
    let output = silent(&["harvest", text(&code), "--license", "MIT", "--out", text(&out)]);
    assert!(output.contains("1 kernels in 1 files: 1 rows"), "{output}");
    silent(&["validate", text(&out), "--work", text(&folder.path().join("work"))]);
    silent(&["mutate", text(&out), "--no-host"]);
}

/// An hour's work must not be lost to a folder that could have been checked before.
#[test]
fn a_place_that_takes_no_output_is_refused_before_the_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("taken/data")).expect("a folder");
    std::fs::create_dir_all(path("grades/grades.json")).expect("a folder");
    std::fs::write(path("file"), "").expect("a file");
    // No row of it can be read, so a verb that reads rows first reports that.
    std::fs::create_dir_all(path("broken/data")).expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/dataset");
    std::fs::copy(sample.join("dataset.json"), path("broken/dataset.json")).expect("a file");
    std::fs::write(path("broken/data/train-000000.parquet"), "no table").expect("a file");
    let (broken, taken, file) = (path("broken"), path("taken"), path("file"));
    let (broken, taken, file) = (text(&broken), text(&taken), text(&file));
    for (args, wanted) in [
        (&["validate", broken, "--no-host", "--out", taken][..], "holds data already"),
        (&["dedupe", broken, "--out", taken], "holds data already"),
        (&["harvest", broken, "--license", "MIT", "--out", taken], "holds data already"),
        (&["validate", broken, "--no-host", "--out", file], "is not a folder"),
        (&["dedupe", broken, "--out", file], "is not a folder"),
        (&["tasks", broken, "--out", taken], "a folder is in its place"),
        (&["tasks", broken, "--stand-in", taken], "a folder is in its place"),
    ] {
        let output = gbxcule(args).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(wanted), "{args:?}: {message}");
    }
    let answers = path("answers.jsonl");
    std::fs::write(&answers, "{\"row\": 1, \"task\": \"python-to-ir\", \"answer\": \"\"}\n")
        .expect("a file");
    let grades = path("grades");
    let args = ["grade", text(&answers), "--dataset", text(&sample), "--out", text(&grades)];
    let output = gbxcule(&args).output().expect("the program starts");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("a folder is in its place"),
        "{output:?}"
    );
    assert_eq!(std::fs::read_dir(&grades).expect("the folder").count(), 1, "nothing is written");
    // The command leaves none of its temporary files.
    let names = std::fs::read_dir(folder.path())
        .expect("the folder")
        .map(|it| it.expect("an entry").file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with('.')));
}

#[test]
fn rows_of_one_number_and_folders_without_rows_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("rows");
    run(&["generate", "--count", "2", "--seed", "5", "--mode", "text", "--out", text(&out)]);
    let refused = |verbs: &[&str], wanted: &str| {
        for verb in verbs {
            let output = gbxcule(&[verb, text(&out)]).output().expect("the program starts");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                output.status.code() == Some(2) && message.contains(wanted),
                "{verb}: {message}"
            );
        }
    };
    let data = out.join("data");
    for split in SPLITS {
        let file = |name: String| data.join(name);
        let (from, to) =
            (file(format!("{split}-000000.parquet")), file(format!("{split}-copy.parquet")));
        std::fs::copy(from, to).expect("a file");
    }
    refused(&["tasks"], "two rows have the number 0");
    let checked = gbxcule(&["validate", text(&out), "--no-host"]).output().expect("it starts");
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(!checked.status.success() && printed.contains("row 1: origin fails: id"), "{printed}");
    std::fs::remove_dir_all(&data).expect("a folder");
    std::fs::create_dir(&data).expect("a folder");
    refused(&["validate", "card", "leakage", "tasks", "mutate"], "rows holds no rows");
}

/// A dataset's folder has no damaged blocks of another dataset.
#[test]
fn going_on_with_another_dataset_says_only_that_it_is_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("rows");
    let made = |seed: &str| {
        let args = ["batch", "--count", "2", "--seed", seed, "--mode", "text", "--resume"];
        let args = [&args[..], &["--out", text(&out)]].concat();
        gbxcule(&args).output().expect("the program starts")
    };
    assert!(made("4").status.success());
    let before = data(&out);
    let output = made("5");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("holds another dataset"), "{error}");
    assert!(!error.contains("not a whole block"), "{error}");
    assert_eq!(before, data(&out));
}
