//! The recorded instructions in `GBXCULE_TEST_DATA`: registers and memory before and after each
//! instruction, and its bus accesses.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

/// Registers and memory.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    /// The registers A, F, B, C, D, E, H and L.
    pub registers: [u8; 8],
    /// The stack pointer.
    pub sp: u16,
    /// The program counter.
    pub pc: u16,
    /// True if interrupts are enabled, or will be after the next instruction.
    pub ime: bool,
    /// Addresses and values of the bytes that are not zero.
    pub memory: BTreeMap<u16, u8>,
}

/// Outcome of an instruction.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Registers and memory after the instruction.
    pub state: State,
    /// Kind (0 none, 1 read, 2 write), address and value of each M-cycle.
    pub accesses: Vec<(u8, u16, u8)>,
}

/// One instruction of a recording.
pub struct RecordedInstruction {
    /// Name of the record, which starts with the opcode.
    pub name: String,
    /// Registers and memory before the instruction.
    pub before: State,
    /// The register IE.
    pub enabled: u8,
    /// Outcome of the instruction.
    pub outcome: Outcome,
}

/// Returns all recorded instructions.
pub fn cases() -> Vec<RecordedInstruction> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("GBXCULE_TEST_DATA")
        .map_or_else(|| here.join("../../../../shared/data"), PathBuf::from);
    let path = data.join("sm83/cases.jsonl.gz");
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set GBXCULE_TEST_DATA", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let cases: Vec<RecordedInstruction> = text
        .lines()
        .map(|line| RecordedInstruction::of(&serde_json::from_str(line).expect("JSON")))
        .collect();
    assert_eq!(cases.len(), 16_000);
    cases
}

/// Fails with the first few cases whose outcomes differ.
pub fn assert_all(cases: &[RecordedInstruction], outcomes: &[Outcome]) {
    assert_eq!(cases.len(), outcomes.len());
    let pairs = cases.iter().zip(outcomes);
    let failures: Vec<String> = pairs
        .filter(|(case, found)| case.outcome != **found)
        .map(|(case, found)| format!("{}: {found:x?}, recorded {:x?}", case.name, case.outcome))
        .collect();
    let first = &failures[..failures.len().min(10)];
    assert!(failures.is_empty(), "{} cases fail: {first:#?}", failures.len());
}

impl RecordedInstruction {
    /// Reads one case of a recording.
    pub fn of(case: &Value) -> Self {
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

/// Returns the memory with these bytes, and with zeros at all other addresses.
pub fn memory(bytes: impl Iterator<Item = (u16, u8)>) -> BTreeMap<u16, u8> {
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
