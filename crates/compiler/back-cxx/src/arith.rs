//! Arithmetic: C++'s own operators where they mean the same as the IR's, the header's functions
//! elsewhere.

use super::convert::is_small;
use super::expr::{Expr, Level};
use super::interval::Interval;
use super::literal::literal;
use super::op::Expressions;
use super::ty::scalar as spell;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::{BinaryOp, UnaryOp, Value};
use gbxcule_ir::ty::{Scalar, Type};

/// Operands of a binary operation, with known facts about them.
struct Operands {
    left: Expr,
    right: Expr,
    /// Interval of the exact result, before it is wrapped.
    exact: Option<Interval>,
    /// Value of the right operand, if it is a literal.
    number: Option<i128>,
    /// True if the right operand is a valid amount of a shift.
    short: bool,
}

impl Operands {
    /// Returns true if the exact result is a value of a type.
    fn fits(&self, of: Scalar) -> bool {
        let all = Interval::of(of).unwrap_or(Interval::new(0, 0));
        self.exact.is_some_and(|exact| exact.is_in(all))
    }

    /// Returns true if C++'s quotient is the one that is rounded down.
    fn rounds_down(&self, of: Scalar) -> bool {
        !of.is_signed_int() || self.fits(of)
    }
}

impl Expressions<'_, '_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: Value, ty: Type) -> Expr {
        let Some(of) = ty.as_scalar() else {
            let expr = self.values.take(operand);
            return match op {
                UnaryOp::Negate => {
                    if self.items.is_plain() {
                        self.definitions.negation(self.items, ty);
                    }
                    prefix("-", &expr)
                }
                UnaryOp::Not => {
                    self.items.refuse();
                    Expr::call("gbx::bit_not", &[&expr])
                }
            };
        };
        let lowest = Interval::of(of).map(|all| all.low);
        let negatable = self.items.is_plain()
            || self.values.interval(operand).is_some_and(|value| Some(value.low) != lowest);
        let expr = self.take_exact(operand);
        match (op, of) {
            (UnaryOp::Not, Scalar::Bool) => prefix("!", &expr),
            (UnaryOp::Negate, Scalar::F32 | Scalar::F64) => prefix("-", &expr),
            (UnaryOp::Negate, _) if is_small(of) => Expr::call("gbx::neg", &[&expr]),
            (UnaryOp::Negate, _) if of.is_signed_int() && !negatable => {
                Expr::call("gbx::neg", &[&expr])
            }
            (UnaryOp::Negate, _) if of.is_signed_int() => {
                prefix("-", &expr).exact_if(of.bits() >= 32)
            }
            _ => {
                let sign = if op == UnaryOp::Not { "~" } else { "-" };
                let plain = prefix(sign, &expr);
                if of.bits() < 32 { plain.cast(spell(of)) } else { plain }
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: Value,
        right: Value,
        result: Value,
    ) -> Expr {
        let ty = self.body.type_of(result);
        let faults = self.items.faults.op(self.body, &self.body.values[result].op);
        let Some(of) = ty.as_scalar() else {
            return self.composite(op, left, right, ty).faulting(faults);
        };
        if of == Scalar::Bool {
            return self.logic(op, left, right);
        }
        if of.is_float() {
            let (left, right) = (self.take_real(left), self.take_real(right));
            if self.items.is_plain() && matches!(op, BinaryOp::FloorDivide | BinaryOp::Remainder) {
                return plain_float(op, of, &left, &right);
            }
            return float(op, of, &left, &right);
        }
        let intervals = [left, right].map(|it| self.values.interval(it));
        let exact = match intervals {
            [Some(left), Some(right)] => Interval::exact(op, left, right),
            _ => None,
        };
        let number = self.body.integer(right);
        let amounts = Interval::new(0, i128::from(of.bits()) - 1);
        let short = self.values.interval(right).is_some_and(|right| right.is_in(amounts));
        let operands = Operands {
            left: self.values.take(left),
            right: self.values.take(right),
            exact,
            number,
            short,
        };
        if self.items.is_plain() {
            if op == BinaryOp::FloorDivide && !operands.rounds_down(of) {
                self.definitions.floor_div(of);
                return Expr::call("floor_div", &[&operands.left, &operands.right]);
            }
            return match plain_integer(op, of, &operands, intervals) {
                Some(shorter) => shorter,
                None => integer(op, of, operands, None),
            };
        }
        integer(op, of, operands, Some(self.trusted_argument(op))).faulting(faults)
    }

    /// Returns the last argument of a call of the header's division, which turns its check off in
    /// trusted functions.
    fn trusted_argument(&self, op: BinaryOp) -> &'static str {
        match op {
            BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder => {
                self.items.faults.trusted_argument()
            }
            _ => "",
        }
    }

