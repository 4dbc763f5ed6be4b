//! Operations on composites: by component, extraction of parts, construction.

use super::{GROUP, LoweredPlace, LoweredValue, Row, TypedCode, is_same};
use crate::code::{Chunks, ScalarCode, load_scalar, zero_of};
use cranelift_codegen::ir::{InstBuilder, InstructionData, MemFlagsData, Opcode, Value, types};
use gbxcule_ir::layout::field_offsets;
use gbxcule_ir::{Scalar, Shape, Type};

impl TypedCode<'_, '_> {
    /// Applies `each` to the scalars of operands that have equally many. `from` is the scalar type
    /// of the operands, `ty` the result's type.
    pub(crate) fn by_component(
        &mut self,
        from: Scalar,
        ty: Type,
        operands: &[LoweredValue],
        mut each: impl FnMut(&mut ScalarCode<'_, '_>, &[Value]) -> Value,
    ) -> LoweredValue {
        let Some((to, count)) = self.cx.module.types.components(ty) else {
            unreachable!("check rule 4: an operation on components")
        };
        if operands.iter().all(|operand| !matches!(operand, LoweredValue::Memory(_))) {
            let rows = (0..count as usize).map(|component| {
                let row: Vec<Value> =
                    operands.iter().map(|operand| operand.leaves()[component]).collect();
                each(self, &row)
            });
            return LoweredValue::from_leaves(rows.collect());
        }
        let addresses: Vec<Value> = operands
            .iter()
            .map(|operand| match operand {
                LoweredValue::Memory(address) => *address,
                _ => unreachable!("operands are of one size"),
            })
            .collect();
        let slot = self.slot(u64::from(count) * u64::from(to.bytes()));
        let result = self.slot_address(slot);
        let mut chunks = Chunks::new(u64::from(count), 1);
        while let Some((running, offset)) = chunks.next(&mut self.b) {
            let index = self.b.ins().iadd_imm_s(running, i64::from(offset));
            let row: Vec<Value> = addresses
                .iter()
                .map(|&base| {
                    let moved = self.scaled(base, index, from);
                    load_scalar(&mut self.b, from, moved, 0)
                })
                .collect();
            let value = each(self, &row);
            let target = self.scaled(result, index, to);
            self.b.ins().store(MemFlagsData::trusted(), value, target, 0);
        }
        LoweredValue::Memory(result)
    }

    /// Applies `each` to four `f32` at once, if one of the operands is in a vector and the other
    /// ones are in vectors or have four equal components.
    pub(crate) fn by_four(
        &mut self,
        operands: &[LoweredValue],
        each: impl FnOnce(&mut ScalarCode<'_, '_>, &[Value]) -> Value,
    ) -> Option<LoweredValue> {
        let mut rows = Vec::with_capacity(operands.len());
        for operand in operands {
            let LoweredValue::Leaves(leaves) = operand else { return None };
            rows.push(Row::try_from(&leaves[..]).ok()?);
        }
        let is_vector = |row: &Row| self.vector_of(*row).is_some();
        let fits = rows.iter().all(|row| is_vector(row) || is_same(*row));
        if self.is_packed() || !fits || !rows.iter().any(is_vector) {
            return None;
        }
        let vectors: Vec<Value> = rows.into_iter().map(|row| self.vector(row)).collect();
        let vector = each(self, &vectors);
        Some(LoweredValue::from_leaves(self.out_of_vector(vector).to_vec()))
    }

    /// Divides three or four `f32` by one instruction, because a division takes as long as several
    /// other instructions.
    pub(crate) fn divided_together(
        &mut self,
        operands: &[LoweredValue; 2],
    ) -> Option<LoweredValue> {
        let [LoweredValue::Leaves(dividends), LoweredValue::Leaves(divisors)] = operands else {
            return None;
        };
        let count = dividends.len();
        if self.is_packed() || !(3..=GROUP).contains(&count) {
            return None;
        }
        // A missing fourth quotient repeats one of the others.
        let row = |leaves: &[Value]| {
            std::array::from_fn(|component| leaves[if component < count { component } else { 0 }])
        };
        let [x, y] = [dividends, divisors].map(|leaves| self.vector(row(leaves)));
        let quotients = self.b.ins().fdiv(x, y);
        let leaves = (0..count).map(|component| self.lane_of(quotients, component)).collect();
        Some(LoweredValue::from_leaves(leaves))
    }

    /// Selects four `f32` at once, such as the greater ones of two vectors, if each was selected by
    /// the same comparison of scalars out of the same vectors.
    fn selected_together(&mut self, row: Row) -> Option<LoweredValue> {
        let dfg = &self.b.func.dfg;
        let data = |value: Value| dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
        let mut code = None;
        let mut operands = [row; 4];
        for (at, value) in row.into_iter().enumerate() {
            let InstructionData::Ternary { opcode: Opcode::Select, args } = data(value)? else {
                return None;
            };
            let [condition, accept, reject] = args;
            let InstructionData::FloatCompare { cond, args: [x, y], .. } = data(condition)? else {
                return None;
            };
            let is_float = [x, value].into_iter().all(|of| dfg.value_type(of) == types::F32);
            if !is_float || *code.get_or_insert(cond) != cond {
                return None;
            }
            let of_lane = [x, y, accept, reject];
            operands.iter_mut().zip(of_lane).for_each(|(operand, of)| operand[at] = of);
        }
        let is_vector = |row: &Row| self.vector_of(*row).is_some();
        let fits = operands.iter().all(|row| is_vector(row) || is_same(*row));
        if self.is_packed() || !fits || !operands.iter().any(is_vector) {
            return None;
        }
        let [x, y, accept, reject] = operands.map(|row| self.vector(row));
        let mask = self.b.ins().fcmp(code?, x, y);
        let mask = self.b.ins().bitcast(types::F32X4, MemFlagsData::new(), mask);
        let vector = self.b.ins().bitselect(mask, accept, reject);
        Some(LoweredValue::from_leaves(self.out_of_vector(vector).to_vec()))
    }

