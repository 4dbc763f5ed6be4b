//! Parts of a kernel's arguments. Each part is an input of its own in a row.
//!
//! A struct that holds arrays is one argument of a kernel, and its fields are inputs `name.field`.
//! A table of geometry (`meshes`, `bvhs`, `hash_grids`) is an array of such structs by id; a row
//! has one object of each kind, with the id 1. Every other argument is one part.

use gbxcule_ir::layout::field_offsets;
use gbxcule_ir::{Param, Shape, Struct, Type, Types};

/// Names of the tables of geometry, which the compiler adds after the parameters of the text.
pub(crate) const TABLES: [&str; 3] = ["meshes", "bvhs", "hash_grids"];

/// A part of a kernel's arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Number of the kernel's parameter.
    pub param: usize,
    /// Bytes from the beginning of the argument, or of the object in a table.
    pub offset: usize,
    /// Name and type.
    pub of: Param,
}

/// A parameter that has several parts.
#[derive(Clone, Copy, Debug)]
pub struct Composite {
    /// The struct that has the parts.
    pub ty: Type,
    /// True if the struct is the element of a table.
    pub in_table: bool,
}

impl Composite {
    /// Returns the parameter's composition, or `None` if it is one part.
    pub fn of(types: &Types, param: &Param) -> Option<Self> {
        match types[param.ty] {
            Shape::Struct(_) if types.holds_array(param.ty) => {
                Some(Self { ty: param.ty, in_table: false })
            }
            Shape::Array { of, dims: 1 } if TABLES.contains(&&*param.name) => {
                Self::of(types, &Param { ty: of, ..param.clone() })
                    .map(|it| Self { in_table: true, ..it })
            }
            _ => None,
        }
    }
}

/// Returns the struct of a type that holds arrays.
pub(crate) fn struct_with_arrays(types: &Types, ty: Type) -> Option<&Struct> {
    match types[ty] {
        Shape::Struct(id) if types.holds_array(ty) => Some(types.structure(id)),
        _ => None,
    }
}

/// Returns the parts of a kernel's arguments, in the order of memory.
pub fn parts(types: &Types, params: &[Param]) -> Vec<Part> {
    let mut all = Vec::new();
    for (number, param) in params.iter().enumerate() {
        let ty = Composite::of(types, param).map_or(param.ty, |it| it.ty);
        add(types, (number, 0), Param { ty, ..param.clone() }, &mut all);
    }
    all
}

fn add(types: &Types, (param, offset): (usize, usize), of: Param, all: &mut Vec<Part>) {
    let Some(structure) = struct_with_arrays(types, of.ty) else {
        all.push(Part { param, offset, of });
        return;
    };
    let offsets = field_offsets(types, structure).unwrap_or_default();
    for (field, inner) in structure.fields.iter().zip(offsets) {
        let name = format!("{}.{}", of.name, field.name);
        let of = Param { name, ty: field.ty, ..of.clone() };
        add(types, (param, offset + inner as usize), of, all);
    }
}

/// Returns true if a kernel queries geometry by an id.
pub fn has_tables(types: &Types, params: &[Param]) -> bool {
    params.iter().any(|it| Composite::of(types, it).is_some_and(|it| it.in_table))
}
