//! Binary records: magic, version, body and SHA-256. The digest is checked before the body is read.

use sha2::{Digest, Sha256};

use crate::ConsoleError;

const DIGEST_BYTES: usize = 32;

/// A kind of record.
#[derive(Debug, Clone, Copy)]
pub struct RecordKind {
    /// Name in messages.
    pub name: &'static str,
    /// First bytes of a record.
    pub magic: &'static [u8],
    /// Version; every change of the body gets a new number.
    pub version: u32,
    /// The oldest version that is read.
    pub oldest: u32,
}

impl RecordKind {
    /// Returns true if the bytes begin with this kind's magic.
    pub fn matches_magic(self, bytes: &[u8]) -> bool {
        bytes.starts_with(self.magic)
    }

    /// Makes the error of a record with impossible content.
    pub fn damaged(self, why: &'static str) -> ConsoleError {
        ConsoleError::Damaged { what: self.name, why }
    }
}

/// A record while it is written.
pub struct Writer(Vec<u8>);

impl Writer {
    /// Begins a record with its magic and version.
    pub fn new(kind: RecordKind) -> Self {
        let mut writer = Self(kind.magic.to_vec());
        writer.u32(kind.version);
        writer
    }

    /// Writes a byte.
    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    /// Writes a number of 16 bits.
    pub fn u16(&mut self, number: u16) {
        self.0.extend(number.to_le_bytes());
    }

    /// Writes a number of 32 bits.
    pub fn u32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    /// Writes a number of 64 bits.
    pub fn u64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    /// Writes the count of the bytes, then the bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Writes a text as bytes.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes the count of the numbers, then their bits.
    pub fn floats(&mut self, numbers: &[f32]) {
        self.u64(numbers.len() as u64);
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Returns the whole record.
    pub fn finish(mut self) -> Vec<u8> {
        let digest = Sha256::digest(&self.0);
        self.0.extend(digest);
        self.0
    }
}

/// A record's body while it is read. A read beyond the end is an error, whatever the lengths in the
/// record say.
pub struct Reader<'b> {
    kind: RecordKind,
    version: u32,
    unread: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Makes a reader of bytes that must be a whole record.
    ///
    /// # Errors
    /// The bytes are another kind of record, of a version that is not read, or damaged.
    pub fn new(kind: RecordKind, bytes: &'b [u8]) -> Result<Self, ConsoleError> {
        let what = kind.name;
        let unread = bytes.strip_prefix(kind.magic).ok_or(ConsoleError::NotARecord { what })?;
        let mut reader = Self { kind, version: kind.version, unread };
        let version = reader.u32()?;
        if !(kind.oldest..=kind.version).contains(&version) {
            return Err(ConsoleError::OtherFormat { what, found: version, read: kind.version });
        }
        reader.version = version;
        let split = bytes.len().checked_sub(DIGEST_BYTES);
        let (content, digest) =
            split.map(|at| bytes.split_at(at)).ok_or(kind.damaged("it ends too early"))?;
        if *Sha256::digest(content) != *digest {
            return Err(kind.damaged("its checksum is wrong"));
        }
        let body = reader.unread.len().checked_sub(DIGEST_BYTES);
        reader.unread = &reader.unread[..body.ok_or(kind.damaged("it ends too early"))?];
        Ok(reader)
    }

    /// Returns the version of this record.
    pub fn version(&self) -> u32 {
        self.version
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], ConsoleError> {
        let split = self.unread.split_at_checked(count);
        let (taken, unread) = split.ok_or(self.kind.damaged("it ends too early"))?;
        self.unread = unread;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ConsoleError> {
        let taken = self.take(N)?;
        Ok(taken.try_into().unwrap_or_else(|_| unreachable!("the part has the array's length")))
    }

    /// Reads a byte.
    pub fn u8(&mut self) -> Result<u8, ConsoleError> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads a flag.
    ///
    /// # Errors
    /// The record ends too early, or the flag is neither 0 nor 1.
    pub fn flag(&mut self) -> Result<bool, ConsoleError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.kind.damaged("a flag is neither 0 nor 1")),
        }
    }

    /// Reads a number of 16 bits.
    pub fn u16(&mut self) -> Result<u16, ConsoleError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads a number of 32 bits.
    pub fn u32(&mut self) -> Result<u32, ConsoleError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a number of 64 bits.
    pub fn u64(&mut self) -> Result<u64, ConsoleError> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self) -> Result<usize, ConsoleError> {
        let count = self.u64()?;
        usize::try_from(count).map_err(|_| self.kind.damaged("a count is too large"))
    }

    /// Reads the bytes that [`Writer::bytes`] wrote.
    pub fn bytes(&mut self) -> Result<&'b [u8], ConsoleError> {
        let count = self.count()?;
        self.take(count)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// The record ends too early, or the text is not UTF-8.
    pub fn text(&mut self) -> Result<&'b str, ConsoleError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.kind.damaged("a text is not UTF-8"))
    }

    /// Reads numbers.
    pub fn floats(&mut self) -> Result<Vec<f32>, ConsoleError> {
        let count = self.count()?;
        let bytes =
            count.checked_mul(4).ok_or_else(|| self.kind.damaged("a count is too large"))?;
        let (chunks, _) = self.take(bytes)?.as_chunks::<4>();
        Ok(chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Returns true if the whole body was read.
    pub fn is_at_end(&self) -> bool {
        self.unread.is_empty()
    }

    /// Makes the error of a record with impossible content.
    pub fn damaged(&self, why: &'static str) -> ConsoleError {
        self.kind.damaged(why)
    }

    /// Checks that the whole body was read.
    ///
    /// # Errors
    /// Bytes are left over.
    pub fn finish(self) -> Result<(), ConsoleError> {
        if self.unread.is_empty() { Ok(()) } else { Err(self.kind.damaged("bytes are left over")) }
    }
}
