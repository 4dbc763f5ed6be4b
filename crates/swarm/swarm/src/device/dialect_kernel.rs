//! Kernels of the swarm that are written in the dialect. A fault in such a kernel is a defect of
//! this crate.

use gbxcule_front_warp::Program;
use gbxcule_ir::check::Valid;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module};

use super::machine_ir::checked;

/// Compiles the kernel of a given name in a text.
pub(crate) fn compiled(name: &str, text: String) -> Valid<Module> {
    checked(lowered(name, text))
}

/// Compiles a kernel whose indices are known to be right, so that they are not checked at run time.
pub(crate) fn trusted(name: &str, text: String) -> Valid<Module> {
    let mut module = lowered(name, text);
    let functions: Vec<FunctionId> = module.functions.handles().collect();
    functions.into_iter().for_each(|function| module.functions[function].trusted = true);
    checked(module)
}

fn lowered(name: &str, text: String) -> Module {
    let mut sources = SourceMap::new();
    let id = sources.add(format!("{name}.py"), text);
    let module = Program::parse(&sources, id).and_then(|program| program.compile(name));
    module.unwrap_or_else(|faults| unreachable!("{}", render(&faults, &sources)))
}
