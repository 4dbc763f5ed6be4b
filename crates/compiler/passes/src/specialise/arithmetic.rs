//! Operations on partly known values: computed if all operands are known, simplified if the bits
//! that are used allow it, left as code otherwise.

use super::PartialValue;
use super::residual::{Pure, Residual};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use gbxcule_ir::stmt::BlockId;
use gbxcule_ir::ty::{Scalar, Type};

use PartialValue::{Sum, Value as Unknown};

/// Greatest number of operations that are looked through to follow bits.
const MAX_DEPTH: usize = 8;

impl Residual {
    /// Specialises `-x` and `!x`.
    pub(super) fn unary(&mut self, block: BlockId, op: UnaryOp, of: PartialValue) -> PartialValue {
        if let PartialValue::Literal(literal) = of {
            return PartialValue::Literal(eval::unary(op, literal));
        }
        let ty = self.type_of(of);
        let of = self.value(block, of);
        match (op, self.body.values[of].op) {
            (UnaryOp::Not, Op::Unary(UnaryOp::Not, inner)) => Unknown(inner),
            (UnaryOp::Not, Op::Compare(compared, left, right)) if self.is_integer(left) => {
                let pure = Pure::Compare(opposite(compared), left, right);
                Unknown(self.pure(block, pure, ty))
            }
            _ => Unknown(self.pure(block, Pure::Unary(op, of), ty)),
        }
    }

    /// Specialises an operation whose two operands and result have one type.
    pub(super) fn binary(
        &mut self,
        block: BlockId,
        op: BinaryOp,
        left: PartialValue,
        right: PartialValue,
    ) -> PartialValue {
        if let (PartialValue::Literal(left), PartialValue::Literal(right)) = (left, right)
            && let Ok(result) = eval::binary(op, left, right)
        {
            return PartialValue::Literal(result);
        }
        let ty = self.type_of(left);
        if ty.as_scalar().is_some_and(|of| !of.is_float())
            && let Some(simpler) = self.integers(block, op, left, right)
        {
            return simpler;
        }
        let (left, right) = (self.value(block, left), self.value(block, right));
        Unknown(self.pure(block, Pure::Binary(op, left, right), ty))
    }

    /// Finds a simpler form of the operation.
    fn integers(
        &mut self,
        block: BlockId,
        op: BinaryOp,
        left: PartialValue,
        right: PartialValue,
    ) -> Option<PartialValue> {
        use BinaryOp::{Add, And, Multiply, Or, ShiftLeft, ShiftRight, Subtract, Xor};
        let commutes = matches!(op, Add | And | Or | Xor | Multiply);
        let (left, right) = match (left, right) {
            (PartialValue::Literal(_), _) if commutes => (right, left),
            other => other,
        };
        let scalar = self.type_of(left).as_scalar()?;
        let zero = PartialValue::Literal(Literal::from_bits(scalar, 0));
        if left == right {
            match op {
                And | Or => return Some(left),
                Xor | Subtract => return Some(zero),
                _ => {}
            }
        }
        if scalar != Scalar::Bool {
            match (op, left, right) {
                (Add, _, PartialValue::Literal(by)) => return self.plus(left, by),
                (Subtract, _, PartialValue::Literal(by)) => {
                    return self.plus(left, eval::unary(UnaryOp::Negate, by));
                }
                (Subtract, Sum(base, by), Sum(other, less)) if base == other => {
                    return eval::binary(Subtract, by, less).ok().map(PartialValue::Literal);
                }
                (Subtract, Sum(base, by), Unknown(other)) if base == other => {
                    return Some(PartialValue::Literal(by));
                }
                (Subtract, Sum(base, by), Unknown(_)) => {
                    // Differences at several moments share one subtraction.
                    let difference = self.binary(block, Subtract, Unknown(base), right);
                    return self.plus(difference, by);
                }
                _ => {}
            }
        }
        let PartialValue::Literal(by) = right else {
            return match op {
                Or => {
                    self.halves(left, right).or_else(|| self.masks_of_one_value(block, left, right))
                }
                _ => None,
            };
        };
        match op {
            Or | Xor | ShiftLeft | ShiftRight if by.bits() == 0 => Some(left),
            And => Some(self.masked(block, left, by.bits())),
            ShiftRight if !scalar.is_signed_int() && by.bits() < 64 => {
                let all = Literal::from_bits(scalar, u64::MAX).bits();
                let remaining_bits = all & (u64::MAX << by.bits());
                let left = self.followed(block, left, remaining_bits, 0);
                self.shifted_right(block, left, by)
            }
            _ => None,
        }
    }

