//! Bytes read one after the other, little endian.

use super::ForeignStateError;

pub(super) struct Bytes<'a> {
    unread: &'a [u8],
    format: &'static str,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8], format: &'static str) -> Self {
        Self { unread: bytes, format }
    }

    pub(super) fn left(&self) -> usize {
        self.unread.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], ForeignStateError> {
        let Some((taken, unread)) = self.unread.split_at_checked(count) else {
            let what = format!("{count} bytes are needed where {} are left", self.unread.len());
            return Err(ForeignStateError::Damaged { format: self.format, what });
        };
        self.unread = unread;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ForeignStateError> {
        let taken = self.take(N)?;
        Ok(std::array::from_fn(|at| taken[at]))
    }

    pub(super) fn u8(&mut self) -> Result<u8, ForeignStateError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn flag(&mut self) -> Result<bool, ForeignStateError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => {
                let what = format!("{other} where 0 or 1 is needed");
                Err(ForeignStateError::Damaged { format: self.format, what })
            }
        }
    }

    pub(super) fn u16(&mut self) -> Result<u16, ForeignStateError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, ForeignStateError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, ForeignStateError> {
        self.array().map(u64::from_le_bytes)
    }
}
