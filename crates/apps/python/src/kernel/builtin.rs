//! Describes the dialect's builtins to `gbxcule.warp`, so that Python can call them.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use gbxcule_ir::builtin::{Visibility, rows};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::{Module, Scalar, Shape, Type};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::text::Given;
use super::{CompileError, refused};

/// Returns the builtins that kernels call as `wp.name`.
#[pyfunction]
pub(crate) fn builtin_names() -> Vec<&'static str> {
    rows()
        .filter(|(_, row)| row.visibility == Visibility::Dialect)
        .map(|(_, row)| row.name)
        .collect()
}

/// Kind of a type, its dimensions and its scalar.
type SpelledType = (&'static str, Vec<u16>, &'static str);

/// Returns the result types of a text's function `value_of_call`, which its kernel calls.
#[pyfunction]
pub(crate) fn result_types(py: Python<'_>, text: String) -> PyResult<Vec<SpelledType>> {
    let outcome = py.detach(|| {
        let program = Given { file: "<call>".into(), text, ..Given::default() }.parse()?.program;
        check::module(program.compile("call")?)
    });
    let module =
        outcome.map_err(|faults: Vec<Diagnostic>| CompileError::new_err(refused(&faults)))?;
    let called = module.functions.iter().find(|(_, function)| function.name == "value_of_call");
    let result = called.map_or(Type::UNIT, |(_, function)| function.result);
    let types = match &module.types[result] {
        Shape::Tuple(types) => types.to_vec(),
        _ => vec![result],
    };
    types.into_iter().map(|ty| spelled(&module, ty)).collect()
}

fn spelled(module: &Module, ty: Type) -> PyResult<SpelledType> {
    let of = |scalar: Scalar| scalar.spelled();
    Ok(match module.types[ty] {
        Shape::Scalar(scalar) => ("scalar", vec![], of(scalar)),
        Shape::Vector { len, of: scalar } => ("vector", vec![len], of(scalar)),
        Shape::Matrix { rows, cols, of: scalar } => ("matrix", vec![rows, cols], of(scalar)),
        Shape::Quaternion(scalar) => ("quaternion", vec![4], of(scalar)),
        Shape::Transform(scalar) => ("transform", vec![7], of(scalar)),
        _ => {
            let shown = module.types.spelled(ty);
            return Err(PyTypeError::new_err(format!(
                "a result of type `{shown}` can't leave a kernel"
            )));
        }
    })
}
