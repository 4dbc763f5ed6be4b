//! Changes a struct's definition: makes a new type, and puts it everywhere in place of the old one.

use gbxcule_ir::function::{Body, Function};
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::{Shape, Struct, Type, Types};

/// Returns, for each type of a module, by its position, the type that it becomes if a struct's
/// definition changes.
pub(super) fn map<E>(
    types: &mut Types,
    structure: Type,
    mut change: impl FnMut(&mut Types, &mut Struct) -> Result<(), E>,
) -> Result<Vec<Type>, E> {
    // Types are interned after those inside them.
    let mut map: Vec<Type> = types.shapes().handles().collect();
    for ty in types.shapes().handles() {
        let to = |of: Type| map[of.index()];
        let new = match types[ty].clone() {
            Shape::Struct(id) => {
                let mut definition = types.structure(id).clone();
                definition.fields.iter_mut().for_each(|field| field.ty = to(field.ty));
                if ty == structure {
                    change(types, &mut definition)?;
                }
                let changed = definition.fields != types.structure(id).fields;
                if changed { types.define_struct(definition) } else { ty }
            }
            Shape::Fixed { of, len } => types.fixed(to(of), len),
            Shape::Array { of, dims } => types.array(to(of), dims),
            Shape::Tuple(of) => {
                let of: Vec<Type> = of.iter().map(|&of| to(of)).collect();
                types.tuple(&of)
            }
            _ => ty,
        };
        map[ty.index()] = new;
    }
    Ok(map)
}

/// Changes the types in a function's signature.
pub(super) fn signature(function: &mut Function, map: &[Type]) {
    function.result = map[function.result.index()];
    function.params.iter_mut().for_each(|param| param.ty = map[param.ty.index()]);
}

/// Changes the types in a body.
pub(super) fn body(body: &mut Body, map: &[Type]) {
    body.places.iter_mut().for_each(|(_, place)| place.ty = map[place.ty.index()]);
    body.locals.iter_mut().for_each(|(_, local)| local.ty = map[local.ty.index()]);
    body.values.iter_mut().for_each(|(_, data)| data.ty = map[data.ty.index()]);
}

/// Returns the struct that a type of the module has become.
pub(super) fn structure(module: &Module, ty: Type) -> &Struct {
    match module.types[ty] {
        Shape::Struct(id) => module.types.structure(id),
        _ => unreachable!("only structs are changed"),
    }
}
