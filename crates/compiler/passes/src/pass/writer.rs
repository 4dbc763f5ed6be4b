//! Writes single statements into a body, for passes that add code of their own.

use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::Body;
use gbxcule_ir::op::{BinaryOp, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};

/// A body, and the span of the statements that are added to it.
pub(super) struct Writer<'a> {
    pub(super) body: &'a mut Body,
    pub(super) span: Span,
}

impl Writer<'_> {
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: Value,
        right: Value,
        out: &mut Vec<Stmt>,
    ) -> Value {
        self.define(Op::Binary(op, left, right), Type::U32, out)
    }

    pub(super) fn number(&mut self, number: u32, out: &mut Vec<Stmt>) -> Value {
        let literal = Op::Literal(Literal::int(Scalar::U32, i128::from(number)));
        self.define(literal, Type::U32, out)
    }

    pub(super) fn define(&mut self, op: Op, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let value = self.body.values.push(ValueData { op, ty, name: None, span: self.span });
        out.push(self.statement(StmtKind::Let(value)));
        value
    }

    pub(super) fn statement(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }
}

/// Makes the place of a whole variable or parameter.
pub(super) fn whole(body: &mut Body, root: Root, ty: Type) -> PlaceId {
    let path = body.paths.add([]);
    body.places.push(Place { root, path, ty })
}
