//! Rules about types, tables, signatures and the call graph.

use crate::diagnostic::{Code, Diagnostic};
use crate::function::{Function, FunctionId, FunctionKind, PassMode, Residency};
use crate::module::Module;
use crate::op::Op;
use crate::ty::{Shape, Type};

pub(super) fn check(module: &Module, faults: &mut Vec<Diagnostic>) {
    for (ty, shape) in module.types.shapes().iter() {
        if let Some(message) = wrong_type(module, shape) {
            let name = module.types.display(ty);
            let span = crate::source::Span::NONE;
            faults.push(Diagnostic::error(Code::IrType, span, format!("type `{name}`: {message}")));
        }
    }
    for (_, table) in module.tables.iter() {
        let size = module.types.layout(table.ty).map(|layout| layout.size);
        if size != Some(table.bytes.len() as u64) || module.types.holds_array(table.ty) {
            let (name, ty) = (&table.name, module.types.display(table.ty));
            let message = format!("the bytes of table `{name}` are not a value of `{ty}`");
            faults.push(Diagnostic::error(Code::IrType, table.span, message));
        }
    }
    for (_, function) in module.functions.iter() {
        signature(module, function, faults);
    }
}

fn wrong_type(module: &Module, shape: &Shape) -> Option<&'static str> {
    let stored = |ty: Type| module.types.layout(ty).is_some();
    match shape {
        Shape::Vector { len: 0, .. } => Some("a vector needs a component"),
        Shape::Matrix { rows, cols, .. } if *rows == 0 || *cols == 0 => {
            Some("a matrix needs a row and a column")
        }
        Shape::Quaternion(of) | Shape::Transform(of) if !of.is_float() => Some("it needs floats"),
        Shape::Array { dims, .. } if !(1..=4).contains(dims) => {
            Some("an array has 1 to 4 dimensions")
        }
        Shape::Array { of, .. } | Shape::Fixed { of, .. } if !stored(*of) => {
            Some("its elements can't be stored")
        }
        Shape::Struct(id) if module.types.structure(*id).fields.iter().any(|f| !stored(f.ty)) => {
            Some("a field can't be stored")
        }
        Shape::Tuple(of) if of.iter().any(|&ty| !stored(ty)) => Some("a part can't be stored"),
        Shape::Fixed { .. } | Shape::Struct(_) | Shape::Vector { .. } | Shape::Matrix { .. } => {
            let ty = module.types.find(shape)?;
            let size = module.types.layout(ty).map_or(u64::MAX, |layout| layout.size);
            (size > super::MAX_TYPE_BYTES).then_some("it takes 2 GiB or more")
        }
        _ => None,
    }
}

fn signature(module: &Module, function: &Function, faults: &mut Vec<Diagnostic>) {
    let mut fault = |code, message: String| {
        faults.push(Diagnostic::error(code, function.span, message));
    };
    let name = &function.name;
    for param in &function.params {
        if module.types.layout(param.ty).is_none() {
            let ty = module.types.display(param.ty);
            fault(
                Code::IrType,
                format!("parameter `{}` of `{name}` can't be a `{ty}`", param.name),
            );
        }
    }
    let shape = &module.types[function.result];
    if module.types.layout(function.result).is_none() && !matches!(shape, Shape::Tuple(_)) {
        fault(Code::IrType, format!("`{name}` has a result whose type doesn't exist"));
    }
    let holds = |at: u32| {
        let param = function.params.get(at as usize);
        function.kind == FunctionKind::Kernel
            && param.is_some_and(|p| module.types.holds_array(p.ty))
    };
    if !function.disjoint.iter().all(|&(one, other)| holds(one) && holds(other)) {
        fault(
            Code::IrKernel,
            format!("`{name}` names pairs of arrays that are not parameters of a kernel"),
        );
    }
    if !function.residency.is_possible()
        || function.kind != FunctionKind::Kernel && function.residency != Residency::Free
    {
        fault(Code::IrKernel, format!("`{name}` asks for more of a GPU than a kernel may"));
    }
    if function.kind == FunctionKind::Kernel {
        if function.result != Type::UNIT {
            fault(Code::IrKernel, format!("kernel `{name}` has a result"));
        }
        if function.params.iter().any(|param| param.mode != PassMode::Value) {
            fault(Code::IrKernel, format!("kernel `{name}` has a parameter by reference"));
        }
    }
}

/// Orders functions so that callees come before callers; returns `None` if functions call each
/// other in a circle, or if a callee doesn't exist.
pub(super) fn call_order(module: &Module, faults: &mut Vec<Diagnostic>) -> Option<Vec<FunctionId>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        Open,
        Done,
    }
    let callees: Vec<Vec<FunctionId>> =
        module.functions.iter().map(|(_, function)| callees(module, function)).collect();
    let mut marks = vec![VisitState::New; callees.len()];
    let mut order = Vec::with_capacity(callees.len());
    for start in module.functions.handles() {
        let mut path = vec![(start, 0)];
        while let Some((function, next)) = path.pop() {
            if next == 0 {
                match marks[function.index()] {
                    VisitState::Done => continue,
                    VisitState::Open => {
                        let callee = &module.functions[function];
                        let message =
                            format!("`{}` calls itself, directly or through others", callee.name);
                        faults.push(Diagnostic::error(Code::IrCall, callee.span, message));
                        return None;
                    }
                    VisitState::New => marks[function.index()] = VisitState::Open,
                }
            }
            match callees[function.index()].get(next) {
                Some(&callee) => path.extend([(function, next + 1), (callee, 0)]),
                None => {
                    marks[function.index()] = VisitState::Done;
                    order.push(function);
                }
            }
        }
    }
    Some(order)
}

/// Returns the functions that a function calls, each once, in order.
pub(super) fn callees(module: &Module, function: &Function) -> Vec<FunctionId> {
    let mut callees = Vec::new();
    for (_, data) in function.body.values.iter() {
        if let Op::Call { function, .. } = data.op
            && module.functions.get(function).is_some()
        {
            callees.push(function);
        }
    }
    callees.sort_unstable();
    callees.dedup();
    callees
}
