//! Fixed arrays as arrays of C: they are declared with an extent and stored element by element.

use super::super::statement::Statements;
use gbxcule_ir::function::{Local, LocalId};
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::ty::Shape;

impl Statements<'_, '_, '_> {
    /// Writes a store of a whole fixed array; returns false for a store of anything else.
    /// `declared` is the variable that the store declares.
    pub(in super::super) fn store_fixed_array(
        &mut self,
        place: PlaceId,
        value: Value,
        declared: Option<LocalId>,
    ) -> bool {
        let (items, body) = (self.writer.items, self.writer.exprs.body);
        let op = body.values[value].op;
        let Shape::Fixed { of, len } = items.module.types[body.places[place].ty] else {
            return false;
        };
        if matches!(items.module.types[of], Shape::Fixed { .. }) {
            items.refuse();
        }
        let from = self.writer.exprs.values.take(value);
        let parts = match op {
            Op::Zero => Some("{}"),
            Op::Construct(_) if declared.is_some() => Some(&*from.text),
            _ => None,
        };
        let root = body.places[place].root;
        let is_shared = matches!(root, Root::Local(local) if self.work.is_tile(local));
        if let Some(local) = declared.filter(|_| !is_shared) {
            let name = self.declare(local);
            let start = parts.map_or(String::new(), |parts| format!(" = {parts}"));
            let of = items.ty(of);
            self.line(&format!("{of} {name}[{len}]{start};"));
            if parts.is_some() {
                return true;
            }
        }
        let to = self.writer.exprs.place(place);
        self.settle_for_write(place);
        let item = match (&from.splat, op) {
            (Some(part), _) => part.text.clone(),
            (None, Op::Zero) => self.writer.exprs.zero(of).text,
            (None, Op::Load(_)) => format!("{}[item]", from.text),
            _ => self.writer.exprs.refused().text,
        };
        let range = if is_shared {
            format!("item = threadIdx.x; item < {len}; item += blockDim.x")
        } else {
            format!("item = 0; item < {len}; ++item")
        };
        self.line(&format!("for (int {range})"));
        self.writer.lines.depth += 1;
        self.line(&format!("{}[item] = {item};", to.text));
        self.writer.lines.depth -= 1;
        true
    }

    /// Declares a fixed array at the top of a function; returns false for another type.
    pub(in super::super) fn declare_fixed_array(&mut self, local: LocalId, name: &str) -> bool {
        let items = self.writer.items;
        let Local { ty, scratch, .. } = self.writer.exprs.body.locals[local];
        let Shape::Fixed { of, len } = items.module.types[ty] else { return false };
        let zero = if scratch { "" } else { " = {}" };
        let word = if self.work.is_tile(local) { "__shared__ " } else { "" };
        self.line(&format!("{word}{} {name}[{len}]{zero};", items.ty(of)));
        true
    }
}
