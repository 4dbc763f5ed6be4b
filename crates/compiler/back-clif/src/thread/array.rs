//! Array handles: data, gradient, extents, strides. See [`gbxcule_ir::layout::descriptor`].

use super::ThreadCode;
use crate::code::zero_of;
use crate::typed::LoweredValue;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::{PlaceId, Scalar, Selector, Shape, Type};

/// Scalars of a handle.
#[derive(Clone, Debug)]
struct Parts {
    data: Value,
    gradient: Value,
    extents: Vec<Value>,
    strides: Vec<Value>,
}

impl Parts {
    fn new(val: &LoweredValue) -> Self {
        let leaves = val.leaves();
        let (extents, strides) = leaves[2..].split_at((leaves.len() - 2) / 2);
        Self {
            data: leaves[0],
            gradient: leaves[1],
            extents: extents.to_vec(),
            strides: strides.to_vec(),
        }
    }

    fn into_val(self) -> LoweredValue {
        let mut leaves = vec![self.data, self.gradient];
        leaves.extend(self.extents);
        leaves.extend(self.strides);
        LoweredValue::from_leaves(leaves)
    }
}

impl ThreadCode<'_, '_> {
    /// Returns the address of an element.
    pub(crate) fn element(
        &mut self,
        handle: &LoweredValue,
        indices: &[gbxcule_ir::Value],
    ) -> Value {
        let parts = Parts::new(handle);
        // A check of extents is not enough: an absent gradient has the extents of its array.
        if self.is_checked() && self.proven.get(parts.data, parts.data).is_none() {
            let absent = self.b.ins().icmp_imm_s(IntCC::Equal, parts.data, 0);
            self.fault_if(absent, FaultKind::Absent.into(), None);
            self.proven.note(parts.data, parts.data, parts.data);
        }
        let mut address = parts.data;
        for (dim, &index) in indices.iter().enumerate() {
            let (known, narrow) = (self.scalar(index), parts.extents[dim]);
            let index = match self.proven.get(known, narrow) {
                Some(index) => index,
                None => {
                    let extent = self.b.ins().sextend(types::I64, narrow);
                    let index = self.index(index, extent);
                    self.proven.note(known, narrow, index);
                    index
                }
            };
            let stride = self.b.ins().sextend(types::I64, parts.strides[dim]);
            let offset = self.b.ins().imul(index, stride);
            address = self.b.ins().iadd(address, offset);
        }
        address
    }

    pub(crate) fn view(
        &mut self,
        array: gbxcule_ir::Value,
        selectors: &[Selector],
    ) -> LoweredValue {
        let parts = Parts::new(&self.val(array));
        let mut view = Parts { extents: Vec::new(), strides: Vec::new(), ..parts.clone() };
        let mut moved = self.b.ins().iconst(types::I64, 0);
        for (dim, selector) in selectors.iter().enumerate() {
            let (extent, stride) = (parts.extents[dim], parts.strides[dim]);
            let wide_extent = self.b.ins().sextend(types::I64, extent);
            let wide_stride = self.b.ins().sextend(types::I64, stride);
            let start = match *selector {
                Selector::At(index) => self.index(index, wide_extent),
                Selector::Range { start, len, step } => {
                    let [start, len, step] = [start, len, step].map(|value| self.scalar(value));
                    let zero = self.b.ins().iconst(types::I32, 0);
                    let len = self.b.ins().smax(len, zero);
                    let start = self.b.ins().sextend(types::I64, start);
                    if self.is_checked() {
                        self.check_range(start, len, step, wide_extent);
                    }
                    view.extents.push(len);
                    view.strides.push(self.b.ins().imul(stride, step));
                    start
                }
            };
            let offset = self.b.ins().imul(start, wide_stride);
            moved = self.b.ins().iadd(moved, offset);
        }
        view.extents.extend(&parts.extents[selectors.len()..]);
        view.strides.extend(&parts.strides[selectors.len()..]);
        view.data = self.moved(parts.data, moved);
        view.gradient = self.moved(parts.gradient, moved);
        view.into_val()
    }

    /// Adds bytes to an address; a null address stays null.
    fn moved(&mut self, address: Value, bytes: Value) -> Value {
        let sum = self.b.ins().iadd(address, bytes);
        let absent = self.b.ins().icmp_imm_s(IntCC::Equal, address, 0);
        self.b.ins().select(absent, address, sum)
    }

    /// Checks that the first and the last index of a range lie in the array, unless the range is
    /// empty.
    fn check_range(&mut self, start: Value, len: Value, step: Value, extent: Value) {
        let len = self.b.ins().sextend(types::I64, len);
        let step = self.b.ins().sextend(types::I64, step);
        let steps = self.b.ins().iadd_imm_s(len, -1);
        let way = self.b.ins().imul(steps, step);
        let last = self.b.ins().iadd(start, way);
        let taken = self.b.ins().icmp_imm_s(IntCC::NotEqual, len, 0);
        for index in [start, last] {
            let outside = self.at_or_above(index, extent);
            let wrong = self.b.ins().band(outside, taken);
            self.fault_if(wrong, FaultKind::View.into(), Some([index, extent]));
        }
    }

    pub(crate) fn as_array(&mut self, place: PlaceId, ty: Type) -> LoweredValue {
        let Shape::Array { dims, .. } = self.cx.module.types[ty] else {
            unreachable!("check rule 4: `AsArray` gives an array")
        };
        let loc = self.place(place);
        let data = self.address(&loc);
        let gradient = self.b.ins().iconst(types::I64, 0);
        let (mut extents, mut strides) = (Vec::new(), Vec::new());
        let mut level = self.body().places[place].ty;
        for _ in 0..dims {
            let Shape::Fixed { of, len } = self.cx.module.types[level] else {
                unreachable!("check rule 4: `AsArray` of nested fixed arrays")
            };
            let stride = self.cx.module.types.layout(of).map_or(0, |layout| layout.size);
            extents.push(self.b.ins().iconst(types::I32, i64::from(len)));
            strides.push(self.b.ins().iconst(types::I32, stride as i64));
            level = of;
        }
        Parts { data, gradient, extents, strides }.into_val()
    }

    pub(crate) fn extent(&mut self, array: gbxcule_ir::Value, dim: u8) -> Value {
        Parts::new(&self.val(array)).extents[usize::from(dim)]
    }

    pub(crate) fn present(&mut self, array: gbxcule_ir::Value) -> Value {
        let data = Parts::new(&self.val(array)).data;
        self.b.ins().icmp_imm_s(IntCC::NotEqual, data, 0)
    }

    pub(crate) fn gradient(&mut self, array: gbxcule_ir::Value) -> LoweredValue {
        let mut parts = Parts::new(&self.val(array));
        parts.data = parts.gradient;
        parts.gradient = zero_of(&mut self.b, Scalar::U64);
        parts.into_val()
    }
}