    fn scaled(&mut self, base: Value, index: Value, of: Scalar) -> Value {
        let bytes = self.b.ins().imul_imm_s(index, i64::from(of.bytes()));
        self.b.ins().iadd(base, bytes)
    }

    pub(crate) fn select(
        &mut self,
        condition: Value,
        accept: &LoweredValue,
        reject: &LoweredValue,
    ) -> LoweredValue {
        if let (LoweredValue::Memory(accept), LoweredValue::Memory(reject)) = (accept, reject) {
            return LoweredValue::Memory(self.b.ins().select(condition, *accept, *reject));
        }
        let pairs: Vec<_> = accept.leaves().iter().zip(reject.leaves()).collect();
        let chosen = pairs.into_iter().map(|(&a, &r)| self.b.ins().select(condition, a, r));
        LoweredValue::from_leaves(chosen.collect())
    }

    pub(crate) fn zero(&mut self, ty: Type) -> LoweredValue {
        let flat = self.cx.flats.of(ty);
        if flat.is_large() {
            let slot = self.slot(flat.size);
            self.clear(slot, flat.size);
            return LoweredValue::Memory(self.slot_address(slot));
        }
        let zeros = flat.leaves.iter().map(|leaf| zero_of(&mut self.b, leaf.scalar));
        LoweredValue::from_leaves(zeros.collect())
    }

    pub(crate) fn construct(&mut self, ty: Type, parts: &[(LoweredValue, Type)]) -> LoweredValue {
        if let Shape::Tuple(_) = self.cx.module.types[ty] {
            return LoweredValue::Parts(parts.iter().map(|(val, _)| val.clone()).collect());
        }
        let flat = self.cx.flats.of(ty);
        if !flat.is_large() {
            let leaves = parts.iter().flat_map(|(val, _)| val.leaves().iter().copied());
            let leaves: Vec<Value> = leaves.collect();
            let row = Row::try_from(&leaves[..]).ok();
            let together = row.and_then(|row| self.selected_together(row));
            return together.unwrap_or(LoweredValue::from_leaves(leaves));
        }
        let slot = self.slot(flat.size);
        let address = self.slot_address(slot);
        for (at, (val, part)) in parts.iter().enumerate() {
            let loc = LoweredPlace::Memory { address, offset: self.part_offset(ty, at) };
            self.write(&loc, *part, val);
        }
        LoweredValue::Memory(address)
    }

    /// Returns the byte offset of a part.
    fn part_offset(&self, ty: Type, index: usize) -> i32 {
        let types = &self.cx.module.types;
        let offset = match types[ty] {
            Shape::Struct(id) => {
                field_offsets(types, types.structure(id)).unwrap_or_default()[index]
            }
            Shape::Fixed { of, .. } => {
                types.layout(of).map_or(0, |layout| layout.size) * index as u64
            }
            _ => {
                let size = types.components(ty).map_or(0, |(of, _)| of.bytes());
                u64::from(size) * index as u64
            }
        };
        offset as i32
    }

    pub(crate) fn splat(&mut self, ty: Type, val: &LoweredValue, part: Type) -> LoweredValue {
        let flat = self.cx.flats.of(ty);
        let size = self.cx.module.types.layout(part).map_or(1, |layout| layout.size.max(1));
        if !flat.is_large() {
            let count = flat.leaves.len() / val.leaves().len().max(1);
            return LoweredValue::from_leaves(val.leaves().repeat(count));
        }
        let slot = self.slot(flat.size);
        let result = self.slot_address(slot);
        let mut chunks = Chunks::new(flat.size, size);
        while let Some((at, offset)) = chunks.next(&mut self.b) {
            let address = self.b.ins().iadd(result, at);
            self.write(&LoweredPlace::Memory { address, offset }, part, val);
        }
        LoweredValue::Memory(result)
    }

    /// Extracts a part of type `ty` from a value of type `whole`.
    pub(crate) fn extract(
        &mut self,
        val: &LoweredValue,
        whole: Type,
        index: u32,
        ty: Type,
    ) -> LoweredValue {
        match val {
            LoweredValue::Parts(parts) => parts[index as usize].clone(),
            LoweredValue::Memory(address) => {
                let offset = self.part_offset(whole, index as usize);
                if self.cx.flats.of(ty).is_large() {
                    // The part can stay in the whole's memory, which never changes.
                    let offset = self.b.ins().iconst(types::I64, i64::from(offset));
                    return LoweredValue::Memory(self.b.ins().iadd(*address, offset));
                }
                self.read(&LoweredPlace::Memory { address: *address, offset }, ty)
            }
            _ => {
                let count = self.cx.flats.count(ty) as usize;
                let first = match self.cx.module.types[whole] {
                    Shape::Struct(id) => {
                        let fields = &self.cx.module.types.structure(id).fields[..index as usize];
                        fields.iter().map(|f| self.cx.flats.count(f.ty) as usize).sum()
                    }
                    _ => index as usize * count,
                };
                LoweredValue::from_leaves(val.leaves()[first..first + count].to_vec())
            }
        }
    }
}