    /// Writes an operation of two composites by component.
    pub(super) fn composite(&mut self, op: BinaryOp, left: Value, right: Value, ty: Type) -> Expr {
        let floats = self.module.types.components(ty).is_some_and(|(of, _)| of.is_float());
        let (left, right) = (self.values.take(left), self.values.take(right));
        if self.items.is_plain() {
            self.definitions.composite(self.items, op, ty, [&left, &right]);
        }
        let expr = match op {
            BinaryOp::Add => Expr::infix(Level::Sum, "+", &left, &right),
            BinaryOp::Subtract => Expr::infix(Level::Sum, "-", &left, &right),
            // Multiplication of every component by one scalar.
            BinaryOp::Multiply if right.splat.is_some() => {
                let factor = right.splat.as_deref().unwrap_or(&right);
                Expr::infix(Level::Product, "*", &left, factor)
            }
            BinaryOp::Multiply if left.splat.is_some() => {
                let factor = left.splat.as_deref().unwrap_or(&left);
                Expr::infix(Level::Product, "*", factor, &right)
            }
            BinaryOp::Divide if floats && right.splat.is_some() => {
                let divisor = right.splat.as_deref().unwrap_or(&right);
                Expr::infix(Level::Product, "/", &left, divisor)
            }
            BinaryOp::Multiply | BinaryOp::Divide if self.items.is_plain() => {
                let name = if op == BinaryOp::Divide { "cw_div" } else { "cw_mul" };
                Expr::call(name, &[&left, &right])
            }
            _ => Expr::call_ending(function(op), &[&left, &right], self.trusted_argument(op)),
        };
        Expr { compound: None, ..expr }
    }
}

fn prefix(sign: &str, operand: &Expr) -> Expr {
    // Two minus signs would read as a decrement.
    let clash = operand.text.starts_with('-');
    let text = if clash {
        [sign, "(", &operand.text, ")"].concat()
    } else {
        [sign, &operand.at(Level::Unary)].concat()
    };
    Expr::new(text, Level::Unary).of(&[operand])
}

fn float(op: BinaryOp, of: Scalar, left: &Expr, right: &Expr) -> Expr {
    let expr = match op {
        BinaryOp::Add => Expr::infix(Level::Sum, "+", left, right),
        BinaryOp::Subtract => Expr::infix(Level::Sum, "-", left, right),
        BinaryOp::Multiply => Expr::infix(Level::Product, "*", left, right),
        BinaryOp::Divide => Expr::infix(Level::Product, "/", left, right),
        BinaryOp::FloorDivide => {
            let quotient = Expr::infix(Level::Product, "/", left, right);
            Expr::call("gbx::floor", &[&quotient])
        }
        _ => Expr::call("gbx::fmod", &[left, right]),
    };
    match of {
        Scalar::F16 => Expr::call("gbx::to_half", &[&expr]),
        Scalar::Bf16 => Expr::call("gbx::to_bfloat16", &[&expr]),
        _ => expr,
    }
}

/// Writes an operation that only a function of CUDA has.
fn plain_float(op: BinaryOp, of: Scalar, left: &Expr, right: &Expr) -> Expr {
    let f = if of == Scalar::F32 { "f" } else { "" };
    if op == BinaryOp::Remainder {
        return Expr::call(&format!("fmod{f}"), &[left, right]);
    }
    let quotient = Expr::infix(Level::Product, "/", left, right);
    Expr::call(&format!("floor{f}"), &[&quotient])
}

