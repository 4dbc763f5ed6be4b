//! Gradients: reverse mode, IR to IR.
//!
//! Essay goes here.

mod activity;
mod adjoint;
mod checkpoint;
mod copy;
mod cycle;
mod exit;
mod forward;
mod inline;
mod memory;
mod need;
mod normal;
mod origin;
mod reverse;
mod rule;
mod scan;
mod trip;

use crate::check::Valid;
use crate::diagnostic::Diagnostic;
use crate::ir::build::Builder;
use crate::ir::function::{Body, Function, FunctionId, Mode, Param};
use crate::ir::module::Module;
use crate::ir::ty::{Shape, Type};
use activity::Activity;
use need::Need;
use reverse::{Plan, Reverser, Shared};
use scan::{Program, Scan, has_float};

/// The module with the reverse of a kernel added, under the name that [`reverse_name`] gives.
pub fn grad(source: &Valid<Module>, kernel: FunctionId) -> Result<Module, Vec<Diagnostic>> {
    let mut module: Module = (**source).clone();
    let inline = inline::choose(source);
    let mut shared = Shared::default();
    for function in inline::called(source, kernel, &inline) {
        if has_reverse(&module, function) {
            let reverse = differentiate(source, &mut module, function, &inline, &mut shared)?;
            shared.reverses.insert(function, reverse);
        }
    }
    differentiate(source, &mut module, kernel, &inline, &mut shared)?;
    Ok(module)
}

/// What the reverse of a kernel or function is called.
pub fn reverse_name(name: &str) -> String {
    format!("adj_{name}")
}

/// Whether derivatives can flow through a function at all.
fn has_reverse(module: &Module, function: FunctionId) -> bool {
    let function = &module.functions[function];
    let float = |ty| has_float(&module.types, ty);
    let written = |param: &Param| param.mode == Mode::Mutable && float(param.ty);
    function.params.iter().any(|param| float(param.ty))
        && (float(function.result) || function.params.iter().any(written))
}

fn differentiate(
    source: &Valid<Module>,
    module: &mut Module,
    id: FunctionId,
    inline: &[bool],
    shared: &mut Shared,
) -> Result<FunctionId, Vec<Diagnostic>> {
    let function = &source.functions[id];
    let into = module.functions.push(Function {
        name: reverse_name(&function.name),
        body: Body::default(),
        instance: None,
        ..function.clone()
    });
    normal::build(source, module, id, into, inline);
    let mut body = std::mem::take(&mut module.functions[into].body);
    forward::rewrite(&mut body, &module.types);
    let types = module.types.clone();
    let program = Program { types: &types, functions: &source.functions };
    let scan = Scan::new(&body);
    let activity = Activity::new(program, function, &scan);
    let need = Need::new(program, &scan, &activity);
    let faults = memory::check(program, &scan, &activity, &need);
    if !faults.is_empty() {
        return Err(faults);
    }
    let plan = Plan { scan: &scan, activity: &activity, need: &need, program };
    sign(module, function, into);
    let kernel = function.result == Type::UNIT && !shared_is_callable(function);
    let b = Builder::new(module, into);
    let mut reverser = Reverser::new(&plan, b, function.params.len(), shared);
    if !kernel {
        reverser.begin_function(function);
    }
    reverser.block(body.root, function);
    if kernel {
        reverser.b.finish();
    } else {
        reverser.finish_function(function);
    }
    Ok(into)
}

fn shared_is_callable(function: &Function) -> bool {
    function.kind == crate::ir::function::Kind::Callable
}

/// Gives a reverse function its signature: the parameters by value; the adjoints that parameters that are
/// written have at the end, and those of the results. Its results are the adjoints of the parameters.
/// The reverse of a kernel takes what the kernel takes.
fn sign(module: &mut Module, function: &Function, into: FunctionId) {
    if !shared_is_callable(function) {
        return;
    }
    let float = |module: &Module, ty| has_float(&module.types, ty);
    let mut params: Vec<Param> = function.params.clone();
    params.iter_mut().for_each(|param| param.mode = Mode::Value);
    for param in &function.params {
        if param.mode == Mode::Mutable && float(module, param.ty) {
            params.push(Param::value(format!("adj_{}", param.name), param.ty).at(param.span));
        }
    }
    let results = match &module.types[function.result] {
        Shape::Tuple(of) => of.to_vec(),
        _ => vec![function.result],
    };
    for ty in results {
        if float(module, ty) {
            params.push(Param::value("adj_result", ty));
        }
    }
    let adjoints: Vec<Type> = function.params.iter().map(|param| param.ty).collect();
    let adjoints: Vec<Type> = adjoints.into_iter().filter(|&ty| float(module, ty)).collect();
    let result = match adjoints[..] {
        [single] => single,
        _ => module.types.tuple(&adjoints),
    };
    module.functions[into].params = params;
    module.functions[into].result = result;
}
