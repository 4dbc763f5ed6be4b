//! The fourth layer, groups of threads: a kernel whose threads all take the same branches is
//! lowered for four of them at once, with their `f32` in one vector.
//!
//! A value of the IR stays four scalars. Scalars that were taken out of a vector are recorded with
//! the vector, so that the next operation takes the vector; scalars without a use cost nothing. A
//! value that is equal for all four threads is computed once.

mod memory;
mod prove;
mod vector;

use crate::code::{float_code, int_code};
use crate::thread::{BoundParam, Lane, ThreadCode};
use crate::typed::{GROUP, LoweredValue, Row, is_same};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Type as ClifType, Value, types};
use gbxcule_ir::walk::{Use, op_uses, place_values};
use gbxcule_ir::{
    AtomicOp, BinaryOp, CompareOp, Native, Op, PlaceId, Projection, Root, Scalar, UnaryOp,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Deref, DerefMut};

/// Facts that hold at a point of the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    facts: usize,
    is_dirty: bool,
}

/// Code for several threads at once, or for one.
pub(crate) struct GroupCode<'a, 'f> {
    threads: ThreadCode<'a, 'f>,
    /// Integers that count up from thread to thread, by the first thread's integer.
    consecutive: FxHashMap<Value, Row>,
    /// Block in which a group of threads begins again, one thread at a time.
    bail: Option<Block>,
    /// True if threads may have written to memory.
    is_dirty: bool,
    /// Element that the kernel's only writing operation changed last.
    running: Option<memory::Running>,
    /// Blocks to which code jumps after a write.
    after_writes: FxHashSet<Block>,
}

impl<'a, 'f> Deref for GroupCode<'a, 'f> {
    type Target = ThreadCode<'a, 'f>;

    fn deref(&self) -> &Self::Target {
        &self.threads
    }
}

impl DerefMut for GroupCode<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.threads
    }
}

impl<'a, 'f> GroupCode<'a, 'f> {
    pub(crate) fn new(threads: ThreadCode<'a, 'f>) -> Self {
        Self {
            threads,
            consecutive: FxHashMap::default(),
            running: None,
            bail: None,
            is_dirty: false,
            after_writes: FxHashSet::default(),
        }
    }

    /// Returns the layer below.
    pub(crate) fn into_threads(self) -> ThreadCode<'a, 'f> {
        self.threads
    }

    /// Sets the threads that are lowered next. A group that can begin again does so in `bail`.
    pub(crate) fn begin_threads(&mut self, lanes: Vec<Lane<'a>>, packs: bool, bail: Option<Block>) {
        self.threads.begin_threads(lanes, packs);
        self.consecutive.clear();
        self.is_dirty = false;
        self.bail = bail;
    }

    /// Returns the block in which the group begins again, one thread at a time.
    pub(crate) fn bail(&self) -> Option<Block> {
        self.bail
    }

    /// Returns true if the group can begin again, because nothing was written yet.
    pub(crate) fn can_bail(&self) -> bool {
        self.bail.is_some() && !self.is_dirty
    }

    /// Records that threads may have written something, if `writes` is true.
    pub(crate) fn note_write(&mut self, writes: bool) {
        self.is_dirty |= writes;
    }

    pub(crate) fn mark(&mut self) -> Mark {
        Mark { facts: self.proven().mark(), is_dirty: self.is_dirty }
    }

    /// Forgets the facts that were recorded since a mark.
    pub(crate) fn forget_since(&mut self, mark: Mark) {
        self.proven().forget_since(mark.facts);
    }

    /// Records a jump to a block.
    pub(crate) fn note_jump(&mut self, to: Block) {
        if self.is_dirty {
            self.after_writes.insert(to);
        }
    }

    /// Restores the facts of a branch at the beginning of a block behind it.
    pub(crate) fn go_back(&mut self, mark: Mark, block: Block) {
        self.forget_since(mark);
        self.is_dirty = mark.is_dirty || self.after_writes.contains(&block);
    }

    fn note_consecutive(&mut self, row: Row) {
        self.consecutive.insert(row[0], row);
    }

    fn is_consecutive(&self, row: Row) -> bool {
        self.consecutive.get(&row[0]) == Some(&row)
    }

