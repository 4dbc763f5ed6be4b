//! This program makes the sample under version control again, byte for byte.

use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::card;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::shard::Shard;
use gbxcule_testkit::folder::contents;
use std::path::{Path, PathBuf};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/dataset")
}

// The last digit of a sine depends on the C library.
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")),
    ignore = "the sample was made with glibc on x86-64"
)]
#[test]
fn the_sample_is_made_again_byte_for_byte() {
    let manifest = Manifest::read(&sample()).expect("a manifest");
    assert!(manifest.count <= 100);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth/sample");
    _ = std::fs::remove_dir_all(&folder);
    let work = Work { shard: Shard::WHOLE, workers: 2, resume: false, jsonl: false };
    batch(&folder, &manifest, &work, &Tools::default(), &|| ()).expect("a dataset");
    let rows = read(&folder).expect("rows");
    card::write(&folder, &manifest, &rows, &Usage::of_warp(), &|_| ()).expect("a card");
    let (made, committed) = (contents(&folder), contents(&sample()));
    assert_eq!(made.keys().collect::<Vec<_>>(), committed.keys().collect::<Vec<_>>());
    for (path, bytes) in &made {
        assert!(*bytes == committed[path], "{} differs: see docs/dataset.md", path.display());
    }
}
