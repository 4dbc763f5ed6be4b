//! Expressions.

use super::manual_gradient::ManualGradient;
use super::names::Names;
use super::operand::{LoweringResult, Operand, fault};
use super::operator::{check_same_type, compared, operate_one};
use super::session::Kind;
use super::tile;
use super::tile::Writes;
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{BoolOp, CmpOp, Expr, UnaryOp};
use gbxcule_python_values::with_stack;
use gbxcule_warp_types::unit::Unit;
use gbxcule_warp_types::value::KnownValue;

/// Lowers the expressions of one function.
pub(super) struct Expressions<'s, 'a> {
    pub(super) unit: &'s Unit<'a>,
    /// The scope that holds the definition.
    pub(super) scope: ScopeId,
    pub(super) b: Writer<'s, 'a>,
    pub(super) names: Names<'a>,
    is_kernel: bool,
    /// The adjoints of a gradient by hand.
    manual_gradient: Option<ManualGradient<'a>>,
}

impl<'s, 'a> Writes<'s, 'a> for Expressions<'s, 'a> {
    fn writer(&mut self) -> &mut Writer<'s, 'a> {
        &mut self.b
    }
}

impl<'s, 'a> Expressions<'s, 'a> {
    pub(super) fn new(b: Writer<'s, 'a>, names: Names<'a>, scope: ScopeId, kind: Kind<'a>) -> Self {
        let is_kernel = matches!(kind, Kind::Kernel);
        let manual_gradient = match kind {
            Kind::Gradient(gradient) => Some(gradient),
            Kind::Kernel | Kind::Function => None,
        };
        Self { unit: b.unit(), scope, b, names, is_kernel, manual_gradient }
    }

    pub(super) fn is_kernel(&self) -> bool {
        self.is_kernel
    }

