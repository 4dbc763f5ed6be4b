//! Text of the swarm's kernels in the dialect. `kernels.py` holds the work of one thread of each
//! kernel. A generated text calls the functions of the programs (`program/program_call.rs`). Both
//! are lowered into the machine's module. `device/kernel.rs` makes kernels from the functions for
//! devices, and `program/native_programs.rs` for the native swarm.

use std::path::Path;

use gbxcule_front_warp::{Library, Program, Texts};
use gbxcule_gameboy::SOURCES;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::{SourceMap, Span};
use gbxcule_ir::{FunctionId, Module, Op, Param, PassMode, StmtKind};

use crate::program::{ProgramCalls, machine_params};

const TEXT: &str = include_str!("kernel_source/kernels.py");

/// Files of the machine's sources whose functions the text may call.
const FILES: [&str; 3] = ["src/kernel_call.rs", "src/pair.rs", "src/view.rs"];
const METHODS: [&str; 5] = [
    "Machine::begin_frame_with",
    "Machine::peek",
    "Machine::poke",
    "Machine::poke_bank",
    "Machine::run_to_hook",
];

/// Functions, and the further parts of a `gb.Machine` that each takes after the machine.
const PARTS_OF_MACHINE: [(&str, &[&str]); 4] = [
    ("read", &["rom", "cart_ram"]),
    ("set_step_numbers", &["step_numbers"]),
    ("run_to_hook", &["marks", "places"]),
    ("write", &["writes"]),
];

/// The form in which the functions of the text get the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MachineAccess {
    Read,
    Change,
}

/// Lowers functions of the text into a module that has the machine; `calls` is the text that calls
/// the programs.
pub(crate) fn lower(
    module: &mut Module,
    names: &[&str],
    access: MachineAccess,
    calls: &ProgramCalls,
) -> Vec<FunctionId> {
    let before = module.functions.len();
    let mut sources = SourceMap::new();
    let id = sources.add("kernels.py", TEXT);
    let read = |path: &Path| {
        let is_glue = path == Path::new("programs.py");
        is_glue.then(|| calls.text.clone()).into()
    };
    let library = library(module, access, calls);
    let program = Program::load(&mut Texts::default(), &mut sources, id, Some(&read));
    let lowered: Result<Vec<FunctionId>, _> = program.and_then(|program| {
        let reader = program.reader_with(&library);
        names.iter().map(|name| reader.declared(name, module)).collect()
    });
    let lowered = lowered.unwrap_or_else(|faults| unreachable!("{}", render(&faults, &sources)));
    let made: Vec<FunctionId> = module.functions.handles().skip(before).collect();
    for function in made {
        let function = &mut module.functions[function];
        function.trusted = function.instance.is_none();
        // Messages must name lines of users' programs, not lines of this text.
        function.span = Span::NONE;
        function.body.values.iter_mut().for_each(|(_, value)| value.span = Span::NONE);
    }
    place_statements(module, before, &calls.functions);
    lowered
}

/// Sets the places of statements in the functions from `first` on. An assertion about a program's
/// function gets the place of that function; all other statements get none.
fn place_statements(module: &mut Module, first: usize, programs: &[(String, FunctionId)]) {
    let made: Vec<FunctionId> = module.functions.handles().skip(first).collect();
    let of_program = |id: FunctionId| programs.iter().any(|&(_, program)| program == id);
    for function in made {
        let mut body = std::mem::take(&mut module.functions[function].body);
        for (_, block) in body.blocks.iter_mut() {
            let mut returned = Span::NONE;
            for stmt in &mut block.stmts {
                let called = match stmt.kind {
                    StmtKind::Let(value) => match body.values[value].op {
                        Op::Call { function, .. } => Some(function),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(called) = called.filter(|id| of_program(*id)) {
                    returned = module.functions[called].span;
                }
                let is_assertion = matches!(stmt.kind, StmtKind::Assert { .. });
                stmt.span = if is_assertion { returned } else { Span::NONE };
            }
        }
        module.functions[function].body = body;
    }
}

/// The library `gbxcule` that the text imports.
fn library(module: &Module, access: MachineAccess, calls: &ProgramCalls) -> Library {
    let functions = module.functions.iter().filter(|(_, function)| {
        let file = function.span.source().and_then(|id| SOURCES.get(id.index()));
        let is_of_file = file.is_some_and(|(path, _)| FILES.contains(path));
        is_of_file || METHODS.contains(&function.name.as_str())
    });
    let name = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    let mut functions: Vec<(String, FunctionId)> =
        functions.map(|(id, function)| (name(&function.name), id)).collect();
    functions.extend(calls.functions.iter().cloned());
    let parts = match access {
        MachineAccess::Read => machine_params(module, calls.writes),
        MachineAccess::Change => changing_parts(module, calls, &functions),
    };
    Library {
        name: "gbxcule".into(),
        handle: "Machine".into(),
        parts,
        functions,
        labels: Vec::new(),
    }
}

/// The parts of a `gb.Machine` for functions that change the machine.
fn changing_parts(
    module: &Module,
    calls: &ProgramCalls,
    functions: &[(String, FunctionId)],
) -> Vec<Param> {
    let mut parts = machine_params(module, false)[..1].to_vec();
    parts[0].mode = PassMode::Mutable;
    for (function, names) in PARTS_OF_MACHINE {
        let has_part = function != "write" || calls.writes;
        let part = functions.iter().find(|(name, _)| *name == function).filter(|_| has_part);
        if let Some(&(_, part)) = part {
            let params = &module.functions[part].params;
            parts.extend(params.iter().filter(|it| names.contains(&it.name.as_str())).cloned());
        }
    }
    parts
}
