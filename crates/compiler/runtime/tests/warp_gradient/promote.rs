//! A program with every float widened to 64 bits, of which differences are taken.

use crate::numbers;
use gbxcule_ir::check;
use gbxcule_ir::layout::leaves;
use gbxcule_ir::{Field, Literal, Module, Op, Scalar, Shape, Struct, Type, Types};
use gbxcule_testkit::arbitrary::{Actual, RandomProgram};
use std::collections::HashMap;

/// Returns the program with f64 for its floats; `None` if it looks at the bits of its floats.
pub(crate) fn promoted(program: &RandomProgram) -> Option<RandomProgram> {
    let mut module: Module = program.module.clone().into_inner();
    let mut wide = Wide::default();
    let old = module.types.clone();
    for (_, table) in module.tables.iter_mut() {
        let ty = wide.of(&mut module.types, table.ty);
        table.bytes = image(&old, table.ty, &module.types, ty, &table.bytes).into();
        table.ty = ty;
    }
    for (_, function) in module.functions.iter_mut() {
        let mut widen = |ty: &mut Type| *ty = wide.of(&mut module.types, *ty);
        widen(&mut function.result);
        function.params.iter_mut().for_each(|param| widen(&mut param.ty));
        let body = &mut function.body;
        body.locals.iter_mut().for_each(|(_, local)| widen(&mut local.ty));
        body.places.iter_mut().for_each(|(_, place)| widen(&mut place.ty));
        for (_, value) in body.values.iter_mut() {
            widen(&mut value.ty);
            if let Op::Literal(literal) = &mut value.op
                && literal.scalar().is_float()
            {
                *literal = Literal::float(Scalar::F64, literal.as_f64());
            }
        }
    }
    let params: Vec<Type> =
        module.functions[program.kernel].params.iter().map(|param| param.ty).collect();
    let module = check::module(module).ok()?;
    let was = &program.module.functions[program.kernel].params;
    let mut args = Vec::new();
    for ((actual, param), &ty) in program.args.iter().zip(was).zip(&params) {
        args.push(match actual {
            Actual::Bytes(bytes) => Actual::Bytes(image(&old, param.ty, &module.types, ty, bytes)),
            Actual::Array { buffer, shape, .. } => {
                let Shape::Array { of, .. } = module.types[ty] else { return None };
                Actual::dense(&module.types, *buffer, of, shape)
            }
        });
    }
    let (kernel, dims) = (program.kernel, program.dims.clone());
    let mut wider = RandomProgram { module, kernel, dims, buffers: Vec::new(), args };
    let types = numbers::arrays(program).into_iter().zip(numbers::arrays(&wider));
    for ((of, into), bytes) in types.zip(&program.buffers) {
        let size = old.layout(of)?.size.max(1) as usize;
        let elements = bytes.chunks_exact(size);
        let elements = elements.flat_map(|e| image(&old, of, &wider.module.types, into, e));
        let elements: Vec<u8> = elements.collect();
        wider.buffers.push(elements);
    }
    Some(wider)
}

/// Converts a value of one type to another type with the same scalars.
fn image(old: &Types, of: Type, new: &Types, into: Type, bytes: &[u8]) -> Vec<u8> {
    let mut wide = vec![0; new.layout(into).map_or(0, |layout| layout.size as usize)];
    for (from, to) in leaves(old, of).into_iter().zip(leaves(new, into)) {
        let literal = from.read(bytes);
        let is_same = from.scalar == to.scalar;
        let literal = if is_same { literal } else { Literal::float(to.scalar, literal.as_f64()) };
        to.write(&mut wide, literal);
    }
    wide
}

/// Types with f64 in place of other floats, by the types that they replace.
#[derive(Default)]
struct Wide {
    known: HashMap<Type, Type>,
}

impl Wide {
    fn of(&mut self, types: &mut Types, ty: Type) -> Type {
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let wide = |of: Scalar| if of.is_float() { Scalar::F64 } else { of };
        let new = match types[ty].clone() {
            Shape::Invalid => ty,
            Shape::Scalar(of) => Type::scalar(wide(of)),
            Shape::Vector { len, of } => types.vector(len, wide(of)),
            Shape::Matrix { rows, cols, of } => types.matrix(rows, cols, wide(of)),
            Shape::Quaternion(of) => types.quaternion(wide(of)),
            Shape::Transform(of) => types.transform(wide(of)),
            Shape::Array { of, dims } => {
                let of = self.of(types, of);
                types.array(of, dims)
            }
            Shape::Fixed { of, len } => {
                let of = self.of(types, of);
                types.fixed(of, len)
            }
            Shape::Tuple(parts) => {
                let parts: Vec<Type> = parts.iter().map(|&part| self.of(types, part)).collect();
                types.tuple(&parts)
            }
            Shape::Struct(id) => {
                let Struct { name, fields, span } = types.structure(id).clone();
                let fields: Vec<Field> = fields
                    .into_iter()
                    .map(|field| Field { ty: self.of(types, field.ty), ..field })
                    .collect();
                types.define_struct(Struct { name, fields, span })
            }
        };
        self.known.insert(ty, new);
        self.known.insert(new, new);
        new
    }
}