    pub(super) fn manual_gradient(&self) -> Option<&ManualGradient<'a>> {
        self.manual_gradient.as_ref()
    }

    /// The result of a gradient by hand; `None` for another function.
    pub(super) fn take_adjoints(&mut self) -> Option<Value> {
        self.manual_gradient.as_ref().map(|gradient| gradient.result(&mut self.b))
    }

    pub(super) fn span(&self, expr: &Expr) -> Span {
        self.unit.span(expr)
    }

    /// An expression as a value of the IR.
    pub(super) fn expr_value(&mut self, expr: &'a Expr) -> LoweringResult<Value> {
        let operand = self.expr(expr)?;
        self.b.value(operand, self.unit.span(expr))
    }

    /// An expression as a condition.
    pub(super) fn expr_truth(&mut self, expr: &'a Expr) -> LoweringResult<Value> {
        let operand = self.expr(expr)?;
        self.b.truth(operand, self.unit.span(expr))
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) -> LoweringResult<Operand<'a>> {
        let outer = self.b.span();
        self.b.set_span(self.unit.span(expr));
        let result = with_stack(|| self.expression(expr));
        self.b.set_span(outer);
        result
    }

    fn expression(&mut self, expr: &'a Expr) -> LoweringResult<Operand<'a>> {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                let access = self.access(expr)?;
                Ok(access.read(&mut self.b))
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
                "a list isn't part of the dialect: use a vector, or `wp.zeros(shape=.., dtype=..)`",
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
                format!("{} isn't part of the dialect", expression_name(expr)),
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
        if let (UnaryOp::USub, Operand::Tile(tile)) = (op, &operand) {
            return tile::negated(&mut self.b, tile, span);
        }
        operate_one(&mut self.b, op, operand, span, op.as_str())
    }

    /// `and`, `or`: a later value is evaluated only if the earlier values don't decide.
    fn connective(&mut self, op: BoolOp, values: &'a [Expr]) -> LoweringResult<Operand<'a>> {
        let and = op == BoolOp::And;
        let first = self.expr(&values[0])?;
        let later = &values[1..];
        if let Operand::KnownValue(known) = &first
            && let Some(truth) = known.truth()
        {
            if truth == and && !later.is_empty() {
                return self.connective(op, later);
            }
            return Ok(Operand::KnownValue(KnownValue::Bool(truth)));
        }
        let mut truth = self.b.truth(first, self.span(&values[0]))?;
        if later.iter().all(is_simple) {
            for value in later {
                let next = self.expr_truth(value)?;
                truth = if and { self.b.and(truth, next) } else { self.b.or(truth, next) };
            }
            return Ok(Operand::Value(truth));
        }
        self.b.check_nesting(self.span(&values[0]))?;
        let place = self.b.temporary(if and { "all" } else { "any" }, Type::BOOL);
        self.b.store(place, truth);
        for value in later {
            let so_far = self.b.load(place);
            let condition = if and { so_far } else { self.b.not(so_far) };
            self.b.open_block();
            let next = self.expr(value).and_then(|next| self.b.truth(next, self.span(value)));
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
        let condition = self.expr(test)?;
        if let Operand::KnownValue(known) = &condition
            && let Some(truth) = known.truth()
        {
            return self.expr(if truth { body } else { orelse });
        }
        let condition = self.b.truth(condition, self.span(test))?;
        if is_simple(body) && is_simple(orelse) {
            let accept = self.expr_value(body)?;
            let reject = self.expr_value(orelse)?;
            check_same_type(&mut self.b, accept, reject, span)?;
            return Ok(Operand::Value(self.b.select(condition, accept, reject)));
        }
        self.b.check_nesting(span)?;
        self.b.open_block();
        let accept = self.arm(body, None);
        let accept_block = self.b.close_block();
        let (accept, place) = accept?;
        self.b.open_block();
        let reject = self.arm(orelse, Some(place));
        let reject_block = self.b.close_block();
        let (reject, _) = reject?;
        check_same_type(&mut self.b, accept, reject, span)?;
        self.b.if_blocks(condition, accept_block, reject_block);
        Ok(Operand::Value(self.b.load(place)))
    }

    fn arm(
        &mut self,
        expr: &'a Expr,
        place: Option<gbxcule_ir::place::PlaceId>,
    ) -> LoweringResult<(Value, gbxcule_ir::place::PlaceId)> {
        let value = self.expr_value(expr)?;
        let ty = self.b.ty(value);
        if self.b.module.types.layout(ty).is_none() {
            let found = self.b.shown(ty);
            let message = format!("a `{found}` can't be chosen by a condition");
            return fault(Code::TypeMismatch, self.span(expr), message);
        }
        let place = place.unwrap_or_else(|| self.b.temporary("chosen", ty));
        if self.b.place_type(place) == ty {
            self.b.store(place, value);
        }
        Ok((value, place))
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
            // Types and functions are compared at compile time.
            let equal = known == other;
            match op {
                CmpOp::Eq | CmpOp::Is => return Ok(Operand::KnownValue(KnownValue::Bool(equal))),
                CmpOp::NotEq | CmpOp::IsNot => {
                    return Ok(Operand::KnownValue(KnownValue::Bool(!equal)));
                }
                _ => {}
            }
        }
        if let (Operand::KnownValue(known), [op], [Operand::KnownValue(other)]) =
            (&left_value, ops, &operands[..])
            && known.as_int().is_some()
            && other.as_int().is_some()
            && let Some(outcome) = gbxcule_python_values::compared(*op, known, other)
        {
            // The outcome is known, like the outcome of `if i < 6` in an unrolled loop.
            return Ok(Operand::KnownValue(KnownValue::Bool(outcome)));
        }
        for (&op, right) in ops.iter().zip(operands) {
            let compared = compared(&mut self.b, op, left_value.clone(), right.clone(), span)?;
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
}

/// Greatest number of parts of a tuple in a kernel, with the parts of its parts, and how deep
/// tuples may nest.
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

/// Returns true if evaluating an expression costs little and has no effect: names and numbers, and
/// arithmetic of them that doesn't divide.
fn is_simple(expr: &Expr) -> bool {
    use gbxcule_python_names::syntax::Operator;
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