    fn plus(&self, left: PartialValue, by: Literal) -> Option<PartialValue> {
        match left {
            _ if by.bits() == 0 => Some(left),
            Unknown(base) => Some(Sum(base, by)),
            Sum(base, before) => {
                let sum = eval::binary(BinaryOp::Add, before, by).ok()?;
                Some(if sum.bits() == 0 { Unknown(base) } else { Sum(base, sum) })
            }
            PartialValue::Literal(_) => None,
        }
    }

    /// Specialises a shift to the right. `(x << n) >> n` is `x` if the first shift loses no bit.
    fn shifted_right(
        &mut self,
        block: BlockId,
        left: PartialValue,
        by: Literal,
    ) -> Option<PartialValue> {
        let ty = self.type_of(left);
        if let PartialValue::Literal(left) = left {
            return eval::binary(BinaryOp::ShiftRight, left, by).ok().map(PartialValue::Literal);
        }
        let left = self.value(block, left);
        if self.possible(left, 0).checked_shr(by.bits() as u32).unwrap_or(0) == 0 {
            return Some(PartialValue::Literal(Literal::from_bits(by.scalar(), 0)));
        }
        if let Op::Binary(BinaryOp::ShiftLeft, inner, amount) = self.body.values[left].op
            && self.body.literal(amount) == Some(by)
            && self.possible(inner, 0)
                <= Literal::from_bits(by.scalar(), u64::MAX).bits() >> by.bits()
        {
            return Some(Unknown(inner));
        }
        let by = self.pure(block, Pure::Literal(by), ty);
        Some(Unknown(self.pure(block, Pure::Binary(BinaryOp::ShiftRight, left, by), ty)))
    }

    /// Specialises `x & mask`.
    fn masked(&mut self, block: BlockId, left: PartialValue, mask: u64) -> PartialValue {
        let ty = self.type_of(left);
        let left = self.followed(block, left, mask, 0);
        let scalar = ty.as_scalar().unwrap_or(Scalar::U64);
        if let PartialValue::Literal(left) = left {
            return PartialValue::Literal(Literal::from_bits(scalar, left.bits() & mask));
        }
        let left = self.value(block, left);
        let possible = self.possible(left, 0);
        if possible & mask == 0 {
            return PartialValue::Literal(Literal::from_bits(scalar, 0));
        }
        if possible & !mask == 0 {
            return Unknown(left);
        }
        let mask = self.pure(block, Pure::Literal(Literal::from_bits(scalar, mask)), ty);
        Unknown(self.pure(block, Pure::Binary(BinaryOp::And, left, mask), ty))
    }

    /// Finds a simpler value of the same type whose bits under the mask are those of `of`.
    fn followed(
        &mut self,
        block: BlockId,
        of: PartialValue,
        mask: u64,
        depth: usize,
    ) -> PartialValue {
        let Unknown(value) = of else { return of };
        if depth == MAX_DEPTH {
            return of;
        }
        let ty = self.body.type_of(value);
        match self.body.values[value].op {
            Op::Binary(op @ (BinaryOp::Or | BinaryOp::Xor), left, right) => {
                let [left_bits, right_bits] = [left, right].map(|side| self.possible(side, 0));
                if left_bits & mask == 0 {
                    return self.followed(block, self.known(right), mask, depth + 1);
                }
                if right_bits & mask == 0 {
                    return self.followed(block, self.known(left), mask, depth + 1);
                }
                let sides = [left, right].map(|side| self.known(side));
                let [a, b] = sides.map(|side| self.followed(block, side, mask, depth + 1));
                if [a, b] == sides {
                    return of;
                }
                self.binary(block, op, a, b)
            }
            Op::Binary(BinaryOp::And, left, right) => match self.body.literal(right) {
                Some(other) if other.bits() & mask == mask => {
                    self.followed(block, self.known(left), mask, depth + 1)
                }
                _ => of,
            },
            Op::Binary(BinaryOp::ShiftRight, left, by)
                if !ty.as_scalar().is_some_and(Scalar::is_signed_int) =>
            {
                let Some(by) = self.body.literal(by).filter(|by| by.bits() < 64) else { return of };
                let wide = mask << by.bits();
                if wide >> by.bits() != mask {
                    return of;
                }
                let inner = self.followed(block, self.known(left), wide, depth + 1);
                if inner == self.known(left) {
                    return of;
                }
                self.binary(block, BinaryOp::ShiftRight, inner, PartialValue::Literal(by))
            }
            _ => of,
        }
    }

