//! Loads and stores of a group of threads, with one vector if the elements are adjacent.

use super::GroupCode;
use crate::Sharing;
use crate::code::zero_of;
use crate::shape::clif_type;
use crate::typed::{GROUP, LoweredPlace, LoweredValue, Row, unaligned};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Endianness, InstBuilder, MemFlagsData, Type as ClifType, Value, types,
};
use cranelift_frontend::Variable;
use gbxcule_ir::{AtomicOp, FunctionId, PlaceId, Projection, Root, Scalar, Type};

/// The element that a kernel changed last. Its scalars stay in registers from group to group until
/// the kernel changes another element. Each change is also written to memory.
#[derive(Clone)]
pub(super) struct Running {
    atomic: gbxcule_ir::Value,
    /// Variable with the element's address, or null if the registers hold no element.
    address: Variable,
    scalars: Vec<Variable>,
}

impl GroupCode<'_, '_> {
    /// Declares the element that a kernel's [lone](crate::plan::FunctionPlan::lone_atomic)
    /// operation changed last; at first there is no such element.
    pub(crate) fn begin_running(&mut self, kernel: FunctionId) {
        let cx = self.cx;
        let Some(atomic) = cx.plan.of(kernel).lone_atomic else { return };
        let ty = cx.module.functions[kernel].body.type_of(atomic);
        let Some((of, count)) = cx.module.types.components(ty) else { return };
        if cx.options.sharing != Sharing::Alone || count as usize > GROUP {
            return;
        }
        let address = self.b.declare_var(types::I64);
        let scalars = (0..count).map(|_| self.b.declare_var(clif_type(of))).collect::<Vec<_>>();
        let zero = zero_of(&mut self.b, of);
        scalars.iter().for_each(|&scalar| self.b.def_var(scalar, zero));
        self.running = Some(Running { atomic, address, scalars });
        self.forget_running();
    }

    /// Forgets the element, because threads that run one by one change memory themselves.
    pub(crate) fn forget_running(&mut self) {
        if let Some(address) = self.running.as_ref().map(|running| running.address) {
            let none = self.b.ins().iconst(types::I64, 0);
            self.b.def_var(address, none);
        }
    }

