//! Values as bytes, little endian, and the paths of values in the machine.
//!
//! [`Field`] stores a part of the machine, fetches it, and finds the first difference between two
//! such parts. The macros `fields!` and `codes!` implement it for a struct or an enum, from one
//! list; each crate of the machine has the lists of its own types.

use super::{Difference, Path};

/// Writer of consecutive bytes. Bytes that do not fit are still counted.
pub struct Writer<'a> {
    /// Buffer that is filled.
    pub out: &'a mut [u8],
    /// Number of bytes written.
    pub at: usize,
}

impl Writer<'_> {
    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(room) = self.out.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
        }
        self.at = end;
    }
}

/// Error: the code of a flag or an enum has no meaning, or the bytes have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Path of the value.
    pub path: Path,
    /// Code that was found.
    pub code: u8,
}

/// Reader of consecutive bytes.
pub struct Reader<'a> {
    /// Bytes that remain.
    pub bytes: &'a [u8],
    /// Path of the value that is read.
    pub path: Path,
}

impl Reader<'_> {
    /// Reads as many bytes as `out` has.
    ///
    /// # Errors
    /// Fewer bytes remain.
    pub fn take(&mut self, out: &mut [u8]) -> Result<(), Unreadable> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(out.len()) else {
            return Err(self.unreadable(0));
        };
        out.copy_from_slice(bytes);
        self.bytes = rest;
        Ok(())
    }

    /// Reads a field of a struct.
    ///
    /// # Errors
    /// A code has no meaning, or the bytes have ended.
    pub fn field<T: Field>(&mut self, name: &'static str) -> Result<T, Unreadable> {
        self.path.enter(name);
        let value = T::fetch(self)?;
        self.path.leave();
        Ok(value)
    }

    /// Makes the error of the value that is read.
    pub fn unreadable(&self, code: u8) -> Unreadable {
        Unreadable { path: self.path, code }
    }
}

/// A part of the machine.
pub trait Field: Copy {
    /// Writes the value.
    fn store(&self, out: &mut Writer<'_>);

    /// Reads a value.
    ///
    /// # Errors
    /// A code has no meaning, or the bytes have ended.
    fn fetch(input: &mut Reader<'_>) -> Result<Self, Unreadable>;

    /// Finds the first difference; `path` is the path of `self`.
    fn first_difference(&self, other: &Self, path: &mut Path) -> Option<Difference>;
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Field for $type {
            fn store(&self, out: &mut Writer<'_>) {
                out.put(&self.to_le_bytes());
            }

            fn fetch(input: &mut Reader<'_>) -> Result<$type, Unreadable> {
                let mut bytes = [0; size_of::<$type>()];
                input.take(&mut bytes)?;
                Ok(<$type>::from_le_bytes(bytes))
            }

            fn first_difference(&self, other: &$type, path: &mut Path) -> Option<Difference> {
                (self != other).then(|| Difference {
                    path: *path,
                    ours: *self as u32,
                    theirs: *other as u32,
                })
            }
        }
    )* };
}

integers!(u8, u16, i16, u32);

impl Field for bool {
    fn store(&self, out: &mut Writer<'_>) {
        (*self as u8).store(out);
    }

    fn fetch(input: &mut Reader<'_>) -> Result<bool, Unreadable> {
        match u8::fetch(input)? {
            0 => Ok(false),
            1 => Ok(true),
            code => Err(input.unreadable(code)),
        }
    }

    fn first_difference(&self, other: &bool, path: &mut Path) -> Option<Difference> {
        (*self as u8).first_difference(&(*other as u8), path)
    }
}

impl<T: Field + Default, const N: usize> Field for [T; N] {
    fn store(&self, out: &mut Writer<'_>) {
        for value in self {
            value.store(out);
        }
    }

    fn fetch(input: &mut Reader<'_>) -> Result<[T; N], Unreadable> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::fetch(input)?;
        }
        Ok(values)
    }

    fn first_difference(&self, other: &[T; N], path: &mut Path) -> Option<Difference> {
        for (index, (ours, theirs)) in self.iter().zip(other).enumerate() {
            path.index = Some(index);
            if let Some(difference) = ours.first_difference(theirs, path) {
                return Some(difference);
            }
        }
        path.index = None;
        None
    }
}

/// Implements [`Field`](crate::state::Field) for a struct, field by field. A field that only the
/// struct or only the list has is a compile error.
#[macro_export]
macro_rules! fields {
    ($type:ident { $($(#[$flag:meta])? $field:ident),* $(,)? }) => {
        impl $crate::state::Field for $type {
            fn store(&self, out: &mut $crate::state::Writer<'_>) {
                let $type { $($(#[$flag])? $field),* } = self;
                $( $(#[$flag])? { $crate::state::Field::store($field, out); } )*
            }

            fn fetch(
                input: &mut $crate::state::Reader<'_>,
            ) -> Result<$type, $crate::state::Unreadable> {
                Ok($type { $( $(#[$flag])? $field: input.field(stringify!($field))? ),* })
            }

            fn first_difference(
                &self,
                other: &$type,
                path: &mut $crate::state::Path,
            ) -> Option<$crate::state::Difference> {
                $(
                    $(#[$flag])?
                    {
                        path.enter(stringify!($field));
                        let difference = $crate::state::Field::first_difference(
                            &self.$field,
                            &other.$field,
                            path,
                        );
                        path.leave();
                        if difference.is_some() {
                            return difference;
                        }
                    }
                )*
                None
            }
        }
    };
}

/// Implements [`Field`](crate::state::Field) for an enum whose variants are stored as their codes.
#[macro_export]
macro_rules! codes {
    ($type:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::state::Field for $type {
            fn store(&self, out: &mut $crate::state::Writer<'_>) {
                let code = match self { $( $type::$variant => $type::$variant as u8 ),* };
                $crate::state::Field::store(&code, out);
            }

            fn fetch(
                input: &mut $crate::state::Reader<'_>,
            ) -> Result<$type, $crate::state::Unreadable> {
                let code = <u8 as $crate::state::Field>::fetch(input)?;
                $( if code == $type::$variant as u8 { return Ok($type::$variant); } )*
                Err(input.unreadable(code))
            }

            fn first_difference(
                &self,
                other: &$type,
                path: &mut $crate::state::Path,
            ) -> Option<$crate::state::Difference> {
                $crate::state::Field::first_difference(&(*self as u8), &(*other as u8), path)
            }
        }
    };
}
