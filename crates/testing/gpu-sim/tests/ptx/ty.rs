//! The scalar types of PTX.

/// Kind of a type's values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// Bits without a meaning.
    Bits,
    /// Integers without a sign.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// Floats as IEEE 754 has them.
    Float,
    /// True or false.
    Predicate,
}

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type {
    /// Kind of its values.
    pub(crate) kind: Kind,
    /// Their width; 1 for predicates.
    pub(crate) bits: u32,
}

impl Type {
    /// Integers of 32 bits without a sign: counts, shifts, selectors.
    pub(crate) const U32: Self = Self { kind: Kind::Unsigned, bits: 32 };
    /// True or false.
    pub(crate) const PREDICATE: Self = Self { kind: Kind::Predicate, bits: 1 };

    /// Returns the type of a name without its dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "pred" {
            return Some(Self::PREDICATE);
        }
        let kind = match name.as_bytes().first()? {
            b'b' => Kind::Bits,
            b'u' => Kind::Unsigned,
            b's' => Kind::Signed,
            b'f' => Kind::Float,
            _ => return None,
        };
        let bits = match &name[1..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        (kind != Kind::Float || bits != 8).then_some(Self { kind, bits })
    }

    /// Returns the integer type of twice the width.
    pub(crate) fn wide(self) -> Self {
        Self { bits: 2 * self.bits, ..self }
    }

    /// Returns the size in memory in bytes.
    pub(crate) fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }
}
