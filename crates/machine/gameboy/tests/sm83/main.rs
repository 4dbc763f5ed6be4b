//! The CPU's own source files, compiled a second time over a flat 64 KiB bus that records every
//! M-cycle, against the single-step cases in `GBXCULE_TEST_DATA` (see `docs/testing.md`).

#![allow(missing_docs, dead_code, unreachable_pub)]

#[path = "../../src"]
mod source {
    pub mod cpu;
}
mod bus;
mod case;
mod machine;

use gbxcule_gameboy::{interrupts, joypad};
use source::cpu;

use crate::case::Case;
use crate::cpu::{Cpu, Mode};
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use crate::machine::{Access, Cell, Kind, MOST, Machine};
use gbxcule_testkit::sm83::{self, Outcome, RecordedInstruction, State, memory};

fn load(recorded: &RecordedInstruction) -> Case {
    let State { registers: [a, f, b, c, d, e, h, l], sp, pc, ime, ref memory } = recorded.before;
    let cpu = Cpu {
        now: 0,
        a,
        zero: 0,
        carries: 0,
        b,
        c,
        d,
        e,
        h,
        l,
        sp,
        pc,
        ime,
        ime_delayed: false,
        mode: Mode::Running,
        just_halted: false,
        halt_bug: false,
        stop_skips: false,
    };
    let mut machine = Machine {
        deadline: 0,
        interrupts: Interrupts { requested: 0, enabled: recorded.enabled },
        joypad: Joypad::released(0),
        cells: [Cell { address: 0, value: 0 }; MOST],
        cell_count: 0,
        accesses: [Access { kind: Kind::None, value: 0, address: 0 }; MOST],
        access_count: 0,
    };
    for (&address, &value) in memory {
        machine.set_byte(address, value);
    }
    Case { cpu, machine, f, mcycles: recorded.outcome.accesses.len() as u32 }
}

fn run(recorded: &RecordedInstruction) -> Outcome {
    let mut case = load(recorded);
    case.run(&[], &mut []);
    let Case { cpu, machine, f, .. } = case;
    let cells = &machine.cells[..machine.cell_count as usize];
    let accesses = &machine.accesses[..machine.access_count as usize];
    Outcome {
        state: State {
            registers: [cpu.a, f, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l],
            sp: cpu.sp,
            pc: cpu.pc,
            ime: cpu.ime || cpu.ime_delayed,
            memory: memory(cells.iter().map(|cell| (cell.address, cell.value))),
        },
        accesses: accesses.iter().map(|it| (it.kind as u8, it.address, it.value)).collect(),
    }
}

#[test]
#[ignore = "needs GBXCULE_TEST_DATA"]
fn every_single_step_case_ends_in_the_recorded_state_by_the_recorded_accesses() {
    let cases = sm83::cases();
    let outcomes: Vec<Outcome> = cases.iter().map(run).collect();
    sm83::assert_all(&cases, &outcomes);
}

#[test]
fn add_sets_half_carry_and_carry_from_the_flat_bus() {
    let case = RecordedInstruction::of(&serde_json::json!({
        "initial": { "a": 0x3a, "b": 0xc6, "pc": 0x100, "ram": [[0x100, 0x80]] },
        "final": { "a": 0, "f": 0xb0, "b": 0xc6, "pc": 0x101, "ram": [[0x100, 0x80]] },
        "cycles": [[0x100, 0x80, "r-m"]],
    }));
    assert_eq!(run(&case), case.outcome);
}

/// A case whose program is these bytes, with registers and memory of random numbers.
fn random_case(program: [u8; 4], random: &mut u64) -> Case {
    let mut byte = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*random >> 56) as u8
    };
    let mut recorded = RecordedInstruction::of(&serde_json::json!({
        "initial": { "pc": 0x100, "ram": [] }, "final": { "ram": [] }, "cycles": [],
    }));
    recorded.before.registers = std::array::from_fn(|_| byte());
    recorded.before.sp = u16::from_le_bytes([byte(), byte()]);
    recorded.enabled = byte();
    let mut case = load(&recorded);
    case.cpu.set_f(byte());
    case.machine.interrupts.requested = byte();
    for (at, value) in (0x100..).zip(program) {
        case.machine.set_byte(at, value);
    }
    case
}

/// Opcodes, as GPUs execute them, do the same to registers and memory by the same accesses.
#[test]
fn opcodes_by_family_are_those_of_the_chart() {
    let mut random = 1;
    for first in 0..=0xff_u8 {
        let seconds = if first == 0xcb { 0..=0xff_u8 } else { 0..=0x1f };
        for second in seconds {
            let case = random_case([first, second.wrapping_mul(97), second, 0], &mut random);
            let (mut chart, mut by_family) = (case, case);
            let opcode = chart.cpu.fetch(&mut chart.machine, &[], &mut []);
            chart.cpu.execute(&mut chart.machine, &[], &mut [], opcode);
            by_family.cpu.fetch(&mut by_family.machine, &[], &mut []);
            let Case { cpu, machine, .. } = &mut by_family;
            cpu::families::execute_by_family(cpu, machine, &[], &mut [], opcode);
            assert_eq!(by_family, chart, "{first:02x} {second:02x}: {case:?}");
        }
    }
}