/// Writes an operation of integers more shortly, if an operand, or the result, is a known number.
fn plain_integer(
    op: BinaryOp,
    of: Scalar,
    operands: &Operands,
    intervals: [Option<Interval>; 2],
) -> Option<Expr> {
    if of.bits() < 32 {
        return None;
    }
    let number = |value: i128| literal(Literal::int(of, value));
    if operands.fits(of)
        && let Some(result) = operands.exact.and_then(Interval::single)
    {
        return Some(number(result));
    }
    let [left, right] = intervals.map(|it| it.and_then(Interval::single));
    let (one, other) = (&operands.left, &operands.right);
    match (op, left, right) {
        (BinaryOp::Add, Some(0), _) | (BinaryOp::Multiply, Some(1), _) => Some(other.clone()),
        (BinaryOp::Add | BinaryOp::Subtract, _, Some(0)) => Some(one.clone()),
        (BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::FloorDivide, _, Some(1)) => {
            Some(one.clone())
        }
        (BinaryOp::Add, _, Some(by))
            if of.is_signed_int() && (-i128::from(i32::MAX)..0).contains(&by) =>
        {
            Some(Expr::infix(Level::Sum, "-", one, &number(-by)))
        }
        // Masks are known by their hexadecimal digits.
        (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, _, Some(mask))
            if !of.is_signed_int() && mask > 255 =>
        {
            let mask = Expr::atom(format!("{mask:#x}u"));
            let (level, sign) = match op {
                BinaryOp::And => (Level::BitAnd, "&"),
                BinaryOp::Or => (Level::BitOr, "|"),
                _ => (Level::BitXor, "^"),
            };
            Some(Expr::infix(level, sign, one, &mask))
        }
        _ => None,
    }
}

/// Writes an operation of integers. `vouched` is the last argument of a call of the header's
/// function; a text without the header has operators alone.
fn integer(op: BinaryOp, of: Scalar, operands: Operands, vouched: Option<&str>) -> Expr {
    let fits = operands.fits(of);
    let (bits, signed) = (of.bits(), of.is_signed_int());
    let Operands { number, short, .. } = operands;
    let (symbol, level) = match op {
        BinaryOp::Add => ("+", Level::Sum),
        BinaryOp::Subtract => ("-", Level::Sum),
        BinaryOp::Multiply => ("*", Level::Product),
        BinaryOp::Divide | BinaryOp::FloorDivide => ("/", Level::Product),
        BinaryOp::Remainder => ("%", Level::Product),
        BinaryOp::And => ("&", Level::BitAnd),
        BinaryOp::Or => ("|", Level::BitOr),
        BinaryOp::Xor => ("^", Level::BitXor),
        BinaryOp::ShiftLeft => ("<<", Level::Shift),
        BinaryOp::ShiftRight => (">>", Level::Shift),
    };
    let plain = match op {
        // C++ wraps unsigned integers of 32 bits and more, and computes narrower ones as int.
        BinaryOp::Add | BinaryOp::Subtract => fits || !signed || bits < 32,
        BinaryOp::Multiply => fits || !signed || bits < 32,
        BinaryOp::Divide | BinaryOp::Remainder => {
            number.is_some_and(|number| number != 0 && number != -1)
        }
        BinaryOp::FloorDivide => number.is_some_and(|number| number > 0) && (!signed || fits),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
        BinaryOp::ShiftLeft => short && !signed,
        BinaryOp::ShiftRight => short,
    };
    let Operands { mut left, right, .. } = operands;
    if let (false, Some(vouched)) = (plain, vouched) {
        let left = if left.exact { left } else { left.cast(spell(of)) };
        return Expr::call_ending(function(op), &[&left, &right], vouched);
    }
    if bits >= 32 {
        // The wider type must decide; in a shift the left operand alone decides.
        let shifts = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        if !left.exact && (shifts || !right.exact) {
            left = left.cast(spell(of));
        }
        return Expr::infix(level, symbol, &left, &right);
    }
    let wraps =
        matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::ShiftLeft);
    if op == BinaryOp::Multiply && of == Scalar::U16 && !fits {
        // 65535 * 65535 overflows an int.
        left = left.cast("uint32_t");
    }
    let expr = Expr::infix(level, symbol, &left, &right);
    if wraps && !fits {
        let stays_in_range = of != Scalar::U16 || op != BinaryOp::Multiply;
        let before = spell(of).len() + "(".len();
        let compound =
            expr.compound.filter(|_| stays_in_range).map(|compound| compound.moved(before));
        Expr { compound, ..expr.cast(spell(of)) }
    } else {
        expr.inexact()
    }
}

/// Returns the header's function for an operation.
fn function(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "gbx::add",
        BinaryOp::Subtract => "gbx::sub",
        BinaryOp::Multiply => "gbx::mul",
        BinaryOp::Divide => "gbx::div",
        BinaryOp::FloorDivide => "gbx::floordiv",
        BinaryOp::Remainder => "gbx::rem",
        BinaryOp::And => "gbx::bit_and",
        BinaryOp::Or => "gbx::bit_or",
        BinaryOp::Xor => "gbx::bit_xor",
        BinaryOp::ShiftLeft => "gbx::shl",
        BinaryOp::ShiftRight => "gbx::shr",
    }
}
