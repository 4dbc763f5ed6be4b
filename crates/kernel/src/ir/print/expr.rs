//! Prints operations, places and operands.

use super::Printer;
use crate::ir::arena::List;
use crate::ir::function::Name;
use crate::ir::op::{Arg, Op, Selector, Value};
use crate::ir::place::{PlaceId, Projection, Root};
use crate::ir::ty::Shape;
use std::fmt::Write as _;

impl Printer<'_> {
    pub(super) fn value(&self, value: Value) -> String {
        match self.body.values.get(value).map(|data| data.op) {
            Some(Op::Literal(literal)) => literal.to_string(),
            _ => self.names.value(value).to_string(),
        }
    }

    pub(super) fn values(&self, values: List<Value>) -> String {
        let values = self.body.value_lists.get(values).unwrap_or_default();
        join(values.iter().map(|&value| self.value(value)))
    }

    pub(super) fn text_of(&self, name: Name) -> &str {
        if self.module.has_name(name) { self.module.text(name) } else { "" }
    }

    pub(super) fn op(&self, value: Value, op: &Op) -> String {
        let ty = self.module.types.display(self.body.type_of(value));
        match *op {
            Op::Literal(literal) => literal.to_string(),
            Op::Zero => format!("zero {ty}"),
            Op::Index => "index".into(),
            Op::Unary(op, operand) => format!("{} {}", op.name(), self.value(operand)),
            Op::Binary(op, left, right) => {
                format!("{} {}, {}", op.name(), self.value(left), self.value(right))
            }
            Op::Compare(op, left, right) => {
                format!("{} {}, {}", op.name(), self.value(left), self.value(right))
            }
            Op::Select { condition, accept, reject } => {
                format!("select {}", join([condition, accept, reject].map(|v| self.value(v))))
            }
            Op::Convert(operand) => format!("{ty} {}", self.value(operand)),
            Op::Bitcast(operand) => format!("bits {ty} {}", self.value(operand)),
            Op::Construct(parts) => format!("{ty} {{ {} }}", self.values(parts)),
            Op::Splat(part) => format!("splat {ty} {}", self.value(part)),
            Op::Extract { from, index } => {
                format!("{}.{}", self.value(from), self.part(from, index))
            }
            Op::Load(place) => format!("load {}", self.place(place)),
            Op::Native { native, args } => format!("{} {}", native.row().name, self.values(args)),
            Op::Call { function, args } => {
                let name = self.module.functions.get(function).map_or("undefined", |f| &f.name);
                let args = self.body.arg_lists.get(args).unwrap_or_default();
                format!("{name}({})", join(args.iter().map(|&arg| self.arg(arg))))
            }
            Op::Atomic { op, place, value, expected } => {
                let expected = expected.map(|value| self.value(value) + " -> ").unwrap_or_default();
                format!(
                    "atomic {} {}, {expected}{}",
                    op.name(),
                    self.place(place),
                    self.value(value)
                )
            }
            Op::LaunchIndex(dim) => format!("launch {dim}"),
            Op::View { array, selectors } => {
                let selectors = self.body.selector_lists.get(selectors).unwrap_or_default();
                let selectors = join(selectors.iter().map(|&selector| self.selector(selector)));
                format!("view {}[{selectors}]", self.value(array))
            }
            Op::AsArray(place) => format!("array {}", self.place(place)),
            Op::Extent { array, dim } => format!("extent {}, {dim}", self.value(array)),
            Op::Present(array) => format!("present {}", self.value(array)),
            Op::Gradient(array) => format!("gradient {}", self.value(array)),
        }
    }

    pub(super) fn place(&self, place: PlaceId) -> String {
        let Some(data) = self.body.places.get(place) else { return "undefined".into() };
        let mut ty = None;
        let mut text = match data.root {
            Root::Local(local) => {
                ty = self.body.locals.get(local).map(|local| local.ty);
                self.names.local(local).to_string()
            }
            Root::Param(position) => match self.function.params.get(position as usize) {
                Some(param) => {
                    ty = Some(param.ty);
                    param.name.clone()
                }
                None => "undefined".into(),
            },
            Root::Table(table) => match self.module.tables.get(table) {
                Some(table) => {
                    ty = Some(table.ty);
                    table.name.clone()
                }
                None => "undefined".into(),
            },
            Root::Array(value) => {
                ty = self.body.values.get(value).map(|data| data.ty);
                self.value(value)
            }
        };
        for projection in self.body.paths.get(data.path).unwrap_or_default() {
            let shape = ty.map(|ty| &self.module.types[ty]);
            ty = match (*projection, shape) {
                (Projection::Field(field), Some(Shape::Struct(id))) => {
                    let field = self.module.types.structure(*id).fields.get(field as usize);
                    _ = write!(text, ".{}", field.map_or("undefined", |field| &field.name));
                    field.map(|field| field.ty)
                }
                (Projection::Field(field), _) => {
                    text.push_str(if field == 0 { ".p" } else { ".q" });
                    None
                }
                (Projection::Component(index), _) => {
                    _ = write!(text, ".{index}");
                    None
                }
                (Projection::At(index), shape) => {
                    _ = write!(text, "[{}]", self.value(index));
                    shape.and_then(|shape| match shape {
                        Shape::Fixed { of, .. } => Some(*of),
                        _ => None,
                    })
                }
                (Projection::Element(indices), shape) => {
                    _ = write!(text, "[{}]", self.values(indices));
                    shape.and_then(|shape| match shape {
                        Shape::Array { of, .. } => Some(*of),
                        _ => None,
                    })
                }
            };
        }
        text
    }

    fn part(&self, from: Value, index: u32) -> String {
        let types = &self.module.types;
        if let Shape::Struct(id) = types[self.body.type_of(from)] {
            let field = types.structure(id).fields.get(index as usize);
            return field.map_or("undefined", |field| &field.name).to_string();
        }
        index.to_string()
    }

    fn arg(&self, arg: Arg) -> String {
        match arg {
            Arg::Value(value) => self.value(value),
            Arg::Place(place) => format!("&{}", self.place(place)),
        }
    }

    fn selector(&self, selector: Selector) -> String {
        match selector {
            Selector::At(index) => self.value(index),
            Selector::Range { start, len, step } => {
                format!("{} by {} x {}", self.value(start), self.value(step), self.value(len))
            }
        }
    }
}

fn join(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}
