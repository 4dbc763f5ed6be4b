//! Values as bytes, little endian, and the paths of values in the machine.
//!
//! `Field` stores a part of the machine, fetches it, and finds the first difference between two
//! such parts. `list` implements it for the structs, from one list each.

use super::{Difference, Path};

/// Writer of consecutive bytes. Bytes that do not fit are still counted.
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) at: usize,
}

impl Writer<'_> {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(room) = self.out.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
        }
        self.at = end;
    }
}

/// Error: the code of a flag or an enum has no meaning, or the bytes have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) path: Path,
    pub(super) code: u8,
}

/// Reader of consecutive bytes.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) path: Path,
}

impl Reader<'_> {
    pub(super) fn take(&mut self, out: &mut [u8]) -> Result<(), Unreadable> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(out.len()) else {
            return Err(self.unreadable(0));
        };
        out.copy_from_slice(bytes);
        self.bytes = rest;
        Ok(())
    }

    pub(super) fn field<T: Field>(&mut self, name: &'static str) -> Result<T, Unreadable> {
        self.path.enter(name);
        let value = T::fetch(self)?;
        self.path.leave();
        Ok(value)
    }

    pub(super) fn unreadable(&self, code: u8) -> Unreadable {
        Unreadable { path: self.path, code }
    }
}

/// A part of the machine.
pub(super) trait Field: Copy {
    fn store(&self, out: &mut Writer<'_>);

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
