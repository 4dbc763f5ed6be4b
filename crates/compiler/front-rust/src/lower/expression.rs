//! Expressions as values.

use super::table::LoweredConstant;
use super::{Binding, Lowering};
use crate::constant;
use crate::tree::{Block, Expr, ExprKind};
use crate::ty::Ty;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, UnaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};

/// Greatest number of operations that are computed without need in order to avoid a branch.
const MAX_CHEAP: u32 = 6;

impl Lowering<'_, '_, '_, '_> {
    /// Lowers an expression to its value.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        let ty = self.body.type_of(expr);
        self.value_as(expr, &ty)
    }

    /// Lowers an expression to a value of a type. An expression that never ends, such as `return`,
    /// fits any type.
    fn value_as(&mut self, expr: &Expr, wanted: &Ty) -> Value {
        let outer = self.b.span();
        self.b.set_span(expr.span);
        let value = self.value_here(expr, wanted);
        self.b.set_span(outer);
        value
    }

    fn value_here(&mut self, expr: &Expr, wanted: &Ty) -> Value {
        if matches!(self.body.type_of(expr), Ty::Never | Ty::Unit) {
            return self.nothing(expr, wanted);
        }
        match &expr.kind {
            ExprKind::Number(number) => self.number(*number, wanted, expr.span),
            ExprKind::Bool(value) => self.b.bool(*value),
            ExprKind::Const(id) => self.constant_value(*id, expr.span),
            ExprKind::Field(base, field) if !self.is_place(base) => {
                let base = self.value(base);
                self.b.extract(base, *field)
            }
            ExprKind::Var(var) => match self.vars[*var] {
                Some(Binding::Value(value)) => value,
                _ => self.loaded(expr),
            },
            ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Deref(_) => self.loaded(expr),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, wanted, expr.span),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.integers().binary(*op, left, right)
            }
            ExprKind::Compare(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.b.compare(*op, left, right)
            }
            ExprKind::Logic { and, left, right } => self.logic(*and, left, right),
            ExprKind::Cast(inner) => self.cast(inner, wanted),
            ExprKind::Call(id, args) => self.call(*id, args),
            ExprKind::Method(method, args) => {
                let args: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
                self.integers().method(*method, &args)
            }
            ExprKind::Len(inner) => self.length(inner),
            ExprKind::Struct(fields) => self.structure(fields, wanted),
            ExprKind::Parts(parts) => self.parts(parts, wanted),
            ExprKind::Repeat(part, _) => self.repeated(part, wanted),
            ExprKind::Block(block) => self.block_value(block, wanted),
            ExprKind::If(condition, accept, Some(reject)) if self.selects(expr) => {
                let condition = self.value(condition);
                let (accept, reject) = (self.value(accept), self.value(reject));
                self.b.select(condition, accept, reject)
            }
            ExprKind::If(..) | ExprKind::Match(..) => {
                self.by_variable("chosen", wanted, |lowerer, place| lowerer.store_into(place, expr))
            }
            ExprKind::Loop(body) => self.by_variable("found", wanted, |lowerer, place| {
                lowerer.infinite_loop(body, Some(place));
            }),
            ExprKind::Ref(_) | ExprKind::Unsize(_) => {
                self.refuse_construct(expr, "a reference in this place");
                self.b.zero(Type::INVALID)
            }
            // These expressions have no value, and control doesn't reach the code after them.
            _ => {
                self.effect(expr);
                let ty = self.ty(wanted);
                self.b.zero(ty)
            }
        }
    }

    fn cast(&mut self, inner: &Expr, wanted: &Ty) -> Value {
        let value = self.value(inner);
        let to = constant::scalar(wanted, self.all.program);
        self.integers().converted(value, to)
    }

    /// Loads the value of a place.
    fn loaded(&mut self, expr: &Expr) -> Value {
        let place = self.place(expr);
        self.b.load(place)
    }

    /// Lowers an expression without a value, and makes a value of the wanted type.
    fn nothing(&mut self, expr: &Expr, wanted: &Ty) -> Value {
        self.effect(expr);
        let ty = self.ty(wanted);
        self.b.zero(if ty == Type::UNIT { Type::BOOL } else { ty })
    }

    fn constant_value(&mut self, id: usize, at: Span) -> Value {
        match self.constant(id, at) {
            LoweredConstant::Scalar(value) => value,
            LoweredConstant::Table(place) => self.b.load(place),
        }
    }

    /// Returns a value that statements store in a new variable.
    fn by_variable(
        &mut self,
        name: &str,
        wanted: &Ty,
        fill: impl FnOnce(&mut Self, PlaceId),
    ) -> Value {
        let ty = self.ty(wanted);
        let local = self.b.local(name, ty);
        let place = self.b.local_place(local);
        fill(self, place);
        self.b.load(place)
    }

    /// Lowers a tuple or an array, whose parts are computed in the order of the text.
    fn parts(&mut self, parts: &[Expr], wanted: &Ty) -> Value {
        let parts: Vec<Value> = parts.iter().map(|part| self.value(part)).collect();
        let ty = self.ty(wanted);
        self.b.construct(ty, &parts)
    }

    /// Lowers a struct, whose fields are computed in the order of the text.
    fn structure(&mut self, fields: &[(u32, Expr)], wanted: &Ty) -> Value {
        let mut parts: Vec<(u32, Value)> = Vec::with_capacity(fields.len());
        for (position, field) in fields {
            parts.push((*position, self.value(field)));
        }
        parts.sort_by_key(|(position, _)| *position);
        let parts: Vec<Value> = parts.into_iter().map(|(_, part)| part).collect();
        let ty = self.ty(wanted);
        self.b.construct(ty, &parts)
    }

    /// Lowers an array of equal elements.
    fn repeated(&mut self, part: &Expr, wanted: &Ty) -> Value {
        let ty = self.ty(wanted);
        let part = self.value(part);
        match self.b.body().literal(part) {
            Some(literal) if literal.bits() == 0 => self.b.zero(ty),
            _ => self.b.splat(ty, part),
        }
    }

    /// Lowers a block to the value of its last expression.
    fn block_value(&mut self, block: &Block, wanted: &Ty) -> Value {
        self.stmts(&block.stmts);
        match &block.tail {
            Some(tail) => self.value_as(tail, wanted),
            None => {
                let ty = self.ty(wanted);
                self.b.zero(ty)
            }
        }
    }

    fn number(&mut self, number: i128, ty: &Ty, at: Span) -> Value {
        if let Ty::Int(int) = ty
            && !int.contains(number)
        {
            let message = format!("{number} doesn't fit into `{}`", int.name());
            self.fault(Code::RustType, at, message);
        }
        let literal = constant::literal(ty, self.all.program, number);
        self.b.literal(literal)
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, ty: &Ty, at: Span) -> Value {
        if let (UnaryOp::Negate, ExprKind::Number(number)) = (op, &operand.kind) {
            return self.number(-number, ty, at);
        }
        let operand = self.value(operand);
        self.b.unary(op, operand)
    }

    fn length(&mut self, expr: &Expr) -> Value {
        match self.body.type_of(expr) {
            Ty::Array(_, len) => self.b.literal(Literal::int(Scalar::U64, i128::from(len))),
            _ => {
                let place = self.place(expr);
                let handle = self.b.load(place);
                let extent = self.b.extent(handle, 0);
                self.b.convert(extent, Scalar::U64)
            }
        }
    }

    fn logic(&mut self, and: bool, left: &Expr, right: &Expr) -> Value {
        if self.is_cheap(right) {
            let (left, right) = (self.value(left), self.value(right));
            let op = if and { BinaryOp::And } else { BinaryOp::Or };
            return self.b.binary(op, left, right);
        }
        let local = self.b.local("holds", Type::BOOL);
        let place = self.b.local_place(local);
        let left = self.value(left);
        let decided = self.sub_block(|it| {
            let value = it.b.bool(!and);
            it.b.store(place, value);
        });
        let open = self.sub_block(|it| {
            let value = it.value(right);
            it.b.store(place, value);
        });
        let (accept, reject) = if and { (open, decided) } else { (decided, open) };
        self.b.if_blocks(left, accept, reject);
        self.b.load(place)
    }

    /// Returns true if both arms of an `if` may be computed and one selected.
    pub(super) fn selects(&self, expr: &Expr) -> bool {
        let ExprKind::If(_, accept, Some(reject)) = &expr.kind else { return false };
        let scalar = matches!(self.body.type_of(expr), Ty::Int(_) | Ty::Bool | Ty::Enum(_));
        scalar && self.is_cheap(accept) && self.is_cheap(reject)
    }

    /// Returns true if an expression has no effect, can't fault, and costs little.
    fn is_cheap(&self, expr: &Expr) -> bool {
        let mut left = MAX_CHEAP;
        self.costs(expr, &mut left)
    }

    fn costs(&self, expr: &Expr, left: &mut u32) -> bool {
        let Some(less) = left.checked_sub(1) else { return false };
        *left = less;
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Const(_) => {
                matches!(self.body.type_of(expr), Ty::Int(_) | Ty::Bool | Ty::Enum(_))
            }
            ExprKind::Var(_) => true,
            ExprKind::Field(inner, _) | ExprKind::Deref(inner) | ExprKind::Cast(inner) => {
                self.costs(inner, left)
            }
            ExprKind::Unary(_, inner) => self.costs(inner, left),
            ExprKind::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => false,
            ExprKind::Binary(_, one, other) | ExprKind::Compare(_, one, other) => {
                self.costs(one, left) && self.costs(other, left)
            }
            ExprKind::Logic { left: one, right: other, .. } => {
                self.costs(one, left) && self.costs(other, left)
            }
            ExprKind::Block(block) if block.stmts.is_empty() => {
                block.tail.as_ref().is_some_and(|tail| self.costs(tail, left))
            }
            _ => false,
        }
    }
}
