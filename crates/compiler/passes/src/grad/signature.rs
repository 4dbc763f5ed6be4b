//! Parameters and results of the reverse of a function.

use gbxcule_ir::check::Valid;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{Function, FunctionId, Param, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::{Shape, Type};

/// Parameters and result of a reverse.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The function's own parameters, all by value, with their values from before the call; then
    /// the adjoints, after the call, of `Mutable` parameters with floats; then the adjoints of
    /// the results with floats.
    pub params: Vec<Param>,
    /// The adjoints, before the call, of the parameters with floats: a tuple, or the adjoint itself
    /// if there is only one.
    pub result: Type,
}

/// Returns the signature of a function's reverse.
pub fn signature(module: &mut Module, function: &Function) -> Signature {
    let mut params: Vec<Param> = function.params.clone();
    params.iter_mut().for_each(|param| param.mode = PassMode::Value);
    let floats = |param: &&Param| module.types.has_float(param.ty);
    for param in function.params.iter().filter(floats) {
        if param.mode == PassMode::Mutable {
            params.push(Param::value(format!("adj_{}", param.name), param.ty).at(param.span));
        }
    }
    let results = results(module, function.result).into_iter();
    let results = results.filter(|&ty| module.types.has_float(ty));
    params.extend(results.map(|ty| Param::value("adj_result", ty)));
    let adjoints: Vec<Type> = function.params.iter().filter(floats).map(|p| p.ty).collect();
    let result = match adjoints[..] {
        [single] => single,
        _ => module.types.tuple(&adjoints),
    };
    Signature { params, result }
}

/// Returns the types of a function's results, one by one.
pub(super) fn results(module: &Module, result: Type) -> Vec<Type> {
    match &module.types[result] {
        Shape::Tuple(of) => of.to_vec(),
        _ => vec![result],
    }
}

/// Returns true if derivatives can flow through a function at all.
pub(super) fn has_reverse(module: &Module, function: FunctionId) -> bool {
    let function = &module.functions[function];
    let float = |ty| module.types.has_float(ty);
    let written = |param: &Param| param.mode == PassMode::Mutable && float(param.ty);
    function.params.iter().any(|param| float(param.ty))
        && (float(function.result) || function.params.iter().any(written))
}

/// Returns the faults of a gradient written by hand.
pub(super) fn check(
    source: &Valid<Module>,
    function: FunctionId,
    by_hand: FunctionId,
) -> Vec<Diagnostic> {
    let (callee, Some(adjoint)) = (&source.functions[function], source.functions.get(by_hand))
    else {
        unreachable!("a gradient by hand is a function of the module")
    };
    let name = &callee.name;
    let mut faults = Vec::new();
    let mut fault = |message: String| {
        faults.push(Diagnostic::error(Code::GradByHand, adjoint.span, message));
    };
    if super::inline::uses_memory(source, function) {
        fault(format!("`{name}` uses arrays: it can't have a gradient of its own"));
    }
    let mut types = Module::clone(source);
    let wanted = signature(&mut types, callee);
    let types_of = |params: &[Param]| params.iter().map(|param| param.ty).collect::<Vec<_>>();
    let by_value = adjoint.params.iter().all(|param| param.mode == PassMode::Value);
    if !by_value
        || types_of(&adjoint.params) != types_of(&wanted.params)
        || adjoint.result != wanted.result
    {
        let shown: Vec<String> = wanted.params.iter().map(|p| types.types.spelled(p.ty)).collect();
        let (shown, result) = (shown.join(", "), types.types.spelled(wanted.result));
        fault(format!("the gradient of `{name}` takes ({shown}) and gives {result}"));
    }
    faults
}
