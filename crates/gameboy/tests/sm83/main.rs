//! The CPU's own source files, compiled a second time over a flat 64 KiB bus that records every
//! M-cycle, against the single-step cases in `GBXCULE_TEST_DATA` (see `docs/testing.md`).

#![allow(missing_docs, dead_code, unreachable_pub)]

#[path = "../../src"]
mod source {
    pub mod cpu;
    pub mod interrupts;
    pub mod joypad;
}
mod bus;
mod machine;

use std::io::Read;
use std::path::PathBuf;

use machine::{Access, Machine};
use serde_json::Value;
use source::{cpu, interrupts, joypad};

use crate::cpu::{Cpu, Mode};

fn cases() -> Vec<Value> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("GBXCULE_TEST_DATA")
        .map_or_else(|| here.join("../../../shared/data"), PathBuf::from);
    let path = data.join("sm83/cases.jsonl.gz");
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set GBXCULE_TEST_DATA", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn number(case: &Value, name: &str) -> u16 {
    case[name].as_u64().unwrap_or(0) as u16
}

fn load(state: &Value) -> (Cpu, Machine) {
    let byte = |name| number(state, name) as u8;
    let mut cpu = Cpu {
        now: 0,
        a: byte("a"),
        zero: 0,
        carries: 0,
        b: byte("b"),
        c: byte("c"),
        d: byte("d"),
        e: byte("e"),
        h: byte("h"),
        l: byte("l"),
        sp: number(state, "sp"),
        pc: number(state, "pc"),
        ime: byte("ime") != 0,
        ime_delayed: false,
        mode: Mode::Running,
        just_halted: false,
        halt_bug: false,
        stop_skips: false,
    };
    cpu.set_f(byte("f"));
    let mut machine = Machine::new(byte("ie"));
    for pair in state["ram"].as_array().expect("ram") {
        let at = pair[0].as_u64().expect("address") as usize;
        machine.ram[at] = pair[1].as_u64().expect("value") as u8;
    }
    (cpu, machine)
}

/// Executes one instruction; a CPU that it stopped idles on, as the cases record it.
fn run(cpu: &mut Cpu, machine: &mut Machine, mcycles: usize) {
    let opcode = cpu.fetch(machine, &[], &mut []);
    cpu.execute(machine, &[], &mut [], opcode);
    while cpu.mode != Mode::Running && machine.accesses.len() < mcycles {
        machine.accesses.push(Access::None);
    }
}

fn check(case: &Value) -> Result<(), String> {
    let (mut cpu, mut machine) = load(&case["initial"]);
    let cycles = case["cycles"].as_array().expect("cycles");
    run(&mut cpu, &mut machine, cycles.len());
    let (expected, expected_machine) = load(&case["final"]);
    let registers = |cpu: &Cpu| [cpu.af(), cpu.bc(), cpu.de(), cpu.hl(), cpu.sp, cpu.pc];
    if registers(&cpu) != registers(&expected) {
        return Err(format!("registers {:04x?}", registers(&cpu)));
    }
    let enables = number(&case["final"], "ei") != 0;
    if (cpu.ime || cpu.ime_delayed) != (expected.ime || enables) {
        return Err("IME".into());
    }
    if machine.ram != expected_machine.ram {
        return Err("memory".into());
    }
    let recorded: Vec<Access> = cycles.iter().map(access).collect();
    if machine.accesses != recorded {
        return Err(format!("bus {:04x?}, recorded {recorded:04x?}", machine.accesses));
    }
    Ok(())
}

fn access(cycle: &Value) -> Access {
    let address = cycle[0].as_u64().unwrap_or(0) as u16;
    let value = cycle[1].as_u64().unwrap_or(0) as u8;
    match cycle[2].as_str() {
        Some("r-m") => Access::Read(address, value),
        Some("-wm") => Access::Write(address, value),
        _ => Access::None,
    }
}

#[test]
#[ignore = "needs GBXCULE_TEST_DATA"]
fn every_single_step_case_ends_in_the_recorded_state_by_the_recorded_accesses() {
    let cases = cases();
    assert_eq!(cases.len(), 16_000);
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case["name"])))
        .collect();
    assert!(failures.is_empty(), "{} cases fail: {:#?}", failures.len(), &failures[..10]);
}

#[test]
fn add_sets_half_carry_and_carry_from_the_flat_bus() {
    let (mut cpu, mut machine) = load(&serde_json::json!({
        "a": 0x3a, "b": 0xc6, "pc": 0x100, "ram": [[0x100, 0x80]]
    }));
    run(&mut cpu, &mut machine, 1);
    assert_eq!((cpu.a, cpu.f()), (0, 0xb0));
    assert_eq!(machine.accesses, [Access::Read(0x100, 0x80)]);
}
