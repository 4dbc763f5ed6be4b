//! Checks that simplified operations keep their meaning: evaluates random expressions over
//! unknown values for random inputs, and compares the results with those of the simplified
//! expressions.

use super::{PartialValue, Residual};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use gbxcule_ir::ty::{Scalar, Type};
use rustc_hash::FxHashMap;

const INTEGERS: [Scalar; 6] =
    [Scalar::U8, Scalar::U16, Scalar::U32, Scalar::U64, Scalar::I8, Scalar::I32];
const OPS: [BinaryOp; 7] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
];
const COMPARES: [CompareOp; 6] = [
    CompareOp::Equal,
    CompareOp::NotEqual,
    CompareOp::Less,
    CompareOp::LessEqual,
    CompareOp::Greater,
    CompareOp::GreaterEqual,
];

/// Generator of random numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    fn literal(&mut self, scalar: Scalar) -> Literal {
        let masks = [0, 1, 4, 7, 8, 0x0f, 0x10, 0xff, 0x100, 0x1ff, 0xff00, u64::MAX];
        let bits = match self.below(3) {
            0 => self.next(),
            _ => masks[self.below(masks.len())],
        };
        Literal::from_bits(scalar, bits)
    }
}

/// Computes the literal that a value of the residual code has.
fn computed(residual: &Residual, inputs: &FxHashMap<Value, Literal>, value: Value) -> Literal {
    if let Some(&input) = inputs.get(&value) {
        return input;
    }
    let of = |value| computed(residual, inputs, value);
    let scalar = residual.body.type_of(value).as_scalar().expect("a scalar");
    match residual.body.values[value].op {
        Op::Literal(literal) => literal,
        Op::Unary(op, x) => eval::unary(op, of(x)),
        Op::Binary(op, x, y) => eval::binary(op, of(x), of(y)).expect("no division"),
        Op::Compare(op, x, y) => Literal::bool(eval::compare(op, of(x), of(y))),
        Op::Select { condition, accept, reject } => {
            of(if of(condition).bits() != 0 { accept } else { reject })
        }
        Op::Convert(x) => eval::convert(of(x), scalar),
        Op::Bitcast(x) => Literal::from_bits(scalar, of(x).bits()),
        op => panic!("{op:?} is not left"),
    }
}

#[test]
fn simplified_arithmetic_computes_the_same() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut simplified = 0;
    for _ in 0..400 {
        let mut residual = Residual::default();
        let block = residual.body.root;
        let mut inputs = FxHashMap::default();
        let mut known: Vec<(PartialValue, Literal)> = Vec::new();
        for scalar in INTEGERS {
            let value = residual.emit(block, Op::Zero, Type::scalar(scalar));
            let literal = numbers.literal(scalar);
            inputs.insert(value, literal);
            known.push((PartialValue::Value(value), literal));
        }
        for _ in 0..60 {
            let (left, x) = known[numbers.below(known.len())];
            let same: Vec<_> = known.iter().filter(|it| it.1.scalar() == x.scalar()).collect();
            let (right, y) = match numbers.below(2) {
                0 => *same[numbers.below(same.len())],
                _ => {
                    let literal = numbers.literal(x.scalar());
                    (PartialValue::Literal(literal), literal)
                }
            };
            let is_bool = x.scalar() == Scalar::Bool;
            let (found, expected) = match numbers.below(9) {
                0 => (residual.unary(block, UnaryOp::Not, left), eval::unary(UnaryOp::Not, x)),
                1 => {
                    let count = if is_bool { 2 } else { COMPARES.len() };
                    let op = COMPARES[numbers.below(count)];
                    let expected = Literal::bool(eval::compare(op, x, y));
                    (residual.compare(block, op, left, right), expected)
                }
                2 | 3 => {
                    let to = INTEGERS[numbers.below(INTEGERS.len())];
                    (residual.convert(block, left, to), eval::convert(x, to))
                }
                4 if !is_bool => {
                    let [bit, zero] =
                        [1 << numbers.below(8), 0].map(|bits| Literal::from_bits(x.scalar(), bits));
                    let [given, none] = [bit, zero].map(PartialValue::Literal);
                    let tested = residual.binary(block, BinaryOp::And, left, given);
                    let condition = residual.compare(block, CompareOp::NotEqual, tested, none);
                    let expected = eval::binary(BinaryOp::And, x, bit).expect("no division");
                    (residual.select(block, [condition, given, none]), expected)
                }
                _ => {
                    let op =
                        if is_bool { OPS[2 + numbers.below(3)] } else { OPS[numbers.below(7)] };
                    let expected = eval::binary(op, x, y).expect("no division");
                    (residual.binary(block, op, left, right), expected)
                }
            };
            simplified += usize::from(!matches!(found, PartialValue::Value(_)));
            let value = residual.value(block, found);
            assert_eq!(computed(&residual, &inputs, value), expected);
            known.push((found, expected));
        }
    }
    assert!(simplified > 1000, "{simplified} sums and literals");
}