    fn row(&mut self, value: gbxcule_ir::Value) -> Row {
        self.of_each(|lowerer| lowerer.scalar(value))
    }

    /// Evaluates an integer that grows by one from thread to thread.
    fn evaluate_consecutive(&mut self, value: gbxcule_ir::Value) -> bool {
        self.each_lane(|lowerer| {
            let val = lowerer.operation(value);
            lowerer.define(value, val);
        });
        let row = self.row(value);
        self.note_consecutive(row);
        true
    }

    /// Evaluates an operation for all threads at once, if that is possible.
    pub(crate) fn evaluate_for_group(&mut self, value: gbxcule_ir::Value) -> bool {
        let op = self.body().values[value].op;
        if self.is_equal_for_all(op) {
            let val = self.operation(value);
            self.each_lane(|lowerer| lowerer.define(value, val.clone()));
            return true;
        }
        match op {
            Op::LaunchIndex(_) => self.evaluate_consecutive(value),
            Op::Binary(op, x, y) => self.group_binary(value, op, [x, y]),
            Op::Unary(UnaryOp::Negate, x) => {
                self.by_float(value, &[x], |lowerer, row| lowerer.b.ins().fneg(row[0]))
            }
            Op::Unary(UnaryOp::Not, x) => {
                self.by_mask(value, &[x], |lowerer, row| lowerer.b.ins().bnot(row[0]))
            }
            Op::Convert(x) => self.group_convert(value, x),
            Op::Compare(op, x, y) => self.group_compare(value, op, [x, y]),
            Op::Select { condition, accept, reject } => {
                let mask = self.row(condition);
                if is_same(mask) {
                    return false;
                }
                let bits = self.mask(mask);
                let mask = self.b.ins().bitcast(types::F32X4, MemFlagsData::new(), bits);
                self.by_float(value, &[accept, reject], |lowerer, row| {
                    lowerer.b.ins().bitselect(mask, row[0], row[1])
                }) || self.by_int(value, &[accept, reject], |lowerer, row| {
                    lowerer.b.ins().bitselect(bits, row[0], row[1])
                })
            }
            Op::Native { native, args } => {
                let args = &self.body().value_lists[args];
                self.group_native(value, native, args)
            }
            Op::Load(place) => self.group_load(value, place),
            Op::Atomic { op, place, value: operand, expected: None }
                if self.change_running(value, op, place, operand) =>
            {
                true
            }
            Op::Atomic { op: AtomicOp::Add, place, value: operand, expected: None }
                if self.is_plain(value) =>
            {
                self.group_add(value, place, operand)
            }
            _ => {
                if let Op::Atomic { place, .. } = op {
                    self.prove_group(place);
                    self.is_dirty = true;
                }
                false
            }
        }
    }

    /// Returns true if an operation gives all threads of the group the same value.
    fn is_equal_for_all(&mut self, op: Op) -> bool {
        match op {
            Op::Atomic { .. } | Op::AsArray(_) | Op::Index | Op::Call { .. } => return false,
            Op::LaunchIndex(dim) => {
                let of = |lane: usize| self.lanes()[lane].coordinates[usize::from(dim)];
                return is_same(std::array::from_fn(of));
            }
            _ => {}
        }
        let (body, mut equal) = (self.body(), true);
        op_uses(
            body,
            &op,
            |_| true,
            |used| {
                equal &= match used {
                    Use::Value(value) => self.has_equal_values(value),
                    Use::Read(place) => self.has_equal_places(place),
                    _ => false,
                };
            },
        );
        equal
    }

    fn has_equal_values(&self, value: gbxcule_ir::Value) -> bool {
        let of = |lane: usize| {
            let frame = self.lanes()[lane].frames.last();
            frame.and_then(|frame| frame.values[value.index()].as_ref())
        };
        let Some(first) = of(0) else { return false };
        (1..GROUP).all(|lane| of(lane).is_some_and(|other| first.same_as(other)))
    }

