//! The cases in `GBXCULE_TEST_DATA`: what stood there before one instruction, after it, and on the bus.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

/// Registers and memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// A F B C D E H L.
    pub(crate) registers: [u8; 8],
    pub(crate) sp: u16,
    pub(crate) pc: u16,
    /// Interrupts are enabled, or will be after the next instruction.
    pub(crate) ime: bool,
    /// The bytes that are not zero.
    pub(crate) memory: BTreeMap<u16, u8>,
}

/// What an instruction did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) state: State,
    /// Kind (0 none, 1 read, 2 write), address and value of each M-cycle.
    pub(crate) accesses: Vec<(u8, u16, u8)>,
}

pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) before: State,
    /// IE.
    pub(crate) enabled: u8,
    pub(crate) outcome: Outcome,
}

/// All of them.
pub(crate) fn cases() -> Vec<Recorded> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("GBXCULE_TEST_DATA")
        .map_or_else(|| here.join("../../../shared/data"), PathBuf::from);
    let path = data.join("sm83/cases.jsonl.gz");
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set GBXCULE_TEST_DATA", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let cases: Vec<Recorded> =
        text.lines().map(|line| Recorded::of(&serde_json::from_str(line).expect("JSON"))).collect();
    assert_eq!(cases.len(), 16_000);
    cases
}

/// Fails with the first few cases whose outcomes differ.
pub(crate) fn assert_all(cases: &[Recorded], outcomes: &[Outcome]) {
    assert_eq!(cases.len(), outcomes.len());
    let pairs = cases.iter().zip(outcomes);
    let failures: Vec<String> = pairs
        .filter(|(case, found)| case.outcome != **found)
        .map(|(case, found)| format!("{}: {found:x?}, recorded {:x?}", case.name, case.outcome))
        .collect();
    let first = &failures[..failures.len().min(10)];
    assert!(failures.is_empty(), "{} cases fail: {first:#?}", failures.len());
}

impl Recorded {
    pub(crate) fn of(case: &Value) -> Self {
        let cycles = case["cycles"].as_array().expect("cycles");
        Self {
            name: case["name"].to_string(),
            before: State::of(&case["initial"]),
            enabled: number(&case["initial"]["ie"]) as u8,
            outcome: Outcome {
                state: State::of(&case["final"]),
                accesses: cycles.iter().map(access).collect(),
            },
        }
    }
}

impl State {
    fn of(state: &Value) -> Self {
        let bytes = state["ram"].as_array().expect("ram").iter();
        Self {
            registers: ["a", "f", "b", "c", "d", "e", "h", "l"].map(|it| number(&state[it]) as u8),
            sp: number(&state["sp"]),
            pc: number(&state["pc"]),
            ime: number(&state["ime"]) != 0 || number(&state["ei"]) != 0,
            memory: memory(bytes.map(|pair| (number(&pair[0]), number(&pair[1]) as u8))),
        }
    }
}

/// Memory of these bytes: zeros are everywhere else too.
pub(crate) fn memory(bytes: impl Iterator<Item = (u16, u8)>) -> BTreeMap<u16, u8> {
    bytes.filter(|(_, value)| *value != 0).collect()
}

fn number(value: &Value) -> u16 {
    value.as_u64().unwrap_or(0) as u16
}

fn access(cycle: &Value) -> (u8, u16, u8) {
    let (address, value) = (number(&cycle[0]), number(&cycle[1]) as u8);
    match cycle[2].as_str() {
        Some("r-m") => (1, address, value),
        Some("-wm") => (2, address, value),
        _ => (0, 0, 0),
    }
}
