//! Takes any JSON as fields of a mismatch bundle: the bundle is refused with a reason, or run
//! again. The bundle is made once; the bytes are a path to a field of its metadata and the value
//! that the field gets, or lines of its actions.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use gbxcule_lab::artifact::RomImage;
use gbxcule_lab::verify::{Judgement, VerifyPlan, verify};
use gbxcule_lab::{BackendConfig, BackendKind, bundle, replay};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

struct Whole {
    folder: PathBuf,
    metadata: Value,
    actions: String,
}

static BUNDLE: LazyLock<Whole> = LazyLock::new(|| {
    let above = std::env::temp_dir().join(format!("gbxcule-fuzz-{}", std::process::id()));
    let rom = RomImage::find("ALU_LOOP").expect("a ROM of the suite");
    let config = BackendConfig::of_single_frames(rom);
    let plan = VerifyPlan::new(BackendKind::SwarmCpu, BackendKind::StubBad, config);
    let verdict = verify(&plan, &mut |_| Judgement::Stop, &mut |_| ()).expect("both run");
    let mismatch = verdict.mismatch.as_ref().expect("the stub is wrong");
    let folder = bundle::write(&above, &plan, &verdict, mismatch).expect("a folder");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    let metadata = serde_json::from_str(&read("metadata.json")).expect("JSON");
    let actions = read("actions.jsonl");
    Whole { folder, metadata, actions }
});

/// Names of engines that start another program or take a long time.
const LEFT_OUT: [&str; 3] = ["pyboy", "cuda", "mgba"];
/// The most frames of a step that the target waits for.
const MAX_FRAMES: u64 = 20;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if LEFT_OUT.iter().any(|name| text.contains(name)) {
        return;
    }
    let whole = &*BUNDLE;
    let (mut metadata, mut actions) = (whole.metadata.clone(), whole.actions.clone());
    let plan = metadata["plan"].as_object_mut().expect("an object");
    let fields: Vec<String> = plan.keys().cloned().collect();
    match fields.get(usize::from(first)) {
        Some(field) => {
            let Ok(value) = serde_json::from_str::<Value>(text) else { return };
            if field == "frames_per_step" && value.as_u64().is_some_and(|it| it > MAX_FRAMES) {
                return;
            }
            plan[field] = value;
        }
        None => actions = text.to_owned(),
    }
    let write =
        |name: &str, text: &str| std::fs::write(whole.folder.join(name), text).expect("a file");
    write("metadata.json", &metadata.to_string());
    write("actions.jsonl", &actions);
    if let Err(refused) = replay::replay(&whole.folder, &mut |_| ()) {
        assert!(!refused.to_string().is_empty());
    }
});
