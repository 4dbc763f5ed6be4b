//! Methods of the builder that add an operation and give its value.

use super::Builder;
use crate::builtin::{self, BuiltinId, Definition, Instance, Native};
use crate::constant::Literal;
use crate::function::{FunctionId, Param, PassMode};
use crate::op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, UnaryOp, Value};
use crate::place::PlaceId;
use crate::ty::{Scalar, Shape, Type};

impl Builder<'_> {
    /// A scalar constant.
    pub fn literal(&mut self, literal: Literal) -> Value {
        self.emit(Op::Literal(literal), Type::scalar(literal.scalar()))
    }

    /// An `i32` constant.
    pub fn i32(&mut self, value: i32) -> Value {
        self.literal(Literal::int(Scalar::I32, i128::from(value)))
    }

    /// An `f32` constant.
    pub fn f32(&mut self, value: f32) -> Value {
        self.literal(Literal::from_bits(Scalar::F32, u64::from(value.to_bits())))
    }

    /// A `bool` constant.
    pub fn bool(&mut self, value: bool) -> Value {
        self.literal(Literal::bool(value))
    }

    /// A number as a scalar type; invalid if the type is not a scalar.
    pub fn number(&mut self, ty: Type, value: f64) -> Value {
        match ty.as_scalar() {
            Some(scalar) => self.literal(Literal::float(scalar, value)),
            None => self.emit(Op::Zero, Type::INVALID),
        }
    }

    /// Zero of any storable type.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.emit(Op::Zero, ty)
    }

    /// Applies an operator to a scalar, or to each component.
    pub fn unary(&mut self, op: UnaryOp, value: Value) -> Value {
        let ty = self.body.type_of(value);
        self.emit(Op::Unary(op, value), ty)
    }

    /// Applies an operator to two scalars of one type, or component by component.
    pub fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        let ty = self.body.type_of(left);
        self.emit(Op::Binary(op, left, right), ty)
    }

    /// Compares two scalars of one type.
    pub fn compare(&mut self, op: CompareOp, left: Value, right: Value) -> Value {
        self.emit(Op::Compare(op, left, right), Type::BOOL)
    }

    /// Chooses one of two values of one type.
    pub fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        let ty = self.body.type_of(accept);
        self.emit(Op::Select { condition, accept, reject }, ty)
    }

    /// Converts to another scalar type, component by component. A value that has the type already
    /// is returned unchanged.
    pub fn convert(&mut self, value: Value, to: Scalar) -> Value {
        let from = self.body.type_of(value);
        let ty = self.module.types.with_scalar(from, to).unwrap_or(Type::INVALID);
        if ty == from { value } else { self.emit(Op::Convert(value), ty) }
    }

    /// Reads the bits of a value as another scalar type.
    pub fn bitcast(&mut self, value: Value, to: Scalar) -> Value {
        self.emit(Op::Bitcast(value), Type::scalar(to))
    }

    /// A composite from all its parts: components (row-major), fields, elements.
    pub fn construct(&mut self, ty: Type, parts: &[Value]) -> Value {
        let parts = self.body.value_lists.add(parts.iter().copied());
        self.emit(Op::Construct(parts), ty)
    }

    /// Several results as one value.
    pub fn tuple(&mut self, parts: &[Value]) -> Value {
        let types: Vec<Type> = parts.iter().map(|&part| self.body.type_of(part)).collect();
        let ty = self.module.types.tuple(&types);
        self.construct(ty, parts)
    }

    /// A composite with the same scalar or element everywhere.
    pub fn splat(&mut self, ty: Type, part: Value) -> Value {
        self.emit(Op::Splat(part), ty)
    }

    /// A part by its position.
    pub fn extract(&mut self, from: Value, index: u32) -> Value {
        let types = &self.module.types;
        let ty = match &types[self.body.type_of(from)] {
            Shape::Scalar(_) => None,
            Shape::Struct(id) => types.structure(*id).fields.get(index as usize).map(|f| f.ty),
            Shape::Tuple(of) => of.get(index as usize).copied(),
            Shape::Fixed { of, .. } => Some(*of),
            _ => types.components(self.body.type_of(from)).map(|(of, _)| Type::scalar(of)),
        };
        self.emit(Op::Extract { from, index }, ty.unwrap_or(Type::INVALID))
    }

    /// Reads the value that a place holds now.
    pub fn load(&mut self, place: PlaceId) -> Value {
        let ty = self.place_type(place);
        self.emit(Op::Load(place), ty)
    }

    /// The value of a parameter.
    pub fn arg(&mut self, position: u32) -> Value {
        let place = self.param_place(position);
        self.load(place)
    }

    /// A native builtin on scalars of one type.
    pub fn native(&mut self, native: Native, args: &[Value]) -> Value {
        let of = args.first().and_then(|&arg| self.body.type_of(arg).as_scalar());
        let ty = of.map_or(Type::INVALID, |of| Type::scalar(native.result(of)));
        let args = self.body.value_lists.add(args.iter().copied());
        self.emit(Op::Native { native, args }, ty)
    }

    /// Adds a builtin by its row: a native operation, or a call of a function made for these types.
    /// Returns `None` and adds nothing if no signature takes the arguments.
    pub fn builtin(&mut self, row: BuiltinId, args: &[Arg]) -> Option<Value> {
        let types: Vec<Type> = args.iter().map(|&arg| self.arg_type(arg)).collect();
        let (signature, result) = builtin::resolve(row, &types, &mut self.module.types)?;
        let instance = Instance { builtin: row, signature };
        let definition = &builtin::row(row).signatures[signature as usize];
        for (arg, pattern) in args.iter().zip(definition.params) {
            if matches!(arg, Arg::Place(_)) != pattern.is_reference() {
                return None;
            }
        }
        match definition.definition {
            Definition::Native(native) => {
                let values = args.iter().filter_map(|arg| match arg {
                    Arg::Value(value) => Some(*value),
                    Arg::Place(_) => None,
                });
                let values = self.body.value_lists.add(values);
                Some(self.emit(Op::Native { native, args: values }, result))
            }
            Definition::Body(body) => {
                let key = (instance, types.into_boxed_slice());
                let function = match self.module.instance(&key) {
                    Some(function) => function,
                    None => self.instantiate(key, result, body),
                };
                Some(self.call(function, args))
            }
        }
    }

    /// Adds a builtin by its name, on values only; the result is invalid if no signature fits.
    pub fn named(&mut self, name: &str, args: &[Value]) -> Value {
        let args: Vec<Arg> = args.iter().map(|&arg| Arg::Value(arg)).collect();
        let value = builtin::find(name).and_then(|row| self.builtin(row, &args));
        value.unwrap_or_else(|| self.emit(Op::Zero, Type::INVALID))
    }

    /// A call. Its value is of the type of the callee's result, the unit type if it has none.
    pub fn call(&mut self, function: FunctionId, args: &[Arg]) -> Value {
        let ty = self.module.functions[function].result;
        let args = self.body.arg_lists.add(args.iter().copied());
        self.emit(Op::Call { function, args }, ty)
    }

    /// An atomic operation on array memory; returns the old value.
    pub fn atomic(&mut self, op: AtomicOp, place: PlaceId, value: Value) -> Value {
        let ty = self.place_type(place);
        self.emit(Op::Atomic { op, place, value, expected: None }, ty)
    }

    /// Compares and exchanges an element of array memory; returns the old value.
    pub fn compare_exchange(&mut self, place: PlaceId, expected: Value, value: Value) -> Value {
        let (op, ty) = (AtomicOp::CompareExchange, self.place_type(place));
        self.emit(Op::Atomic { op, place, value, expected: Some(expected) }, ty)
    }

    /// This thread's coordinate in a dimension of the launch grid.
    pub fn launch_index(&mut self, dim: u8) -> Value {
        self.emit(Op::LaunchIndex(dim), Type::I32)
    }

    /// Part of an array: one selector for each leading dimension.
    pub fn view(&mut self, array: Value, selectors: &[Selector]) -> Value {
        let taken = selectors.iter().filter(|s| matches!(s, Selector::At(_))).count();
        let ty = match self.module.types[self.body.type_of(array)] {
            Shape::Array { of, dims } if usize::from(dims) > taken => {
                self.module.types.array(of, dims - taken as u8)
            }
            _ => Type::INVALID,
        };
        let selectors = self.body.selector_lists.add(selectors.iter().copied());
        self.emit(Op::View { array, selectors }, ty)
    }

    /// An array handle to a fixed array; the outermost `dims` levels become dimensions.
    pub fn as_array(&mut self, place: PlaceId, dims: u8) -> Value {
        let mut element = Some(self.place_type(place));
        for _ in 0..dims {
            element = element.and_then(|ty| match self.module.types[ty] {
                Shape::Fixed { of, .. } => Some(of),
                _ => None,
            });
        }
        let ty = match element {
            Some(of) if (1..=4).contains(&dims) => self.module.types.array(of, dims),
            _ => Type::INVALID,
        };
        self.emit(Op::AsArray(place), ty)
    }

    /// Elements of an array in one dimension.
    pub fn extent(&mut self, array: Value, dim: u8) -> Value {
        self.emit(Op::Extent { array, dim }, Type::I32)
    }

    /// Asks whether an array has memory.
    pub fn present(&mut self, array: Value) -> Value {
        self.emit(Op::Present(array), Type::BOOL)
    }

    /// The array of gradients beside an array.
    pub fn gradient(&mut self, array: Value) -> Value {
        let ty = self.body.type_of(array);
        self.emit(Op::Gradient(array), ty)
    }

    /// The minimum of a `u32` over the lanes that execute this together (`Lowest`).
    pub fn lowest(&mut self, key: Value) -> Value {
        self.emit(Op::Lowest(key), Type::U32)
    }

    /// A `u32` of which compilers of printed text assume nothing (`Opaque`).
    pub fn opaque(&mut self, value: Value) -> Value {
        self.emit(Op::Opaque(value), Type::U32)
    }

    /// Adds an operation of a given type and its `Let`.
    pub fn emit(&mut self, op: Op, ty: Type) -> Value {
        let value = self.define(op, ty);
        self.push_let(value);
        value
    }

    fn instantiate(
        &mut self,
        key: (Instance, Box<[Type]>),
        result: Type,
        body: builtin::BodyFn,
    ) -> FunctionId {
        let row = builtin::row(key.0.builtin);
        let signature = &row.signatures[key.0.signature as usize];
        let params = key.1.iter().zip(signature.params).enumerate().map(|(at, (&ty, pattern))| {
            let mode = if pattern.is_reference() { PassMode::Mutable } else { PassMode::Value };
            let name = signature.names.get(at).copied().unwrap_or("x");
            Param { mode, ..Param::value(name, ty) }
        });
        let function = self.module.declare(row.name, params.collect(), result);
        let mut builder = Builder::new(self.module, function);
        let value = body(&mut builder);
        if !builder.diverged() {
            builder.ret(value);
        }
        builder.finish();
        self.module.add_instance(key, function);
        function
    }
}
