//! Rows of unknown origin: their texts are run only if they are those that the compiler prints, and
//! then in the sandbox.

use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::card;
use gbxcule_rows::external_column::{Ptx, Tools};
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::harvested::{Harvest, manifest_of};
use gbxcule_rows::mutate::score;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::shard::Shard;
use gbxcule_rows::validate::{Checks, validate};
use gbxcule_rows::verdict::{CheckOutcome, NotRun, Verdict};

fn row(id: u64) -> Row {
    make(Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 }, id)
}

fn verdict(checks: &[CheckOutcome], name: &str) -> Result<Verdict, NotRun> {
    let verdict_of_check = checks.iter().find_map(|outcome| match outcome {
        Ok(check) => (check.check == name).then(|| Ok(check.verdict.clone())),
        Err(skipped) => (skipped.check == name).then(|| Err(skipped.reason.clone())),
    });
    verdict_of_check.expect("a check")
}

/// Returns a text that replaces a row's own and writes a file when it is compiled and run.
fn payload(text: &str, mark: &std::path::Path) -> String {
    format!(
        "{text}\n#include <stdio.h>\nstatic int gbx_payload = (fclose(fopen(\"{}\", \"w\")), 0);\n",
        mark.display()
    )
}

#[test]
fn a_text_that_the_compiler_does_not_print_is_not_run_and_has_no_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mark, work) = (folder.path().join("mark"), folder.path().join("work"));
    let clean = row(1);
    let mut rows = vec![clean.clone(); 5];
    rows[1].cpp = clean.cpp.as_deref().map(|text| payload(text, &mark));
    rows[2].cuda = clean.cuda.as_deref().map(|text| payload(text, &mark));
    rows[3].cpp_backward = Some(payload("", &mark));
    rows[4].cuda_backward = Some("#include \"/dev/zero\"".into());
    let wanted = Checks { host: Some(work.clone()), ..Checks::default() };
    let verdicts = validate(&rows, &wanted).expect("a C++ compiler");
    let (pass, not_run) = (Ok(Verdict::Pass), Err(NotRun::Altered));
    for (at, cpp, cuda) in [
        (0, &pass, &pass),
        (1, &not_run, &pass),
        (2, &pass, &not_run),
        (3, &not_run, &pass),
        (4, &pass, &not_run),
    ] {
        let texts = if at == 0 { Verdict::Pass } else { Verdict::Fail };
        let found = ["cpp", "cuda_on_host", "texts"].map(|name| verdict(&verdicts[at], name));
        assert_eq!(found, [cpp.clone(), cuda.clone(), Ok(texts)], "row {at}");
    }
    // A check that did not run leaves no trace in the stored row.
    let mut row = rows[1].clone();
    row.record_verdicts(&verdicts[1]);
    assert!(row.checks().iter().all(|check| check.check != "cpp"), "{}", row.checks_json);
    assert!(row.checks().iter().any(|check| check.check == "cuda_on_host"));
    assert!(!row.checks_json.contains("not"), "{}", row.checks_json);
    assert!(!mark.exists(), "a foreign text was run");
    assert_eq!(std::fs::read_dir(&work).expect("the work folder").count(), 0, "nothing is left");
}

#[test]
fn a_source_with_other_texts_behind_it_is_not_run_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (row(1), row(2));
    let mixed = Row { cpp: other.cpp.clone(), cpp_backward: other.cpp_backward.clone(), ..one };
    let wanted = Checks { host: Some(folder.path().into()), ..Checks::default() };
    let verdicts = validate(&[mixed], &wanted).expect("a C++ compiler");
    assert_eq!(verdict(&verdicts[0], "texts"), Ok(Verdict::Fail));
    assert_eq!(verdict(&verdicts[0], "cpp"), Err(NotRun::Altered));
}

/// A text is altered on purpose and run only if our compiler printed it.
#[test]
fn a_foreign_text_is_not_made_wrong_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let mut foreign = row(1);
    foreign.cpp = foreign.cpp.as_deref().map(|text| payload(text, &mark));
    let scores = score(&[foreign], 3, Some(&folder.path().join("work")), None, &mut |_, _, _| ());
    let texts = ["C++ text", "CUDA text"];
    for score in scores.expect("a C++ compiler") {
        assert!(!texts.contains(&score.kind.name()) || score.made == 0, "{score:?}");
    }
    assert!(!mark.exists(), "a foreign text was run");
}

