//! Columns that say what a row's source is: they follow from it and from the shapes of the inputs,
//! so `validate` works them out again.

use crate::row::{IN_WARP, Row};
use crate::row_program::{RowProgram, element};
use crate::{split, structure};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_ir::Module;
use serde_json::json;

/// Values of these columns.
pub(crate) struct Labels {
    kernel: String,
    signature_json: String,
    features: Vec<String>,
    structure: String,
    split: String,
    in_warp: bool,
}

impl Labels {
    /// Works them out.
    pub(crate) fn of(source: &str, program: &RowProgram, inputs: &[ArgumentInput]) -> Self {
        let tokens = structure::tokens(source);
        let structure = structure::hash(&tokens);
        Self {
            kernel: program.name().into(),
            signature_json: signature(program, inputs),
            features: structure::features(&tokens),
            split: split::split_of(&structure).into(),
            in_warp: IN_WARP.has(&tokens, &program.forward),
            structure,
        }
    }

    /// Puts them into a row.
    pub(crate) fn label(self, row: Row) -> Row {
        let Self { kernel, signature_json, features, structure, mut split, in_warp } = self;
        // All instances of an algorithm are in one part: a test row's algorithm is a new one.
        if let Some(template) = &row.template {
            split = split::split_of(&structure::digest(template, 4)).into();
        }
        Row { kernel, signature_json, features, structure, split, in_warp, ..row }
    }
}

/// The parameters as JSON.
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
