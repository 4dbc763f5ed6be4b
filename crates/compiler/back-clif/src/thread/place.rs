//! Computation of places: from a root along the path to variables or memory.

use super::{BoundParam, ThreadCode};
use crate::code::index_to_i64;
use crate::typed::{LoweredPlace, LoweredValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::layout::field_offsets;
use gbxcule_ir::{BinaryOp, Op, PlaceId, Projection, Root, Scalar, Shape, Type};

/// Greatest depth of the sums and products whose limits are looked for.
const MAX_DEPTH: u32 = 6;

impl ThreadCode<'_, '_> {
    /// Computes a place, and checks the indices on its path.
    pub(crate) fn place(&mut self, id: PlaceId) -> LoweredPlace {
        let body = self.body();
        let (mut loc, mut ty) = self.root(id);
        for &step in body.path(id) {
            (loc, ty) = self.project(&loc, ty, step);
        }
        loc
    }

    fn root(&mut self, id: PlaceId) -> (LoweredPlace, Type) {
        let body = self.body();
        match body.places[id].root {
            Root::Local(local) => {
                let storage = self.frame().locals[local.index()].clone();
                (self.storage(&storage), body.locals[local].ty)
            }
            Root::Param(position) => {
                let function = &self.cx.module.functions[self.frame().function];
                let ty = function.params[position as usize].ty;
                let loc = match &self.frame().params[position as usize] {
                    BoundParam::Place(loc) => loc.clone(),
                    BoundParam::Value(LoweredValue::Memory(address))
                        if !body.path(id).is_empty() =>
                    {
                        LoweredPlace::Memory { address: *address, offset: 0 }
                    }
                    BoundParam::Value(val) => LoweredPlace::Value { val: val.clone(), first: 0 },
                };
                (loc, ty)
            }
            Root::Table(table) => {
                let address = self.table_address(table);
                (LoweredPlace::Memory { address, offset: 0 }, self.cx.module.tables[table].ty)
            }
            Root::Array(value) => {
                (LoweredPlace::Value { val: self.val(value), first: 0 }, self.ty(value))
            }
        }
    }

    fn project(&mut self, loc: &LoweredPlace, ty: Type, step: Projection) -> (LoweredPlace, Type) {
        match step {
            Projection::Field(field) => self.field(loc, ty, field),
            Projection::Component(index) => {
                let of = self.scalar_of(ty);
                let part = u64::from(index);
                (loc.inside(part, part * u64::from(of.bytes())), Type::scalar(of))
            }
            Projection::At(index) => self.element_at(loc, ty, index),
            Projection::Element(indices) => {
                let Shape::Array { of, .. } = self.cx.module.types[ty] else {
                    unreachable!("check rule 5: an element of an array")
                };
                let handle = self.read(loc, ty);
                let indices = &self.body().value_lists[indices];
                let address = self.element(&handle, indices);
                (LoweredPlace::Memory { address, offset: 0 }, of)
            }
        }
    }

    fn field(&mut self, loc: &LoweredPlace, ty: Type, field: u32) -> (LoweredPlace, Type) {
        let types = &self.cx.module.types;
        match types[ty] {
            Shape::Struct(id) => {
                let structure = types.structure(id);
                let offset = field_offsets(types, structure).unwrap_or_default()[field as usize];
                let before = &structure.fields[..field as usize];
                let part = before.iter().map(|f| self.cx.flats.count(f.ty)).sum();
                (loc.inside(part, offset), structure.fields[field as usize].ty)
            }
            Shape::Transform(of) if field == 0 => {
                let part = types.find(&Shape::Vector { len: 3, of });
                (loc.clone(), part.unwrap_or(Type::INVALID))
            }
            Shape::Transform(of) => {
                let part = types.find(&Shape::Quaternion(of));
                (loc.inside(3, 3 * u64::from(of.bytes())), part.unwrap_or(Type::INVALID))
            }
            _ => unreachable!("check rule 5: a field of a struct or transform"),
        }
    }

    fn element_at(
        &mut self,
        loc: &LoweredPlace,
        ty: Type,
        index: gbxcule_ir::Value,
    ) -> (LoweredPlace, Type) {
        let (part, extent) = self.element_of(ty);
        let count = self.cx.flats.count(part);
        let size = self.cx.module.types.layout(part).map_or(0, |layout| layout.size);
        if let Op::Literal(literal) = self.body().values[index].op {
            let index = literal.as_int().unwrap_or_default();
            let index = if index < 0 { index + i128::from(extent) } else { index };
            if let Ok(index) = u64::try_from(index)
                && index < extent
            {
                return (loc.inside(index * count, index * size), part);
            }
            if !matches!(loc, LoweredPlace::Memory { .. }) {
                // The fault always happens; the code after it is never reached.
                let extent = self.b.ins().iconst(types::I64, extent as i64);
                self.constant_outside(index as i64, extent);
                return (loc.inside(0, 0), part);
            }
        }
        let inside = |[low, high]: [i64; 2]| low >= 0 && (high as u64) < extent;
        let index = if self.limits(index, MAX_DEPTH).is_some_and(inside) {
            let of = self.ty(index).as_scalar().unwrap_or(Scalar::I32);
            let scalar = self.scalar(index);
            match of {
                Scalar::I32 => self.b.ins().uextend(types::I64, scalar),
                _ => index_to_i64(&mut self.b, of, scalar),
            }
        } else {
            let extent = self.b.ins().iconst(types::I64, extent as i64);
            self.index(index, extent)
        };
        let offset = self.b.ins().imul_imm_s(index, size as i64);
        let address = self.address(loc);
        (LoweredPlace::Memory { address: self.b.ins().iadd(address, offset), offset: 0 }, part)
    }

    /// Stops the launch, because a constant index lies outside.
    fn constant_outside(&mut self, index: i64, extent: Value) {
        if self.is_checked() {
            let index = self.b.ins().iconst(types::I64, index);
            let yes = self.b.ins().iconst(types::I8, 1);
            self.fault_if(yes, FaultKind::Index.into(), Some([index, extent]));
        }
    }

    /// Returns the type of the elements that `At` selects in a type, and their number.
    fn element_of(&self, ty: Type) -> (Type, u64) {
        let types = &self.cx.module.types;
        match types[ty] {
            Shape::Matrix { rows, cols, of } => {
                let row = types.find(&Shape::Vector { len: cols, of });
                (row.unwrap_or(Type::INVALID), u64::from(rows))
            }
            Shape::Fixed { of, len } => (of, u64::from(len)),
            _ => {
                let (of, count) = types.components(ty).unwrap_or((Scalar::Bool, 0));
                (Type::scalar(of), u64::from(count))
            }
        }
    }

    fn scalar_of(&self, ty: Type) -> Scalar {
        match self.cx.module.types.components(ty) {
            Some((of, _)) => of,
            None => unreachable!("check rule 5: a component of a composite"),
        }
    }

    /// Computes an index as 64 bits in `0..extent`: negative ones count from the end, others
    /// outside fault.
    pub(crate) fn index(&mut self, index: gbxcule_ir::Value, extent: Value) -> Value {
        let of = self.ty(index).as_scalar().unwrap_or(Scalar::I32);
        let scalar = self.scalar(index);
        let wide = index_to_i64(&mut self.b, of, scalar);
        let position = if self.is_never_negative(index) {
            wide
        } else {
            let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, wide, 0);
            let from_end = self.b.ins().iadd(wide, extent);
            self.b.ins().select(negative, from_end, wide)
        };
        if self.is_checked() {
            let outside = self.at_or_above(position, extent);
            self.fault_if(outside, FaultKind::Index.into(), Some([wide, extent]));
        }
        position
    }

    /// Returns a lower and an upper limit of an index, if constants give them: for masks, for
    /// indices of loops that count up, and for sums and products of such values that don't wrap.
    fn limits(&self, index: gbxcule_ir::Value, depth: u32) -> Option<[i64; 2]> {
        let data = &self.body().values[index];
        let of = data.ty.as_scalar().filter(|of| of.is_int())?;
        if let Op::Literal(literal) = data.op {
            let number = i64::try_from(literal.as_int()?).ok()?;
            return Some([number; 2]);
        }
        if let Op::Index = data.op {
            let counted = self.frame().counted.iter().find(|(counted, _)| *counted == index);
            return counted.map(|&(_, limits)| limits);
        }
        let Op::Binary(op, left, right) = data.op else { return None };
        let depth = depth.checked_sub(1)?;
        let sides = [left, right].map(|side| self.limits(side, depth));
        if op == BinaryOp::And {
            let mask = sides.into_iter().flatten().filter(|[low, _]| *low >= 0);
            return mask.map(|[_, high]| [0, high]).min();
        }
        let ([low, high], [by_low, by_high]) = sides[0].zip(sides[1])?;
        let limits = match op {
            BinaryOp::Add => [low.checked_add(by_low)?, high.checked_add(by_high)?],
            BinaryOp::Subtract => [low.checked_sub(by_high)?, high.checked_sub(by_low)?],
            BinaryOp::Multiply if low >= 0 && by_low >= 0 => {
                [low.checked_mul(by_low)?, high.checked_mul(by_high)?]
            }
            _ => return None,
        };
        // A result that fits 31 bits has not wrapped in any type of at least 32.
        let fits = |limit: &i64| i32::try_from(*limit).is_ok_and(|limit| limit >= 0);
        (of.bits() >= 32 && limits.iter().all(fits)).then_some(limits)
    }

    /// Returns true if an index cannot be negative.
    fn is_never_negative(&self, index: gbxcule_ir::Value) -> bool {
        let data = &self.body().values[index];
        let of = data.ty.as_scalar();
        match data.op {
            Op::LaunchIndex(_) | Op::Extent { .. } => true,
            Op::Literal(literal) => literal.as_int().is_some_and(|value| value >= 0),
            Op::Index => self.limits(index, 0).is_some_and(|[low, _]| low >= 0),
            Op::Convert(from) => {
                let from = self.ty(from).as_scalar();
                from.zip(of).is_some_and(|(from, of)| {
                    from.is_unsigned_int() && (of.is_unsigned_int() || from.bytes() < of.bytes())
                })
            }
            _ => of.is_some_and(Scalar::is_unsigned_int),
        }
    }
}
