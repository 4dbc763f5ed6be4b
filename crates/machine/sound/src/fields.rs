//! Reader of the fields of a stored sound.

/// Bytes that remain.
pub(crate) struct Fields<'b>(pub(crate) &'b [u8]);

impl Fields<'_> {
    /// Returns the next `N` bytes; `None` if fewer remain.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Returns the next byte, if it is below a limit.
    #[cfg(not(color))]
    pub(crate) fn below(&mut self, limit: u8) -> Option<u8> {
        let [byte] = self.array()?;
        (byte < limit).then_some(byte)
    }

    /// Returns the next byte as a flag, 0 or 1.
    #[cfg(not(color))]
    pub(crate) fn flag(&mut self) -> Option<bool> {
        Some(self.below(2)? == 1)
    }
}
