//! Indexed arrays: an array seen through lists of indices, one for each dimension or none.
//!
//! The IR has no such type: an indexed array is a struct of the array and its lists, through which
//! the front end finds elements.

use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Shape, Struct, StructId, Type, Types};

/// Name of the field with the array; [`indices_field`] names the fields with its lists.
const DATA: &str = "data";

/// Name of the field with the indices of a dimension.
fn indices_field(dim: u8) -> String {
    format!("indices_{dim}")
}

/// Name of the struct.
fn struct_name(dims: u8) -> String {
    format!("indexedarray{dims}d")
}

/// Returns the struct of an indexed array with these elements and dimensions.
pub fn interned(types: &mut Types, of: Type, dims: u8) -> Type {
    let (data, indices) = (types.array(of, dims), types.array(Type::I32, 1));
    let existing = types.structs().handles().find(|&id| {
        let fields = &types.structure(id).fields;
        is_named(types, id, dims) && fields[0].ty == data
    });
    if let Some(existing) = existing.and_then(|id| types.find(&Shape::Struct(id))) {
        return existing;
    }
    let field = |name: String, ty| Field { name, ty, span: Span::NONE };
    let lists = (0..dims).map(|dim| field(indices_field(dim), indices));
    let fields = [field(DATA.to_owned(), data)].into_iter().chain(lists).collect();
    types.define_struct(Struct { name: struct_name(dims), fields, span: Span::NONE })
}

/// Elements and dimensions of an indexed array, if a type is one.
pub fn element(types: &Types, ty: Type) -> Option<(Type, u8)> {
    let Shape::Struct(id) = types[ty] else { return None };
    let first = types.structure(id).fields.first()?;
    let Shape::Array { of, dims } = types[first.ty] else { return None };
    is_named(types, id, dims).then_some((of, dims))
}

/// Returns true if a struct has the names of an indexed array of `dims` dimensions.
fn is_named(types: &Types, id: StructId, dims: u8) -> bool {
    let structure = types.structure(id);
    let mut names = structure.fields.iter().map(|field| field.name.as_str());
    structure.name == struct_name(dims)
        && structure.fields.len() == usize::from(dims) + 1
        && names.next() == Some(DATA)
        && names.zip(0..).all(|(name, dim)| name == indices_field(dim))
}
