//! One arithmetic for all code that computes at compile time: the interpreter, `pass::fold`, and
//! front ends that fold constants. It is exact in the sense of [`crate`].
//!
//! All functions take literals whose types `check` accepts. For other types they return some
//! literal, and never panic.

mod float;
mod integer;
mod native;
mod print;
mod special;

use crate::constant::Literal;
use crate::op::{AtomicOp, BinaryOp, CompareOp, UnaryOp};
use crate::ty::Scalar;
use std::cmp::Ordering;

pub use native::native;
pub use print::{print_line, printf};

/// Error of an integer division by zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DivisionByZero;

/// Computes `-x` or `!x`.
pub fn unary(op: UnaryOp, operand: Literal) -> Literal {
    let (scalar, bits) = (operand.scalar(), operand.bits());
    match op {
        UnaryOp::Negate if scalar.is_float() => {
            Literal::from_bits(scalar, bits ^ 1 << (scalar.bits() - 1))
        }
        UnaryOp::Negate => Literal::from_bits(scalar, bits.wrapping_neg()),
        UnaryOp::Not if scalar == Scalar::Bool => Literal::bool(bits == 0),
        UnaryOp::Not => Literal::from_bits(scalar, !bits),
    }
}

/// Computes an operation whose two operands and result have one type.
pub fn binary(op: BinaryOp, left: Literal, right: Literal) -> Result<Literal, DivisionByZero> {
    if left.scalar().is_float() {
        Ok(float::binary(op, left, right))
    } else {
        integer::binary(op, left, right)
    }
}

/// Compares two literals of one type.
pub fn compare(op: CompareOp, left: Literal, right: Literal) -> bool {
    let order = match (left.as_int(), right.as_int()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64().partial_cmp(&right.as_f64()),
    };
    match op {
        CompareOp::Equal => order == Some(Ordering::Equal),
        CompareOp::NotEqual => order != Some(Ordering::Equal),
        CompareOp::Less => order == Some(Ordering::Less),
        CompareOp::LessEqual => order.is_some_and(Ordering::is_le),
        CompareOp::Greater => order == Some(Ordering::Greater),
        CompareOp::GreaterEqual => order.is_some_and(Ordering::is_ge),
    }
}

/// Converts a literal to another scalar type by value.
pub fn convert(operand: Literal, to: Scalar) -> Literal {
    match operand.as_int() {
        Some(value) => Literal::int(to, value),
        None => Literal::float(to, operand.as_f64()),
    }
}

/// Returns the value that an atomic operation leaves in memory; for `CompareExchange`, the value
/// after success.
pub fn atomic(op: AtomicOp, old: Literal, operand: Literal) -> Literal {
    use crate::builtin::Native;
    let joined = |op| binary(op, old, operand).unwrap_or(old);
    match op {
        AtomicOp::Add => joined(BinaryOp::Add),
        AtomicOp::Subtract => joined(BinaryOp::Subtract),
        AtomicOp::Min => native(Native::Min, &[old, operand]),
        AtomicOp::Max => native(Native::Max, &[old, operand]),
        AtomicOp::And => joined(BinaryOp::And),
        AtomicOp::Or => joined(BinaryOp::Or),
        AtomicOp::Xor => joined(BinaryOp::Xor),
        AtomicOp::Exchange | AtomicOp::CompareExchange => operand,
    }
}

/// Reads a scalar from the beginning of some bytes, little-endian. A `bool` is true unless its byte
/// is 0.
#[inline]
pub fn from_bytes(scalar: Scalar, bytes: &[u8]) -> Literal {
    // Each width has a case of its own, because a copy of a variable number of bytes is a call.
    let bits = match scalar.bytes() {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::from_le_bytes(first(bytes))),
        4 => u64::from(u32::from_le_bytes(first(bytes))),
        _ => u64::from_le_bytes(first(bytes)),
    };
    match scalar {
        Scalar::Bool => Literal::bool(bits != 0),
        _ => Literal::from_bits(scalar, bits),
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("a scalar's bytes are there")
}

/// Writes a scalar to the beginning of some bytes, little-endian.
#[inline]
pub fn to_bytes(literal: Literal, bytes: &mut [u8]) {
    let bits = literal.bits().to_le_bytes();
    match literal.scalar().bytes() {
        1 => bytes[0] = bits[0],
        2 => bytes[..2].copy_from_slice(&bits[..2]),
        4 => bytes[..4].copy_from_slice(&bits[..4]),
        _ => bytes[..8].copy_from_slice(&bits),
    }
}