    /// Returns the bits of an unsigned integer that may be set; all bits for other types.
    fn possible(&self, value: Value, depth: usize) -> u64 {
        let Some(scalar) = self.body.type_of(value).as_scalar() else { return u64::MAX };
        let all_bits = Literal::from_bits(scalar, u64::MAX).bits();
        if depth == MAX_DEPTH {
            return all_bits;
        }
        let bits_of = |value| self.possible(value, depth + 1);
        let bits = match self.body.values[value].op {
            Op::Literal(literal) => literal.bits(),
            Op::Convert(from) => {
                let signed = self
                    .body
                    .type_of(from)
                    .as_scalar()
                    .is_none_or(|from| from.is_float() || from.is_signed_int());
                if signed { all_bits } else { bits_of(from) }
            }
            Op::Binary(BinaryOp::And, left, right) => bits_of(left) & bits_of(right),
            Op::Binary(BinaryOp::Or | BinaryOp::Xor, left, right) => bits_of(left) | bits_of(right),
            Op::Binary(BinaryOp::ShiftLeft, left, by) => match self.body.literal(by) {
                Some(by) => bits_of(left).checked_shl(by.bits() as u32).unwrap_or(0),
                None => all_bits,
            },
            Op::Binary(BinaryOp::ShiftRight, left, by) if !scalar.is_signed_int() => {
                match self.body.literal(by) {
                    Some(by) => bits_of(left).checked_shr(by.bits() as u32).unwrap_or(0),
                    None => below(bits_of(left).checked_add(1)).unwrap_or(all_bits),
                }
            }
            Op::Binary(BinaryOp::Add, left, right) => {
                let sum =
                    bits_of(left).checked_add(bits_of(right)).and_then(|sum| sum.checked_add(1));
                below(sum).unwrap_or(all_bits)
            }
            _ => all_bits,
        };
        bits & all_bits
    }

    /// Finds the 16-bit value whose two halves an operation joins again: `(w >> 8) << 8 | w &
    /// 0xff`.
    fn halves(&self, left: PartialValue, right: PartialValue) -> Option<PartialValue> {
        let (Unknown(left), Unknown(right)) = (left, right) else { return None };
        let joined = |high: Value, low: Value| {
            let Op::Binary(BinaryOp::ShiftLeft, high, by) = self.body.values[high].op else {
                return None;
            };
            let (Op::Convert(high), Op::Convert(low)) =
                (self.body.values[high].op, self.body.values[low].op)
            else {
                return None;
            };
            let (Op::Convert(shifted), Op::Convert(word)) =
                (self.body.values[high].op, self.body.values[low].op)
            else {
                return None;
            };
            let Op::Binary(BinaryOp::ShiftRight, other, back) = self.body.values[shifted].op else {
                return None;
            };
            let is_byte = |value| self.body.type_of(value) == Type::U8;
            let eight = |by| self.body.literal(by).is_some_and(|by| by.bits() == 8);
            let fits = other == word
                && self.body.type_of(word) == Type::U16
                && is_byte(high)
                && is_byte(low)
                && eight(by)
                && eight(back);
            fits.then_some(word)
        };
        joined(left, right).or_else(|| joined(right, left)).map(|word| self.known(word))
    }

    /// Joins two masks of one value: `x & a | x & b` is `x & (a | b)`. One of the masks may have
    /// found a simpler value with the same bits.
    fn masks_of_one_value(
        &mut self,
        block: BlockId,
        left: PartialValue,
        right: PartialValue,
    ) -> Option<PartialValue> {
        let masked = |side: PartialValue| {
            let Unknown(side) = side else { return None };
            let Op::Binary(BinaryOp::And, of, mask) = self.body.values[side].op else {
                return None;
            };
            Some((of, self.body.literal(mask)?.bits()))
        };
        let ((of, mask), (other, more)) = (masked(left)?, masked(right)?);
        if of == other || self.followed(block, Unknown(other), mask, 0) == Unknown(of) {
            Some(self.masked(block, Unknown(other), mask | more))
        } else if self.followed(block, Unknown(of), more, 0) == Unknown(other) {
            Some(self.masked(block, Unknown(of), mask | more))
        } else {
            None
        }
    }

