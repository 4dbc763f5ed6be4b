//! Loads and stores of a group of threads, with one vector if the elements are adjacent.

use super::GroupCode;
use crate::typed::{GROUP, LoweredPlace, LoweredValue, Row};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::{PlaceId, Projection, Root, Scalar, Type};

impl GroupCode<'_, '_> {
    /// Returns the address of the first of four `f32` that are adjacent in array memory.
    pub(super) fn neighbours(&mut self, place: PlaceId) -> Option<Value> {
        self.prove_group(place);
        let body = self.body();
        let data = &body.places[place];
        let [before @ .., Projection::Element(indices)] = body.path(place) else { return None };
        if data.ty != Type::scalar(Scalar::F32) || !before.is_empty() || !self.is_packed() {
            return None;
        }
        let (last, others) = body.value_lists[*indices].split_last()?;
        let row = self.row(*last);
        let handles = self.handles(place)?;
        let is_known = self.is_consecutive(row)
            && others.iter().all(|&other| self.has_equal_values(other))
            && self.has_sides(&handles, body.value_lists[*indices].len(), row);
        if !is_known {
            return None;
        }
        let loc = self.place(place);
        Some(self.address(&loc))
    }

    pub(super) fn group_load(&mut self, value: gbxcule_ir::Value, place: PlaceId) -> bool {
        let Some(address) = self.neighbours(place) else { return false };
        let vector = self.b.ins().load(types::F32X4, unaligned(), address, 0);
        self.define_floats(value, vector);
        true
    }

    /// Adds to elements that only these threads access; returns the old values.
    pub(super) fn group_add(
        &mut self,
        value: gbxcule_ir::Value,
        place: PlaceId,
        operand: gbxcule_ir::Value,
    ) -> bool {
        let address = self.neighbours(place);
        self.is_dirty = true;
        let Some(address) = address else { return false };
        let row = self.row(operand);
        let operand = self.vector(row);
        let old = self.b.ins().load(types::F32X4, unaligned(), address, 0);
        let new = self.b.ins().fadd(old, operand);
        self.b.ins().store(unaligned(), new, address, 0);
        self.define_floats(value, old);
        true
    }

    /// Stores the values of all threads.
    pub(crate) fn group_store(&mut self, place: PlaceId, value: gbxcule_ir::Value) {
        let body = self.body();
        let element = |step: &Projection| matches!(step, Projection::Element(_));
        let is_memory = body.path(place).iter().any(element);
        if is_memory && let Some(address) = self.neighbours(place) {
            let row = self.row(value);
            let vector = self.vector(row);
            self.is_dirty = true;
            self.b.ins().store(unaligned(), vector, address, 0);
            return;
        }
        let locs = self.of_each(|lowerer| lowerer.place(place));
        if let [LoweredPlace::Vars { .. }, ..] = locs {
            self.store_variables(&locs, value);
            return;
        }
        // A parameter's place may lie in an array.
        self.is_dirty |= is_memory || matches!(body.places[place].root, Root::Param(_));
        let ty = body.places[place].ty;
        for (lane, loc) in locs.iter().enumerate() {
            self.select_lane(lane);
            let val = self.val(value);
            self.write(loc, ty, &val);
        }
        self.select_lane(0);
    }

    pub(super) fn store_variables(
        &mut self,
        locs: &[LoweredPlace; GROUP],
        value: gbxcule_ir::Value,
    ) {
        let vals = self.of_each(|lowerer| lowerer.val(value));
        for at in 0..vals[0].leaves().len() {
            let row: Row = std::array::from_fn(|lane| vals[lane].leaves()[at]);
            let vars = locs.each_ref().map(|loc| match loc {
                LoweredPlace::Vars { vars, first } => vars[first + at],
                _ => unreachable!("threads of a group have variables alike"),
            });
            if vars[0] == vars[1] {
                let vector = self.vector(row);
                self.b.def_var(vars[0], vector);
            } else {
                vars.into_iter().zip(row).for_each(|(var, value)| self.b.def_var(var, value));
            }
        }
    }

    pub(super) fn define_floats(&mut self, value: gbxcule_ir::Value, vector: Value) {
        for (lane, scalar) in self.out_of_vector(vector).into_iter().enumerate() {
            self.select_lane(lane);
            self.define(value, LoweredValue::One(scalar));
        }
        self.select_lane(0);
    }
}

/// Returns the flags of an access to adjacent elements, which are aligned to 4 bytes.
fn unaligned() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}
