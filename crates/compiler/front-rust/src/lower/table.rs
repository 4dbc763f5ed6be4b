//! Constants: scalars become literals, composites become read-only tables.

use super::{Lower, Lowering};
use crate::constant::Const;
use gbxcule_ir::TableId;
use gbxcule_ir::constant::Table;
use gbxcule_ir::eval;
use gbxcule_ir::layout;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type, Types};

impl Lower<'_, '_> {
    /// Returns the table of a composite constant.
    fn table(&mut self, id: usize, value: &Const, module: &mut Module) -> TableId {
        if let Some(&table) = self.tables.get(&id) {
            return table;
        }
        let ty = self.ty(&self.program.const_type(id), module);
        let size = module.types.layout(ty).map_or(0, |layout| layout.size);
        let mut bytes = vec![0; size as usize];
        fill(&module.types, ty, value, &mut bytes);
        let item = &self.program.consts[id];
        let table = Table { name: item.name.clone(), ty, bytes: bytes.into(), span: item.span };
        let table = module.add_table(table);
        self.tables.insert(id, table);
        table
    }
}

impl Lowering<'_, '_, '_, '_> {
    /// Returns the value of a scalar constant, or the place of a composite constant.
    pub(super) fn constant(&mut self, id: usize, at: Span) -> LoweredConstant {
        match self.all.program.const_value(id, at).as_deref() {
            Ok(Const::Scalar(literal)) => LoweredConstant::Scalar(self.b.literal(*literal)),
            Ok(value @ Const::Parts(_)) => {
                let table = self.all.table(id, value, self.b.module);
                LoweredConstant::Table(self.b.table_place(table))
            }
            // The constant was refused already.
            Err(_) => LoweredConstant::Scalar(self.b.zero(Type::INVALID)),
        }
    }
}

/// Place of a lowered constant.
pub(super) enum LoweredConstant {
    Scalar(Value),
    Table(PlaceId),
}

/// Writes the memory image of a constant.
fn fill(types: &Types, ty: Type, value: &Const, bytes: &mut [u8]) {
    match (value, &types[ty]) {
        (Const::Scalar(literal), _) => eval::to_bytes(*literal, bytes),
        (Const::Parts(parts), &Shape::Fixed { of, .. }) => {
            let step = types.layout(of).map_or(1, |layout| layout.size as usize).max(1);
            for (part, bytes) in parts.iter().zip(bytes.chunks_mut(step)) {
                fill(types, of, part, bytes);
            }
        }
        (Const::Parts(parts), &Shape::Struct(id)) => {
            let structure = types.structure(id);
            let offsets = layout::field_offsets(types, structure).unwrap_or_default();
            for ((part, field), offset) in parts.iter().zip(&structure.fields).zip(offsets) {
                fill(types, field.ty, part, &mut bytes[offset as usize..]);
            }
        }
        (Const::Parts(_), _) => {}
    }
}
