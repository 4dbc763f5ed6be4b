//! Values in and out of memory and variables.

use super::lowerer::{LoweredPlace, LoweredValue, Lowerer, Storage};
use super::shape::{Leaf, clif_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::Variable;
use gbxcule_ir::layout::descriptor;
use gbxcule_ir::{Scalar, Type};

/// Copies of more bytes than this are loops.
const MAX_UNROLLED: u64 = 256;

impl LoweredValue {
    /// Scalars of a value that isn't in memory.
    pub(super) fn leaves(&self) -> &[Value] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Leaves(leaves) => leaves,
            Self::Memory(_) | Self::Parts(_) => unreachable!("a value of few scalars"),
        }
    }

    pub(super) fn from_leaves(leaves: Vec<Value>) -> Self {
        match leaves[..] {
            [value] => Self::One(value),
            _ => Self::Leaves(leaves.into()),
        }
    }
}

impl Lowerer<'_, '_> {
    /// A new stack slot.
    pub(super) fn slot(&mut self, size: u64) -> StackSlot {
        let size = u32::try_from(size.next_multiple_of(16)).unwrap_or(u32::MAX);
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
        self.b.create_sized_stack_slot(data)
    }

    pub(super) fn slot_address(&mut self, slot: StackSlot) -> Value {
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// Fills a slot with zeros, its padding to 16 bytes included.
    pub(super) fn clear(&mut self, slot: StackSlot, size: u64) {
        let address = self.slot_address(slot);
        let size = size.next_multiple_of(16);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.chunks(size, 8, |lowerer, at, offset| {
            let to = lowerer.b.ins().iadd(address, at);
            lowerer.b.ins().store(MemFlagsData::trusted(), zero, to, offset);
        });
    }

    /// Copies a large value; source and target are aligned as their type is.
    pub(super) fn copy(&mut self, to: Value, from: Value, size: u64, align: u64) {
        let step = align.clamp(1, 8);
        let ty = match step {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        };
        // Machines we run on load whole words from anywhere.
        let (whole, rest) = (size / 8 * 8, size % 8);
        let plain = MemFlagsData::new().with_notrap();
        self.chunks(whole, 8, |lowerer, at, offset| {
            let (from, to) = (lowerer.b.ins().iadd(from, at), lowerer.b.ins().iadd(to, at));
            let word = lowerer.b.ins().load(types::I64, plain, from, offset);
            lowerer.b.ins().store(plain, word, to, offset);
        });
        for at in (whole..whole + rest).step_by(step as usize) {
            let part = self.b.ins().load(ty, plain, from, at as i32);
            self.b.ins().store(plain, part, to, at as i32);
        }
    }

    /// Runs `each` for every `step` bytes of `size`, with a running offset and a constant one.
    pub(super) fn chunks(
        &mut self,
        size: u64,
        step: u64,
        mut each: impl FnMut(&mut Self, Value, i32),
    ) {
        let start = self.b.ins().iconst(types::I64, 0);
        if size <= MAX_UNROLLED {
            (0..size).step_by(step as usize).for_each(|at| each(self, start, at as i32));
            return;
        }
        let (body, rest) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(body, types::I64);
        self.b.ins().jump(body, &[BlockArg::Value(start)]);
        self.b.switch_to_block(body);
        each(self, at, 0);
        let next = self.b.ins().iadd_imm_s(at, step as i64);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, size as i64);
        self.b.ins().brif(more, body, &[BlockArg::Value(next)], rest, &[]);
        self.b.seal_block(body);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
    }

    /// Loads a scalar. A `bool` may lie there as any byte but 0.
    pub(super) fn load_scalar(&mut self, scalar: Scalar, address: Value, offset: i32) -> Value {
        let flags = MemFlagsData::trusted();
        let value = self.b.ins().load(clif_type(scalar), flags, address, offset);
        match scalar {
            Scalar::Bool => self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
            _ => value,
        }
    }

    fn load_leaves(&mut self, leaves: &[Leaf], address: Value, offset: i32) -> LoweredValue {
        let load = |leaf: &Leaf| self.load_scalar(leaf.scalar, address, offset + leaf.offset);
        LoweredValue::from_leaves(leaves.iter().map(load).collect())
    }

    /// The address that a memory place has.
    pub(super) fn address(&mut self, loc: &LoweredPlace) -> Value {
        match *loc {
            LoweredPlace::Memory { address, offset: 0 } => address,
            LoweredPlace::Memory { address, offset } => {
                self.b.ins().iadd_imm_s(address, i64::from(offset))
            }
            LoweredPlace::Value { val: LoweredValue::Memory(address), .. } => address,
            LoweredPlace::Vars { .. } | LoweredPlace::Value { .. } => {
                unreachable!("the plan keeps in memory what is needed there")
            }
        }
    }

    /// Reads the value that a place holds now.
    pub(super) fn read(&mut self, loc: &LoweredPlace, ty: Type) -> LoweredValue {
        let flat = self.flat(ty);
        match loc {
            LoweredPlace::Vars { vars, first } => {
                let vars = &vars[*first..*first + flat.leaves.len()];
                let leaves = vars.iter().map(|&var| self.variable(var)).collect();
                LoweredValue::from_leaves(leaves)
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
                self.copy(to, from, flat.size, self.align(ty));
                LoweredValue::Memory(to)
            }
        }
    }

    /// A variable, or the part of a group's that is this thread's.
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
        let vector = self.b.ins().insertlane(vector, value, self.lane as u8);
        self.b.def_var(var, vector);
    }

    /// Writes a place.
    pub(super) fn write(&mut self, loc: &LoweredPlace, ty: Type, val: &LoweredValue) {
        match (loc, val) {
            (LoweredPlace::Vars { vars, first }, _) => {
                for (at, &leaf) in val.leaves().iter().enumerate() {
                    self.set_variable(vars[first + at], leaf);
                }
            }
            (LoweredPlace::Memory { .. }, LoweredValue::Memory(from)) => {
                let (size, align) = (self.flat(ty).size, self.align(ty));
                let to = self.address(loc);
                self.copy(to, *from, size, align);
            }
            (LoweredPlace::Memory { address, offset }, _) => {
                self.store_leaves(val, ty, *address, *offset);
            }
            (LoweredPlace::Value { .. }, _) => unreachable!("check rule 6: the place is writable"),
        }
    }

    /// Stores a small value with all that belongs to its memory image.
    pub(super) fn store_leaves(
        &mut self,
        val: &LoweredValue,
        ty: Type,
        address: Value,
        offset: i32,
    ) {
        let (flat, flags) = (self.flat(ty), MemFlagsData::trusted());
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

    /// The address of a value's memory image: never written.
    pub(super) fn in_memory(&mut self, val: &LoweredValue, ty: Type) -> Value {
        if let LoweredValue::Memory(address) = *val {
            return address;
        }
        let size = self.flat(ty).size;
        let slot = self.slot(size);
        let address = self.slot_address(slot);
        self.store_leaves(val, ty, address, 0);
        address
    }

    pub(super) fn align(&self, ty: Type) -> u64 {
        self.module.types.layout(ty).map_or(1, |layout| u64::from(layout.align))
    }

    /// Returns the location of a variable.
    pub(super) fn storage(&mut self, storage: &Storage) -> LoweredPlace {
        match storage {
            Storage::Vars(vars) => LoweredPlace::Vars { vars: vars.clone(), first: 0 },
            Storage::Slot(slot) => {
                LoweredPlace::Memory { address: self.slot_address(*slot), offset: 0 }
            }
        }
    }
}
