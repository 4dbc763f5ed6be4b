//! Evaluates constants: their expressions, and the `const fn`s that they call.
//!
//! Arithmetic is the arithmetic of [`eval`]. A constant that rustc refuses (overflow, an index
//! outside) is refused here as well.

use super::item::{Items, Refused, Scope};
use super::tree::{Arm, Block, Body, Expr, ExprKind, Pattern, Stmt};
use super::ty::{Int, Ty};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::eval;
use gbxcule_ir::op::{BinaryOp, UnaryOp};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

/// Greatest number of steps of one constant.
const MAX_STEPS: u32 = 1_000_000;
/// Greatest depth of nested calls.
const MAX_CALLS: u32 = 64;

/// The value of a constant.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Const {
    Scalar(Literal),
    /// Parts of a struct, array or tuple, in the order of the definition.
    Parts(Vec<Self>),
}

/// Reason for which an expression gave no value.
enum EarlyExit {
    Break(Option<Const>),
    Continue,
    Return(Const),
    Refused,
}

type Outcome = Result<Const, EarlyExit>;

impl From<Refused> for EarlyExit {
    fn from(_: Refused) -> Self {
        Self::Refused
    }
}

/// Returns the literal of a number of a type.
pub(super) fn literal(ty: &Ty, program: &Items<'_>, number: i128) -> Literal {
    Literal::int(scalar(ty, program), number)
}

/// Returns the scalar type that holds a number of a type.
pub(super) fn scalar(ty: &Ty, program: &Items<'_>) -> Scalar {
    match ty {
        Ty::Int(int) => int.scalar(),
        Ty::Enum(id) => program.enums[*id].repr.scalar(),
        _ => Scalar::I32,
    }
}

impl Items<'_> {
    /// Returns the value of a constant.
    pub(super) fn const_value(&self, id: usize, asked_at: Span) -> Result<Rc<Const>, Refused> {
        let item = &self.consts[id];
        if let Some(value) = item.value.get() {
            return value.clone().ok_or(Refused);
        }
        if item.open.set(()).is_err() {
            let message = format!("`{}` is defined by itself", item.name);
            self.fault(Diagnostic::error(Code::RustConst, asked_at, message));
            return Err(Refused);
        }
        let ty = self.const_type(id);
        let value = self.evaluate(&item.syntax.expr, &ty, item.scope);
        item.value.get_or_init(|| value.ok().map(Rc::new)).clone().ok_or(Refused)
    }

    fn evaluate(&self, expr: &syn::Expr, ty: &Ty, scope: Scope) -> Result<Const, Refused> {
        let before = self.faults.borrow().len();
        let body = self.constant_body(expr, ty, scope);
        if self.faults.borrow().len() > before {
            return Err(Refused);
        }
        let mut steps = MAX_STEPS;
        EvaluationFrame::new(self, &body, &mut steps, MAX_CALLS)
            .expr(&body.value)
            .map_err(|_| Refused)
    }

    /// Returns the number of elements that a type or expression gives.
    pub(super) fn length(&self, expr: &syn::Expr, scope: Scope) -> Result<u32, Refused> {
        let len = self.number(expr, &Ty::USIZE, scope)?;
        u32::try_from(len)
            .map_err(|_| self.refuse_construct(scope, expr, "an array of this length"))
    }

    /// Evaluates an expression of an integer type, or `bool`, to a number.
    pub(super) fn number(&self, expr: &syn::Expr, ty: &Ty, scope: Scope) -> Result<i128, Refused> {
        match self.evaluate(expr, ty, scope)? {
            Const::Scalar(literal) => Ok(literal.as_int().unwrap_or_default()),
            Const::Parts(_) => Err(self.refuse_construct(scope, expr, "a composite as number")),
        }
    }
}

/// A body that is being evaluated.
struct EvaluationFrame<'a, 'p> {
    program: &'a Items<'p>,
    body: &'a Body,
    vars: Vec<Option<Const>>,
    steps: &'a mut u32,
    depth: u32,
}

impl<'a, 'p> EvaluationFrame<'a, 'p> {
    fn new(program: &'a Items<'p>, body: &'a Body, steps: &'a mut u32, depth: u32) -> Self {
        Self { program, body, vars: vec![None; body.vars.len()], steps, depth }
    }

    fn refuse(&self, at: Span, message: impl Into<String>) -> EarlyExit {
        self.program.fault(Diagnostic::error(Code::RustConst, at, message));
        EarlyExit::Refused
    }

