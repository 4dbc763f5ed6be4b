//! The CPU's sources and the flat bus of `gameboy/tests/sm83` as a module, with a kernel in which
//! each thread runs a case.

use gbxcule_gameboy::SOURCES;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, Module, Param, Type};

/// The kernel's name.
pub(crate) const KERNEL: &str = "run_cases";

/// Texts that the CPU needs beside its own.
const AROUND: [(&str, &str); 3] = [
    ("src/bus.rs", include_str!("../../../../machine/gameboy/tests/sm83/bus.rs")),
    ("src/case.rs", include_str!("../../../../machine/gameboy/tests/sm83/case.rs")),
    ("src/machine.rs", include_str!("../../../../machine/gameboy/tests/sm83/machine.rs")),
];

/// Returns the module with the kernel `run_cases(cases, rom, ram)`, and the type of a case.
pub(crate) fn module() -> (Valid<Module>, Type) {
    let is_cpu = |path: &str| path.starts_with("src/cpu");
    let belongs =
        |path: &str| is_cpu(path) || path == "src/interrupts.rs" || path == "src/joypad.rs";
    let texts: Vec<(&str, &str)> =
        SOURCES.iter().copied().filter(|(path, _)| belongs(path)).chain(AROUND).collect();
    let mut sources = SourceMap::new();
    let mut module = gbxcule_front_rust::lower(&texts, &["Case::run"], &mut sources)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let run = module.find("Case::run").expect("an entry point");
    let case = module.functions[run].params[0].ty;
    let cases = module.types.array(case, 1);
    let bytes = module.types.array(Type::U8, 1);
    let params =
        vec![Param::value("cases", cases), Param::value("rom", bytes), Param::value("ram", bytes)];
    let kernel = module.declare_kernel(KERNEL, params);
    let mut b = Builder::new(&mut module, kernel);
    let thread = b.launch_index(0);
    let cases = b.param_place(0);
    let place = b.element(cases, &[thread]);
    let (rom, ram) = (b.arg(1), b.arg(2));
    b.call(run, &[Arg::Place(place), Arg::Value(rom), Arg::Value(ram)]);
    b.finish();
    let valid = check::module(module);
    (valid.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources))), case)
}