    /// Changes one element by the operands of all threads, in order. Returns false if `value` isn't
    /// the kernel's lone operation, or if threads change different elements.
    pub(super) fn change_running(
        &mut self,
        value: gbxcule_ir::Value,
        op: AtomicOp,
        place: PlaceId,
        operand: gbxcule_ir::Value,
    ) -> bool {
        let Some(running) = self.running.clone().filter(|it| it.atomic == value) else {
            return false;
        };
        let ty = self.body().places[place].ty;
        let Some((of, _)) = self.cx.module.types.components(ty) else { return false };
        if !self.has_equal_places(place) {
            return false;
        }
        self.prove_group(place);
        self.is_dirty = true;
        let loc = self.place(place);
        let address = self.address(&loc);
        let [load, continuation] = [(); 2].map(|()| self.b.create_block());
        let changed_address = self.b.use_var(running.address);
        let is_same_element = self.b.ins().icmp(IntCC::Equal, changed_address, address);
        self.b.ins().brif(is_same_element, continuation, &[], load, &[]);
        self.b.seal_block(load);
        self.b.switch_to_block(load);
        let at = LoweredPlace::Memory { address, offset: 0 };
        let element = self.read(&at, ty);
        let leaves = running.scalars.iter().zip(element.leaves());
        leaves.for_each(|(&scalar, &leaf)| self.b.def_var(scalar, leaf));
        self.b.def_var(running.address, address);
        self.b.ins().jump(continuation, &[]);
        self.b.seal_block(continuation);
        self.b.switch_to_block(continuation);
        let mut now: Vec<Value> =
            running.scalars.iter().map(|&scalar| self.b.use_var(scalar)).collect();
        self.each_lane(|lowerer| {
            lowerer.define(value, LoweredValue::from_leaves(now.clone()));
            let operand = lowerer.val(operand);
            for (now, &operand) in now.iter_mut().zip(operand.leaves()) {
                *now = lowerer.changed(op, of, *now, operand);
            }
        });
        running.scalars.iter().zip(&now).for_each(|(&scalar, &new)| self.b.def_var(scalar, new));
        self.write(&at, ty, &LoweredValue::from_leaves(now));
        true
    }

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
        let Some(address) = self.neighbours(place) else {
            return self.load_transposed(value, place);
        };
        let vector = self.b.ins().load(types::F32X4, unaligned(), address, 0);
        self.define_floats(value, vector);
        true
    }

    /// Returns the number of vectors that a value of a type fills, if it consists of `f32` alone.
    fn vectors_of(&self, ty: Type) -> Option<usize> {
        let leaves = &self.cx.flats.of(ty).leaves;
        let is_float = leaves.iter().all(|leaf| leaf.scalar == Scalar::F32);
        let is_whole = !leaves.is_empty() && leaves.len().is_multiple_of(GROUP);
        (self.is_packed() && is_float && is_whole).then_some(leaves.len() / GROUP)
    }

    /// Loads a composite of `f32` for each thread, four components at once.
    fn load_transposed(&mut self, value: gbxcule_ir::Value, place: PlaceId) -> bool {
        let body = self.body();
        let is_array = body.path(place).iter().any(|it| matches!(it, Projection::Element(_)));
        let Some(count) = self.vectors_of(body.places[place].ty).filter(|_| is_array) else {
            return false;
        };
        let locs = self.of_each(|lowerer| lowerer.place(place));
        let addresses = locs.map(|loc| self.address(&loc));
        let mut leaves: [Vec<Value>; GROUP] = Default::default();
        for at in 0..count {
            let offset = (16 * at) as i32;
            let parts = addresses
                .map(|address| self.b.ins().load(types::F32X4, unaligned(), address, offset));
            for vector in self.transposed(parts) {
                let row = self.out_of_vector(vector);
                leaves.iter_mut().zip(row).for_each(|(leaves, leaf)| leaves.push(leaf));
            }
        }
        for (lane, leaves) in leaves.into_iter().enumerate() {
            self.select_lane(lane);
            self.define(value, LoweredValue::from_leaves(leaves));
        }
        self.select_lane(0);
        true
    }

    /// Stores a composite of `f32` for each thread, four components at once. Returns false if its
    /// components are not in vectors already.
    fn store_transposed(
        &mut self,
        locs: &[LoweredPlace; GROUP],
        ty: Type,
        value: gbxcule_ir::Value,
    ) -> bool {
        let Some(count) = self.vectors_of(ty) else { return false };
        let vals = self.of_each(|lowerer| lowerer.val(value));
        let is_memory = |val: &LoweredValue| matches!(val, LoweredValue::Memory(_));
        if vals.iter().any(is_memory) {
            return false;
        }
        let row = |index: usize| std::array::from_fn(|lane| vals[lane].leaves()[index]);
        if !(0..count * GROUP).all(|index| self.vector_of(row(index)).is_some()) {
            return false;
        }
        let addresses = locs.each_ref().map(|loc| self.address(loc));
        for index in 0..count {
            let rows = std::array::from_fn(|part| self.vector(row(index * GROUP + part)));
            for (address, vector) in addresses.into_iter().zip(self.transposed(rows)) {
                self.b.ins().store(unaligned(), vector, address, (16 * index) as i32);
            }
        }
        true
    }

    /// Swaps rows and columns: the first result has the first `f32` of each vector.
    fn transposed(&mut self, rows: [Value; GROUP]) -> [Value; GROUP] {
        let [a, b, c, d] = rows;
        let [low, high] = [[0, 4, 1, 5], [2, 6, 3, 7]];
        let pairs = [(a, b, low), (c, d, low), (a, b, high), (c, d, high)];
        let [ab, cd, ab_high, cd_high] =
            pairs.map(|(x, y, lanes)| self.shuffle(x, y, lanes, types::F32X4));
        let [first, second] = [[0, 1, 4, 5], [2, 3, 6, 7]];
        [
            self.shuffle(ab, cd, first, types::F32X4),
            self.shuffle(ab, cd, second, types::F32X4),
            self.shuffle(ab_high, cd_high, first, types::F32X4),
            self.shuffle(ab_high, cd_high, second, types::F32X4),
        ]
    }

    /// Returns four 32-bit lanes of two vectors as a vector of a type; `lanes` counts those of the
    /// second vector from 4 on.
    pub(super) fn shuffle(
        &mut self,
        one: Value,
        other: Value,
        lanes: [u8; GROUP],
        ty: ClifType,
    ) -> Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        let [one, other] =
            [one, other].map(|vector| self.b.ins().bitcast(types::I8X16, flags, vector));
        let bytes: Vec<u8> =
            lanes.iter().flat_map(|lane| (0..4).map(move |byte| 4 * lane + byte)).collect();
        let mask = self.b.func.dfg.immediates.push(bytes.into());
        let bytes = self.b.ins().shuffle(one, other, mask);
        self.b.ins().bitcast(ty, flags, bytes)
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
        if is_memory && self.store_transposed(&locs, ty, value) {
            return;
        }
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