    /// Specialises a comparison of two operands of one type.
    pub(super) fn compare(
        &mut self,
        block: BlockId,
        op: CompareOp,
        left: PartialValue,
        right: PartialValue,
    ) -> PartialValue {
        if let (PartialValue::Literal(left), PartialValue::Literal(right)) = (left, right) {
            return PartialValue::Literal(Literal::bool(eval::compare(op, left, right)));
        }
        let scalar = self.type_of(left).as_scalar();
        if scalar.is_some_and(|of| !of.is_float() && !of.is_signed_int())
            && let PartialValue::Literal(limit) = right
            && let Unknown(value) = left
            && self.possible(value, 0) < limit.bits()
        {
            let result = matches!(op, CompareOp::Less | CompareOp::LessEqual | CompareOp::NotEqual);
            return PartialValue::Literal(Literal::bool(result));
        }
        let (left, right) = (self.value(block, left), self.value(block, right));
        Unknown(self.pure(block, Pure::Compare(op, left, right), Type::BOOL))
    }

    /// Specialises a choice between two values.
    pub(super) fn select(&mut self, block: BlockId, parts: [PartialValue; 3]) -> PartialValue {
        let [condition, accept, reject] = parts;
        if let PartialValue::Literal(condition) = condition {
            return if condition.bits() != 0 { accept } else { reject };
        }
        if accept == reject {
            return accept;
        }
        let ty = self.type_of(accept);
        if let (Unknown(condition), PartialValue::Literal(bit), PartialValue::Literal(none)) =
            (condition, accept, reject)
            && let Op::Compare(CompareOp::NotEqual, tested, zero) = self.body.values[condition].op
            && self.body.literal(zero).is_some_and(|zero| zero.bits() == 0)
            && self.body.type_of(tested) == ty
            && self.is_integer(tested)
            && bit.bits().is_power_of_two()
            && self.possible(tested, 0) == bit.bits()
            && none.bits() == 0
        {
            // `x & bit != 0 ? bit : 0`
            return Unknown(tested);
        }
        let [condition, accept, reject] = parts.map(|part| self.value(block, part));
        Unknown(self.pure(block, Pure::Select(condition, accept, reject), ty))
    }

    /// Specialises a conversion to another scalar type by value.
    pub(super) fn convert(&mut self, block: BlockId, of: PartialValue, to: Scalar) -> PartialValue {
        if let PartialValue::Literal(literal) = of {
            return PartialValue::Literal(eval::convert(literal, to));
        }
        let from = self.type_of(of).as_scalar();
        if from == Some(to) {
            return of;
        }
        let narrows =
            from.is_some_and(|from| from.is_int() && to.is_int() && to.bits() < from.bits());
        let mask = if narrows { Literal::from_bits(to, u64::MAX).bits() } else { u64::MAX };
        let followed = if narrows { self.followed(block, of, mask, 0) } else { of };
        if let PartialValue::Literal(literal) = followed {
            return PartialValue::Literal(eval::convert(literal, to));
        }
        let value = self.value(block, followed);
        if narrows
            && let Op::Convert(inner) = self.body.values[value].op
            && self.body.type_of(inner) == Type::scalar(to)
        {
            return self.known(inner);
        }
        Unknown(self.pure(block, Pure::Convert(value), Type::scalar(to)))
    }

    /// Specialises the bits of a scalar read as another type.
    pub(super) fn bitcast(&mut self, block: BlockId, of: PartialValue, to: Scalar) -> PartialValue {
        if let PartialValue::Literal(literal) = of {
            return PartialValue::Literal(Literal::from_bits(to, literal.bits()));
        }
        let value = self.value(block, of);
        Unknown(self.pure(block, Pure::Bitcast(value), Type::scalar(to)))
    }

    /// Returns everything that is known of a value of the body.
    fn known(&self, value: Value) -> PartialValue {
        match self.body.values[value].op {
            Op::Literal(literal) => PartialValue::Literal(literal),
            Op::Binary(BinaryOp::Add, base, by) if self.is_integer(base) => {
                match self.body.literal(by) {
                    Some(by) => Sum(base, by),
                    None => Unknown(value),
                }
            }
            _ => Unknown(value),
        }
    }

    fn is_integer(&self, value: Value) -> bool {
        self.body.type_of(value).as_scalar().is_some_and(|of| !of.is_float())
    }
}

/// Returns a mask of all bits that numbers below a bound may have.
fn below(bound: Option<u64>) -> Option<u64> {
    bound?.checked_next_power_of_two().map(|top| top - 1)
}

const fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
    }
}
