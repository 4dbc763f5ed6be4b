//! Prints operations, places and operands directly into the text, because modules have many.

use super::name::ValueName;
use super::{Printer, levels};
use crate::arena::List;
use crate::function::{FunctionId, Name};
use crate::op::{Arg, AtomicOp, Op, Selector, Value};
use crate::place::{PlaceId, Projection, Root};
use crate::ty::{Shape, Type};

impl Printer<'_> {
    pub(super) fn value(&mut self, value: Value) {
        if let Some(Op::Literal(literal)) = self.body.values.get(value).map(|data| data.op) {
            _ = literal.put(&mut self.text);
            return;
        }
        match self.names.value(value) {
            ValueName::Undefined => self.text.push_str("undefined"),
            &ValueName::Number(number) => {
                self.text.push('%');
                self.number(number);
            }
            ValueName::Text(name) => self.text.push_str(name),
        }
    }

    pub(super) fn values(&mut self, values: List<Value>) {
        self.list(self.body.value_lists.get(values).unwrap_or_default());
    }

    pub(super) fn list(&mut self, values: &[Value]) {
        self.join(values, Self::value);
    }

    pub(super) fn text_of(&self, name: Name) -> &str {
        if self.module.has_name(name) { self.module.text(name) } else { "" }
    }

    /// Prints parts with commas between them.
    fn join<T: Copy>(&mut self, parts: &[T], mut put: impl FnMut(&mut Self, T)) {
        for (position, &part) in parts.iter().enumerate() {
            if position > 0 {
                self.text.push_str(", ");
            }
            put(self, part);
        }
    }

    /// Prints a word and the values after it.
    fn word(&mut self, word: &str, values: &[Value]) {
        self.text.push_str(word);
        self.text.push(' ');
        self.list(values);
    }

    pub(super) fn ty(&mut self, ty: Type) {
        _ = self.module.types.display(ty).put(&mut self.text);
    }

    fn number(&mut self, number: u32) {
        self.text.push_str(itoa::Buffer::new().format(number));
    }

    pub(super) fn op(&mut self, value: Value, op: &Op) {
        let body = self.body;
        let ty = body.type_of(value);
        match *op {
            Op::Literal(literal) => _ = literal.put(&mut self.text),
            Op::Zero => self.typed("zero ", ty, &[]),
            Op::Index => self.text.push_str("index"),
            Op::Unary(op, operand) => self.word(op.name(), &[operand]),
            Op::Binary(op, left, right) => self.word(op.name(), &[left, right]),
            Op::Compare(op, left, right) => self.word(op.name(), &[left, right]),
            Op::Select { condition, accept, reject } => {
                self.word("select", &[condition, accept, reject]);
            }
            Op::Convert(operand) => self.typed("", ty, &[operand]),
            Op::Bitcast(operand) => self.typed("bits ", ty, &[operand]),
            Op::Construct(parts) => {
                self.ty(ty);
                self.text.push_str(" { ");
                self.values(parts);
                self.text.push_str(" }");
            }
            Op::Splat(part) => self.typed("splat ", ty, &[part]),
            Op::Extract { from, index } => {
                self.value(from);
                self.text.push('.');
                self.part(from, index);
            }
            Op::Load(place) => {
                self.text.push_str("load ");
                self.place(place);
            }
            Op::Native { native, args } => {
                self.word(native.row().name, &[]);
                self.values(args);
            }
            Op::Call { function, args } => self.call(function, args),
            Op::Atomic { op, place, value, expected } => self.atomic(op, place, value, expected),
            Op::LaunchIndex(dim) => {
                self.text.push_str("launch ");
                self.number(u32::from(dim));
            }
            Op::View { array, selectors } => {
                self.word("view", &[array]);
                self.text.push('[');
                let selectors = body.selector_lists.get(selectors).unwrap_or_default();
                self.join(selectors, Self::selector);
                self.text.push(']');
            }
            Op::AsArray(place) => self.as_array(place, ty),
            Op::Extent { array, dim } => {
                self.word("extent", &[array]);
                self.text.push_str(", ");
                self.number(u32::from(dim));
            }
            Op::Present(array) => self.word("present", &[array]),
            Op::Gradient(array) => self.word("gradient", &[array]),
            Op::Lowest(key) => self.word("lowest", &[key]),
            Op::Opaque(value) => self.word("opaque", &[value]),
        }
    }

    /// Prints a word, a type, and the values, if there are any.
    fn typed(&mut self, word: &str, ty: Type, values: &[Value]) {
        self.text.push_str(word);
        self.ty(ty);
        if !values.is_empty() {
            self.word("", values);
        }
    }

    fn call(&mut self, function: FunctionId, args: List<Arg>) {
        self.text.push_str(self.functions.of(function));
        self.text.push('(');
        self.join(self.body.arg_lists.get(args).unwrap_or_default(), Self::arg);
        self.text.push(')');
    }

    fn atomic(&mut self, op: AtomicOp, place: PlaceId, value: Value, expected: Option<Value>) {
        self.text.push_str("atomic ");
        self.text.push_str(op.name());
        self.text.push(' ');
        self.place(place);
        self.text.push_str(", ");
        if let Some(expected) = expected {
            self.value(expected);
            self.text.push_str(" -> ");
        }
        self.value(value);
    }

    /// Prints `array PLACE`, with the number of dimensions if it differs from the place's own.
    fn as_array(&mut self, place: PlaceId, ty: Type) {
        let types = &self.module.types;
        self.text.push_str("array ");
        self.place(place);
        let from = self.body.places.get(place).map_or(Type::INVALID, |place| place.ty);
        if let Shape::Array { dims, .. } = types[ty]
            && dims != levels(types, from)
        {
            self.text.push_str(", ");
            self.number(u32::from(dims));
        }
    }

    pub(super) fn place(&mut self, place: PlaceId) {
        let Some(data) = self.body.places.get(place) else {
            self.text.push_str("undefined");
            return;
        };
        let mut ty = self.root(data.root);
        for projection in self.body.paths.get(data.path).unwrap_or_default() {
            ty = self.projection(*projection, ty);
        }
    }

    /// Prints the root of a place; returns its type, unless the root is undefined.
    fn root(&mut self, root: Root) -> Option<Type> {
        let (body, module, function) = (self.body, self.module, self.function);
        match root {
            Root::Local(local) => {
                self.text.push_str(self.names.local(local));
                body.locals.get(local).map(|local| local.ty)
            }
            Root::Param(position) => {
                self.text.push_str(self.names.param(position));
                function.params.get(position as usize).map(|param| param.ty)
            }
            Root::Table(table) => {
                let table = module.tables.get(table);
                self.text.push_str(table.map_or("undefined", |table| &table.name));
                table.map(|table| table.ty)
            }
            Root::Array(value) => {
                self.value(value);
                body.values.get(value).map(|data| data.ty)
            }
        }
    }

    /// Prints a step into a place of a type; returns the type of the part, unless the step is
    /// undefined.
    fn projection(&mut self, projection: Projection, ty: Option<Type>) -> Option<Type> {
        let types = &self.module.types;
        let shape = ty.map(|ty| &types[ty]);
        match (projection, shape) {
            (Projection::Field(field), Some(Shape::Struct(id))) => {
                let field = types.structure(*id).fields.get(field as usize);
                self.text.push('.');
                self.text.push_str(field.map_or("undefined", |field| &field.name));
                field.map(|field| field.ty)
            }
            (Projection::Field(field), _) => {
                self.text.push_str(if field == 0 { ".p" } else { ".q" });
                None
            }
            (Projection::Component(index), _) => {
                self.text.push('.');
                self.number(index);
                None
            }
            (Projection::At(index), shape) => {
                self.text.push('[');
                self.value(index);
                self.text.push(']');
                shape.and_then(|shape| match shape {
                    Shape::Fixed { of, .. } => Some(*of),
                    _ => None,
                })
            }
            (Projection::Element(indices), shape) => {
                self.text.push('[');
                self.values(indices);
                self.text.push(']');
                shape.and_then(|shape| match shape {
                    Shape::Array { of, .. } => Some(*of),
                    _ => None,
                })
            }
        }
    }

    fn part(&mut self, from: Value, index: u32) {
        let types = &self.module.types;
        if let Shape::Struct(id) = types[self.body.type_of(from)] {
            let field = types.structure(id).fields.get(index as usize);
            self.text.push_str(field.map_or("undefined", |field| &field.name));
        } else {
            self.number(index);
        }
    }

    fn arg(&mut self, arg: Arg) {
        match arg {
            Arg::Value(value) => self.value(value),
            Arg::Place(place) => {
                self.text.push('&');
                self.place(place);
            }
        }
    }

    fn selector(&mut self, selector: Selector) {
        match selector {
            Selector::At(index) => self.value(index),
            Selector::Range { start, len, step } => {
                self.value(start);
                self.text.push_str(" by ");
                self.value(step);
                self.text.push_str(" x ");
                self.value(len);
            }
        }
    }
}