    fn has_equal_places(&self, place: PlaceId) -> bool {
        let body = self.body();
        let mut equal = match body.places[place].root {
            Root::Local(_) => false,
            Root::Table(_) => true,
            Root::Array(value) => self.has_equal_values(value),
            Root::Param(position) => {
                let of = |lane: usize| {
                    let frame = self.lanes()[lane].frames.last()?;
                    match &frame.params[position as usize] {
                        BoundParam::Value(val) => Some(val),
                        BoundParam::Place(_) => None,
                    }
                };
                let first = of(0);
                (1..GROUP).all(|lane| {
                    first.zip(of(lane)).is_some_and(|(first, other)| first.same_as(other))
                })
            }
        };
        place_values(body, place, |value| equal &= self.has_equal_values(value));
        equal
    }

    /// Returns a vector of masks of the `bool`s of a group.
    pub(crate) fn mask(&mut self, row: Row) -> Value {
        if let Some(vector) = self.vector_of(row) {
            return vector;
        }
        let first = self.b.ins().bmask(types::I32, row[0]);
        let mut vector = self.b.ins().splat(types::I32X4, first);
        if !is_same(row) {
            for (at, &value) in row.iter().enumerate().skip(1) {
                let value = self.b.ins().bmask(types::I32, value);
                vector = self.b.ins().insertlane(vector, value, at as u8);
            }
        }
        vector
    }

    fn define_mask(&mut self, value: gbxcule_ir::Value, vector: Value) {
        for at in 0..GROUP {
            let mask = self.b.ins().extractlane(vector, at as u8);
            let bit = self.b.ins().ireduce(types::I8, mask);
            let bit = self.b.ins().band_imm_u(bit, 1);
            self.note_lane(bit, vector, at);
            self.select_lane(at);
            self.define(value, LoweredValue::One(bit));
        }
        self.select_lane(0);
    }

