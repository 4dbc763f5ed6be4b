//! Faults, as compiled code leaves them and as users read them.

use crate::Name;
use std::mem::offset_of;

/// Reason for which a thread stops: `gbx::FaultKind`. The number 0 stands for no fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum FaultKind {
    /// A `Trap`.
    Trap = 1,
    /// A failed `Assert`.
    Assertion = 2,
    /// An integer divided by 0.
    Division = 3,
    /// An index outside the extent.
    Index = 4,
    /// An element of an array without memory.
    Absent = 5,
    /// A view beyond its array.
    View = 6,
    /// The launch was given up. This happens on the CPU only, so the header has no name for it.
    Stopped = 7,
}

impl FaultKind {
    /// Each kind that the header names, with the name.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Trap, "TRAP"),
        (Self::Assertion, "ASSERTION"),
        (Self::Division, "DIVISION"),
        (Self::Index, "INDEX"),
        (Self::Absent, "ABSENT"),
        (Self::View, "VIEW"),
    ];

    /// Returns the number that compiled code writes.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the kind that a number stands for.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().map(|(kind, _)| kind).find(|kind| kind.number() == number)
    }

    /// Returns the code of the kind's diagnostic.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Assertion => "assert",
            Self::Division => "division-by-zero",
            Self::Index => "index",
            Self::Absent => "absent-array",
            Self::View => "view",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the message of the kind's diagnostic. `text` is the message of a trap or an
    /// assertion; the numbers are the index and the extent that the index lies outside of.
    pub fn message(self, text: &str, index: i128, extent: i64) -> String {
        match self {
            Self::Trap => format!("trap: {text}"),
            Self::Assertion => format!("assertion failed: {text}"),
            Self::Division => "an integer divided by zero".into(),
            Self::Index => format!("index {index} where there are {extent} elements"),
            Self::Absent => "an element of an array without memory".into(),
            Self::View => format!("a view reaches index {index} where there are {extent} elements"),
            Self::Stopped => "the launch was given up".into(),
        }
    }
}

/// Reason for which a statement may fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Message of a trap or an assertion.
    pub message: Option<Name>,
}

impl From<FaultKind> for Cause {
    fn from(kind: FaultKind) -> Self {
        Self { kind, message: None }
    }
}

/// Record of the first fault of a CUDA kernel: `gbx::Fault`. On the host it ends before `thread`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultRecord {
    /// Number of a [`FaultKind`], or 0.
    pub kind: i32,
    /// Line of the text.
    pub line: i32,
    /// Index, or end of a view, that the thread asked for.
    pub index: i64,
    /// Number of elements that the array has.
    pub extent: i64,
    /// Number of the device's thread.
    pub thread: i64,
}

impl FaultRecord {
    /// Size of a record on a device, in bytes.
    pub const BYTES: usize = size_of::<Self>();
    /// Size of a record on the host, in bytes.
    pub const HOST_BYTES: usize = offset_of!(Self, thread);

    /// Reads a record from the bytes of a device's memory.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        fn at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
            std::array::from_fn(|byte| bytes[offset + byte])
        }
        Self {
            kind: i32::from_le_bytes(at(bytes, offset_of!(Self, kind))),
            line: i32::from_le_bytes(at(bytes, offset_of!(Self, line))),
            index: i64::from_le_bytes(at(bytes, offset_of!(Self, index))),
            extent: i64::from_le_bytes(at(bytes, offset_of!(Self, extent))),
            thread: i64::from_le_bytes(at(bytes, offset_of!(Self, thread))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_kinds() {
        for (kind, _) in FaultKind::ALL {
            assert_eq!(FaultKind::from_number(kind.number()), Some(kind));
        }
        assert_eq!([0, 7].map(FaultKind::from_number), [None, None]);
    }

    #[test]
    fn a_record_is_read_field_by_field() {
        let mut bytes = [0; FaultRecord::BYTES];
        for (at, byte) in [(0, 4), (4, 9), (8, 1), (16, 2), (24, 3)] {
            bytes[at] = byte;
        }
        let record = FaultRecord { kind: 4, line: 9, index: 1, extent: 2, thread: 3 };
        assert_eq!(FaultRecord::from_bytes(&bytes), record);
    }
}
