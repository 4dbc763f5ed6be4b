//! Columns that describe a row's source. They follow from the source and the shapes of the inputs,
//! so `validate` computes them again.

use crate::row::{IN_WARP, Row};
use crate::row_program::{RowProgram, element};
use crate::{split, structure, tensor};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_ir::{FunctionId, Module};
use serde_json::json;

/// Values of these columns.
pub(crate) struct Labels {
    kernel: String,
    kernels: Vec<String>,
    launches_json: Option<String>,
    signature_json: String,
    features: Vec<String>,
    structure: String,
    split: String,
    in_warp: bool,
}

impl Labels {
    /// Computes the columns.
    pub(crate) fn of(source: &str, program: &RowProgram, inputs: &[ArgumentInput]) -> Self {
        let tokens = structure::tokens(source);
        let structure = structure::hash(&tokens);
        Self {
            kernel: program.name().into(),
            kernels: program.kernels().iter().map(|it| name(program, *it)).collect(),
            launches_json: launches(program, inputs),
            signature_json: signature(program, inputs),
            features: structure::features(&tokens),
            split: split::split_of(&structure).into(),
            in_warp: IN_WARP.has(&tokens, &program.forward),
            structure,
        }
    }

    /// Puts the columns into a row.
    pub(crate) fn label(self, row: Row) -> Row {
        let Self { kernel, kernels, launches_json, signature_json, .. } = self;
        let Self { features, structure, mut split, in_warp, .. } = self;
        // All instances of an algorithm are in one split, so that no training row has a test row's
        // algorithm.
        if let Some(template) = &row.template {
            split = split::split_of(&structure::digest(template, 4)).into();
        }
        Row {
            kernel,
            kernels,
            launches_json,
            signature_json,
            features,
            structure,
            split,
            in_warp,
            ..row
        }
    }
}

fn name(program: &RowProgram, kernel: FunctionId) -> String {
    program.forward.functions[kernel].name.clone()
}

/// Returns the launches of host code as JSON, in order: kernel, grid, and arguments, each the name
/// of a parameter of the host code or a number.
fn launches(program: &RowProgram, inputs: &[ArgumentInput]) -> Option<String> {
    let host = program.host.as_ref()?;
    let launches = host.launches(&program.forward, inputs)?;
    let all: Vec<_> = launches
        .iter()
        .map(|launch| {
            let params = &program.forward.functions[launch.kernel].params;
            let arguments = launch.arguments.iter().zip(params).map(|(argument, param)| {
                argument.own().map_or_else(
                    || json!(tensor::spelled(argument.number(&program.forward, param.ty))),
                    |at| json!(host.params[at].name),
                )
            });
            let arguments: Vec<_> = arguments.collect();
            json!({
                "kernel": name(program, launch.kernel), "dims": launch.dims, "arguments": arguments,
            })
        })
        .collect();
    Some(json!(all).to_string())
}

/// Returns the parameters as JSON.
fn signature(program: &RowProgram, inputs: &[ArgumentInput]) -> String {
    let module: &Module = &program.forward;
    let params: Vec<_> = program
        .params()
        .iter()
        .zip(inputs)
        .map(|(param, given)| {
            let of = element(module, param.ty);
            let ty = module.types.display(of.unwrap_or(param.ty)).to_string();
            json!({
                "name": param.name, "kind": if of.is_some() { "array" } else { "value" }, "type": ty,
                "dims": given.shape.len(), "written": given.written,
            })
        })
        .collect();
    json!(params).to_string()
}
