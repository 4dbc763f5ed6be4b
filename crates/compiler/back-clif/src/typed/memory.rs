//! Reads and writes of memory and variables.

use super::{LoweredPlace, LoweredValue, Storage, TypedCode, unaligned};
use crate::code::load_scalar;
use crate::shape::Leaf;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use gbxcule_ir::Type;
use gbxcule_ir::layout::descriptor;

impl TypedCode<'_, '_> {
    fn load_leaves(&mut self, leaves: &[Leaf], address: Value, offset: i32) -> LoweredValue {
        let load =
            |leaf: &Leaf| load_scalar(&mut self.b, leaf.scalar, address, offset + leaf.offset);
        LoweredValue::from_leaves(leaves.iter().map(load).collect())
    }

    /// Returns the address of a place in memory.
    pub(crate) fn address(&mut self, loc: &LoweredPlace) -> Value {
        match *loc {
            LoweredPlace::Memory { address, offset: 0 } => address,
            LoweredPlace::Memory { address, offset } => {
                self.b.ins().iadd_imm_s(address, i64::from(offset))
            }
            LoweredPlace::Value { val: LoweredValue::Memory(address), .. } => address,
            LoweredPlace::Vars { .. } | LoweredPlace::Vector(_) | LoweredPlace::Value { .. } => {
                unreachable!("the plan puts variables that need an address into memory")
            }
        }
    }

    /// Reads the value that a place holds now.
    pub(crate) fn read(&mut self, loc: &LoweredPlace, ty: Type) -> LoweredValue {
        let flat = self.cx.flats.of(ty);
        match loc {
            LoweredPlace::Vars { vars, first } => {
                let vars = &vars[*first..*first + flat.leaves.len()];
                let leaves = vars.iter().map(|&var| self.variable(var)).collect();
                LoweredValue::from_leaves(leaves)
            }
            LoweredPlace::Vector(var) => {
                let vector = self.b.use_var(*var);
                self.four(vector)
            }
            LoweredPlace::Value { val: LoweredValue::Memory(address), .. } if !flat.is_large() => {
                self.load_leaves(&flat.leaves, *address, 0)
            }
            LoweredPlace::Value { val: LoweredValue::Memory(address), .. } => {
                LoweredValue::Memory(*address)
            }
            LoweredPlace::Value { val, first } => {
                let leaves = &val.leaves()[*first..*first + flat.leaves.len()];
                LoweredValue::from_leaves(leaves.to_vec())
            }
            LoweredPlace::Memory { address, offset } if !flat.is_large() => {
                self.load_leaves(&flat.leaves, *address, *offset)
            }
            LoweredPlace::Memory { .. } => {
                let from = self.address(loc);
                let slot = self.slot(flat.size);
                let to = self.slot_address(slot);
                let align = self.align(ty);
                self.copy(to, from, flat.size, align);
                LoweredValue::Memory(to)
            }
        }
    }

    /// Reads four `f32` from memory at once.
    pub(crate) fn read_four(&mut self, loc: &LoweredPlace) -> LoweredValue {
        let address = self.address(loc);
        let vector = self.b.ins().load(types::F32X4, unaligned(), address, 0);
        self.four(vector)
    }

    /// Records four `f32` that were read from memory one by one as a vector, too.
    pub(crate) fn note_four(&mut self, loc: &LoweredPlace, val: &LoweredValue) {
        let address = self.address(loc);
        let vector = self.b.ins().load(types::F32X4, unaligned(), address, 0);
        for (at, &leaf) in val.leaves().iter().enumerate() {
            self.note_lane(leaf, vector, at);
        }
    }

    fn four(&mut self, vector: Value) -> LoweredValue {
        LoweredValue::from_leaves(self.out_of_vector(vector).to_vec())
    }

    /// Returns a variable's value, or the selected thread's part of a group's vector.
    fn variable(&mut self, var: Variable) -> Value {
        let value = self.b.use_var(var);
        match self.b.func.dfg.value_type(value).is_vector() {
            true => self.lane_of(value, self.lane),
            false => value,
        }
    }

    fn set_variable(&mut self, var: Variable, value: Value) {
        let is_float = self.b.func.dfg.value_type(value) == types::F32;
        if !self.is_packed() || !is_float {
            return self.b.def_var(var, value);
        }
        let vector = self.b.use_var(var);
        let lane = self.lane as u8;
        let vector = self.b.ins().insertlane(vector, value, lane);
        self.b.def_var(var, vector);
    }

    /// Writes a place.
    pub(crate) fn write(&mut self, loc: &LoweredPlace, ty: Type, val: &LoweredValue) {
        match (loc, val) {
            (LoweredPlace::Vars { vars, first }, _) => {
                for (component, &leaf) in val.leaves().iter().enumerate() {
                    self.set_variable(vars[first + component], leaf);
                }
            }
            (LoweredPlace::Vector(var), _) => {
                let vector = self.vector(std::array::from_fn(|component| val.leaves()[component]));
                self.b.def_var(*var, vector);
            }
            (LoweredPlace::Memory { .. }, LoweredValue::Memory(from)) => {
                let (size, align) = (self.cx.flats.of(ty).size, self.align(ty));
                let to = self.address(loc);
                self.copy(to, *from, size, align);
            }
            (LoweredPlace::Memory { address, offset }, _) => {
                self.store_leaves(val, ty, *address, *offset);
            }
            (LoweredPlace::Value { .. }, _) => unreachable!("check rule 6: the place is writable"),
        }
    }

    /// Stores a small value with its whole memory image.
    pub(crate) fn store_leaves(
        &mut self,
        val: &LoweredValue,
        ty: Type,
        address: Value,
        offset: i32,
    ) {
        let (flat, flags) = (self.cx.flats.of(ty), MemFlagsData::trusted());
        for (leaf, &value) in flat.leaves.iter().zip(val.leaves()) {
            self.b.ins().store(flags, value, address, offset + leaf.offset);
        }
        for &(at, dims) in &flat.handles {
            let (base, zero) = (offset + at, self.b.ins().iconst(types::I32, 0));
            for unused in i32::from(dims)..4 {
                let part = base + 4 * unused;
                self.b.ins().store(flags, zero, address, part + descriptor::SHAPE as i32);
                self.b.ins().store(flags, zero, address, part + descriptor::STRIDES as i32);
            }
            let word = self.b.ins().iconst(types::I64, i64::from(dims));
            self.b.ins().store(flags, word, address, base + descriptor::NDIM as i32);
        }
    }

    /// Returns the address of a value's memory image, which is never written.
    pub(crate) fn in_memory(&mut self, val: &LoweredValue, ty: Type) -> Value {
        if let LoweredValue::Memory(address) = *val {
            return address;
        }
        let size = self.cx.flats.of(ty).size;
        let slot = self.slot(size);
        let address = self.slot_address(slot);
        self.store_leaves(val, ty, address, 0);
        address
    }

    pub(crate) fn align(&self, ty: Type) -> u64 {
        self.cx.module.types.layout(ty).map_or(1, |layout| u64::from(layout.align))
    }

    /// Returns the location of a variable.
    pub(crate) fn storage(&mut self, storage: &Storage) -> LoweredPlace {
        match storage {
            Storage::Vars(vars) => LoweredPlace::Vars { vars: vars.clone(), first: 0 },
            Storage::Vector(var) => LoweredPlace::Vector(*var),
            Storage::Slot(slot) => {
                LoweredPlace::Memory { address: self.slot_address(*slot), offset: 0 }
            }
        }
    }
}