/// Addresses of work RAM become indices in this way, if the bank at D000 is the first.
#[test]
fn a_bit_that_chooses_itself_joins_the_mask_beside_it() {
    let mut residual = Residual::default();
    let block = residual.body.root;
    let address = PartialValue::Value(residual.emit(block, Op::Zero, Type::U16));
    let literal = |bits| PartialValue::Literal(Literal::from_bits(Scalar::U16, bits));
    let bit = residual.binary(block, BinaryOp::And, address, literal(0x1000));
    let condition = residual.compare(block, CompareOp::NotEqual, bit, literal(0));
    let bank = residual.select(block, [condition, literal(0x1000), literal(0)]);
    let rest = residual.binary(block, BinaryOp::And, address, literal(0x0fff));
    let index = residual.binary(block, BinaryOp::Or, bank, rest);
    assert_eq!(index, residual.binary(block, BinaryOp::And, address, literal(0x1fff)));
}

/// The bit comes from the upper half of the address alone.
#[test]
fn a_mask_of_a_part_joins_the_mask_of_the_whole() {
    let mut residual = Residual::default();
    let block = residual.body.root;
    let [high, low] = [(); 2].map(|()| residual.emit(block, Op::Zero, Type::U8));
    let [high, low] =
        [high, low].map(|half| residual.convert(block, PartialValue::Value(half), Scalar::U16));
    let literal = |bits| PartialValue::Literal(Literal::from_bits(Scalar::U16, bits));
    let high = residual.binary(block, BinaryOp::ShiftLeft, high, literal(8));
    let address = residual.binary(block, BinaryOp::Or, high, low);
    let bit = residual.binary(block, BinaryOp::And, address, literal(0x1000));
    assert_eq!(bit, residual.binary(block, BinaryOp::And, high, literal(0x1000)));
    let rest = residual.binary(block, BinaryOp::And, address, literal(0x0fff));
    let whole = residual.binary(block, BinaryOp::And, address, literal(0x1fff));
    assert_eq!(residual.binary(block, BinaryOp::Or, bit, rest), whole);
    assert_eq!(residual.binary(block, BinaryOp::Or, rest, bit), whole);
}

#[test]
fn facts_of_one_branch_are_not_known_in_the_other() {
    let mut residual = Residual::default();
    let root = residual.body.root;
    let input = residual.emit(root, Op::Zero, Type::U16);
    let [left, right] = [(); 2].map(|()| residual.open(root));
    let mut masked = |block| {
        let mask = PartialValue::Literal(Literal::from_bits(Scalar::U16, 0x00f0));
        residual.binary(block, BinaryOp::And, PartialValue::Value(input), mask)
    };
    let (first, again, other) = (masked(left), masked(left), masked(right));
    assert_eq!(first, again);
    assert_ne!(first, other);
    let behind = masked(root);
    assert_ne!(behind, first);
    // An operation first computed after the branches is not visible in them.
    assert_eq!(masked(right), other);
}
