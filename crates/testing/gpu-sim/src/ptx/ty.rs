//! The scalar types of PTX.

/// Kind of a type's values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
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
pub struct Type {
    /// Kind of its values.
    pub kind: Kind,
    /// Their width; 1 for predicates.
    pub bits: u32,
}

impl Type {
    /// Integers of 32 bits without a sign: counts, shifts, selectors.
    pub const U32: Self = Self { kind: Kind::Unsigned, bits: 32 };
    /// True or false.
    pub const PREDICATE: Self = Self { kind: Kind::Predicate, bits: 1 };

    /// Returns the type of a name without its dot.
    pub fn named(name: &str) -> Option<Self> {
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
    pub fn wide(self) -> Self {
        Self { bits: 2 * self.bits, ..self }
    }

    /// Returns the size in memory in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }

    /// Returns the name of the type in C++, for floats of 16 bits a name of `ptx.h`.
    pub fn cpp(self) -> String {
        match self.kind {
            Kind::Bits | Kind::Unsigned => format!("u{}", self.bits),
            Kind::Signed => format!("s{}", self.bits),
            Kind::Float => format!("f{}", self.bits),
            Kind::Predicate => "bool".into(),
        }
    }

    /// Returns the type of the C++ variable for a register of this type.
    pub fn register(self) -> String {
        match self.kind {
            Kind::Predicate => "bool".into(),
            _ => format!("u{}", self.bits),
        }
    }
}