    /// Applies `each` to vectors of `f32`, component by component. Returns false if an operand is
    /// not made of `f32`, or lies in memory.
    fn by_float(
        &mut self,
        value: gbxcule_ir::Value,
        operands: &[gbxcule_ir::Value],
        each: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> bool {
        let Some(rows) = self.rows_of(operands, types::F32) else { return false };
        self.define_by_vectors(value, rows, each);
        true
    }

    /// Applies `each` to vectors of 32-bit integers. Returns false if no operand is in a vector, or
    /// if one would have to be put into it: most integers are indices, which are used as scalars.
    fn by_int(
        &mut self,
        value: gbxcule_ir::Value,
        operands: &[gbxcule_ir::Value],
        each: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> bool {
        let Some(rows) = self.rows_of(operands, types::I32) else { return false };
        let is_vector = |row: &Row| self.vector_of(*row).is_some();
        let fits = rows.iter().all(|operands| {
            operands.iter().any(is_vector)
                && operands.iter().all(|row| is_vector(row) || is_same(*row))
        });
        if fits {
            self.define_by_vectors(value, rows, each);
        }
        fits
    }

    /// Returns the operands of each component; `None` if an operand consists of other scalars, or
    /// lies in memory.
    fn rows_of(
        &mut self,
        operands: &[gbxcule_ir::Value],
        scalar: ClifType,
    ) -> Option<Vec<Vec<Row>>> {
        if !self.is_packed() {
            return None;
        }
        let mut leaves = Vec::with_capacity(operands.len());
        for &operand in operands {
            let vals = self.of_each(|lowerer| lowerer.val(operand));
            let is_small =
                |val: &LoweredValue| matches!(val, LoweredValue::One(_) | LoweredValue::Leaves(_));
            if !vals.iter().all(is_small) {
                return None;
            }
            leaves.push(vals);
        }
        let is_scalar = |&value: &Value| self.b.func.dfg.value_type(value) == scalar;
        if !leaves.iter().flatten().all(|val| val.leaves().iter().all(is_scalar)) {
            return None;
        }
        let count = leaves[0][0].leaves().len();
        let row = |vals: &[LoweredValue; GROUP], at: usize| {
            std::array::from_fn(|lane| vals[lane].leaves()[at])
        };
        let rows = (0..count).map(|at| leaves.iter().map(|vals| row(vals, at)).collect());
        Some(rows.collect()).filter(|_| count > 0)
    }

    fn define_by_vectors(
        &mut self,
        value: gbxcule_ir::Value,
        rows: Vec<Vec<Row>>,
        mut each: impl FnMut(&mut Self, &[Value]) -> Value,
    ) {
        let mut results: [Vec<Value>; GROUP] = Default::default();
        for operands in rows {
            let vectors: Vec<Value> = operands.into_iter().map(|row| self.vector(row)).collect();
            let vector = each(self, &vectors);
            let row = self.out_of_vector(vector);
            results.iter_mut().zip(row).for_each(|(result, value)| result.push(value));
        }
        for (lane, result) in results.into_iter().enumerate() {
            self.select_lane(lane);
            self.define(value, LoweredValue::from_leaves(result));
        }
        self.select_lane(0);
    }

    /// Applies `each` to vectors of masks. Returns false if no operand was taken out of one.
    fn by_mask(
        &mut self,
        value: gbxcule_ir::Value,
        operands: &[gbxcule_ir::Value],
        each: impl FnOnce(&mut Self, &[Value]) -> Value,
    ) -> bool {
        if self.ty(value).as_scalar() != Some(Scalar::Bool) {
            return false;
        }
        let rows: Vec<Row> = operands.iter().map(|&operand| self.row(operand)).collect();
        if !rows.iter().any(|&row| self.vector_of(row).is_some()) {
            return false;
        }
        let masks: Vec<Value> = rows.into_iter().map(|row| self.mask(row)).collect();
        let mask = each(self, &masks);
        self.define_mask(value, mask);
        true
    }

    fn group_binary(
        &mut self,
        value: gbxcule_ir::Value,
        op: BinaryOp,
        operands: [gbxcule_ir::Value; 2],
    ) -> bool {
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let each = |lowerer: &mut Self, row: &[Value]| match op {
                    BinaryOp::And => lowerer.b.ins().band(row[0], row[1]),
                    BinaryOp::Or => lowerer.b.ins().bor(row[0], row[1]),
                    _ => lowerer.b.ins().bxor(row[0], row[1]),
                };
                self.by_mask(value, &operands, each) || self.by_int(value, &operands, each)
            }
            BinaryOp::Add | BinaryOp::Subtract if self.counts_up(op, operands) => {
                self.evaluate_consecutive(value)
            }
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                self.by_float(value, &operands, |lowerer, row| match op {
                    BinaryOp::Add => lowerer.b.ins().fadd(row[0], row[1]),
                    BinaryOp::Subtract => lowerer.b.ins().fsub(row[0], row[1]),
                    BinaryOp::Multiply => lowerer.b.ins().fmul(row[0], row[1]),
                    _ => lowerer.b.ins().fdiv(row[0], row[1]),
                }) || (op != BinaryOp::Divide
                    && self.by_int(value, &operands, |lowerer, row| match op {
                        BinaryOp::Add => lowerer.b.ins().iadd(row[0], row[1]),
                        BinaryOp::Subtract => lowerer.b.ins().isub(row[0], row[1]),
                        _ => lowerer.b.ins().imul(row[0], row[1]),
                    }))
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.group_shift(value, op, operands),
            BinaryOp::FloorDivide | BinaryOp::Remainder => false,
        }
    }

    /// Returns true if a sum or a difference of integers grows by one from thread to thread.
    fn counts_up(&mut self, op: BinaryOp, operands: [gbxcule_ir::Value; 2]) -> bool {
        if self.ty(operands[0]).as_scalar() != Some(Scalar::I32) {
            return false;
        }
        let [x, y] = operands.map(|operand| self.row(operand));
        (self.is_consecutive(x) && is_same(y))
            || (op == BinaryOp::Add && self.is_consecutive(y) && is_same(x))
    }

