//! Proofs about indices of a group of threads. They are made before anything is written, as long as
//! the threads can begin again one by one.

use super::GroupCode;
use crate::typed::{GROUP, LoweredValue, Row};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use gbxcule_ir::walk::place_values;
use gbxcule_ir::{Op, PlaceId, Projection, Scalar, Stmt, StmtKind, Type};

impl GroupCode<'_, '_> {
    /// Makes sure that indices which count up from thread to thread lie inside their array and
    /// aren't negative; otherwise the group begins again, one by one.
    pub(crate) fn prove_group(&mut self, place: PlaceId) {
        let body = self.body();
        let Some(&Projection::Element(indices)) = body.path(place).first() else { return };
        let Some(handle) = self.handles(place) else { return };
        let indices = &body.value_lists[indices];
        for (dim, &index) in indices.iter().enumerate() {
            if self.ty(index).as_scalar() != Some(Scalar::I32) {
                continue;
            }
            let row = self.of_each(|lowerer| lowerer.scalar(index));
            if self.is_consecutive(row) {
                self.prove_row(row, handle.leaves()[2 + dim]);
            }
        }
    }

    /// Proves the indices of the following statements as far as they are known already: after the
    /// first statement that writes, the group can't begin again.
    pub(crate) fn look_ahead(&mut self, stmts: &[Stmt]) {
        let body = self.body();
        for stmt in stmts {
            let place = match stmt.kind {
                StmtKind::Store { place, .. } => place,
                StmtKind::Let(value) => match body.values[value].op {
                    Op::Load(place) | Op::Atomic { place, .. } => place,
                    _ => continue,
                },
                _ => return,
            };
            let mut is_known = true;
            place_values(body, place, |value| {
                is_known &= self.frame().values[value.index()].is_some();
            });
            if let (true, [Projection::Element(indices)]) = (is_known, body.path(place)) {
                self.prove_group(place);
                self.prove_sides(place, &body.value_lists[*indices]);
            }
        }
    }

    /// Proves that elements of a group are adjacent.
    fn prove_sides(&mut self, place: PlaceId, indices: &[gbxcule_ir::Value]) {
        let is_float = self.body().places[place].ty == Type::scalar(Scalar::F32);
        if let (true, Some(&last), Some(handle)) = (is_float, indices.last(), self.handles(place)) {
            let row = self.of_each(|lowerer| lowerer.scalar(last));
            self.has_sides(&handle, indices.len(), row);
        }
    }

    fn prove_row(&mut self, row: Row, extent: Value) {
        let proven = self.proven();
        let is_known = row.iter().all(|&index| proven.get(index, extent).is_some());
        let Some(bail) = self.bail.filter(|_| !self.is_dirty && !is_known) else { return };
        let wide = self.b.ins().sextend(types::I64, row[0]);
        // The first index is below this limit, so that the last one is inside as well and no sum
        // wraps.
        let limit = self.b.ins().sextend(types::I64, extent);
        let limit = self.b.ins().iadd_imm_s(limit, 1 - GROUP as i64);
        let zero = self.b.ins().iconst(types::I64, 0);
        let limit = self.b.ins().smax(limit, zero);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, wide, limit);
        self.go_on_if(inside, bail);
        for (at, &index) in row.iter().enumerate() {
            let wide = self.b.ins().iadd_imm_s(wide, at as i64);
            self.proven().note(index, extent, wide);
        }
    }

    /// Returns true if the elements of a group are adjacent: their indices were proven, and the
    /// last stride is the size of an element.
    pub(crate) fn has_sides(&mut self, handle: &LoweredValue, dims: usize, row: Row) -> bool {
        let leaves = handle.leaves();
        // A handle is two addresses, extents and strides.
        if leaves.len() != 2 + 2 * dims {
            return false;
        }
        let (extent, stride) = (leaves[1 + dims], leaves[1 + 2 * dims]);
        let proven = self.proven();
        if row.iter().any(|&index| proven.get(index, extent).is_none()) {
            return false;
        }
        if self.proven().get(stride, stride).is_none() {
            let Some(bail) = self.bail.filter(|_| !self.is_dirty) else { return false };
            let size = i64::from(Scalar::F32.bytes());
            let near = self.b.ins().icmp_imm_s(IntCC::Equal, stride, size);
            self.go_on_if(near, bail);
            self.proven().note(stride, stride, stride);
        }
        true
    }

    fn go_on_if(&mut self, condition: Value, bail: Block) {
        let proven = self.b.create_block();
        self.b.ins().brif(condition, proven, &[], bail, &[]);
        self.b.seal_block(proven);
        self.b.switch_to_block(proven);
    }
}
