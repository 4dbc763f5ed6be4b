//! Mismatch bundles: complete, informative and repeatable.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gbxcule_lab::artifact::{RomImage, read_json, sha256};
use gbxcule_lab::bundle::{self, MAX_MEM_DUMP_BYTES};
use gbxcule_lab::replay::replay;
use gbxcule_lab::verify::{Judgement, Mismatch, VerifyPlan, VerifyResult, verify};
use gbxcule_lab::{BackendConfig, BackendKind};
use gbxcule_swarm::Model;
use serde_json::Value;

/// Plans a comparison of `stub_bad` with the swarm, which needs no oracle.
fn plan() -> VerifyPlan {
    let rom = RomImage::find("MEM_RWB").expect("a ROM of the suite");
    let single_frames = BackendConfig::of_single_frames(rom);
    let config = BackendConfig { num_envs: 3, draw_last: true, ..single_frames };
    VerifyPlan {
        steps: 12,
        compare_every: 5,
        regions: vec![
            "C000:C100".parse().expect("a region"),
            "C000:E000".parse().expect("a region"),
        ],
        actions_seed: 77,
        ..VerifyPlan::new(BackendKind::SwarmCpu, BackendKind::StubBad, config)
    }
}

fn stop(_: &Mismatch) -> Judgement {
    Judgement::Stop
}

fn caught() -> (VerifyPlan, VerifyResult, Mismatch) {
    let plan = plan();
    let mut verdict = verify(&plan, &mut stop, &mut |_| {}).expect("both backends run");
    let mismatch = verdict.mismatch.take().expect("stub_bad always disagrees");
    (plan, verdict, mismatch)
}

fn written(folder: &Path) -> PathBuf {
    let (plan, verdict, mismatch) = caught();
    bundle::write(folder, &plan, &verdict, &mismatch).expect("a folder that can be written to")
}

fn json(bundle: &Path, file: &str) -> Value {
    read_json(&bundle.join(file)).expect("JSON with our schema version")
}

#[test]
fn stub_bad_disagrees_at_the_first_comparison_in_every_env() {
    let (_, verdict, mismatch) = caught();
    assert_eq!((mismatch.step, mismatch.env, mismatch.disagreeing_envs), (5, 0, 3));
    assert_eq!(verdict.actions.len(), 5);
    let fields: Vec<_> =
        mismatch.differences.iter().map(|difference| difference.field.as_str()).collect();
    assert_eq!(fields, ["a", "C000:C100", "C000:E000"]);
}

#[test]
fn the_swarm_agrees_with_itself() {
    let plan = VerifyPlan { dut: BackendKind::SwarmCpu, ..plan() };
    let verdict = verify(&plan, &mut stop, &mut |_| {}).expect("both backends run");
    assert!(verdict.mismatch.is_none());
    assert_eq!((verdict.steps, verdict.comparisons), (12, 3));
}

#[test]
fn a_bundle_answers_what_ran_where_and_what_differed() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = written(folder.path());
    let metadata = json(&bundle, "metadata.json");
    let rom = fs::read(bundle.join("rom.gb")).expect("the ROM");
    assert_eq!(metadata["plan"]["rom"]["sha256"], sha256(&rom).as_str());
    assert_eq!(metadata["plan"]["actions_seed"], 77);
    assert_eq!(metadata["mismatch"]["step"], 5);
    assert_eq!(metadata["mismatch"]["env"], 0);
    for question in ["gbxcule", "gpus", "cuda", "python", "os", "cpu"] {
        assert!(metadata["system"].get(question).is_some(), "{question}");
    }
    let diff = json(&bundle, "diff.json");
    assert_eq!(diff["regions"][0]["first_difference"], "C000");
    assert_eq!(diff["regions"][0]["differing_bytes"], 0x100);
    assert_eq!(json(&bundle, "ref_state.json")["backend"], "warp_vec_cpu");
    assert_eq!(json(&bundle, "dut_state.json")["backend"], "stub_bad");
    let actions = fs::read_to_string(bundle.join("actions.jsonl")).expect("the actions");
    assert_eq!(actions.lines().count(), 5);
    assert!(bundle.join("ref_frame.pgm").exists());
}

#[test]
fn memory_dumps_are_cut_at_their_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = written(folder.path());
    let bytes = |name: &str| fs::metadata(bundle.join(name)).expect("a dump").len();
    assert_eq!(bytes("ref_mem_C000_C100.bin"), 0x100);
    assert_eq!(bytes("dut_mem_C000_E000.bin"), MAX_MEM_DUMP_BYTES as u64);
}

#[test]
fn a_replayed_bundle_shows_the_same_disagreement() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = written(folder.path());
    let replay = replay(&bundle, &mut |_| {}).expect("a whole bundle");
    assert!(replay.reproduced);
    assert_eq!(replay.verdict.mismatch.expect("it disagrees").step, 5);
}

#[test]
fn a_replay_that_shows_something_else_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = written(folder.path());
    let diff = fs::read_to_string(bundle.join("diff.json")).expect("the differences");
    fs::write(bundle.join("diff.json"), diff.replace("\"step\": 5", "\"step\": 4"))
        .expect("writable");
    assert!(!replay(&bundle, &mut |_| {}).expect("a whole bundle").reproduced);
}

#[test]
fn a_bundle_of_a_color_has_its_colours_and_is_replayed_as_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut plan = plan();
    plan.config.model = Some(Model::Color);
    let mut verdict = verify(&plan, &mut stop, &mut |_| {}).expect("both backends run");
    let mismatch = verdict.mismatch.take().expect("stub_bad always disagrees");
    let bundle = bundle::write(folder.path(), &plan, &verdict, &mismatch).expect("writable");
    assert_eq!(json(&bundle, "metadata.json")["plan"]["model"], "cgb");
    let picture = fs::read(bundle.join("dut_frame.ppm")).expect("a picture");
    assert_eq!(picture.len(), "P6 160 144 255\n".len() + 160 * 144 * 3);
    let replay = replay(&bundle, &mut |_| {}).expect("a whole bundle");
    assert_eq!(replay.plan.config.model, Some(Model::Color));
    assert!(replay.reproduced);
}

#[test]
fn a_bundle_with_another_rom_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = written(folder.path());
    let mut rom = fs::read(bundle.join("rom.gb")).expect("the ROM");
    rom[0x200] ^= 1;
    fs::write(bundle.join("rom.gb"), rom).expect("writable");
    let message = replay(&bundle, &mut |_| {}).expect_err("another ROM").to_string();
    assert!(message.contains("names a ROM with SHA-256"), "{message}");
}

#[test]
fn repro_sh_can_be_run_and_names_the_verb() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = written(folder.path()).join("repro.sh");
    let mode = fs::metadata(&script).expect("the script").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert!(fs::read_to_string(script).expect("the script").contains("replay \"$bundle\""));
}
