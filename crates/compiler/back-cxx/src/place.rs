//! Places as C++ lvalues.

use super::expr::{Expr, Level};
use super::interval::Interval;
use super::op::Expressions;
use gbxcule_ir::arena::{Handle, List};
use gbxcule_ir::function::PassMode;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl Expressions<'_, '_> {
    /// Returns true if a place lies behind an array handle.
    pub(super) fn is_behind_handle(&self, place: PlaceId) -> bool {
        self.body.path(place).iter().any(|step| matches!(step, Projection::Element(_)))
    }

    pub(super) fn place(&mut self, id: PlaceId) -> Expr {
        let place = self.body.places[id];
        let mut expr;
        let mut ty;
        let mut path = self.body.path(id);
        match place.root {
            Root::Array(_) | Root::Param(_) if self.items.is_plain() && self.is_element(id) => {
                (expr, ty) = self.raw_element(id);
                path = &path[1..];
            }
            Root::Local(local) => {
                let index = Handle::index(local);
                expr = Expr::new(with_room(&self.locals[index]), Level::Primary);
                ty = self.body.locals[local].ty;
                expr.needs.locals.push(local);
                expr.needs.memory = self.exposed[index];
            }
            Root::Param(position) => {
                let param = &self.function.params[position as usize];
                expr = Expr::atom(with_room(&self.params[position as usize]));
                ty = param.ty;
                expr.needs.memory = param.mode != PassMode::Value;
                expr.atom = param.mode == PassMode::Value;
            }
            Root::Table(table) => {
                expr = Expr::atom(self.items.table(table));
                ty = self.module.tables[table].ty;
            }
            Root::Array(value) => {
                expr = self.values.take(value);
                expr.text = expr.at(Level::Primary).into_owned();
                expr.level = Level::Primary;
                ty = self.body.type_of(value);
            }
        }
        for &step in path {
            ty = self.step(&mut expr, ty, step);
        }
        // Only a plain name is a composite of equal parts, or an operand of `op=`.
        Expr { splat: None, compound: None, ..expr }
    }

    /// Appends a projection; returns the type of the part.
    fn step(&mut self, expr: &mut Expr, ty: Type, step: Projection) -> Type {
        let types = &self.module.types;
        match (step, types[ty].clone()) {
            (Projection::Field(field), Shape::Struct(id)) => {
                expr.text.push('.');
                expr.text.push_str(self.items.spelling.field(id, field));
                types.structure(id).fields[field as usize].ty
            }
            (Projection::Field(0), Shape::Transform(of)) => {
                expr.text.push_str(".p");
                self.existing_type(&Shape::Vector { len: 3, of })
            }
            (Projection::Field(_), Shape::Transform(of)) => {
                expr.text.push_str(".q");
                self.existing_type(&Shape::Quaternion(of))
            }
            (Projection::Component(index), _) => {
                expr.text += &self.component(ty, index);
                Type::scalar(types.components(ty).map_or(Scalar::Bool, |(of, _)| of))
            }
            (Projection::At(index), shape) if self.items.is_plain() => {
                self.plain_part(expr, &shape, index);
                self.parts_of(&shape, ty).1
            }
            (Projection::At(index), shape) => {
                let (extent, of) = self.parts_of(&shape, ty);
                let inside = Interval::new(0, i128::from(extent) - 1);
                let is_inside =
                    self.values.interval(index).is_some_and(|index| index.is_in(inside));
                let index = self.values.take(index);
                let plain = is_inside && !matches!(shape, Shape::Transform(_));
                let [open, close] = if plain { ["[", "]"] } else { ["(", ")"] };
                let vouched = if plain { "" } else { self.items.faults.trusted_argument() };
                [open, &index.text, vouched, close].iter().for_each(|part| expr.text += part);
                expr.needs.join(&index.needs);
                expr.needs.faults |= !is_inside && self.items.faults.checked();
                expr.atom &= plain && index.atom;
                of
            }
            (Projection::Element(indices), Shape::Array { of, .. }) => {
                self.items.refuse();
                self.element(expr, indices);
                of
            }
            _ => unreachable!("check rule 5: projections fit"),
        }
    }

    /// Returns the number and the type of the parts among which an index chooses.
    fn parts_of(&self, shape: &Shape, ty: Type) -> (u32, Type) {
        match *shape {
            Shape::Matrix { rows, cols, of } => {
                (u32::from(rows), self.existing_type(&Shape::Vector { len: cols, of }))
            }
            Shape::Fixed { of, len } => (len, of),
            _ => {
                let components = self.module.types.components(ty);
                let (of, count) = components.unwrap_or((Scalar::Bool, 0));
                (count, Type::scalar(of))
            }
        }
    }

    /// Appends the call that selects an element of an array.
    fn element(&mut self, expr: &mut Expr, indices: List<Value>) {
        let indices = &self.body.value_lists[indices];
        let indices: Vec<Expr> = indices.iter().map(|&index| self.values.take(index)).collect();
        let vouched = self.items.faults.trusted_argument();
        let call = Expr::call_ending(&expr.text, &indices.iter().collect::<Vec<_>>(), vouched);
        expr.needs.join(&call.needs);
        expr.text = call.text;
        expr.needs.memory = true;
        expr.needs.faults |= self.items.faults.checked();
        expr.atom = false;
    }

    fn existing_type(&self, shape: &Shape) -> Type {
        self.module.types.find(shape).unwrap_or(Type::INVALID)
    }
}

/// Returns a name with capacity for the text after it.
fn with_room(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 24);
    text.push_str(name);
    text
}
