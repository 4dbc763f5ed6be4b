//! Arrays of a stored row: its inputs, expected results and gradients, as memory with a description
//! for other programs (`gbxcule.dataset` in Python).

use crate::execute::{self, LaunchInputs};
use crate::launched;
use crate::row::Row;
use crate::row_program::{RowProgram, element};
use crate::tensor;
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_ir::layout::{field_offsets, leaves};
use gbxcule_ir::{Scalar, Shape, Type, Types};
use gbxcule_runtime::Device;
use serde_json::{Value, json};

/// Memory of an array, or of a value without dimensions.
#[derive(Clone, PartialEq, Debug)]
pub struct RowArray {
    /// The parameter.
    pub name: String,
    /// Type of an element: `"f4"`, `["f4", [3]]`, or `{"size": 8, "fields": [["x", "f4", 0], ..]}`.
    /// The codes are NumPy's, plus `bf16`.
    pub format: Value,
    /// Extents; empty for a value.
    pub shape: Vec<u32>,
    /// The elements in the order of memory.
    pub bytes: Vec<u8>,
}

/// Kinds of arrays that can be computed from a row's columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayKind {
    /// Arguments of the launch, one for each parameter.
    Inputs,
    /// Gradients of the arrays that the kernel writes, with which the reverse begins.
    Cotangents,
    /// Expected results.
    Outputs,
    /// Expected gradients.
    Gradients,
}

/// Returns the arrays of a kind, in the order of the parameters; empty if the row has none.
///
/// # Errors
/// The row's source or inputs can't be read, or numbers don't fit the parameters.
pub fn arrays(row: &Row, kind: ArrayKind) -> Result<Vec<RowArray>, String> {
    let id = row.id;
    let program = RowProgram::read_forward(&row.source)
        .map_err(|_| format!("row {id}: the compiler refuses the source"))?;
    let inputs = row.inputs().filter(|inputs| program.takes(inputs));
    let inputs = inputs.ok_or_else(|| format!("row {id}: the inputs don't fit the parameters"))?;
    let all = |memory: Vec<Vec<u8>>, wanted: fn(&ArgumentInput) -> bool| -> Vec<RowArray> {
        let each = memory.into_iter().enumerate().filter(|(at, _)| wanted(&inputs[*at]));
        each.map(|(at, bytes)| array(&program, &inputs[at], at, bytes)).collect()
    };
    let stored = match kind {
        ArrayKind::Inputs => {
            return Ok(all(execute::arguments(&program, &inputs, row.input_seed), |_| true));
        }
        ArrayKind::Cotangents => {
            let memory = execute::cotangents(&program, &inputs, row.input_seed);
            return Ok(all(memory, |given| given.written));
        }
        ArrayKind::Outputs => &row.outputs_json,
        ArrayKind::Gradients => &row.gradients_json,
    };
    let Some(text) = stored else { return Ok(Vec::new()) };
    let fault = |name: &str| format!("row {id}: the numbers of `{name}` don't fit the parameter");
    let tensors = tensor::from_json(text).ok_or_else(|| fault("all arrays"))?;
    let read = |(name, values): (String, Vec<Value>)| {
        let place =
            inputs.iter().position(|given| given.name == name).ok_or_else(|| fault(&name))?;
        let bytes = bytes(&program, place, &values).ok_or_else(|| fault(&name))?;
        Ok(array(&program, &inputs[place], place, bytes))
    };
    tensors.into_iter().map(read).collect()
}

/// Computes the outputs and gradients of a row by machine code of this CPU.
///
/// # Errors
/// The row's source or inputs can't be read, or the row doesn't run.
pub fn executed(row: &Row) -> Result<[Vec<RowArray>; 2], String> {
    let id = row.id;
    let program = RowProgram::read(&row.source)
        .map_err(|_| format!("row {id}: the compiler refuses the source"))?;
    let inputs = row.inputs().filter(|inputs| program.takes(inputs));
    let inputs = inputs.ok_or_else(|| format!("row {id}: the inputs don't fit the parameters"))?;
    let grid = LaunchInputs { dims: &row.launch_dims, inputs: &inputs };
    let launches = program.launches(grid)?;
    let (data, gradients) = launched::run(&program, &launches, grid, row.input_seed, Device::Cpu)
        .map_err(|error| format!("row {id}: {error}"))?;
    let all = |memory: Vec<Vec<u8>>, wanted: &dyn Fn(usize) -> bool| -> Vec<RowArray> {
        let each = memory.into_iter().enumerate().filter(|(at, _)| wanted(*at));
        each.map(|(at, bytes)| array(&program, &inputs[at], at, bytes)).collect()
    };
    let has_gradient = |at: usize| {
        let of = element_of(&program, at);
        let has_floats = leaves(&program.forward.types, of).iter().any(|it| it.scalar.is_float());
        !inputs[at].zero && !inputs[at].shape.is_empty() && has_floats
    };
    let outputs = all(data, &|at| inputs[at].written);
    Ok([outputs, all(gradients.unwrap_or_default(), &has_gradient)])
}

fn array(program: &RowProgram, given: &ArgumentInput, at: usize, bytes: Vec<u8>) -> RowArray {
    let types = &program.forward.types;
    let format = format(types, element_of(program, at));
    RowArray { name: given.name.clone(), format, shape: given.shape.clone(), bytes }
}

/// Returns the type of an argument, or of its elements.
fn element_of(program: &RowProgram, at: usize) -> Type {
    let param = program.params()[at].ty;
    element(&program.forward, param).unwrap_or(param)
}

/// Returns the memory of an argument with these numbers.
fn bytes(program: &RowProgram, at: usize, values: &[Value]) -> Option<Vec<u8>> {
    let (types, of) = (&program.forward.types, element_of(program, at));
    let (size, leaves) = (types.layout(of)?.size as usize, leaves(types, of));
    if leaves.is_empty() || !values.len().is_multiple_of(leaves.len()) {
        return None;
    }
    let mut bytes = vec![0; size * (values.len() / leaves.len())];
    for (cell, values) in bytes.chunks_exact_mut(size).zip(values.chunks(leaves.len())) {
        for (leaf, value) in leaves.iter().zip(values) {
            leaf.write(cell, tensor::literal(value, leaf.scalar)?);
        }
    }
    Some(bytes)
}

fn format(types: &Types, of: Type) -> Value {
    match &types[of] {
        Shape::Struct(id) => {
            let structure = types.structure(*id);
            let offsets = field_offsets(types, structure).unwrap_or_default();
            let fields = structure.fields.iter().zip(offsets);
            let fields: Vec<Value> = fields
                .map(|(field, offset)| json!([*field.name, format(types, field.ty), offset]))
                .collect();
            json!({ "size": types.layout(of).map_or(0, |layout| layout.size), "fields": fields })
        }
        Shape::Fixed { of, len } => json!([format(types, *of), [len]]),
        Shape::Matrix { rows, cols, of } => json!([scalar_format(*of), [rows, cols]]),
        _ => match types.components(of) {
            Some((scalar, 1)) => scalar_format(scalar),
            Some((scalar, count)) => json!([scalar_format(scalar), [count]]),
            None => json!("V0"),
        },
    }
}

fn scalar_format(scalar: Scalar) -> Value {
    let letter = match scalar {
        Scalar::Bf16 => return json!("bf16"),
        Scalar::Bool => "?".to_owned(),
        _ if scalar.is_float() => format!("f{}", scalar.bytes()),
        _ if scalar.is_unsigned_int() => format!("u{}", scalar.bytes()),
        _ => format!("i{}", scalar.bytes()),
    };
    json!(letter)
}
