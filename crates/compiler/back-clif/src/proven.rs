//! Facts that hold on all ways to where code is lowered now: indices that were checked, and, for a
//! group of threads, that nothing was written yet, so that they may begin again one by one.

use super::group::{GROUP, Row};
use super::lowerer::{LoweredValue, Lowerer};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use gbxcule_ir::walk::place_values;
use gbxcule_ir::{Op, PlaceId, Projection, Scalar, Stmt, StmtKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts about values: an index into an extent, as 64 bits; an address that is one, or a stride
/// that is an element's, with itself.
#[derive(Default)]
pub(super) struct Proven {
    facts: FxHashMap<(Value, Value), Value>,
    order: Vec<(Value, Value)>,
    /// Blocks that are jumped to after something was written.
    after_writes: FxHashSet<Block>,
}

/// The facts at a place in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    facts: usize,
    is_dirty: bool,
}

impl Proven {
    pub(super) fn get(&self, of: Value, by: Value) -> Option<Value> {
        self.facts.get(&(of, by)).copied()
    }

    pub(super) fn note(&mut self, of: Value, by: Value, fact: Value) {
        if self.facts.insert((of, by), fact).is_none() {
            self.order.push((of, by));
        }
    }
}

impl Lowerer<'_, '_> {
    pub(super) fn mark(&self) -> Mark {
        Mark { facts: self.proven.order.len(), is_dirty: self.is_dirty }
    }

    /// Forgets what was found since.
    pub(super) fn forget_since(&mut self, mark: Mark) {
        for key in self.proven.order.drain(mark.facts.min(self.proven.order.len())..) {
            self.proven.facts.remove(&key);
        }
    }

    /// Notes a jump to a block.
    pub(super) fn note_jump(&mut self, to: Block) {
        if self.is_dirty {
            self.proven.after_writes.insert(to);
        }
    }

    /// Goes back to what held at a branch, at the beginning of a block behind it.
    pub(super) fn go_back(&mut self, mark: Mark, block: Block) {
        self.forget_since(mark);
        self.is_dirty = mark.is_dirty || self.proven.after_writes.contains(&block);
    }

    /// Makes sure that indices which count up from thread to thread lie in their array, negative
    /// ones not among them; otherwise the group begins again, one by one.
    pub(super) fn prove_group(&mut self, place: PlaceId) {
        let body = self.body();
        let Some(&Projection::Element(indices)) = body.path(place).first() else { return };
        let Some(handle) = self.handles(place) else { return };
        let indices = &body.value_lists[indices];
        for (dim, &index) in indices.iter().enumerate() {
            if self.ty(index).as_scalar() != Some(Scalar::I32) {
                continue;
            }
            let row = self.of_each(|lowerer| lowerer.scalar(index));
            if self.group.is_consecutive(row) {
                self.prove_row(row, handle.leaves()[2 + dim]);
            }
        }
    }

    /// Proves what statements need, as far as it is known before them: the first is the first that
    /// writes, and later ones can't begin again.
    pub(super) fn look_ahead(&mut self, stmts: &[Stmt]) {
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

    /// Proves that elements of a group lie side by side.
    fn prove_sides(&mut self, place: PlaceId, indices: &[gbxcule_ir::Value]) {
        let is_float = self.body().places[place].ty == Type::scalar(Scalar::F32);
        if let (true, Some(&last), Some(handle)) = (is_float, indices.last(), self.handles(place)) {
            let row = self.of_each(|lowerer| lowerer.scalar(last));
            self.has_sides(&handle, indices.len(), row);
        }
    }

    fn prove_row(&mut self, row: Row, extent: Value) {
        let is_known = row.iter().all(|&index| self.proven.get(index, extent).is_some());
        let Some(bail) = self.bail.filter(|_| !self.is_dirty && !is_known) else { return };
        let wide = self.b.ins().sextend(types::I64, row[0]);
        // The first may be so large; the last is then inside too, and no sum wraps.
        let limit = self.b.ins().sextend(types::I64, extent);
        let limit = self.b.ins().iadd_imm_s(limit, 1 - GROUP as i64);
        let zero = self.b.ins().iconst(types::I64, 0);
        let limit = self.b.ins().smax(limit, zero);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, wide, limit);
        self.go_on_if(inside, bail);
        for (at, &index) in row.iter().enumerate() {
            let wide = self.b.ins().iadd_imm_s(wide, at as i64);
            self.proven.note(index, extent, wide);
        }
    }

    /// Returns true if the elements of a group lie side by side: their indices were proven, and the
    /// last stride is an element's.
    pub(super) fn has_sides(&mut self, handle: &LoweredValue, dims: usize, row: Row) -> bool {
        let leaves = handle.leaves();
        // A handle is two addresses, extents and strides.
        if leaves.len() != 2 + 2 * dims {
            return false;
        }
        let (extent, stride) = (leaves[1 + dims], leaves[1 + 2 * dims]);
        if row.iter().any(|&index| self.proven.get(index, extent).is_none()) {
            return false;
        }
        if self.proven.get(stride, stride).is_none() {
            let Some(bail) = self.bail.filter(|_| !self.is_dirty) else { return false };
            let size = i64::from(Scalar::F32.bytes());
            let near = self.b.ins().icmp_imm_s(IntCC::Equal, stride, size);
            self.go_on_if(near, bail);
            self.proven.note(stride, stride, stride);
        }
        true
    }

    fn go_on_if(&mut self, condition: Value, bail: Block) {
        let rest = self.b.create_block();
        self.b.ins().brif(condition, rest, &[], bail, &[]);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
    }
}
