//! Rule 4: operands and results of operations. Rules 11, 12 and 14, as far as operations break
//! them.

use super::function::Checker;
use crate::arena::List;
use crate::builtin::Native;
use crate::diagnostic::Code;
use crate::function::{FunctionId, FunctionKind, Param, PassMode};
use crate::op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, UnaryOp, Value};
use crate::place::PlaceId;
use crate::ty::{Scalar, Shape, Type};

impl Checker<'_> {
    /// Returns true if the operation of an existing value is right at its position.
    pub(super) fn operation(&mut self, value: Value) -> bool {
        let data = self.body.values[value];
        if self.module.types.shapes().get(data.ty).is_none() {
            return self.fault(Code::IrHandle, "a type that doesn't exist");
        }
        if data.ty == Type::INVALID {
            let what = name(&data.op);
            return self.fault(Code::IrType, format!("`{what}` on operands that it doesn't take"));
        }
        if !self.operands(&data.op) {
            return false;
        }
        if self.fits(&data.op, data.ty) {
            return true;
        }
        let (what, ty) = (name(&data.op), self.show(data.ty));
        self.fault(Code::IrOperation, format!("`{what}` of these operands gives no `{ty}`"))
    }

    /// Returns true if all operands are visible and all places right. Only few operations take
    /// `AsArray` handles.
    fn operands(&mut self, op: &Op) -> bool {
        let mut values = Vec::new();
        let mut places = Vec::new();
        if !self.lists_exist(op) {
            return self.fault(Code::IrHandle, "a list that doesn't exist");
        }
        crate::walk::op_uses(
            self.body,
            op,
            |_| false,
            |used| match used {
                crate::walk::Use::Value(value) => values.push(value),
                crate::walk::Use::Read(place)
                | crate::walk::Use::Write(place)
                | crate::walk::Use::Change(place)
                | crate::walk::Use::Expose(place) => places.push(place),
            },
        );
        let right = values.iter().all(|&value| self.visible(value))
            && places.into_iter().all(|place| self.place(place));
        let keeps =
            matches!(op, Op::Construct(_) | Op::Splat(_) | Op::Select { .. } | Op::Atomic { .. });
        right && (!keeps || values.into_iter().all(|value| self.not_local_handle(value)))
    }

    fn lists_exist(&self, op: &Op) -> bool {
        let values = |list: List<Value>| self.body.value_lists.get(list).is_some();
        match *op {
            Op::Construct(args) | Op::Native { args, .. } => values(args),
            Op::Call { args, .. } => self.body.arg_lists.get(args).is_some(),
            Op::View { selectors, .. } => self.body.selector_lists.get(selectors).is_some(),
            _ => true,
        }
    }

    /// Returns true if a value may be stored or returned: if it is not a handle to memory of a
    /// variable.
    pub(super) fn not_local_handle(&mut self, value: Value) -> bool {
        let mut next = Some(value);
        while let Some(value) = next {
            next = match self.body.values.get(value).map(|data| data.op) {
                Some(Op::AsArray(_)) => {
                    return self.fault(
                        Code::IrEscape,
                        "a handle to a variable's array is stored or returned",
                    );
                }
                Some(Op::View { array, .. } | Op::Gradient(array)) => Some(array),
                _ => None,
            };
        }
        true
    }

    fn ty(&self, value: Value) -> Type {
        self.body.type_of(value)
    }

    fn scalar(&self, value: Value) -> Option<Scalar> {
        self.ty(value).as_scalar()
    }

    fn components(&self, ty: Type) -> Option<(Scalar, u32)> {
        self.module.types.components(ty)
    }

    /// Returns true if an operation, whose operands are right, has a result of type `ty`.
    fn fits(&mut self, op: &Op, ty: Type) -> bool {
        let types = &self.module.types;
        match *op {
            Op::Literal(literal) => ty == Type::scalar(literal.scalar()),
            Op::Zero => types.layout(ty).is_some(),
            Op::Index => ty.as_scalar().is_some_and(Scalar::is_int),
            Op::Unary(op, operand) => self.ty(operand) == ty && self.takes_unary(op, ty),
            Op::Binary(op, left, right) => {
                let of = self.components(ty).map(|(of, _)| of);
                let same = self.ty(left) == ty && self.ty(right) == ty;
                same && of.is_some_and(|of| BinaryOp::of(of).contains(&op))
            }
            Op::Compare(op, left, right) => {
                self.compares(op, left) && self.ty(right) == self.ty(left) && ty == Type::BOOL
            }
            Op::Select { condition, accept, reject } => {
                let storable = types.layout(ty).is_some();
                let same = self.ty(accept) == ty && self.ty(reject) == ty;
                storable && same && self.ty(condition) == Type::BOOL
            }
            Op::Convert(operand) => {
                let to = self.components(ty).map(|(to, _)| to);
                to.is_some_and(|to| self.is_converted(self.ty(operand), to, ty))
            }
            Op::Bitcast(operand) => self.has_as_many_bits(operand, ty),
            Op::Construct(parts) => self.constructs(&self.body.value_lists[parts], ty),
            Op::Splat(part) => self.is_repeated(part, ty),
            Op::Extract { from, index } => self.part(self.ty(from), index) == Some(ty),
            Op::Load(place) => self.body.places[place].ty == ty,
            Op::Native { native, args } => self.native(native, args, ty),
            Op::Call { function, args } => self.call(function, args, ty),
            Op::Atomic { op, place, value, expected } => {
                self.atomic(op, place, value, expected, ty)
            }
            Op::LaunchIndex(dim) => dim < 4 && ty == Type::I32,
            Op::View { array, selectors } => {
                self.view(array, &self.body.selector_lists[selectors], ty)
            }
            Op::AsArray(place) => self.as_array(place, ty),
            Op::Extent { array, dim } => match types[self.ty(array)] {
                Shape::Array { dims, .. } => dim < dims && ty == Type::I32,
                _ => false,
            },
            Op::Present(array) => self.is_array(array) && ty == Type::BOOL,
            Op::Gradient(array) => self.is_array(array) && ty == self.ty(array),
            Op::Lowest(value) | Op::Opaque(value) => self.ty(value) == Type::U32 && ty == Type::U32,
        }
    }

    fn takes_unary(&self, op: UnaryOp, ty: Type) -> bool {
        self.components(ty).is_some_and(|(of, _)| match op {
            UnaryOp::Negate => of != Scalar::Bool,
            UnaryOp::Not => !of.is_float(),
        })
    }

    /// Returns true if a comparison takes operands of a value's type: `bool` has no order.
    fn compares(&self, op: CompareOp, operand: Value) -> bool {
        let ordered = !matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        self.scalar(operand).is_some_and(|of| !(ordered && of == Scalar::Bool))
    }

    fn has_as_many_bits(&self, operand: Value, ty: Type) -> bool {
        match (self.scalar(operand), ty.as_scalar()) {
            (Some(Scalar::Bool), _) | (_, Some(Scalar::Bool)) => false,
            (Some(from), Some(to)) => from.bytes() == to.bytes(),
            _ => false,
        }
    }

    /// Returns true if `part` can be every part of a value of type `ty`.
    fn is_repeated(&self, part: Value, ty: Type) -> bool {
        match self.module.types[ty] {
            Shape::Fixed { of, .. } => self.ty(part) == of,
            Shape::Scalar(_) => false,
            _ => {
                let of = self.components(ty).map(|(of, _)| Type::scalar(of));
                of == Some(self.ty(part))
            }
        }
    }

    fn native(&self, native: Native, args: List<Value>, ty: Type) -> bool {
        let row = native.row();
        let args = &self.body.value_lists[args];
        let of = args.first().and_then(|&arg| self.scalar(arg));
        args.len() == usize::from(row.arity)
            && of.is_some_and(|of| row.domain.contains(of) && ty == Type::scalar(native.result(of)))
            && args.iter().all(|&arg| self.scalar(arg) == of)
    }

    fn is_array(&self, value: Value) -> bool {
        matches!(self.module.types[self.ty(value)], Shape::Array { .. })
    }

    /// Returns true if `ty` is `from` with the scalar type `to`.
    fn is_converted(&self, from: Type, to: Scalar, ty: Type) -> bool {
        match (&self.module.types[from], &self.module.types[ty]) {
            (Shape::Scalar(_), Shape::Scalar(of)) => *of == to,
            (Shape::Vector { len: a, .. }, Shape::Vector { len: b, .. }) => a == b,
            (Shape::Matrix { rows: a, cols: b, .. }, Shape::Matrix { rows: c, cols: d, .. }) => {
                (a, b) == (c, d)
            }
            (Shape::Quaternion(_), Shape::Quaternion(_))
            | (Shape::Transform(_), Shape::Transform(_)) => true,
            _ => false,
        }
    }

    fn constructs(&self, parts: &[Value], ty: Type) -> bool {
        let types = &self.module.types;
        let all = |of: Type, count: u64| {
            parts.len() as u64 == count && parts.iter().all(|&part| self.ty(part) == of)
        };
        match &types[ty] {
            Shape::Scalar(_) | Shape::Array { .. } | Shape::Invalid => false,
            Shape::Struct(id) => {
                let fields = &types.structure(*id).fields;
                fields.len() == parts.len()
                    && fields.iter().zip(parts).all(|(field, &part)| field.ty == self.ty(part))
            }
            Shape::Fixed { of, len } => all(*of, u64::from(*len)),
            Shape::Tuple(of) => {
                of.len() == parts.len()
                    && of.iter().zip(parts).all(|(&of, &part)| of == self.ty(part))
            }
            _ => self
                .components(ty)
                .is_some_and(|(of, count)| all(Type::scalar(of), u64::from(count))),
        }
    }

    fn part(&self, from: Type, index: u32) -> Option<Type> {
        let types = &self.module.types;
        match &types[from] {
            Shape::Scalar(_) => None,
            Shape::Struct(id) => Some(types.structure(*id).fields.get(index as usize)?.ty),
            Shape::Tuple(of) => of.get(index as usize).copied(),
            Shape::Fixed { of, len } => (index < *len).then_some(*of),
            _ => {
                let (of, count) = self.components(from)?;
                (index < count).then_some(Type::scalar(of))
            }
        }
    }

    fn call(&mut self, function: FunctionId, args: List<Arg>, ty: Type) -> bool {
        let Some(callee) = self.module.functions.get(function) else {
            return self.fault(Code::IrHandle, "a function that doesn't exist");
        };
        let (args, name) = (&self.body.arg_lists[args], &callee.name);
        if callee.kind == FunctionKind::Kernel {
            return self.fault(Code::IrCall, format!("kernel `{name}` is called"));
        }
        if callee.params.len() != args.len() {
            let (wanted, found) = (callee.params.len(), args.len());
            return self
                .fault(Code::IrCall, format!("`{name}` takes {wanted} arguments, found {found}"));
        }
        let fit =
            args.iter().zip(&callee.params).all(|(&arg, param)| self.argument(arg, param, name));
        fit && self.apart(args, &callee.params) && callee.result == ty
    }

    fn argument(&mut self, arg: Arg, param: &Param, callee: &str) -> bool {
        let (found, right) = match (arg, param.mode) {
            (Arg::Value(value), PassMode::Value) => (self.ty(value), true),
            (Arg::Place(place), PassMode::Shared) => (self.body.places[place].ty, true),
            (Arg::Place(place), PassMode::Mutable) => {
                (self.body.places[place].ty, self.writable(place))
            }
            (Arg::Value(_), _) | (Arg::Place(_), PassMode::Value) => {
                let param = &param.name;
                return self.fault(
                    Code::IrCall,
                    format!("`{param}` of `{callee}` is passed in the wrong mode"),
                );
            }
        };
        if found == param.ty {
            return right;
        }
        let (found, wanted, param) = (self.show(found), self.show(param.ty), &param.name);
        self.fault(
            Code::IrCall,
            format!("`{param}` of `{callee}` is a `{wanted}`, found `{found}`"),
        )
    }

    /// Checks rule 12: `Mutable` places overlap no other place of their call.
    fn apart(&mut self, args: &[Arg], params: &[Param]) -> bool {
        let places = args.iter().zip(params).filter_map(|(arg, param)| match arg {
            Arg::Place(place) => Some((*place, param.mode)),
            Arg::Value(_) => None,
        });
        let places: Vec<(PlaceId, PassMode)> = places.collect();
        for (position, &(one, mode)) in places.iter().enumerate() {
            for &(other, other_mode) in &places[position + 1..] {
                let written = mode == PassMode::Mutable || other_mode == PassMode::Mutable;
                if written && self.overlap(one, other) {
                    return self.fault(
                        Code::IrAlias,
                        "a place is passed twice to one call, once to write",
                    );
                }
            }
        }
        true
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        place: PlaceId,
        value: Value,
        expected: Option<Value>,
        ty: Type,
    ) -> bool {
        if !self.is_memory(place) {
            return self.fault(Code::IrPlace, "an atomic operation outside array memory");
        }
        let compares = op == AtomicOp::CompareExchange;
        let of = self.components(ty);
        let taken = of.is_some_and(|(of, count)| match op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => of.is_int(),
            AtomicOp::CompareExchange => count == 1,
            AtomicOp::Exchange => true,
            _ => of != Scalar::Bool,
        });
        let place = self.body.places[place].ty;
        taken
            && place == ty
            && self.ty(value) == ty
            && compares == expected.is_some()
            && expected.is_none_or(|expected| self.ty(expected) == ty)
    }

    fn view(&self, array: Value, selectors: &[Selector], ty: Type) -> bool {
        let (Shape::Array { of, dims }, Shape::Array { of: kept, dims: left }) =
            (&self.module.types[self.ty(array)], &self.module.types[ty])
        else {
            return false;
        };
        let gone = selectors.iter().filter(|s| matches!(s, Selector::At(_))).count();
        let indices = selectors.iter().all(|selector| match *selector {
            Selector::At(index) => self.scalar(index).is_some_and(Scalar::is_int),
            Selector::Range { start, len, step } => {
                [start, len, step].into_iter().all(|value| self.ty(value) == Type::I32)
            }
        });
        of == kept
            && selectors.len() <= usize::from(*dims)
            && usize::from(*dims) == usize::from(*left) + gone
            && indices
    }

    fn as_array(&mut self, place: PlaceId, ty: Type) -> bool {
        if !self.writable(place) {
            return false;
        }
        let Shape::Array { of, dims } = self.module.types[ty] else { return false };
        let mut inner = self.body.places[place].ty;
        for _ in 0..dims {
            match self.module.types[inner] {
                Shape::Fixed { of, .. } => inner = of,
                _ => return false,
            }
        }
        inner == of
    }
}

fn name(op: &Op) -> &'static str {
    match op {
        Op::Literal(_) => "literal",
        Op::Zero => "zero",
        Op::Index => "index",
        Op::Unary(op, _) => op.name(),
        Op::Binary(op, ..) => op.name(),
        Op::Compare(op, ..) => op.name(),
        Op::Select { .. } => "select",
        Op::Convert(_) => "convert",
        Op::Bitcast(_) => "bits",
        Op::Construct(_) => "construct",
        Op::Splat(_) => "splat",
        Op::Extract { .. } => "extract",
        Op::Load(_) => "load",
        Op::Native { native, .. } => native.row().name,
        Op::Call { .. } => "call",
        Op::Atomic { op, .. } => op.name(),
        Op::LaunchIndex(_) => "launch",
        Op::View { .. } => "view",
        Op::AsArray(_) => "array",
        Op::Extent { .. } => "extent",
        Op::Present(_) => "present",
        Op::Gradient(_) => "gradient",
        Op::Lowest(_) => "lowest",
        Op::Opaque(_) => "opaque",
    }
}
