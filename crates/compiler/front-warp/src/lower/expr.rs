//! Expressions.

use super::{FunctionLowering, LoweringError, LoweringResult, Operand, fault};
use crate::constant::KnownValue;
use crate::syntax::{BoolOp, CmpOp, Expr, UnaryOp};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{CompareOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn expr(&mut self, expr: &'a Expr) -> LoweringResult<Operand<'a>> {
        let outer = self.b.span();
        self.b.set_span(self.span(expr));
        let result = super::with_stack(|| self.expression(expr));
        self.b.set_span(outer);
        result
    }

    fn expression(&mut self, expr: &'a Expr) -> LoweringResult<Operand<'a>> {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                let access = self.access(expr)?;
                Ok(self.read(access))
            }
            Expr::NumberLiteral(number) => {
                Ok(Operand::KnownValue(self.unit.number(&number.value, expr)?))
            }
            Expr::BooleanLiteral(value) => Ok(Operand::KnownValue(KnownValue::Bool(value.value))),
            Expr::NoneLiteral(_) => Ok(Operand::KnownValue(KnownValue::None)),
            Expr::StringLiteral(text) => {
                Ok(Operand::KnownValue(KnownValue::Text(text.value.to_str().into())))
            }
            Expr::BinOp(binary) => {
                let left = self.expr(&binary.left)?;
                let right = self.expr(&binary.right)?;
                self.binary(binary.op, left, right, self.span(expr))
            }
            Expr::UnaryOp(unary) => self.unary(unary.op, &unary.operand, self.span(expr)),
            Expr::BoolOp(operation) => self.connective(operation.op, &operation.values),
            Expr::Compare(compare) => {
                self.comparison(&compare.left, &compare.ops, &compare.comparators, self.span(expr))
            }
            Expr::If(choice) => {
                self.choice(&choice.test, &choice.body, &choice.orelse, self.span(expr))
            }
            Expr::Call(call) => self.call(call, expr),
            Expr::Tuple(tuple) => self.tuple_operand(&tuple.elts, self.span(expr)),
            Expr::List(_) => fault(
                Code::UnsupportedSyntax,
                self.span(expr),
                "a list is no part of the dialect: use a vector, or `wp.zeros(shape=.., dtype=..)`",
            ),
            Expr::Starred(_) => fault(
                Code::UnsupportedSyntax,
                self.span(expr),
                "`*` is allowed before arguments of calls only",
            ),
            Expr::Slice(_) => fault(
                Code::UnsupportedSyntax,
                self.span(expr),
                "a slice is allowed in subscripts only",
            ),
            _ => fault(
                Code::UnsupportedSyntax,
                self.span(expr),
                format!("{} is no part of the dialect", expression_name(expr)),
            ),
        }
    }

    fn tuple_operand(&mut self, parts: &'a [Expr], span: Span) -> LoweringResult<Operand<'a>> {
        let parts: LoweringResult<Vec<_>> = parts.iter().map(|part| self.expr(part)).collect();
        let tuple = Operand::Tuple(parts?.into());
        if !tuple.fits(&mut MAX_TUPLE_PARTS.clone(), MAX_TUPLE_NESTING) {
            let message = format!(
                "a tuple has at most {MAX_TUPLE_PARTS} parts, which nest at most {MAX_TUPLE_NESTING} deep"
            );
            return fault(Code::TooComplex, span, message);
        }
        Ok(tuple)
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a Expr, span: Span) -> LoweringResult<Operand<'a>> {
        let operand = self.expr(operand)?;
        if let (UnaryOp::USub, Operand::KnownValue(known)) = (op, &operand) {
            match known {
                KnownValue::Int(value) => {
                    return Ok(Operand::KnownValue(KnownValue::Int(value.wrapping_neg())));
                }
                KnownValue::Float(value) => {
                    return Ok(Operand::KnownValue(KnownValue::Float(-value)));
                }
                _ => {}
            }
        }
        if op == UnaryOp::Not {
            let truth = self.truth(operand, span)?;
            return Ok(Operand::Value(self.b.not(truth)));
        }
        if let (UnaryOp::USub, Operand::Tile(tile)) = (op, &operand) {
            return self.tile_negated(tile, span);
        }
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        let scalar = self.b.module.types.components(ty).map(|(scalar, _)| scalar);
        match (op, scalar) {
            (UnaryOp::USub, Some(of)) if of != Scalar::Bool => {
                Ok(Operand::Value(self.b.neg(value)))
            }
            (UnaryOp::UAdd, Some(of)) if of != Scalar::Bool => Ok(Operand::Value(value)),
            (UnaryOp::Invert, Some(of)) if of.is_int() => Ok(Operand::Value(self.b.not(value))),
            _ => {
                let symbol = match op {
                    UnaryOp::USub => "-",
                    UnaryOp::UAdd => "+",
                    UnaryOp::Invert => "~",
                    UnaryOp::Not => "not",
                };
                let found = self.shown(ty);
                fault(Code::TypeMismatch, span, format!("`{symbol}` isn't defined for `{found}`"))
            }
        }
    }

    /// `and`, `or`: what comes later is evaluated only if it matters.
    fn connective(&mut self, op: BoolOp, values: &'a [Expr]) -> LoweringResult<Operand<'a>> {
        let and = op == BoolOp::And;
        let first = self.expr(&values[0])?;
        let mut truth = self.truth(first, self.span(&values[0]))?;
        if values[1..].iter().all(is_simple) {
            for value in &values[1..] {
                let next = self.expr(value)?;
                let next = self.truth(next, self.span(value))?;
                truth = if and { self.b.and(truth, next) } else { self.b.or(truth, next) };
            }
            return Ok(Operand::Value(truth));
        }
        self.check_nesting(self.span(&values[0]))?;
        let place = self.temporary(if and { "all" } else { "any" }, Type::BOOL);
        self.b.store(place, truth);
        for value in &values[1..] {
            let so_far = self.b.load(place);
            let condition = if and { so_far } else { self.b.not(so_far) };
            self.b.open_block();
            let next = self.expr(value).and_then(|next| self.truth(next, self.span(value)));
            if let Ok(next) = &next {
                self.b.store(place, *next);
            }
            let block = self.b.close_block();
            next?;
            let empty = self.b.empty_block();
            self.b.if_blocks(condition, block, empty);
        }
        Ok(Operand::Value(self.b.load(place)))
    }

    fn choice(
        &mut self,
        test: &'a Expr,
        body: &'a Expr,
        orelse: &'a Expr,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let condition = self.condition(test)?;
        if let Operand::KnownValue(known) = &condition
            && let Some(truth) = known.truth()
        {
            return self.expr(if truth { body } else { orelse });
        }
        let condition = self.truth(condition, self.span(test))?;
        if is_simple(body) && is_simple(orelse) {
            let accept = self.expr(body)?;
            let accept = self.value(accept, self.span(body))?;
            let reject = self.expr(orelse)?;
            let reject = self.value(reject, self.span(orelse))?;
            self.same_types(accept, reject, span)?;
            return Ok(Operand::Value(self.b.select(condition, accept, reject)));
        }
        self.check_nesting(span)?;
        self.b.open_block();
        let accept = self.arm(body, None);
        let accept_block = self.b.close_block();
        let (accept, place) = accept?;
        self.b.open_block();
        let reject = self.arm(orelse, Some(place));
        let reject_block = self.b.close_block();
        let (reject, _) = reject?;
        self.same_types(accept, reject, span)?;
        self.b.if_blocks(condition, accept_block, reject_block);
        Ok(Operand::Value(self.b.load(place)))
    }

    fn arm(
        &mut self,
        expr: &'a Expr,
        place: Option<gbxcule_ir::place::PlaceId>,
    ) -> LoweringResult<(Value, gbxcule_ir::place::PlaceId)> {
        let operand = self.expr(expr)?;
        let value = self.value(operand, self.span(expr))?;
        let ty = self.ty(value);
        if self.b.module.types.layout(ty).is_none() {
            let found = self.shown(ty);
            return fault(
                Code::TypeMismatch,
                self.span(expr),
                format!("a `{found}` can't be chosen by a condition"),
            );
        }
        let place = place.unwrap_or_else(|| self.temporary("chosen", ty));
        if self.b.place_type(place) == ty {
            self.b.store(place, value);
        }
        Ok((value, place))
    }

    fn same_types(&mut self, accept: Value, reject: Value, span: Span) -> LoweringResult<()> {
        let (left, right) = (self.ty(accept), self.ty(reject));
        if left == right && self.b.module.types.layout(left).is_some() {
            return Ok(());
        }
        let (left, right) = (self.shown(left), self.shown(right));
        fault(
            Code::TypeMismatch,
            span,
            format!("both values of a choice are of one type, found `{left}` and `{right}`"),
        )
    }

    fn comparison(
        &mut self,
        left: &'a Expr,
        ops: &[CmpOp],
        comparators: &'a [Expr],
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let mut left_value = self.expr(left)?;
        let mut all: Option<Value> = None;
        let mut operands = Vec::with_capacity(comparators.len());
        for comparator in comparators {
            operands.push(self.expr(comparator)?);
        }
        if let (Operand::KnownValue(known), [op], [Operand::KnownValue(other)]) =
            (&left_value, ops, &operands[..])
            && (known.as_f64().is_none() || other.as_f64().is_none())
        {
            // Types, functions: known when compiled.
            let equal = known == other;
            match op {
                CmpOp::Eq | CmpOp::Is => return Ok(Operand::KnownValue(KnownValue::Bool(equal))),
                CmpOp::NotEq | CmpOp::IsNot => {
                    return Ok(Operand::KnownValue(KnownValue::Bool(!equal)));
                }
                _ => {}
            }
        }
        for (&op, right) in ops.iter().zip(operands) {
            let compared = self.compared(op, left_value.clone(), right.clone(), span)?;
            all = Some(match all {
                Some(all) => self.b.and(all, compared),
                None => compared,
            });
            left_value = right;
        }
        match all {
            Some(value) => Ok(Operand::Value(value)),
            None => fault(Code::UnsupportedSyntax, span, "a comparison needs two sides"),
        }
    }

    fn compared(
        &mut self,
        op: CmpOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Value> {
        let op = match op {
            CmpOp::Eq => CompareOp::Equal,
            CmpOp::NotEq => CompareOp::NotEqual,
            CmpOp::Lt => CompareOp::Less,
            CmpOp::LtE => CompareOp::LessEqual,
            CmpOp::Gt => CompareOp::Greater,
            CmpOp::GtE => CompareOp::GreaterEqual,
            CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn => {
                let message = format!("`{}` is no part of the dialect", op.as_str());
                let fault = Diagnostic::error(Code::UnsupportedSyntax, span, message);
                let is_none =
                    |it: &Operand<'a>| matches!(it, Operand::KnownValue(KnownValue::None));
                let asked = if op == CmpOp::Is { "if not x:" } else { "if x:" };
                return Err(LoweringError::Fault(Box::new(match is_none(&right) {
                    true => fault
                        .help(format!("`{asked}` asks whether a launch gave an array, not `None`")),
                    false => fault,
                })));
            }
        };
        let left = self.value(left, span)?;
        let right = self.value(right, span)?;
        let (l, r) = (self.ty(left), self.ty(right));
        if let (Some(one), Some(other)) = (l.as_scalar(), r.as_scalar()) {
            let common = promoted(one, other, op);
            let (left, right) = (self.b.convert(left, common), self.b.convert(right, common));
            return Ok(self.b.compare(op, left, right));
        }
        let comparable = l == r
            && matches!(op, CompareOp::Equal | CompareOp::NotEqual)
            && self.b.module.types.components(l).is_some();
        if comparable {
            let equal = self.b.named("equal", &[left, right]);
            return Ok(if op == CompareOp::Equal { equal } else { self.b.not(equal) });
        }
        if l == r && matches!(self.shape(l), Shape::Vector { .. }) {
            return fault(Code::TypeMismatch, span, "vectors are only compared by `==` and `!=`");
        }
        let (l, r) = (self.shown(l), self.shown(r));
        fault(Code::TypeMismatch, span, format!("`{l}` and `{r}` can't be compared"))
    }
}

/// Most parts of a tuple in a kernel, with those of its parts, and how deep they may nest.
const MAX_TUPLE_PARTS: usize = 1024;
const MAX_TUPLE_NESTING: usize = 16;

impl Operand<'_> {
    fn fits(&self, parts: &mut usize, levels: usize) -> bool {
        let Self::Tuple(inner) = self else { return true };
        let room = parts.checked_sub(inner.len()).filter(|_| levels > 0);
        *parts = room.unwrap_or(0);
        room.is_some() && inner.iter().all(|part| part.fits(parts, levels - 1))
    }
}

/// The type in which C++ compares two scalars.
fn promoted(left: Scalar, right: Scalar, op: CompareOp) -> Scalar {
    if left == right
        && (left != Scalar::Bool || matches!(op, CompareOp::Equal | CompareOp::NotEqual))
    {
        return left;
    }
    if left.is_float() || right.is_float() {
        return match (left.is_float(), right.is_float()) {
            (true, false) => left,
            (false, true) => right,
            _ if left.bytes() == right.bytes() => Scalar::F32,
            _ if left.bytes() > right.bytes() => left,
            _ => right,
        };
    }
    let wide = |scalar: Scalar| if scalar.bytes() < 4 { Scalar::I32 } else { scalar };
    let (left, right) = (wide(left), wide(right));
    match left.bytes().cmp(&right.bytes()) {
        std::cmp::Ordering::Greater => left,
        std::cmp::Ordering::Less => right,
        std::cmp::Ordering::Equal if left.is_unsigned_int() => left,
        std::cmp::Ordering::Equal => right,
    }
}

/// Returns true if evaluating an expression costs little and has no effect: names and numbers, and
/// arithmetic of them that doesn't divide.
fn is_simple(expr: &Expr) -> bool {
    use crate::syntax::Operator;
    match expr {
        Expr::Name(_) | Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) => true,
        Expr::UnaryOp(unary) => is_simple(&unary.operand),
        Expr::Attribute(attribute) => is_simple(&attribute.value),
        Expr::BinOp(binary) => {
            matches!(binary.op, Operator::Add | Operator::Sub | Operator::Mult)
                && is_simple(&binary.left)
                && is_simple(&binary.right)
        }
        Expr::Compare(compare) => {
            is_simple(&compare.left) && compare.comparators.iter().all(is_simple)
        }
        _ => false,
    }
}

fn expression_name(expr: &Expr) -> &'static str {
    match expr {
        Expr::Named(_) => "`:=`",
        Expr::Lambda(_) => "`lambda`",
        Expr::Dict(_) | Expr::DictComp(_) => "a dictionary",
        Expr::Set(_) | Expr::SetComp(_) => "a set",
        Expr::ListComp(_) | Expr::Generator(_) => "a comprehension",
        Expr::Await(_) => "`await`",
        Expr::Yield(_) | Expr::YieldFrom(_) => "`yield`",
        Expr::FString(_) | Expr::TString(_) => "a formatted string",
        Expr::BytesLiteral(_) => "a string of bytes",
        Expr::EllipsisLiteral(_) => "`...`",
        _ => "this expression",
    }
}
