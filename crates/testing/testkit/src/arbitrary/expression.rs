//! Values of a wanted type.

use super::actual::number;
use super::function::Generator;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::function::{FunctionId, PassMode};
use gbxcule_ir::op::{Arg, BinaryOp, CompareOp, UnaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl Generator<'_, '_> {
    /// Returns a value of a type: one in scope or a new one with at most `depth` levels.
    pub(super) fn expression(&mut self, ty: Type, depth: u32) -> Value {
        let value = self.try_expression(ty, depth);
        self.scope.push(value);
        value
    }

    fn try_expression(&mut self, ty: Type, depth: u32) -> Value {
        if self.random.chance(30)
            && let Some(value) = self.visible(ty)
        {
            return value;
        }
        if self.random.chance(35)
            && let Some(place) = self.readable_place(ty)
        {
            return self.b.load(place);
        }
        if depth == 0 {
            return self.leaf(ty);
        }
        if self.random.chance(10)
            && let Some(value) = self.call_giving(ty, depth)
        {
            return value;
        }
        match self.b.module.types[ty] {
            Shape::Scalar(of) if self.smooth.is_some() => self.smooth_scalar(of, depth),
            Shape::Scalar(of) => self.scalar(of, depth),
            _ => self.composite(ty, depth),
        }
    }

    fn visible(&mut self, ty: Type) -> Option<Value> {
        let fitting: Vec<Value> =
            self.scope.iter().copied().filter(|&v| self.b.body().type_of(v) == ty).collect();
        self.random.find(&fitting).copied()
    }

    fn leaf(&mut self, ty: Type) -> Value {
        match ty.as_scalar() {
            Some(scalar) if self.smooth.is_some() => self.smooth_leaf(scalar),
            Some(scalar) => {
                let literal = number(self.random, scalar);
                self.b.literal(literal)
            }
            None => self.b.zero(ty),
        }
    }

    fn scalar(&mut self, of: Scalar, depth: u32) -> Value {
        let ty = Type::scalar(of);
        match self.random.below(10) {
            0 => self.leaf(ty),
            1 => self.unary(ty, of, depth),
            2 if of == Scalar::Bool => self.float_test(depth),
            2 => self.native(of, depth),
            3 => self.select(ty, depth),
            4 => self.convert_to(of, depth),
            5 => self.extract(ty, depth),
            _ if of == Scalar::Bool => self.comparison(depth),
            6 if of == Scalar::I32 => {
                let dim = self.random.below(4) as u8;
                self.b.launch_index(dim)
            }
            7 if !of.is_float() && of.bits() == 32 => {
                let other = if of == Scalar::I32 { Type::U32 } else { Type::I32 };
                let operand = self.expression(other, depth - 1);
                self.b.bitcast(operand, of)
            }
            _ => self.binary(ty, of, depth),
        }
    }

    fn composite(&mut self, ty: Type, depth: u32) -> Value {
        let components = self.b.module.types.components(ty);
        if components.is_some() && self.smooth.is_some() && self.random.chance(30) {
            return self.smooth_product(depth);
        }
        if let Some((of, _)) = components {
            match self.random.below(6) {
                0 => return self.unary(ty, of, depth),
                1 | 2 => return self.binary(ty, of, depth),
                3 => {
                    let part = self.expression(Type::scalar(of), depth - 1);
                    return self.b.splat(ty, part);
                }
                _ => {}
            }
        }
        if self.random.chance(20) {
            return self.select(ty, depth);
        }
        let parts: Vec<Type> = match self.b.module.types[ty].clone() {
            Shape::Struct(id) => {
                self.b.module.types.structure(id).fields.iter().map(|field| field.ty).collect()
            }
            Shape::Fixed { of, len } => vec![of; len as usize],
            _ => {
                components.map_or(Vec::new(), |(of, count)| vec![Type::scalar(of); count as usize])
            }
        };
        let parts: Vec<Value> =
            parts.into_iter().map(|part| self.expression(part, depth - 1)).collect();
        self.b.construct(ty, &parts)
    }

    fn unary(&mut self, ty: Type, of: Scalar, depth: u32) -> Value {
        let op = match of {
            Scalar::Bool => UnaryOp::Not,
            _ if of.is_float() || self.random.chance(50) => UnaryOp::Negate,
            _ => UnaryOp::Not,
        };
        let operand = self.expression(ty, depth - 1);
        self.b.unary(op, operand)
    }

    fn binary(&mut self, ty: Type, of: Scalar, depth: u32) -> Value {
        use BinaryOp::{Add, Divide, FloorDivide, Multiply, Remainder, Subtract};
        let op = if self.smooth.is_some() {
            self.random.pick(&[Add, Subtract, Multiply])
        } else if of.is_float() {
            self.random.pick(&[
                Add,
                Add,
                Subtract,
                Multiply,
                Multiply,
                Divide,
                FloorDivide,
                Remainder,
            ])
        } else {
            self.random.pick(BinaryOp::of(of))
        };
        let left = self.expression(ty, depth - 1);
        let mut right = self.expression(ty, depth - 1);
        if of.is_int() && matches!(op, Divide | FloorDivide | Remainder) {
            // The divisor gets its lowest bit set, so that it isn't 0.
            let one = self.b.number(Type::scalar(of), 1.0);
            let one = if ty == Type::scalar(of) { one } else { self.b.splat(ty, one) };
            right = self.b.or(right, one);
        }
        self.b.binary(op, left, right)
    }

    fn comparison(&mut self, depth: u32) -> Value {
        use CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let of = self.some_number();
        let op = self.random.pick(&[Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual]);
        let left = self.expression(of, depth - 1);
        let right = self.expression(of, depth - 1);
        self.b.compare(op, left, right)
    }

    /// Returns the type of some number of the palette.
    fn some_number(&mut self) -> Type {
        let numbers: Vec<Type> = self
            .palette
            .iter()
            .copied()
            .filter(|ty| ty.as_scalar().is_some_and(|of| of != Scalar::Bool))
            .collect();
        self.random.find(&numbers).copied().unwrap_or(Type::I32)
    }

    pub(super) fn select(&mut self, ty: Type, depth: u32) -> Value {
        let condition = self.expression(Type::BOOL, depth - 1);
        let accept = self.expression(ty, depth - 1);
        let reject = self.expression(ty, depth - 1);
        self.b.select(condition, accept, reject)
    }

    fn convert_to(&mut self, to: Scalar, depth: u32) -> Value {
        let from = self.some_number();
        let operand = self.expression(from, depth - 1);
        self.b.convert(operand, to)
    }

    pub(super) fn extract(&mut self, ty: Type, depth: u32) -> Value {
        let composites: Vec<Type> = self
            .palette
            .iter()
            .copied()
            .filter(|&composites| {
                let components = self.b.module.types.components(composites);
                composites != ty && components.is_some_and(|(of, _)| Type::scalar(of) == ty)
            })
            .collect();
        let Some(&composites) = self.random.find(&composites) else { return self.leaf(ty) };
        let Some((_, count)) = self.b.module.types.components(composites) else {
            return self.leaf(ty);
        };
        if count < 2 {
            return self.leaf(ty);
        }
        let from = self.expression(composites, depth - 1);
        let index = self.random.below(count);
        self.b.extract(from, index)
    }

    /// Returns a call of an exact native function that treats all NaNs alike.
    fn native(&mut self, of: Scalar, depth: u32) -> Value {
        use Native::{
            Abs, BitCount, Ceil, Floor, LeadingZeros, Max, Min, Rint, Round, Sqrt, TrailingZeros,
            Trunc,
        };
        let native = if of.is_float() {
            self.random.pick(&[Min, Max, Abs, Floor, Ceil, Trunc, Round, Rint, Sqrt])
        } else if of == Scalar::I32 {
            self.random.pick(&[Min, Max, Abs, BitCount, LeadingZeros, TrailingZeros])
        } else {
            self.random.pick(&[Min, Max, Abs])
        };
        let counts = matches!(native, BitCount | LeadingZeros | TrailingZeros);
        let operand = if counts { self.some_int() } else { Type::scalar(of) };
        let arity = native.row().arity;
        let args: Vec<Value> = (0..arity).map(|_| self.expression(operand, depth - 1)).collect();
        self.b.native(native, &args)
    }

    fn some_int(&mut self) -> Type {
        if self.smooth.is_some() {
            return Type::I32;
        }
        let ty = self.some_number();
        if ty.as_scalar().is_some_and(Scalar::is_int) { ty } else { Type::U32 }
    }

    fn float_test(&mut self, depth: u32) -> Value {
        let of = self.some_number();
        if !of.as_scalar().is_some_and(Scalar::is_float) {
            return self.comparison(depth);
        }
        let operand = self.expression(of, depth - 1);
        let test = self.random.pick(&[Native::IsNan, Native::IsInf, Native::IsFinite]);
        self.b.native(test, &[operand])
    }

    /// Returns a call whose result is of the type or contains it.
    fn call_giving(&mut self, ty: Type, depth: u32) -> Option<Value> {
        let gives = |function: &FunctionId| {
            let result = self.b.module.functions[*function].result;
            match &self.b.module.types[result] {
                Shape::Tuple(of) => of.contains(&ty),
                _ => result == ty,
            }
        };
        let fitting: Vec<FunctionId> = self.callees.iter().copied().filter(gives).collect();
        let callee = *self.random.find(&fitting)?;
        let result = self.call(callee, depth)?;
        let result_ty = self.b.body().type_of(result);
        match self.b.module.types[result_ty].clone() {
            Shape::Tuple(of) => {
                let index = of.iter().position(|&part| part == ty)?;
                Some(self.b.extract(result, index as u32))
            }
            _ => Some(result),
        }
    }

    /// Returns a call if there are variables for the parameters taken by reference.
    pub(super) fn call(&mut self, callee: FunctionId, depth: u32) -> Option<Value> {
        let params = self.b.module.functions[callee].params.clone();
        let mut taken: Vec<PlaceId> = Vec::new();
        for param in params.iter().filter(|param| param.mode != PassMode::Value) {
            let fits =
                |place: &PlaceId| self.b.place_type(*place) == param.ty && !taken.contains(place);
            let fitting: Vec<PlaceId> =
                self.variables.iter().copied().filter(|place| fits(place)).collect();
            taken.push(*self.random.find(&fitting)?);
        }
        let mut taken = taken.into_iter();
        let mut args = Vec::new();
        for param in &params {
            args.push(match param.mode {
                PassMode::Value => Arg::Value(self.expression(param.ty, depth.min(2) - 1)),
                PassMode::Shared | PassMode::Mutable => Arg::Place(taken.next()?),
            });
        }
        Some(self.b.call(callee, &args))
    }

    fn readable_place(&mut self, ty: Type) -> Option<PlaceId> {
        for _ in 0..4 {
            let place = *self.random.find(&self.readable)?;
            let place = self.part_of(place, Some(ty));
            if self.b.place_type(place) == ty {
                return Some(place);
            }
        }
        None
    }

    /// Returns a place or a part of it; stops at the first part of the wanted type.
    pub(super) fn part_of(&mut self, mut place: PlaceId, wanted: Option<Type>) -> PlaceId {
        for _ in 0..3 {
            let ty = self.b.place_type(place);
            if wanted == Some(ty) || (wanted.is_none() && self.random.chance(40)) {
                break;
            }
            let shape = self.b.module.types[ty].clone();
            place = match shape {
                Shape::Scalar(_) | Shape::Array { .. } | Shape::Tuple(_) | Shape::Invalid => break,
                Shape::Struct(id) => {
                    let count = self.b.module.types.structure(id).fields.len() as u32;
                    let field = self.random.below(count);
                    self.b.field(place, field)
                }
                Shape::Transform(_) if self.random.chance(50) => {
                    let field = self.random.below(2);
                    self.b.field(place, field)
                }
                Shape::Fixed { len, .. } => self.indexed(place, len),
                Shape::Matrix { rows, .. } if self.random.chance(50) => {
                    self.indexed(place, u32::from(rows))
                }
                _ => {
                    let count = self.b.module.types.components(ty).map_or(1, |(_, count)| count);
                    if self.random.chance(50) && !matches!(shape, Shape::Matrix { .. }) {
                        self.indexed(place, count)
                    } else {
                        let component = self.random.below(count);
                        self.b.component(place, component)
                    }
                }
            };
        }
        place
    }

    /// Returns `At` with an index that lies inside, counted from either end.
    fn indexed(&mut self, place: PlaceId, extent: u32) -> PlaceId {
        let index = if self.random.chance(50) {
            let index = self.random.below(2 * extent) as i32 - extent as i32;
            self.b.i32(index)
        } else {
            self.index_below(extent)
        };
        self.b.at(place, index)
    }

    /// Returns a number from `-extent + 1` to `extent - 1` that is known only at run time.
    pub(super) fn index_below(&mut self, extent: u32) -> Value {
        let of = self.some_int();
        let Some(scalar) = of.as_scalar() else { return self.b.i32(0) };
        let value = self.expression(of, 1);
        let bound = self.b.number(Type::scalar(scalar), f64::from(extent));
        self.b.binary(BinaryOp::Remainder, value, bound)
    }
}
