//! Widening: makes every narrower float of a program a 64-bit float. Finite differences use the
//! wide program, and its results show if a row's results depend on rounding.
//!
//! Differences of 32-bit results have three good digits at best; the same program in 64 bits has
//! ten. A program that reads the bits of a float is invalid after widening, and `check` refuses it.

use crate::execute::LaunchInputs;
use crate::row::{self, Results};
use crate::row_program::{Reverse, RowProgram, parts_of};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::op::Op;
use gbxcule_ir::{Field, Literal, Module, Scalar, Shape, Struct, Type, Types};

const fn wide(of: Scalar) -> Scalar {
    match of {
        Scalar::F32 | Scalar::F16 | Scalar::Bf16 => Scalar::F64,
        other => other,
    }
}

/// Returns the wide program; without a reverse, if the reverse can't be widened.
pub fn program(of: &RowProgram) -> Option<RowProgram> {
    let reverse = of.reverse.as_ref().map_err(Clone::clone).and_then(|it| {
        let module = widen(&it.module).ok_or("not-in-64-bits")?;
        Ok(Reverse { module, ..it.clone() })
    });
    let forward = widen(&of.forward)?;
    let host = match &of.host {
        Some(host) => Some(host.of_module(&forward)?),
        None => None,
    };
    let parts = parts_of(&forward, of.kernel);
    Some(RowProgram { forward, kernel: of.kernel, parts, host, reverse })
}

/// Returns the wide program with its results; `None` if the program can't be widened, or if the
/// wide program doesn't run.
pub(crate) fn results(
    of: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
) -> Option<(RowProgram, Results)> {
    let wide = program(of)?;
    let results = row::results(&wide, grid, seed).ok()?;
    Some((wide, results))
}

/// Returns the wide module; functions keep their handles.
fn widen(module: &Valid<Module>) -> Option<Valid<Module>> {
    let mut wider = Module::new(module.name.clone());
    for (_, name) in module.names().iter() {
        wider.intern(name);
    }
    let mut map: Vec<Type> = Vec::with_capacity(module.types.shapes().len());
    for (_, shape) in module.types.shapes().iter() {
        let ty = widen_shape(&module.types, &mut wider.types, &map, shape);
        map.push(ty);
    }
    // Tables are not supported: their bytes would have to be converted.
    if module.tables.iter().next().is_some() {
        return None;
    }
    let to = |ty: Type| map[ty.index()];
    for (_, function) in module.functions.iter() {
        let mut function = function.clone();
        function.instance = None;
        function.result = to(function.result);
        function.params.iter_mut().for_each(|param| param.ty = to(param.ty));
        function.body.locals.iter_mut().for_each(|(_, local)| local.ty = to(local.ty));
        function.body.places.iter_mut().for_each(|(_, place)| place.ty = to(place.ty));
        for (_, value) in function.body.values.iter_mut() {
            value.ty = to(value.ty);
            if let Op::Literal(literal) = value.op
                && wide(literal.scalar()) != literal.scalar()
            {
                value.op = Op::Literal(Literal::float(Scalar::F64, literal.as_f64()));
            }
        }
        wider.functions.push(function);
    }
    check::module(wider).ok()
}

fn widen_shape(from: &Types, types: &mut Types, map: &[Type], shape: &Shape) -> Type {
    let to = |ty: Type| map[ty.index()];
    match *shape {
        Shape::Scalar(of) => Type::scalar(wide(of)),
        Shape::Vector { len, of } => types.vector(len, wide(of)),
        Shape::Matrix { rows, cols, of } => types.matrix(rows, cols, wide(of)),
        Shape::Quaternion(of) => types.quaternion(wide(of)),
        Shape::Transform(of) => types.transform(wide(of)),
        Shape::Struct(id) => {
            let structure = from.structure(id);
            let field = |field: &Field| Field { ty: to(field.ty), ..field.clone() };
            let fields = structure.fields.iter().map(field).collect();
            types.define_struct(Struct { fields, ..structure.clone() })
        }
        Shape::Array { of, dims } => types.array(to(of), dims),
        Shape::Fixed { of, len } => types.fixed(to(of), len),
        Shape::Tuple(ref of) => {
            let of: Vec<Type> = of.iter().map(|&ty| to(ty)).collect();
            types.tuple(&of)
        }
        Shape::Invalid => Type::INVALID,
    }
}
