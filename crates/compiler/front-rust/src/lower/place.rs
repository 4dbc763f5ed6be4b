//! Places: expressions that can be written, referred to, or read in part.

use super::table::LoweredConstant;
use super::{Binding, Lowering};
use crate::tree::{Expr, ExprKind};
use crate::ty::Ty;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;

impl Lowering<'_, '_, '_, '_> {
    /// Returns true if an expression names a place rather than making a value.
    pub(super) fn is_place(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(var) => matches!(self.vars[*var], Some(Binding::Place(_))),
            ExprKind::Deref(_) => true,
            ExprKind::Const(_) => {
                matches!(self.body.type_of(expr), Ty::Array(..) | Ty::Struct(_) | Ty::Tuple(_))
            }
            ExprKind::Field(base, _) => self.is_place(base),
            ExprKind::Index(..) => true,
            _ => false,
        }
    }

    /// Returns the place of an expression's value: the expression's own place, or a new place.
    pub(super) fn place(&mut self, expr: &Expr) -> PlaceId {
        match &expr.kind {
            ExprKind::Var(var) => match self.vars[*var] {
                Some(Binding::Place(place)) => place,
                Some(Binding::Value(value)) => self.spill(value),
                None => self.unreachable_place(expr),
            },
            ExprKind::Deref(inner) => self.reference(inner),
            ExprKind::Field(base, field) => {
                let base = self.place(base);
                self.b.field(base, *field)
            }
            ExprKind::Index(base, index) => {
                let is_slice = matches!(self.body.type_of(base), Ty::Slice(_));
                let base = self.place(base);
                let index = self.value(index);
                if is_slice { self.b.element(base, &[index]) } else { self.b.at(base, index) }
            }
            ExprKind::Const(id) => match self.constant(*id, expr.span) {
                LoweredConstant::Table(place) => place,
                LoweredConstant::Scalar(value) => self.spill(value),
            },
            _ => {
                let value = self.value(expr);
                self.spill(value)
            }
        }
    }

    /// Returns the place that a reference refers to; for a slice, the place of its array handle.
    pub(super) fn reference(&mut self, expr: &Expr) -> PlaceId {
        match &expr.kind {
            ExprKind::Var(var) => match self.vars[*var] {
                Some(Binding::Place(place)) => place,
                _ => self.unreachable_place(expr),
            },
            ExprKind::Ref(inner) => self.place(inner),
            ExprKind::Deref(inner) => self.reference(inner),
            ExprKind::Unsize(_) => {
                self.refuse_construct(expr, "a slice of an array in a variable");
                self.unreachable_place(expr)
            }
            ExprKind::Block(block) => {
                self.stmts(&block.stmts);
                match &block.tail {
                    Some(tail) => self.reference(tail),
                    None => self.unreachable_place(expr),
                }
            }
            _ => {
                self.refuse_construct(expr, "a reference that is chosen at run time");
                self.unreachable_place(expr)
            }
        }
    }

    /// Lowers a slice to its value, an array handle.
    pub(super) fn slice(&mut self, expr: &Expr) -> Value {
        if let ExprKind::Unsize(inner) = &expr.kind {
            let array = self.reference(inner);
            return self.b.as_array(array, 1);
        }
        let place = self.reference(expr);
        self.b.load(place)
    }

    /// Makes a place for a refused expression, or for one that control never reaches.
    fn unreachable_place(&mut self, expr: &Expr) -> PlaceId {
        let ty = self.ty(&expr.ty);
        let local = self.b.local("lost", ty);
        self.b.local_place(local)
    }

    /// Makes a new place with a value in it.
    pub(super) fn spill(&mut self, value: Value) -> PlaceId {
        let ty = self.b.body().type_of(value);
        let local = self.b.local("temporary", ty);
        let place = self.b.local_place(local);
        self.b.store(place, value);
        place
    }
}