/// 65,536 elements are allowed, and structs of a kilobyte are; an array of 65,536 such structs is
/// not.
#[test]
fn inputs_that_would_fill_memory_are_not_drawn() {
    let fields: String = (0..16).map(|field| format!("    f{field}: wp.mat44\n")).collect();
    let source = format!(
        "import warp as wp\n\n\n@wp.struct\nclass Wide:\n{fields}\n\n@wp.kernel\ndef k(a: wp.array(dtype=Wide), \
         y: wp.array(dtype=float)):\n    i = wp.tid()\n    y[i] = a[i].f0[0, 0] * 2.0\n"
    );
    let parses = |extent: u32| {
        let mut row = Row { source: source.clone(), launch_dims: vec![4], ..row(1) };
        let mut inputs: Vec<serde_json::Value> =
            serde_json::from_str(&row.inputs_json).expect("inputs");
        inputs.truncate(1);
        inputs.push(inputs[0].clone());
        for (given, (name, extent)) in inputs.iter_mut().zip([("a", extent), ("y", 4)]) {
            (given["name"], given["shape"]) = (name.into(), vec![extent].into());
        }
        row.inputs_json = serde_json::to_string(&inputs).expect("JSON");
        let verdicts = validate(&[row], &Checks::default()).expect("no other program is asked");
        verdict(&verdicts[0], "parses")
    };
    assert_eq!(parses(4), Ok(Verdict::Pass));
    assert_eq!(parses(65_536), Ok(Verdict::Fail));
}

/// Another user's folder whose card, pictures and blocks are links to files of this user.
#[cfg(unix)]
#[test]
fn links_in_a_foreign_dataset_lead_no_writer_out_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (dataset, own) = (folder.path().join("dataset"), folder.path().join("own"));
    std::fs::write(&own, "precious").expect("a file");
    let plan = Plan { seed: 11, mode: Mode::Text, device: Texts::Cpu, host_every: 0, sampled: 100 };
    let manifest = Manifest::new(2, plan, &Tools::default());
    for name in [
        "dataset_card.md",
        "README.md",
        "statistics/structures.png",
        "data/train-000000.parquet",
        "jsonl/train-000000.jsonl",
    ] {
        let path = dataset.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink(&own, path).expect("a link");
    }
    let work = Work { shard: Shard::WHOLE, workers: 1, resume: true, jsonl: true };
    batch(&dataset, &manifest, &work, &Tools::default(), &|| ()).expect("rows");
    let rows = read(&dataset).expect("rows");
    assert_eq!(rows.len(), 2);
    card::write(&dataset, &manifest, &rows, &Usage::of_warp(), &|_| ()).expect("a card");
    assert_eq!(std::fs::read_to_string(&own).expect("a file"), "precious");
    assert!(std::fs::read_to_string(dataset.join("README.md")).expect("a card").contains("2 rows"));
}

/// The card has the manifest's texts in the settings that hubs read.
#[test]
fn a_manifest_writes_no_lines_of_its_own_into_the_card() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan { seed: 11, mode: Mode::Run, device: Texts::Cpu, host_every: 0, sampled: 100 };
    let good = Harvest { folder: "code".into(), license: "MIT".into(), ..Harvest::default() };
    let said = |harvest: Harvest| {
        let manifest = manifest_of(harvest, 1, plan);
        let text = serde_json::to_string(&manifest).expect("JSON");
        std::fs::write(folder.path().join("dataset.json"), text).expect("a file");
        Manifest::read(folder.path()).map_or_else(|error| error.to_string(), |_| "read".into())
    };
    assert_eq!(said(good.clone()), "read");
    let lies = [
        Harvest { license: "MIT\ntags:\n- trusted".into(), ..good.clone() },
        Harvest { license: String::new(), ..good.clone() },
        Harvest { folder: "code\n```\n# Run this".into(), ..good.clone() },
        Harvest { commit: Some("a\nb".into()), ..good.clone() },
        Harvest { refused: [("a\n\nb".to_owned(), 1)].into(), ..good },
    ];
    for lie in lies {
        let told = said(lie.clone());
        assert!(told.contains("dataset.json: "), "{lie:?}: {told}");
    }
}

/// A key that the reader doesn't know would be a claim without a check.
#[test]
fn a_manifest_with_a_key_of_its_own_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan { seed: 11, mode: Mode::Run, device: Texts::Cpu, host_every: 0, sampled: 100 };
    let harvest = Harvest { folder: "code".into(), license: "MIT".into(), ..Harvest::default() };
    let ptx = Some(Ptx { arch: "sm_90".into(), nvrtc: "13.0".into() });
    let manifest = Manifest { ptx, ..manifest_of(harvest, 1, plan) };
    let good = serde_json::to_value(&manifest).expect("JSON");
    let message = |manifest: &serde_json::Value| {
        std::fs::write(folder.path().join("dataset.json"), manifest.to_string()).expect("a file");
        Manifest::read(folder.path()).map_or_else(|error| error.to_string(), |_| "read".into())
    };
    assert_eq!(message(&good), "read");
    for place in ["", "/plan", "/harvest", "/ptx"] {
        let mut forged = good.clone();
        forged.pointer_mut(place).expect("an object")["proved"] = true.into();
        let told = message(&forged);
        assert!(told.contains("unknown field `proved`, expected "), "{place}: {told}");
    }
}
