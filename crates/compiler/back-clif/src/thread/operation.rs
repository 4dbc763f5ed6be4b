//! Operations.

use super::ThreadCode;
use crate::code::{ScalarCode, bitcast, compare, convert, literal, unary};
use crate::typed::{LoweredPlace, LoweredValue};
use cranelift_codegen::ir::{self, InstBuilder, types};
use gbxcule_ir::{BinaryOp, Native, Op, PlaceId, Root, Scalar, Shape, Type, Value};

impl ThreadCode<'_, '_> {
    /// Evaluates any operation except a call.
    pub(crate) fn operation(&mut self, value: Value) -> LoweredValue {
        let body = self.body();
        let (op, ty) = (body.values[value].op, body.values[value].ty);
        match op {
            Op::Literal(number) => LoweredValue::One(literal(&mut self.b, number)),
            Op::Zero => self.zero(ty),
            Op::Unary(op, x) => self
                .componentwise([x], ty, |lowerer, of, row| unary(&mut lowerer.b, op, of, row[0])),
            Op::Binary(op, x, y) => self.binary_operation(op, [x, y], ty),
            Op::Compare(op, x, y) => {
                let of = self.scalar_type(x);
                let (x, y) = (self.scalar(x), self.scalar(y));
                LoweredValue::One(compare(&mut self.b, op, of, x, y))
            }
            Op::Select { condition, accept, reject } => {
                let condition = self.scalar(condition);
                let (accept, reject) = (self.val(accept), self.val(reject));
                self.select(condition, &accept, &reject)
            }
            Op::Convert(x) => {
                let to = self.cx.module.types.components(ty).map(|(to, _)| to);
                self.componentwise([x], ty, |lowerer, from, row| {
                    convert(&mut lowerer.b, from, to.unwrap_or(from), row[0])
                })
            }
            Op::Bitcast(x) => {
                let (x, to) = (self.scalar(x), ty.as_scalar().unwrap_or(Scalar::I32));
                LoweredValue::One(bitcast(&mut self.b, to, x))
            }
            Op::Construct(parts) => self.construct_of(ty, &body.value_lists[parts]),
            Op::Splat(part) => {
                let (val, part) = (self.val(part), self.ty(part));
                self.splat(ty, &val, part)
            }
            Op::Extract { from, index } => {
                let (val, whole) = (self.val(from), self.ty(from));
                self.extract(&val, whole, index, ty)
            }
            Op::Load(place) => self.load(place, ty),
            Op::Native { native, args } => self.native_call(native, &body.value_lists[args]),
            Op::Atomic { op, place, value: operand, expected } => {
                let plain = self.is_plain(value);
                self.atomic(op, place, [Some(operand), expected], plain)
            }
            Op::LaunchIndex(dim) => LoweredValue::One(self.launch_index(dim)),
            Op::View { array, selectors } => self.view(array, &body.selector_lists[selectors]),
            Op::AsArray(place) => self.as_array(place, ty),
            Op::Extent { array, dim } => LoweredValue::One(self.extent(array, dim)),
            Op::Present(array) => LoweredValue::One(self.present(array)),
            Op::Gradient(array) => self.gradient(array),
            // On the CPU each thread is alone, so that the minimum is its own value.
            Op::Lowest(same) | Op::Opaque(same) => LoweredValue::One(self.scalar(same)),
            Op::Index | Op::Call { .. } => unreachable!("loops and calls define these"),
        }
    }

    fn binary_operation(&mut self, op: BinaryOp, operands: [Value; 2], ty: Type) -> LoweredValue {
        use BinaryOp::{Add, Divide, Multiply, Subtract};
        let is_float = self.scalar_type(operands[0]) == Scalar::F32;
        if is_float && matches!(op, Add | Subtract | Multiply | Divide) {
            let operands = operands.map(|operand| self.val(operand));
            let each = |lowerer: &mut ScalarCode<'_, '_>, row: &[ir::Value]| {
                lowerer.binary(op, Scalar::F32, row[0], row[1])
            };
            if let Some(four) = self.by_four(&operands, each) {
                return four;
            }
            if op == Divide
                && let Some(quotients) = self.divided_together(&operands)
            {
                return quotients;
            }
        }
        self.componentwise(operands, ty, |lowerer, of, row| lowerer.binary(op, of, row[0], row[1]))
    }

    /// Reads a place. Four `f32` of a variable are read at once; those of other memory are also
    /// recorded as a vector, for operations on all four.
    fn load(&mut self, place: PlaceId, ty: Type) -> LoweredValue {
        let loc = self.place(place);
        let is_four = self.cx.module.types[ty] == Shape::Vector { len: 4, of: Scalar::F32 };
        match (&loc, self.body().places[place].root) {
            (LoweredPlace::Memory { .. }, Root::Local(_)) if is_four && !self.is_packed() => {
                self.read_four(&loc)
            }
            (LoweredPlace::Memory { .. }, _) if is_four && !self.is_packed() => {
                let val = self.read(&loc, ty);
                self.note_four(&loc, &val);
                val
            }
            _ => self.read(&loc, ty),
        }
    }

    fn construct_of(&mut self, ty: Type, parts: &[Value]) -> LoweredValue {
        let parts: Vec<_> = parts.iter().map(|&part| (self.val(part), self.ty(part))).collect();
        self.construct(ty, &parts)
    }

    /// Lowers an operation that is applied to each component of its operands.
    fn componentwise<const N: usize>(
        &mut self,
        operands: [Value; N],
        ty: Type,
        lower: impl Fn(&mut ScalarCode<'_, '_>, Scalar, &[ir::Value]) -> ir::Value,
    ) -> LoweredValue {
        let of = self.scalar_type(operands[0]);
        let operands = operands.map(|operand| self.val(operand));
        self.by_component(of, ty, &operands, |lowerer, row| lower(lowerer, of, row))
    }

    fn launch_index(&mut self, dim: u8) -> ir::Value {
        let wide = self.current_lane().coordinates[usize::from(dim)];
        self.b.ins().ireduce(types::I32, wide)
    }

    fn native_call(&mut self, native: Native, args: &[Value]) -> LoweredValue {
        let of = self.scalar_type(args[0]);
        let args: Vec<_> = args.iter().map(|&arg| self.scalar(arg)).collect();
        LoweredValue::One(self.native(native, of, &args))
    }

    fn scalar_type(&self, value: Value) -> Scalar {
        match self.cx.module.types.components(self.ty(value)) {
            Some((of, _)) => of,
            None => unreachable!("check rule 4: an operand with components"),
        }
    }
}
