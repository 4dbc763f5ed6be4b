//! `func_replay`: replaces the calls of a function by calls of its replay before the kernel is
//! reversed. An example is a counter whose replay reads the number that each thread got.

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::PassMode;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Op;

/// Returns the module in which each call of a function with a replay calls the replay; `None` if no
/// function has one.
pub(super) fn replayed(source: &Valid<Module>) -> Result<Option<Valid<Module>>, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    for (_, function) in source.functions.iter().filter(|(_, f)| f.replay.is_some()) {
        let written = |mode| mode == PassMode::Mutable;
        let float = source.types.has_float(function.result)
            || function.params.iter().any(|p| written(p.mode) && source.types.has_float(p.ty));
        if float {
            let name = &function.name;
            let message =
                format!("`{name}` gives floats: a replay would hide where they come from");
            let fault = Diagnostic::error(Code::GradReplay, function.span, message);
            faults.push(fault.help("write the function's gradient by hand: `@wp.func_grad`"));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    if source.functions.iter().all(|(_, function)| function.replay.is_none()) {
        return Ok(None);
    }
    let mut module: Module = (**source).clone();
    let replays: Vec<_> = source.functions.iter().map(|(id, f)| f.replay.unwrap_or(id)).collect();
    for id in source.functions.handles() {
        let body = &mut module.functions[id].body;
        for value in source.functions[id].body.values.handles() {
            if let Op::Call { function, .. } = &mut body.values[value].op {
                *function = replays[function.index()];
            }
        }
    }
    check::module(module).map(Some)
}
