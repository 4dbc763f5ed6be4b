//! Binary form of records on disk: fields one after the other, numbers in little endian, lists
//! after their lengths. A record that doesn't fit its type is read as `None`.

use gbxcule_back_clif::{
    Apart, Entry, GroupOrder, LaunchFacts, ParamArray, Printed, Site, UsedArray,
};
use gbxcule_ir::abi::{Cause, FaultKind};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::source::{SourceId, Span};
use gbxcule_ir::{Field, Scalar, Shape, Struct};
use std::sync::Arc;

/// Source number of a span in generated code.
const NO_SOURCE: u32 = u32::MAX;

/// Value that a record holds.
pub trait Stored: Sized {
    /// Appends the value to a record.
    fn write(&self, record: &mut Vec<u8>);

    /// Reads the value from the beginning of the remaining record.
    fn read(input: &mut &[u8]) -> Option<Self>;
}

/// Reads a record that consists of one value.
pub fn read_whole<T: Stored>(mut record: &[u8]) -> Option<T> {
    T::read(&mut record).filter(|_| record.is_empty())
}

/// Implements [`Stored`] for structs, whose fields are written in the order of these lists.
macro_rules! stored {
    ($($name:ident { $($field:ident),* })*) => {
        $(
            impl $crate::recipe::record::Stored for $name {
                fn write(&self, record: &mut Vec<u8>) {
                    $($crate::recipe::record::Stored::write(&self.$field, record);)*
                }

                fn read(input: &mut &[u8]) -> Option<Self> {
                    Some(Self { $($field: $crate::recipe::record::Stored::read(input)?),* })
                }
            }
        )*
    };
}
pub(crate) use stored;

stored! {
    Apart { dim, reach }
    Cause { kind, message }
    Entry { kernel, position, dims, work, stack_bytes, exclusive, order }
    Field { name, ty, span }
    GroupOrder { arrays, same }
    LaunchFacts { sites, prints, entries }
    ParamArray { param, fields, gradient }
    Printed { format, types }
    Site { function, span, cause }
    Struct { name, fields, span }
    UsedArray { array, written, apart }
}

macro_rules! stored_numbers {
    ($($number:ty)*) => {
        $(
            impl Stored for $number {
                fn write(&self, record: &mut Vec<u8>) {
                    record.extend(self.to_le_bytes());
                }

                fn read(input: &mut &[u8]) -> Option<Self> {
                    let (first, behind) = input.split_first_chunk()?;
                    *input = behind;
                    Some(Self::from_le_bytes(*first))
                }
            }
        )*
    };
}

stored_numbers! { u8 u16 u32 u64 i32 i64 }

impl Stored for usize {
    fn write(&self, record: &mut Vec<u8>) {
        (*self as u64).write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        u64::read(input)?.try_into().ok()
    }
}

impl Stored for bool {
    fn write(&self, record: &mut Vec<u8>) {
        u8::from(*self).write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match u8::read(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for Box<[u8]> {
    fn write(&self, record: &mut Vec<u8>) {
        self.len().write(record);
        record.extend_from_slice(self);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let len = usize::read(input)?;
        let (bytes, behind) = input.split_at_checked(len)?;
        *input = behind;
        Some(bytes.into())
    }
}

impl Stored for String {
    fn write(&self, record: &mut Vec<u8>) {
        self.len().write(record);
        record.extend_from_slice(self.as_bytes());
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Box::<[u8]>::read(input)?.into()).ok()
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, record: &mut Vec<u8>) {
        self.len().write(record);
        self.iter().for_each(|item| item.write(record));
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        // A wrong length ends at the end of the record, so no memory is reserved by the length.
        (0..usize::read(input)?).map(|_| T::read(input)).collect()
    }
}

impl<T: Stored> Stored for Arc<[T]> {
    fn write(&self, record: &mut Vec<u8>) {
        self.len().write(record);
        self.iter().for_each(|item| item.write(record));
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Vec::read(input).map(Self::from)
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn write(&self, record: &mut Vec<u8>) {
        T::write(self, record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        T::read(input).map(Self::new)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, record: &mut Vec<u8>) {
        self.is_some().write(record);
        if let Some(value) = self {
            value.write(record);
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(input)? { Some(T::read(input)?) } else { None })
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, record: &mut Vec<u8>) {
        self.0.write(record);
        self.1.write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some((A::read(input)?, B::read(input)?))
    }
}

impl<A: Stored, B: Stored, C: Stored> Stored for (A, B, C) {
    fn write(&self, record: &mut Vec<u8>) {
        self.0.write(record);
        self.1.write(record);
        self.2.write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some((A::read(input)?, B::read(input)?, C::read(input)?))
    }
}

impl<T> Stored for Handle<T> {
    fn write(&self, record: &mut Vec<u8>) {
        (self.index() as u32).write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let index = u32::read(input).filter(|&index| index < u32::MAX)?;
        Some(Self::from_index(index as usize))
    }
}

impl Stored for Span {
    fn write(&self, record: &mut Vec<u8>) {
        let source = self.source().map_or(NO_SOURCE, |source| source.index() as u32);
        (source, self.start, self.end).write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let (source, start, end) = Stored::read(input)?;
        Some(match source {
            NO_SOURCE => Self::NONE,
            source => Self::new(SourceId::from_index(source), start, end),
        })
    }
}

impl Stored for FaultKind {
    fn write(&self, record: &mut Vec<u8>) {
        self.number().write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let number = i32::read(input)?;
        let stopped = || (number == Self::Stopped.number()).then_some(Self::Stopped);
        Self::from_number(number).or_else(stopped)
    }
}

impl Stored for Scalar {
    fn write(&self, record: &mut Vec<u8>) {
        (*self as u8).write(record);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Self::ALL.get(usize::from(u8::read(input)?)).copied()
    }
}

impl Stored for Shape {
    fn write(&self, record: &mut Vec<u8>) {
        match self {
            Self::Scalar(of) => (0u8, *of).write(record),
            Self::Vector { len, of } => (1u8, *len, *of).write(record),
            Self::Matrix { rows, cols, of } => (2u8, *of, (*rows, *cols)).write(record),
            Self::Quaternion(of) => (3u8, *of).write(record),
            Self::Transform(of) => (4u8, *of).write(record),
            Self::Struct(id) => (5u8, *id).write(record),
            Self::Array { of, dims } => (6u8, *of, *dims).write(record),
            Self::Fixed { of, len } => (7u8, *of, *len).write(record),
            Self::Tuple(of) => (8u8, of.to_vec()).write(record),
            Self::Invalid => 9u8.write(record),
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(match u8::read(input)? {
            0 => Self::Scalar(Stored::read(input)?),
            1 => Self::Vector { len: Stored::read(input)?, of: Stored::read(input)? },
            2 => {
                let (of, (rows, cols)) = Stored::read(input)?;
                Self::Matrix { rows, cols, of }
            }
            3 => Self::Quaternion(Stored::read(input)?),
            4 => Self::Transform(Stored::read(input)?),
            5 => Self::Struct(Stored::read(input)?),
            6 => Self::Array { of: Stored::read(input)?, dims: Stored::read(input)? },
            7 => Self::Fixed { of: Stored::read(input)?, len: Stored::read(input)? },
            8 => Self::Tuple(Vec::read(input)?.into()),
            9 => Self::Invalid,
            _ => return None,
        })
    }
}
