//! NVIDIA's compilers accept the CUDA text of rows and the PTX made from it. No GPU is needed;
//! `make nvrtc` brings both.

use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::card;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::shard::Shard;
use gbxcule_rows::validate::{Checks, count_verdicts, validate};
use gbxcule_rows::verdict::{Check, CheckOutcome, NotRun, Skipped, Verdict};
use std::path::{Path, PathBuf};

const PLAN: Plan =
    Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };
const ROWS: u64 = 12;

/// A dataset with PTX.
fn dataset() -> (PathBuf, Manifest) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth/ptx");
    _ = std::fs::remove_dir_all(&folder);
    let tools = Tools::find(Some("sm_90".parse().expect("an architecture")), None).expect("NVRTC");
    let manifest = Manifest::new(ROWS, PLAN, &tools);
    let work = Work { shard: Shard::WHOLE, workers: 2, resume: false, jsonl: false };
    batch(&folder, &manifest, &work, &tools, &|| ()).expect("a dataset");
    (folder, manifest)
}

fn nvidia(rows: &[Row]) -> Vec<Vec<CheckOutcome>> {
    validate(rows, &Checks { nvrtc: true, ..Checks::default() }).expect("NVRTC and ptxas")
}

#[test]
#[ignore = "needs NVRTC"]
fn every_text_becomes_ptx_and_machine_code_and_wrong_ptx_is_caught() {
    let (folder, manifest) = dataset();
    let rows = read(&folder).expect("rows");
    for row in &rows {
        let (ptx, back) = (row.ptx.as_ref().expect("PTX"), row.ptx_backward.as_ref());
        assert!(ptx.contains(".target sm_90") && ptx.contains(&row.kernel), "{ptx}");
        assert_eq!(back.is_some(), row.gradient_refused.is_none(), "row {}", row.id);
    }
    let checks = count_verdicts(&nvidia(&rows));
    for name in ["nvrtc", "ptx"] {
        let check = checks.iter().find(|check| check.check == name).expect("a check");
        assert_eq!((check.pass, check.fail), (ROWS as usize, 0), "{check:?}");
        assert!(check.most > 8.0, "a kernel takes registers: {check:?}");
    }
    let ptx = |row: &Row| row.ptx.clone().expect("PTX");
    let both: Vec<Row> = rows.iter().filter(|row| row.ptx_backward.is_some()).cloned().collect();
    let wrong = [
        Row { ptx: Some(ptx(&both[0]).replacen("ret;", "trap;", 1)), ..both[0].clone() },
        Row { ptx: Some(ptx(&both[1])), ..both[0].clone() },
        Row { ptx: None, ..both[0].clone() },
        Row { cuda: both[0].cuda.as_ref().map(|it| it.replacen("; ", "] ", 1)), ..both[0].clone() },
    ];
    let verdicts = nvidia(&wrong);
    for (at, (checks, name)) in verdicts.iter().zip(["ptx", "ptx", "ptx", "texts"]).enumerate() {
        let fails = |check: &Check| check.check == name && check.verdict == Verdict::Fail;
        assert!(checks.iter().flatten().any(fails), "change {at}: {checks:?}");
    }
    // NVRTC works in this process: a text that our compiler does not print never reaches it.
    let altered = Err(Skipped { check: "nvrtc".into(), reason: NotRun::Altered });
    assert!(verdicts[3].contains(&altered), "{:?}", verdicts[3]);
    card::write(&folder, &manifest, &rows, &Usage::of_warp(), &|_| ()).expect("a card");
    let card = std::fs::read_to_string(folder.join("dataset_card.md")).expect("a card");
    let version = manifest.ptx.expect("a version").nvrtc;
    assert!(card.contains(&format!("for `sm_90`, made by NVRTC {version}")), "{card}");
    assert!(card.contains(" --ptx --arch sm_90 --out DIR"), "{card}");
}
