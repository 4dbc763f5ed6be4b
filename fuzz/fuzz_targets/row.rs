//! Takes any JSON as a row of a dataset: it can't be read, or every check that runs no other
//! program judges it. The first byte chooses between bytes as a whole row, and a good row with one
//! column replaced by the bytes.
#![no_main]

use std::sync::LazyLock;

use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::validate::{Checks, validate};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static GOOD: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let plan = Plan { seed: 1, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };
    (0..8).map(|id| serde_json::to_value(make(plan, id)).expect("a row as JSON")).collect()
});

const COLUMNS: [&str; 8] = [
    "inputs_json",
    "launch_dims",
    "source",
    "outputs_json",
    "gradients_json",
    "checks_json",
    "input_seed",
    "kernel",
];

fn row(bytes: &[u8]) -> Option<Row> {
    let (&first, rest) = bytes.split_first()?;
    if first % 8 == 7 {
        return serde_json::from_slice(rest).ok();
    }
    let (&second, rest) = rest.split_first()?;
    let mut row = GOOD[usize::from(first % 8)].clone();
    let column = COLUMNS[usize::from(second % 8)];
    let text = String::from_utf8_lossy(rest).into_owned();
    let is_text = row[column].is_string();
    row[column] = if is_text { text.into() } else { serde_json::from_str(&text).ok()? };
    serde_json::from_value(row).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let Some(row) = row(bytes) else { return };
    let wanted = Checks { host_texts: Texts::Both, ..Checks::default() };
    let verdicts = validate(&[row], &wanted).expect("no other program is asked");
    assert_eq!(verdicts.len(), 1);
});