    fn unknown(&self, at: Span) -> EarlyExit {
        self.refuse(at, "this can't be worked out in a constant")
    }

    fn scalar(&mut self, expr: &Expr) -> Result<Literal, EarlyExit> {
        match self.expr(expr)? {
            Const::Scalar(literal) => Ok(literal),
            Const::Parts(_) => Err(self.unknown(expr.span)),
        }
    }

    fn number(&mut self, expr: &Expr) -> Result<i128, EarlyExit> {
        Ok(self.scalar(expr)?.as_int().unwrap_or_default())
    }

    fn truth(&mut self, expr: &Expr) -> Result<bool, EarlyExit> {
        Ok(self.number(expr)? != 0)
    }

    fn parts(&mut self, exprs: &[Expr]) -> Outcome {
        let parts: Result<_, _> = exprs.iter().map(|part| self.expr(part)).collect();
        parts.map(Const::Parts)
    }

    fn step(&mut self, at: Span) -> Result<(), EarlyExit> {
        match self.steps.checked_sub(1) {
            Some(left) => *self.steps = left,
            None => return Err(self.refuse(at, "this constant takes too long to work out")),
        }
        Ok(())
    }

    fn expr(&mut self, expr: &Expr) -> Outcome {
        self.step(expr.span)?;
        let ty = self.body.type_of(expr);
        match &expr.kind {
            ExprKind::Number(number) => self.integer_constant(expr, &ty, *number),
            ExprKind::Bool(value) => Ok(Const::Scalar(Literal::bool(*value))),
            ExprKind::Unit => Ok(Const::Parts(Vec::new())),
            ExprKind::Const(id) => Ok((*self.program.const_value(*id, expr.span)?).clone()),
            ExprKind::Var(_) | ExprKind::Field(..) | ExprKind::Index(..) => {
                match self.place(expr)? {
                    Some(place) => Ok(place.clone()),
                    None => self.part(expr),
                }
            }
            ExprKind::Deref(inner) | ExprKind::Ref(inner) | ExprKind::Unsize(inner) => {
                self.expr(inner)
            }
            ExprKind::Unary(UnaryOp::Negate, inner) => self.negative(expr, &ty, inner),
            ExprKind::Unary(op, inner) => Ok(Const::Scalar(eval::unary(*op, self.scalar(inner)?))),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                self.binary(expr, *op, left, right)
            }
            ExprKind::Compare(op, left, right) => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                Ok(Const::Scalar(Literal::bool(eval::compare(*op, left, right))))
            }
            ExprKind::Logic { and, left, right } if self.truth(left)? == *and => self.expr(right),
            ExprKind::Logic { and, .. } => Ok(Const::Scalar(Literal::bool(!and))),
            ExprKind::Cast(inner) => {
                let number = self.number(inner)?;
                Ok(Const::Scalar(literal(&ty, self.program, number)))
            }
            ExprKind::Call(id, args) => self.call(expr, *id, args),
            ExprKind::Len(inner) => match self.body.type_of(inner).referred() {
                Ty::Array(_, len) => Ok(Const::Scalar(Literal::int(Scalar::U64, i128::from(*len)))),
                _ => Err(self.unknown(expr.span)),
            },
            ExprKind::Struct(fields) => self.structure(fields),
            ExprKind::Parts(parts) => self.parts(parts),
            ExprKind::Repeat(part, len) => self.repeated(part, *len),
            ExprKind::Block(block) => self.block(block),
            ExprKind::If(condition, accept, reject) => {
                self.branch(condition, accept, reject.as_deref())
            }
            ExprKind::Match(value, arms) => self.matched(value, arms, expr.span),
            ExprKind::While(..)
            | ExprKind::Loop(_)
            | ExprKind::Break(_)
            | ExprKind::Continue
            | ExprKind::Return(_)
            | ExprKind::Assign(..)
            | ExprKind::Update(..) => self.effect(expr),
            // rustc refuses `for` in constants as well.
            ExprKind::For { .. } | ExprKind::Method(..) | ExprKind::Wrong => {
                Err(self.unknown(expr.span))
            }
        }
    }

    fn repeated(&mut self, part: &Expr, len: u32) -> Outcome {
        let part = self.expr(part)?;
        Ok(Const::Parts(vec![part; len as usize]))
    }

    fn branch(&mut self, condition: &Expr, accept: &Expr, reject: Option<&Expr>) -> Outcome {
        match (self.truth(condition)?, reject) {
            (true, _) => self.expr(accept),
            (false, Some(reject)) => self.expr(reject),
            (false, None) => Ok(Const::Parts(Vec::new())),
        }
    }

    /// Evaluates a loop, a `break`, `continue` or `return`, or an assignment.
    fn effect(&mut self, expr: &Expr) -> Outcome {
        match &expr.kind {
            ExprKind::While(condition, body) => {
                while self.truth(condition)? {
                    if let Some(value) = self.turn(body, expr.span)? {
                        return Ok(value);
                    }
                }
                Ok(Const::Parts(Vec::new()))
            }
            ExprKind::Loop(body) => loop {
                if let Some(value) = self.turn(body, expr.span)? {
                    return Ok(value);
                }
            },
            ExprKind::Break(value) => {
                let value = value.as_ref().map(|value| self.expr(value)).transpose()?;
                Err(EarlyExit::Break(value))
            }
            ExprKind::Continue => Err(EarlyExit::Continue),
            ExprKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expr(value)).transpose()?;
                Err(EarlyExit::Return(value.unwrap_or(Const::Parts(Vec::new()))))
            }
            ExprKind::Assign(place, value) => {
                let value = self.expr(value)?;
                self.assign(place, value)
            }
            ExprKind::Update(op, place, value) => {
                let (right, left) = (self.scalar(value)?, self.scalar(place)?);
                let value = self.binary(expr, *op, left, right)?;
                self.assign(place, value)
            }
            _ => unreachable!("`expr` evaluates all other expressions"),
        }
    }

    /// Evaluates `-number`. The smallest integer of a type has no positive counterpart, so the sign
    /// is applied to a literal before the check whether the type holds the number.
    fn negative(&mut self, expr: &Expr, ty: &Ty, inner: &Expr) -> Outcome {
        let number = match inner.kind {
            ExprKind::Number(number) => number,
            _ => self.number(inner)?,
        };
        self.integer_constant(expr, ty, -number)
    }

    /// Evaluates a struct, whose fields are evaluated in the order of the text.
    fn structure(&mut self, fields: &[(u32, Expr)]) -> Outcome {
        let mut parts: Vec<(u32, Const)> = Vec::new();
        for (position, field) in fields {
            parts.push((*position, self.expr(field)?));
        }
        parts.sort_by_key(|(position, _)| *position);
        Ok(Const::Parts(parts.into_iter().map(|(_, part)| part).collect()))
    }

    /// Evaluates the body of the first arm that matches a number.
    fn matched(&mut self, value: &Expr, arms: &[Arm], at: Span) -> Outcome {
        let number = self.number(value)?;
        let arm = arms.iter().find(|arm| {
            let mut ranges = arm.ranges.iter().flatten();
            arm.ranges.is_none() || ranges.any(|(a, b)| (*a..=*b).contains(&number))
        });
        match arm {
            Some(arm) => self.expr(&arm.body),
            None => Err(self.unknown(at)),
        }
    }

    /// Makes a value of a type, which must hold the number.
    fn integer_constant(&self, expr: &Expr, ty: &Ty, number: i128) -> Outcome {
        match ty {
            Ty::Int(int) if !int.contains(number) => {
                let message = format!("{number} doesn't fit into `{}`", self.program.show(ty));
                Err(self.refuse(expr.span, message))
            }
            _ => Ok(Const::Scalar(literal(ty, self.program, number))),
        }
    }

    fn binary(&mut self, expr: &Expr, op: BinaryOp, left: Literal, right: Literal) -> Outcome {
        let (a, b) = (left.as_int().unwrap_or_default(), right.as_int().unwrap_or_default());
        let exact = match op {
            BinaryOp::Add => Some(a + b),
            BinaryOp::Subtract => Some(a - b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                let inside = (0..i128::from(left.scalar().bits())).contains(&b);
                inside.then_some(0)
            }
            _ => Some(0),
        };
        let of = Int::named(left.scalar().name());
        if exact.is_none_or(|exact| of.is_some_and(|of| !of.contains(exact))) {
            return Err(self.refuse(expr.span, "this overflows"));
        }
        let right = Literal::int(left.scalar(), b);
        let result = eval::binary(op, left, right);
        result.map(Const::Scalar).map_err(|_| self.refuse(expr.span, "this divides by zero"))
    }

    fn call(&mut self, expr: &Expr, id: usize, args: &[Expr]) -> Outcome {
        if self.depth == 0 {
            return Err(self.refuse(expr.span, "calls nest too deep in this constant"));
        }
        let before = self.program.faults.borrow().len();
        let body = self.program.body(id);
        if self.program.faults.borrow().len() > before {
            return Err(EarlyExit::Refused);
        }
        let writes = self
            .program
            .signature(id)
            .params
            .iter()
            .any(|param| matches!(param.ty, Ty::Ref { mutable: true, .. } | Ty::Slice(_)));
        if writes {
            return Err(self.unknown(expr.span));
        }
        let args: Result<Vec<Const>, EarlyExit> = args.iter().map(|arg| self.expr(arg)).collect();
        let mut frame = EvaluationFrame::new(self.program, &body, self.steps, self.depth - 1);
        for (var, arg) in args?.into_iter().enumerate() {
            frame.vars[var] = Some(arg);
        }
        match frame.expr(&body.value) {
            Err(EarlyExit::Return(value)) => Ok(value),
            outcome => outcome,
        }
    }

    fn block(&mut self, block: &Block) -> Outcome {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(pattern, init) => {
                    let value = init.as_ref().map(|init| self.expr(init)).transpose()?;
                    self.bind(pattern, value);
                }
                Stmt::Expr(expr) => _ = self.expr(expr)?,
            }
        }
        match &block.tail {
            Some(tail) => self.expr(tail),
            None => Ok(Const::Parts(Vec::new())),
        }
    }

    fn bind(&mut self, pattern: &Pattern, value: Option<Const>) {
        match (pattern, value) {
            (Pattern::Var(var), value) => self.vars[*var] = value,
            (Pattern::Tuple(patterns), Some(Const::Parts(parts))) => {
                for (pattern, part) in patterns.iter().zip(parts) {
                    self.bind(pattern, Some(part));
                }
            }
            _ => {}
        }
    }

    /// Runs one iteration of a loop; returns the loop's value if the loop ends.
    fn turn(&mut self, body: &Block, at: Span) -> Result<Option<Const>, EarlyExit> {
        self.step(at)?;
        match self.block(body) {
            Ok(_) | Err(EarlyExit::Continue) => Ok(None),
            Err(EarlyExit::Break(value)) => Ok(Some(value.unwrap_or(Const::Parts(Vec::new())))),
            Err(stop) => Err(stop),
        }
    }

    /// Returns the value of a variable, or of a part of one; `None` for parts of other expressions.
    fn place(&mut self, expr: &Expr) -> Result<Option<&mut Const>, EarlyExit> {
        let position = match &expr.kind {
            ExprKind::Var(var) => return Ok(self.vars[*var].as_mut()),
            ExprKind::Field(_, field) => *field as usize,
            ExprKind::Index(_, index) => usize::try_from(self.number(index)?).unwrap_or(usize::MAX),
            _ => return Ok(None),
        };
        let (ExprKind::Field(base, _) | ExprKind::Index(base, _)) = &expr.kind else {
            return Ok(None);
        };
        let refuse_construct = self.refusal(expr.span);
        match self.place(base)? {
            Some(Const::Parts(parts)) => match parts.get_mut(position) {
                Some(part) => Ok(Some(part)),
                None => {
                    refuse_construct();
                    Err(EarlyExit::Refused)
                }
            },
            _ => Ok(None),
        }
    }

    fn refusal(&self, at: Span) -> impl Fn() + use<'a, 'p> {
        let program = self.program;
        move || program.fault(Diagnostic::error(Code::RustConst, at, "this index lies outside"))
    }

    /// Evaluates a part of an expression that is not a variable.
    fn part(&mut self, expr: &Expr) -> Outcome {
        let (base, position) = match &expr.kind {
            ExprKind::Field(base, field) => (base, i128::from(*field)),
            ExprKind::Index(base, index) => (base, self.number(index)?),
            _ => return Err(self.unknown(expr.span)),
        };
        let Const::Parts(parts) = self.expr(base)? else { return Err(self.unknown(expr.span)) };
        let part = usize::try_from(position).ok().and_then(|position| parts.get(position));
        part.cloned().ok_or_else(|| self.refuse(expr.span, "this index lies outside"))
    }

    fn assign(&mut self, place: &Expr, value: Const) -> Outcome {
        if let ExprKind::Var(var) = place.kind {
            self.vars[var] = Some(value);
            return Ok(Const::Parts(Vec::new()));
        }
        match self.place(place)? {
            Some(held) => *held = value,
            None => return Err(self.unknown(place.span)),
        }
        Ok(Const::Parts(Vec::new()))
    }
}