    fn group_compare(
        &mut self,
        value: gbxcule_ir::Value,
        op: CompareOp,
        operands: [gbxcule_ir::Value; 2],
    ) -> bool {
        let rows = operands.map(|operand| self.row(operand));
        let vector = match self.ty(operands[0]).as_scalar() {
            Some(Scalar::F32) if self.is_packed() => {
                let [x, y] = rows.map(|row| self.vector(row));
                self.b.ins().fcmp(float_code(op), x, y)
            }
            Some(of @ (Scalar::I32 | Scalar::U32)) => {
                let counts_up = |row| is_same(row) || self.is_consecutive(row);
                let is_vector =
                    |row| is_same(row) || (self.is_packed() && self.vector_of(row).is_some());
                let [x, y] = if rows.into_iter().all(counts_up) {
                    rows.map(|row| self.counted_vector(row))
                } else if rows.into_iter().all(is_vector) {
                    rows.map(|row| self.vector(row))
                } else {
                    return false;
                };
                self.b.ins().icmp(int_code(op, of), x, y)
            }
            _ => return false,
        };
        self.define_mask(value, vector);
        true
    }

    /// Makes a vector of integers that are equal or count up.
    fn counted_vector(&mut self, row: Row) -> Value {
        let vector = self.b.ins().splat(types::I32X4, row[0]);
        if is_same(row) {
            return vector;
        }
        let mut steps = Vec::with_capacity(16);
        (0..GROUP as i32).for_each(|lane| steps.extend(lane.to_le_bytes()));
        let steps = self.b.func.dfg.constants.insert(steps.into());
        let steps = self.b.ins().vconst(types::I32X4, steps);
        self.b.ins().iadd(vector, steps)
    }

    fn group_native(
        &mut self,
        value: gbxcule_ir::Value,
        native: Native,
        args: &[gbxcule_ir::Value],
    ) -> bool {
        let each = |lowerer: &mut Self, row: &[Value]| match native {
            Native::Min => lowerer.extremum_of_vectors(FloatCC::LessThanOrEqual, row),
            Native::Max => lowerer.extremum_of_vectors(FloatCC::GreaterThanOrEqual, row),
            Native::Abs => lowerer.b.ins().fabs(row[0]),
            Native::Fma => lowerer.b.ins().fma(row[0], row[1], row[2]),
            Native::Floor => lowerer.b.ins().floor(row[0]),
            Native::Ceil => lowerer.b.ins().ceil(row[0]),
            Native::Trunc => lowerer.b.ins().trunc(row[0]),
            Native::Rint => lowerer.b.ins().nearest(row[0]),
            Native::Sin | Native::Cos => lowerer.sines(native, row[0]),
            _ => lowerer.b.ins().sqrt(row[0]),
        };
        has_vector(native) && self.by_float(value, args, each)
    }

    fn extremum_of_vectors(&mut self, code: FloatCC, row: &[Value]) -> Value {
        let first = self.b.ins().fcmp(code, row[0], row[1]);
        let no_second = self.b.ins().fcmp(FloatCC::Unordered, row[1], row[1]);
        let chosen = self.b.ins().bor(first, no_second);
        let chosen = self.b.ins().bitcast(types::F32X4, MemFlagsData::new(), chosen);
        self.b.ins().bitselect(chosen, row[0], row[1])
    }

    /// Returns the handle of the array in which a place is an element, if all threads have the same
    /// handle.
    pub(crate) fn handles(&mut self, place: PlaceId) -> Option<LoweredValue> {
        let body = self.body();
        let Some(Projection::Element(_)) = body.path(place).first() else { return None };
        let data = &body.places[place];
        let of = |lane: usize| match data.root {
            Root::Array(value) => self.lanes()[lane].frames.last()?.values[value.index()].clone(),
            Root::Param(position) => {
                match &self.lanes()[lane].frames.last()?.params[position as usize] {
                    BoundParam::Value(val) => Some(val.clone()),
                    BoundParam::Place(_) => None,
                }
            }
            _ => None,
        };
        let first = of(0)?;
        let equal = (1..GROUP).all(|lane| of(lane).is_some_and(|other| first.same_as(&other)));
        (equal && matches!(first, LoweredValue::Leaves(_))).then_some(first)
    }
}

/// Returns true if there is a vector instruction for a native on `f32`.
pub(crate) fn has_vector(native: Native) -> bool {
    matches!(
        native,
        Native::Min
            | Native::Max
            | Native::Abs
            | Native::Fma
            | Native::Floor
            | Native::Ceil
            | Native::Trunc
            | Native::Rint
            | Native::Sqrt
            | Native::Sin
            | Native::Cos
    )
}
